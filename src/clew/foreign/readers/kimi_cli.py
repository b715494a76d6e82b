"""kimi-cli and Kimi Code: the model's context, the wire of events, and the state beside them."""

import re
from collections.abc import Iterator, Mapping
from hashlib import md5
from pathlib import Path

from clew.foreign.build import Builder
from clew.foreign.listing import entries_in, found
from clew.foreign.readers.chat_messages import assistant_message, content_text
from clew.foreign.readers.kimi_wire import Wire
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts
from clew.foreign.source import Source
from clew.foreign.tool_names import todo_items
from clew.foreign.user_text import UserText
from clew.protocol.usage import Usage

AGENT = "kimi_cli"
_SYSTEM = re.compile(r"\s*<system>(.*?)</system>\s*", re.DOTALL)
_SUB_CONTEXT = re.compile(r"_[a-z]+_\d+$")
_MAIN_FILES = ("wire.jsonl", "context.jsonl")


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where kimi-cli and Kimi Code keep their sessions."""
    first = Path(env["KIMI_SHARE_DIR"]) if env.get("KIMI_SHARE_DIR") else user_home / ".kimi"
    second = Path(env["KIMI_CODE_HOME"]) if env.get("KIMI_CODE_HOME") else user_home / ".kimi-code"
    return (first, second)


def discover(home: Path) -> Iterator[ForeignSession]:
    """Sessions of both programs below a home."""
    folders = _work_dirs(home)
    for project in entries_in(home / "sessions"):
        cwd = folders.get(project.name.rpartition("_")[2], "")
        for path in entries_in(project):
            if path.suffix == ".jsonl":
                yield from found(AGENT, path, path.stem, cwd=cwd, is_subagent=bool(_SUB_CONTEXT.search(path.stem)))
            elif (path / "agents").is_dir():
                yield from _kimi_code(path)
            else:
                yield from _session_folder(path, cwd)


def _session_folder(folder: Path, cwd: str) -> Iterator[ForeignSession]:
    for name in _MAIN_FILES:
        if (folder / name).is_file():
            yield from found(AGENT, folder / name, folder.name, cwd=cwd)
            break
    for path in entries_in(folder):
        if path.name.startswith("context_sub_"):
            yield from found(AGENT, path, path.stem, cwd=cwd, is_subagent=True, parent_session=folder.name)
    for path in entries_in(folder / "subagents"):
        wire = path / "wire.jsonl" if path.is_dir() else path
        if wire.suffix == ".jsonl":
            yield from found(AGENT, wire, path.stem, cwd=cwd, is_subagent=True, parent_session=folder.name)


def _kimi_code(folder: Path) -> Iterator[ForeignSession]:
    state = _state(folder)
    cwd, title = as_str(state.get("workDir")) or as_str(state.get("cwd")), as_str(state.get("title"))
    for path in entries_in(folder / "agents"):
        is_main = path.name == "main"
        yield from found(
            AGENT,
            path / "wire.jsonl",
            folder.name if is_main else f"{folder.name}/{path.name}",
            cwd=cwd,
            title=title if is_main else "",
            is_subagent=not is_main,
            parent_session="" if is_main else folder.name,
        )


def _work_dirs(home: Path) -> dict[str, str]:
    """kimi-cli names a project's folder by the md5 of its path; `kimi.json` knows the paths."""
    known = home / "kimi.json"
    if not known.is_file():
        return {}
    source = Source(known)
    paths = [as_str(item.get("path")) for item in dicts(as_dict(source.value()).get("work_dirs"))]
    return {md5(path.encode(), usedforsecurity=False).hexdigest(): path for path in paths if path}


def _state(folder: Path) -> Json:
    path = folder / "state.json"
    source = Source(path)
    return as_dict(source.value()) if path.is_file() else {}


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One session: the wire tells more than the context, so it is read where both lie side by side."""
    folder = path if path.is_dir() else path.parent
    body = _body(path)
    name = _session_name(body or path)
    source = Source(body or path)
    build = Builder(AGENT, name)
    session_folder = folder.parent.parent if folder.parent.name == "agents" else folder
    state = _state(session_folder) if path.name != "state.json" or path.is_file() else {}
    build.meta.cwd = as_str(state.get("workDir")) or as_str(state.get("cwd"))
    build.meta.is_subagent = (folder.parent.name == "agents" and folder.name != "main") or bool(
        _SUB_CONTEXT.search(path.stem)
    )
    build.meta.parent_session = session_folder.name if session_folder is not folder else ""
    if body is not None:
        _read_body(body, build, source)
    if not build.meta.is_subagent:
        _apply_state(build, state)
    return build.transcript(path, source.problems)


def _body(path: Path) -> Path | None:
    """The file that holds the conversation, for any of the files of a session."""
    if not path.is_dir() and path.name not in ("state.json", "context.jsonl"):
        return path
    folder = path if path.is_dir() else path.parent
    for candidate in (folder / "agents" / "main" / "wire.jsonl", folder / "wire.jsonl", folder / "context.jsonl"):
        if candidate.is_file():
            return candidate
    return None


def _session_name(path: Path) -> str:
    if path.name not in (*_MAIN_FILES, "state.json"):
        return path.stem
    folder = path.parent
    if folder.parent.name == "agents":
        session = folder.parent.parent.name
        return session if folder.name == "main" else f"{session}/{folder.name}"
    return folder.name


def _read_body(path: Path, build: Builder, source: Source) -> None:
    wire = Wire(build)
    for _, record in source.objects():
        if "role" in record:
            _context_message(build, record)
        else:
            wire.record(record)
    wire.finish()


def _apply_state(build: Builder, state: Json) -> None:
    title = as_str(state.get("custom_title")) or as_str(state.get("title"))
    by_user = bool(state.get("custom_title")) and state.get("title_generated") is not True
    build.title(title, by_user=by_user or state.get("isCustomTitle") is True)
    todos = todo_items(state.get("todos"))
    if todos:
        call = build.call("", "TodoWrite", {"todos": todos})
        build.result(call, "Todo list updated")


def _context_message(build: Builder, message: Json) -> None:
    match message.get("role"):
        case "user":
            text = content_text(message.get("content"))
            generated = _SYSTEM.fullmatch(text)
            build.user(text, reading=UserText("meta", generated[1].strip()) if generated else None)
        case "assistant":
            assistant_message(build, message)
        case "tool":
            text = content_text(message.get("content"))
            build.result(as_str(message.get("tool_call_id")), text, is_error=text.startswith("<system>ERROR"))
        case "_usage":
            build.usage(Usage(input_tokens=as_int(message.get("token_count"))))
        case "_system_prompt" | "_checkpoint" | "system":
            return
        case role:
            build.opaque(as_str(role), message)
