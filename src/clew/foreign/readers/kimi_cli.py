"""kimi-cli and Kimi Code: the model's context, the wire of events, and the state beside them.

The wires of kimi-cli (enveloped messages) and Kimi Code (flat records), folded into entries.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import md5
from pathlib import Path
from typing import Any

from clew.foreign.build import Builder
from clew.foreign.listing import entries_in, found
from clew.foreign.readers.chat_messages import arguments_of, assistant_message, content_text
from clew.foreign.repeats import Repeats
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts, first_str
from clew.foreign.source import Source
from clew.foreign.tool_names import todo_items
from clew.foreign.user_text import UserText, read_user_text
from clew.protocol.usage import Usage

_QUIET = (
    "metadata",
    "StepBegin",
    "HookTriggered",
    "HookResolved",
    "ToolCallPart",
    "ApprovalResponse",
    "ApprovalRequestResolved",
    "MCPLoadingBegin",
    "MCPLoadingEnd",
    "llm.request",
    "llm.tools_snapshot",
    "mcp.tools_discovered",
    "usage.record",
    "turn.ended",
    "tools.set_active_tools",
    "permission.set_mode",
)


class KimiWire:
    """Takes records of either program, one at a time."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self._repeats = Repeats()
        self._open_turn = False
        self._turns = 0

    def record(self, record: Json) -> None:
        """One line of a wire."""
        self.build.at(record.get("timestamp") or record.get("time") or record.get("created_at"))
        message = as_dict(record.get("message"))
        if "payload" in message:
            self._message(as_str(message.get("type")), as_dict(message.get("payload")), record)
        else:
            self._flat(as_str(record.get("type")), record)

    def finish(self) -> None:
        """kimi-cli since 1.9 ends each turn; one without an end was cut off."""
        if self._open_turn and self._turns > 0:
            self.build.system("interrupted", "The session ended in the middle of a turn.", data={"kind": "cut_off"})

    def _message(self, kind: str, payload: Json, record: Json) -> None:
        build = self.build
        match kind:
            case "TurnBegin" | "SteerInput":
                self._user(payload.get("user_input", payload.get("content")), "turn")
                self._open_turn = True
            case "TurnEnd":
                self._open_turn = False
                self._turns += 1
                build.turn_result("completed", self._turns)
            case "StepInterrupted":
                self._open_turn = False
                build.system("interrupted", "The user interrupted the step.")
            case "ContentPart":
                self._part(payload)
            case "ToolCall":
                function = as_dict(payload.get("function"))
                self._call(as_str(payload.get("id")), as_str(function.get("name")), function.get("arguments"))
            case "ToolResult":
                self._result(as_str(payload.get("tool_call_id")), as_dict(payload.get("return_value")) or payload)
            case "StatusUpdate":
                self._usage(as_dict(payload.get("token_usage")))
            case "CompactionEnd":
                build.boundary("")
            case "CompactionBegin" | "ApprovalRequest" | "SubagentEvent":
                build.opaque(kind, record)
            case _ if kind in _QUIET:
                return
            case _:
                build.opaque(kind, record)

    def _flat(self, kind: str, record: Json) -> None:
        build = self.build
        match kind:
            case "config.update":
                build.meta.cwd = as_str(record.get("cwd")) or build.meta.cwd
                build.model = first_str(record, "model", "modelAlias", "modelId") or build.model
                build.meta.agent_name = as_str(record.get("profileName")) or build.meta.agent_name
            case "turn.prompt" | "turn.steer":
                self._user(record.get("input"), "turn", origin=as_dict(record.get("origin")))
            case "turn.cancel":
                build.system("interrupted", "The user cancelled the turn.")
            case "context.append_message":
                self._append(as_dict(record.get("message")))
            case "context.append_loop_event":
                self._loop_event(as_dict(record.get("event")), record)
            case "context.apply_compaction":
                before, after = as_int(record.get("tokensBefore")), as_int(record.get("tokensAfter"))
                build.boundary(as_str(record.get("summary")), preTokens=before, postTokens=after)
                self._repeats.forget()
            case "context.clear":
                build.boundary("", cleared=True)
                self._repeats.forget()
            case "context.undo":
                build.undo(max(1, as_int(record.get("count"))))
            case _ if kind in _QUIET:
                return
            case _:
                build.opaque(kind, record)

    def _user(self, content: Any, source: str, *, origin: Json | None = None) -> None:
        text = content_text(content)
        reading = read_user_text(text)
        if origin and as_str(origin.get("kind")) not in ("", "user", "human"):
            reading = UserText("meta", text)
        if text.strip() and self._repeats.is_new("user", reading.text.strip(), source):
            self.build.user(text, reading=reading)

    def _append(self, message: Json) -> None:
        match message.get("role"):
            case "user":
                self._user(message.get("content"), "message", origin=as_dict(message.get("origin")))
            case "assistant":
                assistant_message(self.build, message)
            case "tool":
                call_id = first_str(message, "toolCallId", "tool_call_id")
                self.build.result(call_id, content_text(message.get("content")))
            case role:
                self.build.opaque(as_str(role), message)

    def _loop_event(self, event: Json, record: Json) -> None:
        match event.get("type"):
            case "step.begin":
                self.build.end_reply()
            case "content.part":
                self._part(as_dict(event.get("part")))
            case "tool.call":
                self._call(first_str(event, "toolCallId", "id"), as_str(event.get("name")), event.get("args"))
            case "tool.result":
                self._result(first_str(event, "toolCallId", "id"), as_dict(event.get("result")))
            case "step.end":
                self._usage(as_dict(event.get("usage")))
            case kind:
                self.build.opaque(f"loop_event.{as_str(kind)}", record)

    def _part(self, part: Json) -> None:
        if part.get("type") == "text":
            self.build.text(as_str(part.get("text")))
        elif part.get("type") in ("think", "thinking"):
            self.build.reasoning(first_str(part, "think", "thinking", "text"))

    def _call(self, call_id: str, name: str, value: Any) -> None:
        arguments, raw = arguments_of(value)
        self.build.call(call_id, name, arguments, raw=raw)

    def _result(self, call_id: str, value: Json) -> None:
        output = content_text(value.get("output")) or content_text(value.get("content"))
        text = "\n".join(piece for piece in (as_str(value.get("message")), output) if piece)
        is_error = value.get("is_error") is True or value.get("isError") is True
        self.build.result(call_id, text, is_error=is_error, exit_code=_exit_code(value))

    def _usage(self, tokens: Json) -> None:
        if tokens:
            self.build.usage(
                Usage(
                    input_tokens=as_int(tokens.get("input_other") or tokens.get("inputOther")),
                    output_tokens=as_int(tokens.get("output")),
                    cache_read_input_tokens=as_int(tokens.get("input_cache_read") or tokens.get("inputCacheRead")),
                    cache_creation_input_tokens=as_int(
                        tokens.get("input_cache_creation") or tokens.get("inputCacheCreation")
                    ),
                )
            )


def _exit_code(value: Json) -> int | None:
    """Shell results name their exit code in `extras`, or in a sentence."""
    code = as_dict(value.get("extras")).get("exit_code")
    if isinstance(code, int):
        return code
    message = as_str(value.get("message"))
    _, found, rest = message.partition("exit code: ")
    digits = rest.split(".")[0].strip() if found else ""
    return int(digits) if digits.isdigit() else None


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
    wire = KimiWire(build)
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
