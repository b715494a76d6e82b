"""Cursor: transcripts of its agent, exports of its editor, and SpecStory's Markdown histories.

Conversations exported as Markdown: Cursor's own export and SpecStory's history.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from clew.foreign.build import Builder
from clew.foreign.listing import below, entries_in, folder_of_slug, found
from clew.foreign.readers.specstory_tools import add_tool_use, checklist, tool_blocks
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_list, as_str, dicts, first_str, text_of_content
from clew.foreign.source import Source
from clew.protocol.entries import ChainEntry, Entry
from clew.protocol.ids import EntryId

_SPEAKER = re.compile(
    r"^(?:_\*\*(?P<spec>User|Assistant|Agent)(?P<side> - sidechain)?(?: \((?P<detail>[^)\n]*)\))?\*\*_"
    r"|\*\*(?P<cursor>User|Cursor)\*\*)[ \t]*$",
    re.MULTILINE,
)
_TITLE = re.compile(r"^# (.+?)(?: \((\d{4}-\d{2}-\d{2}[^)]*)\))?[ \t]*$", re.MULTILINE)
_SESSION = re.compile(r"<!-- \w[\w .-]{0,40} Session ([0-9a-fA-F-]{8,}) \(([^)]*)\) -->")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}\S*")
_EXPORTED = re.compile(r"^_Exported on (\d+)/(\d+)/(\d{4}) at (\d+:\d+:\d+).*from Cursor \(([^)]*)\)_", re.MULTILINE)
_THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL)
_SUMMARY_TAG = re.compile(r"</?details>|<summary>.*?</summary>", re.DOTALL)
_TOOL = re.compile(r"^Tool use: \*\*(?P<name>[^*\n]+)\*\*[^\n]*\n(?P<body>.*?)(?=^---\s*$|^Tool use: |\Z)", re.M | re.S)
_PARAMETER = re.compile(r"^\s*\* (\w+): (.*)$", re.MULTILINE)
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_FOLDED = re.compile(r"<details>\s*<summary>(.*?)</summary>.*?</details>", re.DOTALL)
_QUOTED = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")


def read_markdown(text: str, build: Builder) -> None:
    """Fold an exported conversation into entries."""
    _header(text[:4000], build)
    turns = _turns(text)
    all_side = all(turn["side"] for turn in turns)
    build.meta.is_subagent = bool(turns) and all_side
    side_parent: EntryId | None = None
    for number, turn in enumerate(turns):
        end = turns[number + 1].start() if number + 1 < len(turns) else len(text)
        body = _without_rule(text[turn.end() : end])
        if not turn["side"] or all_side:
            _turn(turn, body, build)
            continue
        count, main = len(build.entries), (build.parent, build.model)
        build.parent = side_parent or build.parent
        _turn(turn, body, build)
        side_parent = build.parent
        build.parent, build.model = main
        _mark_side(build, count)
    _main_first(build)


def _turns(text: str) -> list[re.Match[str]]:
    """Where speakers change. A speaker's line within the output of a tool is part of that output."""
    blocks = [block for block in tool_blocks(text) if block.is_closed]
    starts = [block.start for block in blocks]
    turns: list[re.Match[str]] = []
    for turn in _SPEAKER.finditer(text):
        before = bisect_right(starts, turn.start()) - 1
        if before < 0 or blocks[before].end <= turn.start():
            turns.append(turn)
    return turns


def _turn(turn: re.Match[str], body: str, build: Builder) -> None:
    detail = turn["detail"] or ""
    if moment := _DATE.search(detail):
        build.at(_moment(moment[0]))
    if (turn["spec"] or turn["cursor"]) == "User":
        build.user(body)
        return
    model = _DATE.sub("", detail).partition(", mode ")[0].removeprefix("model ").strip()
    if model and model != "default" and not model[:1].isdigit():
        build.model = model
    _assistant(body, build)


def _mark_side(build: Builder, start: int) -> None:
    """What a sub-agent read and said stands beside the conversation."""
    for index in range(start, len(build.entries)):
        entry = build.entries[index]
        if isinstance(entry, ChainEntry):
            build.entries[index] = msgspec.structs.replace(entry, is_sidechain=True)


def _main_first(build: Builder) -> None:
    """The first entry tells whose conversation this is, so a sub-agent's never comes first."""
    places = [index for index, entry in enumerate(build.entries) if isinstance(entry, ChainEntry)]
    main = next((index for index in places if not _is_side(build.entries[index])), None)
    if main is not None and places[0] < main:
        build.entries.insert(places[0], build.entries.pop(main))


def _is_side(entry: Entry) -> bool:
    return isinstance(entry, ChainEntry) and entry.is_sidechain


def _header(head: str, build: Builder) -> None:
    if session := _SESSION.search(head):
        build.rename(session[1])
        build.at(_moment(session[2]))
    exported = _EXPORTED.search(head)
    if exported:
        month, day, year, clock, version = exported.groups()
        build.meta.version = version
        if int(month) > 12:
            month, day = day, month
        build.at(f"{year}-{int(month):02d}-{int(day):02d}T{clock.rjust(8, '0')}")
    if title := _TITLE.search(head):
        build.at(_moment(title[2] or ""))
        if _DATE.fullmatch(title[1]):
            build.at(_moment(title[1]))
        else:
            build.title(title[1])


def _moment(text: str) -> str:
    """`2025-10-14 22:25Z` as ISO time."""
    return text.strip().replace(" ", "T", 1)


def _without_rule(body: str) -> str:
    """Blocks are divided by a rule, which belongs to neither side."""
    body = body.strip()
    while body.endswith("\n---") or body == "---":
        body = body[:-3].rstrip()
    return body


def _assistant(body: str, build: Builder) -> None:
    build.end_reply()
    position = 0
    for block in tool_blocks(body):
        _prose(body[position : block.start], build)
        add_tool_use(block, build)
        position = block.end
    _prose(body[position:], build)


def _prose(body: str, build: Builder) -> None:
    """Words and thoughts, and the tool uses of older exports, which stand among them without a tag."""
    for thought in _THOUGHT.findall(body):
        build.reasoning(_SUMMARY_TAG.sub("", thought).strip())
    body = _THOUGHT.sub("", body)
    position = 0
    for tool in _TOOL.finditer(body):
        build.text(_words(body[position : tool.start()]))
        _tool(tool["name"].strip(), tool["body"], build)
        position = tool.end()
    build.text(_words(body[position:]))


def _words(text: str) -> str:
    """The answer without rules; of a folded block only its summary line stays."""
    text = _FOLDED.sub(lambda block: " ".join(block[1].split()), text)
    lines = [line for line in text.strip().split("\n") if line.strip() != "---"]
    return "\n".join(lines).strip()


def _tool(name: str, body: str, build: Builder) -> None:
    """A tool use as far as the export shows it: parameters, or what its summary line names."""
    head, _, result = body.partition("*Result*:")
    arguments: Json = dict(_PARAMETER.findall(head))
    summary = _SUMMARY.search(body)
    quoted = _QUOTED.findall(summary[1]) if summary else []
    todos = checklist(body) if "todo" in name.lower() else []
    if todos:
        arguments = {"todos": todos}
    elif not arguments and quoted:
        value = quoted[-1][0] or quoted[-1][1]
        arguments = {"command": value} if "terminal" in name else {"path": value, "query": value}
    call = build.call("", name, arguments)
    build.result(call, _SUMMARY_TAG.sub("", result or body).strip())


AGENT = "cursor"
_EXPORT_NAME = re.compile(r"cursor_\w+\.md$")


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Cursor's own home."""
    return (Path(env["CURSOR_CONFIG_DIR"]) if env.get("CURSOR_CONFIG_DIR") else user_home / ".cursor",)


def in_folder(folder: Path) -> tuple[Path, ...]:
    """SpecStory's histories and exported conversations in a working directory."""
    exports = tuple(path for path in entries_in(folder) if _EXPORT_NAME.match(path.name))
    return (folder / ".specstory", *exports)


def discover(home: Path) -> Iterator[ForeignSession]:
    """Agent transcripts below a Cursor home, SpecStory histories and exports below any folder, or one file."""
    if not home.is_dir():
        if home.suffix in (".md", ".jsonl", ".txt"):
            yield from found(AGENT, home, home.stem, cwd=_project(home))
        return
    for project in entries_in(home / "projects"):
        cwd = folder_of_slug(project.name)
        for path in below(project / "agent-transcripts", depth=2):
            if path.suffix in (".jsonl", ".txt"):
                is_subagent = "subagents" in path.parts
                yield from found(AGENT, path, path.stem, cwd=cwd, is_subagent=is_subagent)
    yield from _markdown(home / "history")
    if not (home / "projects").is_dir() and home.name != ".specstory":
        for path in below(home, depth=5):
            is_history = path.suffix == ".md" and path.parent.name == "history" and ".specstory" in path.parts
            if is_history or _EXPORT_NAME.match(path.name):
                yield from found(AGENT, path, path.stem, cwd=_project(path))
            elif path.suffix == ".jsonl" and "agent-transcripts" in path.parts:
                yield from found(AGENT, path, path.stem, cwd=_project(path), is_subagent="subagents" in path.parts)


def _markdown(folder: Path) -> Iterator[ForeignSession]:
    for path in entries_in(folder):
        if path.suffix == ".md":
            yield from found(AGENT, path, path.stem, cwd=_project(path))


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One conversation in any of the three forms."""
    source = Source(path)
    build = Builder(AGENT, path.stem)
    build.meta.cwd = _project(path)
    if path.suffix == ".md":
        read_markdown(source.text(), build)
    else:
        build.meta.is_subagent = "subagents" in path.parts
        for _, record in source.objects():
            _record(build, record)
    return build.transcript(path, source.problems)


def _project(path: Path) -> str:
    """The project of a file by its place: a SpecStory history lies in it, an agent's transcript below its name."""
    parts = path.parts
    if ".specstory" in parts[1:]:
        return str(Path(*parts[: parts.index(".specstory")]))
    if "agent-transcripts" in parts[2:]:
        return folder_of_slug(parts[parts.index("agent-transcripts") - 1])
    return ""


def _record(build: Builder, record: Json) -> None:
    message = as_dict(record.get("message"))
    content = message.get("content")
    build.at(record.get("timestamp"))
    match record.get("role"):
        case "user":
            for part in dicts(content):
                if part.get("type") == "tool_result":
                    text = text_of_content(part.get("content"))
                    failed = part.get("is_error") is True
                    build.result(as_str(part.get("tool_use_id")), text, is_error=failed)
            text = text_of_content(content)
            if text.strip():
                build.user(text)
        case "assistant":
            build.end_reply()
            build.model = as_str(message.get("model")) or build.model
            if isinstance(content, str):
                build.text(content)
            for part in as_list(content):
                _part(build, as_dict(part))
        case role:
            build.opaque(as_str(role) or as_str(record.get("type")), record)


def _part(build: Builder, part: Json) -> None:
    match part.get("type"):
        case "text":
            build.text(as_str(part.get("text")))
        case "thinking" | "reasoning":
            build.reasoning(first_str(part, "thinking", "text"))
        case "tool_use":
            build.call(as_str(part.get("id")), as_str(part.get("name")), as_dict(part.get("input")))
        case kind:
            build.opaque(f"part.{as_str(kind)}", part)
