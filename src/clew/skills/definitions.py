"""One skill or command as its file defines it: its front matter understood, what a project may not say left out."""

import os
import re
import unicodedata

from msgspec import Struct

from clew.config.skill_places import Folder, Kind
from clew.prompts.memory import visible
from clew.protocol.invocables import InvocableRow
from clew.skills.front_matter import FrontMatterError, Value, parse
from clew.system.files import NotRegular, open_regular

MAX_FILE_BYTES = 256_000
MAX_HEAD_BYTES = 16_000
"""The front matter ends within these, or is taken for broken."""
MAX_NAME_CHARS = 128
MAX_DESCRIPTION_CHARS = 1_024
EFFORTS = ("low", "medium", "high", "xhigh", "max")
_NAME = re.compile(r"[^\W_][\w.-]*(?::[^\W_][\w.-]*)*")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
NOT_OF_A_PROJECT = "a project's file loosens nothing"


class SkillProblem(Exception):
    """A file that is not used: one line that names it."""


class SkillDefinition(Struct, frozen=True, kw_only=True):
    """What a file says of itself. The body is read when it is used."""

    name: str
    folder: Folder
    path: str
    """As it is reached; `real` is where links lead."""
    real: str
    description: str = ""
    when_to_use: str = ""
    argument_hint: str = ""
    allowed_tools: tuple[str, ...] = ()
    """Rules that hold for its turn; none for one of a project."""
    model: str = ""
    effort: str = ""
    for_model: bool = False
    for_user: bool = True
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """A skill is a folder, a command a file."""
        return self.folder.kind

    @property
    def home(self) -> str:
        """The folder of a skill, links followed."""
        return os.path.dirname(self.real)

    def row(self) -> InvocableRow:
        """As people see it."""
        return InvocableRow(
            name=self.name,
            kind=self.kind,
            level=self.folder.level,
            description=self.description,
            argument_hint=self.argument_hint,
            source=self.folder.source,
            path=self.path,
            notes=self.notes,
            for_model=self.for_model,
            for_user=self.for_user,
        )


def read_definition(path: str, named: str, folder: Folder) -> SkillDefinition:
    """What the file at this path defines; `named`: by where it lies. Raises Problem."""
    real = checked(path, folder)
    text, whole = _head(path, real)
    try:
        document = parse(text)
    except FrontMatterError as error:
        cut = not whole and error.line == 1
        why = f"the front matter is longer than {MAX_HEAD_BYTES // 1000} kB" if cut else str(error)
        raise SkillProblem(f"{path}, line {error.line}: {why}") from error
    fields = {key.lower().replace("_", "-"): value for key, value in document.fields.items()}
    notes: list[str] = []
    name = _name(path, named, text_of(fields.get("name")), folder, notes)
    project = folder.level == "project"
    tools = tools_of(fields.get("allowed-tools"))
    model = text_of(fields.get("model"))
    effort = text_of(fields.get("effort")).lower()
    if tools and project:
        notes.append(f"its allowed-tools do not count: {NOT_OF_A_PROJECT}")
    if model in ("inherit", "default"):
        model = ""
    if model and project:
        notes.append(f"its model ({model}) does not count: {NOT_OF_A_PROJECT}")
    if effort and effort not in EFFORTS:
        notes.append(f"its effort {effort!r} is none: efforts are {', '.join(EFFORTS)}")
        effort = ""
    return SkillDefinition(
        name=name,
        folder=folder,
        path=path,
        real=real,
        description=_described(fields.get("description"), document.body),
        when_to_use=one_line(text_of(fields.get("when-to-use"))),
        argument_hint=_hint(fields.get("argument-hint")),
        allowed_tools=() if project else tools,
        model="" if project else model,
        effort=effort,
        for_model=folder.kind == "skill" and not flag(fields.get("disable-model-invocation"), default=False),
        for_user=flag(fields.get("user-invocable"), default=True),
        notes=tuple(notes),
    )


def read_body(definition: SkillDefinition) -> str:
    """What it says, as the file is now. Raises Problem."""
    real = checked(definition.path, definition.folder)
    try:
        document = parse(whole_text(definition.path, real))
    except FrontMatterError as error:
        raise SkillProblem(f"{definition.path}, line {error.line}: {error}") from error
    body = visible(document.body).strip()
    if not body:
        raise SkillProblem(f"{definition.path}: there is nothing in it but its front matter")
    return body


def checked(path: str, folder: Folder) -> str:
    """Where the path really leads: for a project, not out of it. Raises Problem."""
    return kept_inside(path, folder.within)


def kept_inside(path: str, within: str) -> str:
    """Where a path really leads: not out of `within`, unless that is empty. Raises Problem."""
    real = os.path.realpath(path)
    if within:
        held = os.path.realpath(within)
        if real != held and not real.startswith(held.rstrip("/") + "/"):
            raise SkillProblem(f"{path}: leads outside the project through a link")
    return real


def whole_text(path: str, real: str, max_bytes: int = MAX_FILE_BYTES) -> str:
    """All of a regular file. Raises Problem."""
    return _decoded(path, _read(path, real, max_bytes)[0], cut=False)


def _head(path: str, real: str) -> tuple[str, bool]:
    """The beginning of the file, and whether that is all of it."""
    data, size = _read(path, real, MAX_HEAD_BYTES, cut=True)
    if size > MAX_FILE_BYTES:
        raise SkillProblem(f"{path}: is larger than {MAX_FILE_BYTES // 1000} kB")
    return _decoded(path, data, cut=size > len(data)), size <= len(data)


def _read(path: str, real: str, max_bytes: int, *, cut: bool = False) -> tuple[bytes, int]:
    try:
        descriptor = open_regular(real)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(max_bytes + 1)
            size = max(os.fstat(descriptor).st_size, len(data))
    except NotRegular as error:
        raise SkillProblem(f"{path}: {error.strerror}") from error
    except OSError as error:
        raise SkillProblem(f"{path}: cannot be read ({(error.strerror or 'error').lower()})") from error
    if len(data) > max_bytes and not cut:
        raise SkillProblem(f"{path}: is larger than {max_bytes // 1000} kB")
    return data[:max_bytes], size


def _decoded(path: str, data: bytes, *, cut: bool) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if cut and len(data) - error.start < 4:
            return data[: error.start].decode("utf-8-sig")  # the cut went through a character
        line = data[: error.start].count(b"\n") + 1
        raise SkillProblem(f"{path}, line {line}: is not UTF-8") from error


def _name(path: str, named: str, given: str, folder: Folder, notes: list[str]) -> str:
    """What the front matter calls a skill, where that can be typed; else where it lies. Groups and plugins go before
    it."""
    group, _, last = unicodedata.normalize("NFC", named).rpartition(":")
    own = unicodedata.normalize("NFC", given)
    if own and own != last and folder.kind == "skill":
        if _NAME.fullmatch(own):
            last = own
        else:
            notes.append(f"its name {one_line(own)[:60]!r} cannot be typed, so the folder's counts")
    name = ":".join(part for part in (folder.prefix, group, last) if part)
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        raise SkillProblem(f"{path}: {one_line(name)[:60]!r} is no name: letters, digits, - . _ and no blanks")
    return name


def _described(value: Value, body: str) -> str:
    text = one_line(text_of(value))
    if not text:
        first = next((line.strip() for line in body.split("\n") if line.strip()), "")
        text = one_line(first.lstrip("#").strip())
    return text[:MAX_DESCRIPTION_CHARS]


def _hint(value: Value) -> str:
    """`[message]` is a list to YAML and a hint to people."""
    if isinstance(value, tuple):
        return one_line(" ".join(f"[{item}]" for item in value))
    return one_line(text_of(value))


def text_of(value: Value) -> str:
    """The text of a value that should be one."""
    return ", ".join(value) if isinstance(value, tuple) else (value or "")


def tools_of(value: Value) -> tuple[str, ...]:
    """`Bash(git add *), Read` by commas or blanks, or as a list; none of them inside parentheses."""
    pieces = value if isinstance(value, tuple) else (value or "",)
    found: list[str] = []
    for piece in pieces:
        found += re.findall(r"[^\s,()]+(?:\([^()]*\))?", piece)
    return tuple(dict.fromkeys(found))


def flag(value: Value, *, default: bool) -> bool:
    """A yes or a no as people write it; anything else is the default."""
    word = text_of(value).strip().lower()
    return True if word in _TRUE else False if word in _FALSE else default


def one_line(text: str) -> str:
    """Words of a file on one line, with nothing in them that people do not see."""
    return " ".join(visible(text).split())
