"""GitHub Copilot CLI: the event log of a session."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from clew.foreign.build import Builder
from clew.foreign.listing import entries_in, found
from clew.foreign.readers.chat_messages import arguments_of
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_str, dicts, first_str
from clew.foreign.source import Source
from clew.protocol.usage import Usage

AGENT = "copilot_cli"
_QUIET = (
    "hook.",
    "assistant.turn",
    "session.info",
    "system.",
    "session.shutdown",
    "session.auto_mode",
    "session.usage",
)


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where Copilot CLI keeps its sessions."""
    return (Path(env["COPILOT_HOME"]),) if env.get("COPILOT_HOME") else (user_home / ".copilot",)


def discover(home: Path) -> Iterator[ForeignSession]:
    """All sessions, in the folder layout and the older flat one."""
    for path in entries_in(home / "session-state"):
        if path.suffix == ".jsonl":
            yield from found(AGENT, path, path.stem)
        else:
            yield from found(AGENT, path / "events.jsonl", path.name)


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One session."""
    if path.is_dir():
        path = path / "events.jsonl"
    source = Source(path)
    build = Builder(AGENT, path.parent.name if path.name == "events.jsonl" else path.stem)
    started: set[str] = set()
    for _, event in source.objects():
        build.at(event.get("timestamp"))
        _event(build, as_str(event.get("type")), as_dict(event.get("data")), event, started)
    return build.transcript(path, source.problems)


def _event(build: Builder, kind: str, data: Json, event: Json, started: set[str]) -> None:
    match kind:
        case "session.start" | "session.resume":
            context = as_dict(data.get("context"))
            build.rename(as_str(data.get("sessionId")))
            build.model = as_str(data.get("selectedModel")) or build.model
            build.meta.cwd = as_str(context.get("cwd")) or build.meta.cwd
            build.meta.branch = as_str(context.get("branch")) or build.meta.branch
            build.meta.version = as_str(data.get("copilotVersion")) or build.meta.version
        case "user.message":
            build.user(first_str(data, "content", "transformedContent"))
        case "assistant.message":
            build.model = as_str(data.get("model")) or build.model
            build.end_reply()
            build.reasoning(first_str(data, "reasoningText", "reasoning"))
            build.text(as_str(data.get("content")))
            for request in dicts(data.get("toolRequests")):
                _call(build, as_str(request.get("toolCallId")), as_str(request.get("name")), request, started)
            if isinstance(data.get("outputTokens"), int):
                build.usage(Usage(output_tokens=data["outputTokens"]))
        case "tool.execution_start":
            _call(build, as_str(data.get("toolCallId")), as_str(data.get("toolName")), data, started)
        case "tool.execution_complete":
            result = as_dict(data.get("result"))
            text = first_str(result, "content", "detailedContent") or as_str(as_dict(data.get("error")).get("message"))
            build.result(as_str(data.get("toolCallId")), text, is_error=data.get("success") is False)
        case "session.error" | "model.call_failure":
            build.error(first_str(data, "message", "errorMessage") or "error", kind=as_str(data.get("errorType")))
        case "abort" | "session.abort":
            build.system("interrupted", first_str(data, "reason") or "interrupted")
        case "session.model_change":
            build.model = first_str(data, "newModel", "model") or build.model
        case "session.title_changed":
            build.title(as_str(data.get("title")))
        case "session.compaction_complete":
            build.boundary(first_str(data, "summaryContent", "summary"))
        case _ if kind.startswith(_QUIET):
            return
        case _:
            build.opaque(kind, event)


def _call(build: Builder, call_id: str, name: str, holder: Json, started: set[str]) -> None:
    """A call is announced by the reply and again when it starts, in either order."""
    if call_id not in started:
        started.add(call_id)
        arguments, raw = arguments_of(holder.get("arguments"))
        build.call(call_id, name, arguments, raw=raw)
