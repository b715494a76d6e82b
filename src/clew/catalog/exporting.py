"""One session in another format, as bytes or as a file; without secrets unless they are asked for."""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import msgspec

from clew.catalog.opening import Opened
from clew.protocol.entries import ChainEntry, OpaqueEntry
from clew.text.redact import redact
from clew.text.secret_shapes import may_hold_secret
from clew.text.terminal_text import sanitize
from clew.transcript.log.codec import encode
from clew.transcript.log.files import write_all
from clew.transcript.mapping.claude_shape import claude_lines
from clew.transcript.mapping.render import markdown

FORMATS = ("markdown", "json", "jsonl", "claude-code")
SUFFIXES = {"markdown": ".md", "json": ".json", "jsonl": ".jsonl", "claude-code": ".jsonl"}


def as_json(opened: Opened) -> str:
    """The session as one JSON object: what it is, and its entries as they are."""
    entries = [entry.raw if isinstance(entry, OpaqueEntry) else entry for entry in opened.entries]
    value = {
        "agent": opened.agent,
        "session": opened.session_id,
        "path": str(opened.path),
        "title": opened.title,
        "cwd": opened.cwd,
        "entries": entries,
        "keyed": [entry.raw if isinstance(entry, OpaqueEntry) else entry for entry in opened.keyed],
        "messages": sum(isinstance(entry, ChainEntry) for entry in opened.entries),
    }
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def pieces(opened: Opened, to: str, *, redacted: bool) -> Iterator[bytes]:
    """The bytes of the export, without secrets unless asked for. Text formats are sanitised too."""
    if to == "markdown":
        for block in markdown(
            opened.entries, opened.keyed, title=sanitize(opened.title or opened.session_id, one_line=True)
        ):
            text = sanitize(block)
            yield (redact(text) if redacted else text).encode() + b"\n\n"
        return
    if to == "json":
        lines: Iterator[bytes] = iter((as_json(opened).encode() + b"\n",))
    elif to == "jsonl":
        lines = (encode(entry) for entry in (*opened.entries, *opened.keyed))
    else:
        lines = iter(claude_lines(opened.entries, opened.keyed))
    yield from (redacted_json(line) for line in lines) if redacted else lines


def redacted_json(line: bytes) -> bytes:
    """The same value with every text redacted by itself, so that it stays JSON. Unchanged bytes where nothing was."""
    value = msgspec.json.decode(line)
    clean = redacted_value(value)
    return line if clean == value else msgspec.json.encode(clean) + b"\n"


def redacted_value(value: Any) -> Any:
    """A JSON value without secrets; a telling key marks its text too."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redacted_value(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {_name(name)[0]: redacted_member(name, item) for name, item in cast("dict[str, Any]", value).items()}
    return value


@lru_cache(maxsize=4096)
def _name(name: str) -> tuple[str, bool]:
    """The name of a member without secrets, and whether it may mark its value as one. Logs have few names."""
    return redact(name), may_hold_secret(f'"{name}": "')


def redacted_member(name: str, value: Any) -> Any:
    """`{"api_key": "..."}`: the text alone would not show that it is a secret."""
    if not isinstance(value, str):
        return redacted_value(value)
    if not _name(name)[1]:
        return redact(value)
    front = f'"{name}": "'
    whole = redact(f'{front}{value}"')
    return whole[len(front) : -1] if whole.startswith(front) and whole.endswith('"') else redact(value)


def write_export(path: Path, opened: Opened, to: str, *, force: bool = False, redacted: bool = True) -> int:
    """Write the file, for the user's eyes only; how many bytes. Raises FileExistsError without `force`, or OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if force else os.O_EXCL)
    descriptor = os.open(path, flags, 0o600)
    written = 0
    try:
        for piece in pieces(opened, to, redacted=redacted):
            write_all(descriptor, piece)
            written += len(piece)
    except OSError as error:
        if not force:
            path.unlink()  # we made it, and half an export is worth nothing
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(descriptor)
    return written
