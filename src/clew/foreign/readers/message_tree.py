"""The log that Pi, OpenClaw and Factory Droid share: a header, then entries with `parentId` that hold messages."""

from pathlib import Path

from clew.foreign.build import Builder
from clew.foreign.session import ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts, first_str, text_of_content
from clew.foreign.source import Source
from clew.protocol.usage import Usage

_QUIET = ("thinking_level_change", "label", "custom", "session_end", "todo_state")


def read_tree(path: Path, agent: str) -> ForeignTranscript:
    """One session: the branch that ends at the last message, or all of it where parents do not resolve."""
    source = Source(path)
    records = [record for _, record in source.objects()]
    build = Builder(agent, path.stem)
    view = _in_view(records)
    for record in records:
        if record.get("type") == "message" and view is not None and record.get("id") not in view:
            continue
        build.at(record.get("timestamp"))
        _record(build, as_str(record.get("type")), record)
    return build.transcript(path, source.problems)


def _in_view(records: list[Json]) -> set[str] | None:
    parents = {record["id"]: as_str(record.get("parentId")) for record in records if as_str(record.get("id"))}
    leaf = next((as_str(r.get("id")) for r in reversed(records) if r.get("type") == "message"), "")
    view: set[str] = set()
    while leaf:
        if leaf in view or leaf not in parents:
            return None
        view.add(leaf)
        leaf = parents[leaf]
    return view


def _record(build: Builder, kind: str, record: Json) -> None:
    match kind:
        case "session" | "session_start":
            build.rename(as_str(record.get("id")))
            build.meta.cwd = as_str(record.get("cwd"))
            build.meta.version = as_str(record.get("version"))
            build.model = as_str(record.get("modelId"))
            build.meta.parent_session = as_str(record.get("parentSession"))
            build.title(first_str(record, "sessionTitle", "title"))
        case "message":
            _message(build, as_dict(record.get("message")), record)
        case "model_change":
            build.model = as_str(record.get("modelId")) or build.model
        case "session_info":
            build.title(as_str(record.get("name")), by_user=True)
        case "compaction" | "compaction_state" | "branch_summary":
            build.boundary(first_str(record, "summary", "summaryText"), preTokens=as_int(record.get("tokensBefore")))
        case "custom_message":
            build.meta_text(text_of_content(record.get("content")))
        case _ if kind in _QUIET:
            return
        case _:
            build.opaque(kind, record)


def _message(build: Builder, message: Json, record: Json) -> None:
    content = message.get("content")
    match message.get("role"):
        case "user":
            for part in dicts(content):
                if part.get("type") == "tool_result":
                    text = text_of_content(part.get("content"))
                    failed = part.get("is_error") is True or text.startswith("Error: Command failed")
                    build.result(as_str(part.get("tool_use_id")), text, is_error=failed)
            text = text_of_content(content)
            if text.strip():
                build.user(text)
        case "assistant":
            _reply(build, message)
        case "toolResult":
            text = text_of_content(content)
            build.result(as_str(message.get("toolCallId")), text, is_error=message.get("isError") is True)
        case "bashExecution":
            # A command the user ran from the prompt: shown, and no request to the model.
            build.meta_text(f"! {as_str(message.get('command'))}\n{as_str(message.get('output'))}")
        case role:
            build.opaque(f"message.{as_str(role)}", record)


def _reply(build: Builder, message: Json) -> None:
    build.model = as_str(message.get("model")) or build.model
    build.end_reply()
    content = message.get("content")
    if isinstance(content, str):
        build.text(content)
    for part in dicts(content):
        match part.get("type"):
            case "text":
                build.text(as_str(part.get("text")))
            case "thinking":
                build.reasoning(as_str(part.get("thinking")))
            case "toolCall" | "tool_use":
                arguments = as_dict(part.get("arguments") or part.get("input"))
                build.call(as_str(part.get("id")), as_str(part.get("name")), arguments)
            case kind:
                build.opaque(f"part.{as_str(kind)}", part)
    if usage := as_dict(message.get("usage")):
        build.usage(
            Usage(
                input_tokens=as_int(usage.get("input")),
                output_tokens=as_int(usage.get("output")),
                cache_read_input_tokens=as_int(usage.get("cacheRead")),
                cache_creation_input_tokens=as_int(usage.get("cacheWrite")),
            )
        )
    if message.get("stopReason") == "aborted":
        build.system("interrupted", as_str(message.get("errorMessage")) or "aborted")
    elif message.get("stopReason") == "error":
        build.error(as_str(message.get("errorMessage")) or "error")
