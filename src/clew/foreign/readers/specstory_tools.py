"""SpecStory's `<tool-use>` blocks: what was called and what came back, as far as the rendering still shows it."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from clew.foreign.build import Builder
from clew.foreign.readers.patches import count_diff, diff_sides
from clew.foreign.shapes import Json
from clew.foreign.tool_names import is_shell, translate
from clew.protocol.display import DiffBlock

_TAG = re.compile(r"^<tool-use(?P<attributes>[^>\n]*)>|^[ \t]*(?:</details>[ \t]*)?</tool-use>[ \t]*$", re.MULTILINE)
_ATTRIBUTE = re.compile(r'data-([\w-]+)="([^"]*)"')
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_SUMMARY_NAME = re.compile(r"^Tool use: \*\*[^*\n]*\*\*[\s•]*")
_OPENING = re.compile(r"\s*<details>\s*")
_CLOSING = re.compile(r"\s*</details>\s*\Z")
_FENCE = re.compile(r"^(?P<mark>`{3,})(?P<language>[^\n`]*)\n(?P<text>.*?)\n?^(?P=mark)[ \t]*$", re.M | re.S)
_WHOLE_FENCE = re.compile(r"\A`{3,}[^\n`]*\n(.*?)\n?`{3,}\Z", re.DOTALL)
_CODE_LINE = re.compile(r"^[ \t]*`([^`\n]+)`[ \t]*$", re.MULTILINE)
_LABELLED = re.compile(r"\b(path|pattern|query|glob) `([^`\n]*)`")
_PARAMETER = re.compile(r"^\s*[*-] (\w+): `?(.*?)`?[ \t]*$", re.MULTILINE)
_RESULT = re.compile(r"^\*{1,2}Result:?\*{1,2}:?[ \t]*$", re.MULTILINE)
_TODO = re.compile(r"^- \[([ xX~-])\] (.+)$", re.MULTILINE)
_NAMED_FILE = re.compile(r"^(?:Read|Edit|Write|Create|Delete)\w* file: (.+?)(?: \([^()]*\))?$")
_REPORTED_FILE = re.compile(
    r"^The file (\S.*?) has been (?:updated|created)|^File created successfully at: (.+)$", re.MULTILINE
)
_SOUGHT = re.compile(r'(?:"([^"]+)"|`([^`\n]+)`)(?: in "([^"]+)")?')
_EXIT_CODE = re.compile(r"\A(?:Error: )?Exit code:? (\d{1,3})\b")
_FAILED = re.compile(
    r"\A(?:<tool_use_error>|Error: |File has not been read yet|Permission to use |Request interrupted|"
    r"(?:The )?user (?:doesn't|does not|did not|rejected|declined|denied|cancel+ed|aborted)\b)",
    re.IGNORECASE,
)
_TODO_STATES = {"x": "completed", "X": "completed", "~": "in_progress", "-": "in_progress"}


class Block(NamedTuple):
    """One `<tool-use>` element and where it stands. One cut short runs to the next or to the end."""

    start: int
    end: int
    attributes: dict[str, str]
    body: str
    is_closed: bool


class _Shown(NamedTuple):
    summary: str
    inner: str


def tool_blocks(text: str) -> Iterator[Block]:
    """The tool uses in a text. Tags count at the start of a line only, so numbered file content holds none."""
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        opens = tag["attributes"] is not None
        if opened is not None:
            yield _block(text, opened, tag.start(), tag.start() if opens else tag.end(), is_closed=not opens)
        opened = tag if opens else None
    if opened is not None:
        yield _block(text, opened, len(text), len(text), is_closed=False)


def _block(text: str, opened: re.Match[str], inner_end: int, end: int, *, is_closed: bool) -> Block:
    attributes = dict(_ATTRIBUTE.findall(opened["attributes"]))
    return Block(opened.start(), end, attributes, text[opened.end() : inner_end], is_closed)


def add_tool_use(block: Block, build: Builder) -> None:
    """The call and its result as entries, under our names where the meaning is clear."""
    name = block.attributes.get("tool-name") or "unknown"
    kind = "shell" if is_shell(name) else block.attributes.get("tool-type", "")
    shown = _shown(block.body)
    diffs: tuple[DiffBlock, ...] = ()
    if "*** Begin Patch" in shown.inner:
        arguments, result = {"patch": shown.inner}, ""
        name = "apply_patch"
    elif kind == "shell":
        arguments, result = _shell(shown)
    elif kind == "read":
        arguments, result = _read(shown)
    elif kind == "write":
        arguments, result, diffs = _write(shown)
    else:
        arguments, result = _other(name, shown)
    code = _EXIT_CODE.match(result) if kind == "shell" else None
    failed = block.attributes.get("edit-status") == "rejected" or _FAILED.match(result) is not None
    call = build.call("", _known_name(name, kind, arguments), arguments)
    build.result(call, result, is_error=failed, exit_code=int(code[1]) if code else None, diffs=diffs)


def _known_name(name: str, kind: str, arguments: Json) -> str:
    """A name that neither we nor the arguments make clear gives way to what SpecStory says the tool is for."""
    ours = {
        "shell": ("Bash", "command"),
        "read": ("Read", "file_path"),
        "write": ("Write" if "content" in arguments else "Edit", "file_path"),
    }
    if kind not in ours or ours[kind][1] not in arguments or translate(name, arguments)[0].name != name:
        return name
    return ours[kind][0]


def _shown(body: str) -> _Shown:
    summary = _SUMMARY.search(body)
    inner = body[summary.end() :] if summary else _OPENING.sub("", body, count=1)
    words = unescape(" ".join(summary[1].split())) if summary else ""
    return _Shown(_SUMMARY_NAME.sub("", words), _CLOSING.sub("", inner).strip())


def _plain(text: str) -> str:
    """A result without the fence around it; fences inside it stay."""
    text = text.strip()
    whole = _WHOLE_FENCE.match(text)
    return whole[1] if whole else text


def _shell(shown: _Shown) -> tuple[Json, str]:
    fence, line = _FENCE.search(shown.inner), _CODE_LINE.search(shown.inner)
    is_command = fence is not None and fence["language"].strip() in ("bash", "sh", "shell", "zsh", "powershell")
    if line is not None and (fence is None or line.start() < fence.start()):
        command, start, end = line[1], line.start(), line.end()
    elif fence is not None and is_command:
        command, start, end = fence["text"], fence.start(), fence.end()
    else:
        command = shown.summary.removeprefix("Run command: ").strip("` ")
        start = end = 0
    arguments: Json = {"command": command} if command else {}
    if description := shown.inner[:start].strip():
        arguments["description"] = description
    return arguments, _plain(shown.inner[end:])


def _read(shown: _Shown) -> tuple[Json, str]:
    if named := _NAMED_FILE.match(shown.summary):
        return {"file_path": named[1].strip("`")}, _plain(shown.inner)
    line = _CODE_LINE.match(shown.inner) or _CODE_LINE.match(f"{shown.summary}\n")
    path = line[1] if line else ""
    rest = shown.inner[line.end() :] if line and line.string is shown.inner else shown.inner
    return ({"file_path": path} if path else {}), _plain(rest)


def _write(shown: _Shown) -> tuple[Json, str, tuple[DiffBlock, ...]]:
    """A change is named by the summary, by a line of its own, or only by the report of the tool."""
    fences = list(_FENCE.finditer(shown.inner))
    line = _CODE_LINE.match(shown.inner)
    reported = _REPORTED_FILE.search(shown.inner, fences[-1].start() if fences else 0)
    path = ""
    if named := _NAMED_FILE.match(shown.summary):
        path = named[1].strip("`")
    elif line:
        path = line[1]
    elif reported:
        path = reported[1] or reported[2]
    if not path:
        return {}, _plain(shown.inner), ()
    hunks = [fence["text"] for fence in fences if fence["language"].strip() == "diff"]
    arguments: Json = {"file_path": path.strip()}
    if hunks:
        patch = "\n".join(hunks)
        arguments["old_string"], arguments["new_string"] = diff_sides(patch)
        added, removed = count_diff(patch)
        result = _FENCE.sub(lambda fence: "" if fence["language"].strip() == "diff" else fence["text"], shown.inner)
        return arguments, result.strip(), (DiffBlock(path=path, patch=patch, added=added, removed=removed),)
    if len(fences) > 1 or (fences and not reported and not _FAILED.match(fences[0]["text"])):
        arguments["content"] = fences[0]["text"]
        return arguments, _plain(shown.inner[fences[0].end() :]), ()
    return arguments, _plain(shown.inner[line.end() :] if line else shown.inner), ()


def checklist(text: str) -> list[Json]:
    """The items of a markdown checklist, as a task list holds them."""
    return [{"content": words, "status": _TODO_STATES.get(mark, "pending")} for mark, words in _TODO.findall(text)]


def _other(name: str, shown: _Shown) -> tuple[Json, str]:
    """Searches, task lists and tools of any other kind."""
    todos = checklist(shown.inner) if "todo" in name.lower() or "plan" in name.lower() else []
    if todos:
        return {"todos": todos}, shown.inner
    first_line = shown.inner.split("\n", 1)[0]
    if labelled := _LABELLED.findall(first_line):
        return dict(labelled), _plain(shown.inner[len(first_line) :])
    if divided := _RESULT.search(shown.inner):
        head = shown.inner[: divided.start()]
        return dict(_PARAMETER.findall(head)), _plain(shown.inner[divided.end() :])
    arguments: Json = {}
    if sought := _SOUGHT.search(shown.summary):
        arguments["query"] = sought[1] or sought[2]
        if sought[3]:
            arguments["path"] = sought[3]
    elif line := _CODE_LINE.match(first_line):
        return {"pattern": line[1]}, _plain(shown.inner[len(first_line) :])
    return arguments, _plain(shown.inner)
