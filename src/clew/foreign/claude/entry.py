"""Claude-shaped lines that do not fit our types exactly: other versions, missing fields, parts of unknown kinds."""

from typing import Any, cast

import msgspec

from clew.foreign.shapes import Json, as_dict, as_int, as_list, as_str, dicts, iso_time
from clew.protocol.entries import (
    AssistantEntry,
    ChainEntry,
    Entry,
    KnownEntry,
    OpaqueEntry,
    SystemEntry,
    UserEntry,
)
from clew.protocol.ids import AgentId, CallId, EntryId, MessageId, SessionId
from clew.protocol.messages import (
    AssistantMessage,
    ImagePart,
    MediaSource,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from clew.protocol.usage import Usage

_CHAIN_TYPES = ("user", "assistant", "system", "attachment", "progress", "tool_use", "tool_result")


class Lenient:
    """Fills what a line lacks from the lines before it: session, time, parent, cwd."""

    def __init__(self, session_id: str) -> None:
        self._session = session_id
        self._time = "1970-01-01T00:00:00.000Z"
        self._cwd = ""
        self._previous: EntryId | None = None
        self._count = 0

    def saw(self, entry: Entry) -> None:
        """An entry that decoded as it stands."""
        if isinstance(entry, ChainEntry):
            self._session, self._time = entry.session_id, entry.timestamp
            self._cwd = entry.cwd or self._cwd
            self._previous = entry.uuid

    def entry(self, raw: Json) -> Entry:
        """The nearest entry of ours; a line of an unknown type stays as it is."""
        kind = as_str(raw.get("type"))
        if kind not in _CHAIN_TYPES:
            return self._keyed(kind, raw)
        self._count += 1
        fields = self._chain(raw)
        entry = _chain_entry(kind, raw, fields)
        self.saw(entry)
        return entry

    def _keyed(self, kind: str, raw: Json) -> Entry:
        if not kind:
            return OpaqueEntry(type="unknown", raw=raw)
        filled = {"sessionId": self._session, "timestamp": self._time, **raw}
        try:
            return cast(Entry, msgspec.convert(filled, KnownEntry))
        except (msgspec.ValidationError, RecursionError):
            return OpaqueEntry(type=kind, raw=raw)

    def _chain(self, raw: Json) -> Json:
        uuid = as_str(raw.get("uuid")) or f"{self._session}-line-{self._count}"
        parent = raw.get("parentUuid") if "parentUuid" in raw else self._previous
        logical = raw.get("logicalParentUuid")
        agent = raw.get("agentId")
        return {
            "session_id": SessionId(as_str(raw.get("sessionId")) or self._session),
            "timestamp": iso_time(raw.get("timestamp")) or self._time,
            "uuid": EntryId(uuid),
            "parent_uuid": EntryId(parent) if isinstance(parent, str) else None,
            "logical_parent_uuid": EntryId(logical) if isinstance(logical, str) else None,
            "is_sidechain": raw.get("isSidechain") is True,
            "user_type": as_str(raw.get("userType")) or "external",
            "cwd": as_str(raw.get("cwd")) or as_str(raw.get("project")) or self._cwd,
            "version": as_str(raw.get("version")),
            "git_branch": as_str(raw.get("gitBranch")),
            "agent_id": AgentId(agent) if isinstance(agent, str) else None,
        }


def _chain_entry(kind: str, raw: Json, fields: Json) -> Entry:
    message = as_dict(raw.get("message"))
    if kind == "user":
        return UserEntry(
            **fields,
            message=UserMessage(content=content_of(message.get("content"))),
            is_meta=raw.get("isMeta") is True,
            is_compact_summary=raw.get("isCompactSummary") is True,
            tool_use_result=raw.get("toolUseResult"),
        )
    if kind == "assistant":
        content = content_of(message.get("content"))
        parts = ((TextPart(text=content),) if content else ()) if isinstance(content, str) else content
        return AssistantEntry(
            **fields,
            message=_assistant_message(message, parts, fields["uuid"]),
            request_id=as_str(raw.get("requestId")),
            is_api_error_message=raw.get("isApiErrorMessage") is True,
            error=as_str(raw.get("error")),
        )
    if kind == "tool_use":
        call = ToolCallPart(
            id=CallId(as_str(raw.get("id")) or fields["uuid"]),
            name=as_str(raw.get("name")),
            arguments=as_dict(raw.get("input")),
        )
        return AssistantEntry(**fields, message=_assistant_message(message, (call,), fields["uuid"]))
    if kind == "tool_result":
        call_id = as_str(raw.get("tool_use_id")) or as_str(fields["parent_uuid"])
        text = as_str(raw.get("output")) or as_str(raw.get("content"))
        result = ToolResultPart(call_id=CallId(call_id), content=text, is_error=raw.get("is_error") is True)
        return UserEntry(**fields, message=UserMessage(content=(result,)))
    if kind == "system":
        return _system_entry(raw, fields)
    try:
        return cast(Entry, msgspec.convert({**raw, **_camel(fields)}, KnownEntry))
    except (msgspec.ValidationError, RecursionError):
        return OpaqueEntry(type=kind, raw=raw)


def _camel(fields: Json) -> Json:
    names = {"session_id": "sessionId", "parent_uuid": "parentUuid", "is_sidechain": "isSidechain"}
    names |= {"user_type": "userType", "git_branch": "gitBranch"}
    kept = (
        "session_id",
        "timestamp",
        "uuid",
        "parent_uuid",
        "is_sidechain",
        "user_type",
        "cwd",
        "version",
        "git_branch",
    )
    return {names.get(key, key): fields[key] for key in kept}


def _system_entry(raw: Json, fields: Json) -> SystemEntry:
    compact = raw.get("compactMetadata")
    extra = {key: raw[key] for key in ("error", "retryAttempt", "maxRetries", "hookErrors") if key in raw} or None
    duration = raw.get("durationMs")
    return SystemEntry(
        **fields,
        subtype=as_str(raw.get("subtype")) or "informational",
        content=as_str(raw.get("content")),
        level=as_str(raw.get("level")) or "info",
        is_meta=raw.get("isMeta") is True,
        compact_metadata=as_dict(compact) or None,
        duration_ms=as_int(duration) if duration is not None else None,
        data=extra,
    )


def _assistant_message(message: Json, parts: tuple[Part, ...], uuid: str) -> AssistantMessage:
    usage = as_dict(message.get("usage"))
    stop = message.get("stop_reason")
    return AssistantMessage(
        id=MessageId(as_str(message.get("id")) or f"msg_{uuid}"),
        model=as_str(message.get("model")),
        content=parts,
        stop_reason=stop if isinstance(stop, str) else None,
        usage=usage_of(usage) if usage else None,
    )


def usage_of(raw: Json) -> Usage:
    """Anthropic's token counts."""
    return Usage(
        input_tokens=as_int(raw.get("input_tokens")),
        output_tokens=as_int(raw.get("output_tokens")),
        cache_creation_input_tokens=as_int(raw.get("cache_creation_input_tokens")),
        cache_read_input_tokens=as_int(raw.get("cache_read_input_tokens")),
    )


def content_of(content: Any) -> str | tuple[Part, ...]:
    """A message's content as text or parts, whatever its shape."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    return tuple(_part(item) for item in dicts(content)) + tuple(
        TextPart(text=item) for item in as_list(content) if isinstance(item, str)
    )


def _part(raw: Json) -> Part:
    try:
        return cast(Part, msgspec.convert(raw, Part))
    except (msgspec.ValidationError, RecursionError):
        pass
    match raw.get("type"):
        case "tool_use" | "server_tool_use":
            arguments = as_dict(raw.get("input"))
            return ToolCallPart(id=CallId(as_str(raw.get("id"))), name=as_str(raw.get("name")), arguments=arguments)
        case "tool_result" | "web_search_tool_result":
            text = _words(raw.get("content"))
            call_id = CallId(as_str(raw.get("tool_use_id")))
            return ToolResultPart(call_id=call_id, content=text, is_error=raw.get("is_error") is True)
        case "thinking":
            return ReasoningPart(text=as_str(raw.get("thinking")), signature=as_str(raw.get("signature")))
        case "image":
            source = as_dict(raw.get("source"))
            media = as_str(source.get("media_type"))
            return ImagePart(source=MediaSource(type="base64", media_type=media, data=as_str(source.get("data"))))
        case kind:
            return TextPart(text=_words(raw) or f"[{as_str(kind) or 'unknown'} part]")


def _words(content: Any, depth: int = 0) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return as_str(cast(Json, content).get("text"))
    # Nobody nests words this deep; a hostile file does, to exhaust the stack.
    return "\n".join(_words(item, depth + 1) for item in as_list(content)) if depth < 8 else ""
