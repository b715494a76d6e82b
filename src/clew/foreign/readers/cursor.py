"""Cursor: transcripts of its agent, exports of its editor, and SpecStory's Markdown histories."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from clew.foreign.build import Builder
from clew.foreign.listing import below, entries_in, folder_of_slug, found
from clew.foreign.readers.cursor_markdown import read_markdown
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_list, as_str, dicts, first_str, text_of_content
from clew.foreign.source import Source

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
