"""Pictures named in a prompt: found as mentions in the text, read when it is sent."""

import base64
import contextlib
import hashlib
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from clew.composing.completion import mention
from clew.protocol.messages import ImagePart, MediaSource, Part, TextPart
from clew.system.files import read_regular
from clew.system.private_files import private_dir, replace_private

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MAX_IMAGE_BYTES = 3_750_000
"""What the strictest provider takes once it is base64."""
MAX_IMAGES = 20
KEPT_S = 30 * 24 * 3600.0
MAX_PATH_CHARS = 4096

_MENTION = re.compile(r"""(?:(?<=\s)|(?<=[(\[{'"`,;:=<>])|^)@(?:"([^"\n]{1,4096})"|([^\s"]{1,4096}))""")
_SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_ESCAPED = re.compile(r"\\(.)")


class ImageProblem(Exception):
    """A picture that was named cannot be sent; says which one and why."""


class Attached(Struct, frozen=True, kw_only=True):
    """A prompt with its pictures."""

    content: str | tuple[Part, ...]
    notes: tuple[str, ...] = ()
    """What looks like a picture but was sent as words only."""


def attach(text: str, project: str, *, sent: str | None = None) -> Attached:
    """The content to submit: `sent` (the text itself when left out), and each picture that `text` names, once.

    A name with no file behind it is only words: people also talk about pictures that are to be made.
    """
    parts: list[Part] = [TextPart(text=text if sent is None else sent)]
    notes: list[str] = []
    seen: set[str] = set()
    for name in mentioned_images(text):
        path = _located(name, project)
        if path in seen:
            continue
        seen.add(path)
        if not os.path.exists(path):
            notes.append(f"{name} was not found, so no picture was sent with it.")
            continue
        if len(seen) > MAX_IMAGES:
            raise ImageProblem(f"More than {MAX_IMAGES} pictures in one prompt.")
        parts.append(read_image(path, name))
    words = text if sent is None else sent
    return Attached(content=tuple(parts) if len(parts) > 1 else words, notes=tuple(notes))


def mentioned_images(text: str) -> list[str]:
    """The names after an `@` that end like a picture, in order."""
    if "@" not in text:
        return []
    found: list[str] = []
    for match in _MENTION.finditer(text):
        name = match[1] or match[2].rstrip(".,;:!?)]}'`")
        if name.lower().endswith(SUFFIXES):
            found.append(name)
    return found


def read_image(path: str, name: str) -> ImagePart:
    """The picture at this path. What it is, its bytes say, not its name."""
    try:
        data = read_regular(os.path.realpath(path), max_bytes=MAX_IMAGE_BYTES).data
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ImageProblem(f"{name} could not be sent: it {_said(why)}.") from error
    kind = next((kind for magic, kind in _SIGNATURES if data.startswith(magic)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "image/webp"
    if not kind:
        raise ImageProblem(f"{name} is named like a picture, but its content is no PNG, JPEG, GIF or WebP.")
    source = MediaSource(type="base64", media_type=kind, data=base64.b64encode(data).decode())
    return ImagePart(source=source)


def _said(why: str) -> str:
    return why if why.startswith("is ") else f"could not be read ({why})"


def pasted_path(text: str, project: str) -> str | None:
    """The mention for a paste that is the path of a picture, as terminals give it when a file is dropped on them:
    bare, in quotes, with backslashes before blanks, or as a file URL. None for every other paste."""
    line = text.strip()
    if not line or len(line) > MAX_PATH_CHARS or "\n" in line:
        return None
    for path in _readings(line):
        if path.lower().endswith(SUFFIXES) and '"' not in path and os.path.isfile(_located(path, project)):
            return mention(path)
    return None


def kept_picture(data: bytes, home: Path, *, now_s: float) -> str:
    """Keep a picture that has no file of its own; its path. Those kept long ago go: what was sent is in the log."""
    folder = private_dir(home / "pictures")
    for path in folder.glob("pasted-*.png"):
        with contextlib.suppress(OSError):
            if now_s - path.stat().st_mtime > KEPT_S:
                path.unlink()
    path = folder / f"pasted-{hashlib.sha256(data).hexdigest()[:12]}.png"
    replace_private(path, data)
    return str(path)


def _readings(line: str) -> list[str]:
    if line.startswith("file://"):
        return [unquote(urlsplit(line).path)]
    if len(line) > 1 and line[0] == line[-1] and line[0] in "'\"":
        return [line[1:-1]]
    return [line, _ESCAPED.sub(r"\1", line)] if "\\" in line else [line]


def _located(name: str, project: str) -> str:
    return str(Path(project) / Path(name).expanduser())
