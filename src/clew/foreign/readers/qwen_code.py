"""Qwen Code: a Claude-like tree of records with Gemini contents; its first versions wrote Gemini's files."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from clew.foreign.build import Builder
from clew.foreign.listing import entries_in, found
from clew.foreign.readers import gemini_cli
from clew.foreign.readers.gemini_results import function_response
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts, first_str, text_of_content
from clew.foreign.source import Source
from clew.foreign.user_text import UserText, read_user_text
from clew.protocol.usage import Usage

AGENT = "qwen_code"
_LEAF_TYPES = ("user", "assistant", "tool_result")
_QUIET = ("ui_telemetry", "attribution_snapshot", "file_history_snapshot", "session_artifact_snapshot", "at_command")
_NOT_TYPED = ("notification", "cron")


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where Qwen Code keeps its sessions; `QWEN_RUNTIME_DIR` moves them alone, `QWEN_HOME` everything."""
    for name in ("QWEN_RUNTIME_DIR", "QWEN_HOME"):
        if env.get(name):
            return (Path(env[name]),)
    return (user_home / ".qwen",)


def discover(home: Path) -> Iterator[ForeignSession]:
    """The chats of every project, and the old Gemini layout."""
    for project in entries_in(home / "projects"):
        for path in entries_in(project / "chats"):
            if path.suffix == ".jsonl":
                yield from found(AGENT, path, path.stem)
    yield from gemini_cli.discover_chats(AGENT, home)


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One chat: the branch that ends at the last message."""
    if path.suffix == ".json":
        return gemini_cli.read(path, agent=agent)
    source = Source(path)
    records = [record for _, record in source.objects()]
    if not any("uuid" in record for record in records):
        return gemini_cli.read(path, agent=agent)
    session = next((as_str(record.get("sessionId")) for record in records if record.get("sessionId")), path.stem)
    build = Builder(agent, session, started=records[0].get("timestamp"))
    for record in _in_view(records, source):
        build.at(record.get("timestamp"))
        build.meta.branch = as_str(record.get("gitBranch")) or build.meta.branch
        build.meta.version = as_str(record.get("version")) or build.meta.version
        _record(build, record)
    return build.transcript(path, source.problems)


def _in_view(records: list[Json], source: Source) -> list[Json]:
    """The ancestors of the last message, in file order, with the notes that hang on them."""
    parents: dict[str, str] = {}
    previous = leaf = ""
    for record in records:
        uuid = as_str(record.get("uuid"))
        if not uuid:
            continue
        parent = record.get("parentUuid") if "parentUuid" in record else previous
        parents.setdefault(uuid, as_str(parent))
        if record.get("type") in _LEAF_TYPES or record.get("subtype") in ("rewind", "chat_compression"):
            leaf = uuid
        previous = uuid
    view: set[str] = set()
    while leaf and leaf not in view:
        view.add(leaf)
        parent = parents.get(leaf, "")
        if parent and parent not in parents:
            source.note("orphan", 0, f"{leaf} names a parent that is not in the file")
        leaf = parent
    kept: list[Json] = []
    for record in records:
        uuid = as_str(record.get("uuid"))
        if not uuid or uuid in view:
            kept.append(record)
        elif record.get("type") == "system" and as_str(record.get("parentUuid")) in view:
            view.add(uuid)
            kept.append(record)
    return kept


def _record(build: Builder, record: Json) -> None:
    message = as_dict(record.get("message"))
    match record.get("type"):
        case "user":
            build.meta.cwd = as_str(record.get("cwd")) or build.meta.cwd
            _user(build, record, message)
        case "assistant":
            build.meta.cwd = as_str(record.get("cwd")) or build.meta.cwd
            _assistant(build, record, message)
        case "tool_result":
            outcome = as_dict(record.get("toolCallResult"))
            for part in dicts(message.get("parts")):
                if response := as_dict(part.get("functionResponse")):
                    status, display = as_str(outcome.get("status")), outcome.get("resultDisplay")
                    function_response(build, response, status=status, display=display)
        case "system":
            _system(build, as_str(record.get("subtype")), as_dict(record.get("systemPayload")), record)
        case kind:
            build.opaque(as_str(kind), record)


def _user(build: Builder, record: Json, message: Json) -> None:
    whole = text_of_content(message.get("parts"), joint="")
    text = as_str(as_dict(record.get("systemPayload")).get("displayText")) or whole
    reading = UserText("meta", text) if record.get("subtype") in _NOT_TYPED else read_user_text(text)
    build.user(text, reading=reading)


def _assistant(build: Builder, record: Json, message: Json) -> None:
    build.model = as_str(record.get("model")) or build.model
    build.end_reply()
    for part in dicts(message.get("parts")):
        text = as_str(part.get("text"))
        if call := as_dict(part.get("functionCall")):
            build.call(first_str(call, "id", "name"), as_str(call.get("name")), as_dict(call.get("args")))
        elif part.get("thought"):
            build.reasoning(text)
        else:
            build.text(text)
    if usage := as_dict(record.get("usageMetadata")):
        cached = as_int(usage.get("cachedContentTokenCount"))
        build.usage(
            Usage(
                input_tokens=max(0, as_int(usage.get("promptTokenCount")) - cached),
                output_tokens=as_int(usage.get("candidatesTokenCount")) + as_int(usage.get("thoughtsTokenCount")),
                cache_read_input_tokens=cached,
            )
        )


def _system(build: Builder, subtype: str, payload: Json, record: Json) -> None:
    match subtype:
        case "custom_title":
            build.title(as_str(payload.get("customTitle")), by_user=payload.get("titleSource") == "manual")
        case "chat_compression":
            history = [text_of_content(item.get("parts")) for item in dicts(payload.get("compressedHistory"))]
            build.boundary(as_str(payload.get("summary")) or next((text for text in history if text), ""))
        case "turn_result":
            _turn_result(build, payload)
        case "slash_command":
            if payload.get("phase") != "result":
                build.system("informational", as_str(payload.get("rawCommand")))
        case "parent_session":
            build.meta.parent_session = first_str(payload, "parentSessionId", "sessionId")
        case "session_model":
            build.model = first_str(payload, "model", "modelId") or build.model
        case "ui_telemetry":
            event = as_dict(payload.get("uiEvent"))
            if as_str(event.get("event.name")).endswith("api_error"):
                build.error(first_str(event, "error", "error_message") or "API error", ends_turn=False)
        case _ if subtype in _QUIET or subtype == "rewind":
            return
        case _:
            build.opaque(f"system.{subtype}", record)


def _turn_result(build: Builder, payload: Json) -> None:
    state = as_str(payload.get("state"))
    if state == "cancelled":
        build.system("interrupted", "The user cancelled the turn.")
    elif state == "error":
        build.error(first_str(payload, "error", "message") or "The turn ended in an error.")
    else:
        build.turn_result(state or "completed", 0, duration_ms=as_int(payload.get("durationMs")))
