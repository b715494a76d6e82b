"""Entries of other versions and programs: what can be understood is, the rest is kept as words."""

from typing import Any, cast, get_args

import msgspec

from clew.protocol.entries import ChainEntry, KnownEntry
from clew.protocol.messages import Part, ResultContent

TYPES: dict[str, type[msgspec.Struct]] = {str(cls.__struct_config__.tag): cls for cls in get_args(KnownEntry)}
KNOWN_TYPES = frozenset(TYPES)
CHAIN_TYPES = frozenset(tag for tag, cls in TYPES.items() if issubclass(cls, ChainEntry))

_CHAIN_DEFAULTS: dict[str, Any] = {
    "parentUuid": None,
    "isSidechain": False,
    "userType": "external",
    "cwd": "",
    "version": "",
    "sessionId": "",
    "timestamp": "",
}
_OPTIONAL_CHAIN = ("logicalParentUuid", "gitBranch", "agentId", "forkedFrom")
_USAGE_FIELDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def lenient_entry(kind: str, value: dict[str, Any]) -> KnownEntry | None:
    """The entry with defaults for what is missing and placeholders for parts of unknown types; None if hopeless."""
    data = dict(value)
    if kind in CHAIN_TYPES:
        _fill_chain(data)
    if kind in {"user", "assistant"}:
        data["message"] = _message(kind, data)
    elif kind == "system":
        data["subtype"] = data["subtype"] if isinstance(data.get("subtype"), str) else ""
        if not isinstance(data.get("content"), str):
            data["content"] = _words(data.get("content"))
    elif kind == "attachment":
        data.setdefault("attachment", None)
    data.setdefault("sessionId", "")
    data.setdefault("timestamp", "")
    return _convert(kind, data)


def _convert(kind: str, data: dict[str, Any]) -> KnownEntry | None:
    # An optional field of the wrong type costs that field, not the entry.
    for _ in range(len(data) + 1):
        try:
            return msgspec.convert(data, TYPES[kind])  # pyright: ignore[reportReturnType]  # TYPES holds KnownEntry only
        except msgspec.ValidationError as error:
            name = _field_at_fault(str(error))
            if name not in data or name in {"uuid", "message"}:
                return None
            if name in _CHAIN_DEFAULTS and data[name] != _CHAIN_DEFAULTS[name]:
                data[name] = _CHAIN_DEFAULTS[name]
            else:
                del data[name]
    return None


def _field_at_fault(message: str) -> str:
    _, _, path = message.rpartition("`$.")
    return path.rstrip("`").split(".")[0].split("[")[0]


def _fill_chain(data: dict[str, Any]) -> None:
    for name, default in _CHAIN_DEFAULTS.items():
        if data.get(name) is None or not isinstance(data[name], str | bool):
            data[name] = default
    for name in _OPTIONAL_CHAIN:
        if name in data and data[name] is None:
            del data[name]


def _message(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    found: Any = data.get("message")
    message = dict(cast("dict[str, Any]", found)) if isinstance(found, dict) else {"content": found}
    message["role"] = kind
    content = message.get("content")
    if isinstance(content, list):
        message["content"] = [_part(block) for block in cast("list[Any]", content)]
    elif kind == "assistant" or not isinstance(content, str):
        text = _words(content)
        message["content"] = [{"type": "text", "text": text}] if text else []
    if kind == "assistant":
        message["type"] = "message"
        for name, default in (("id", data["uuid"]), ("model", "")):
            if not isinstance(message.get(name), str):
                message[name] = default
        for name in ("stop_reason", "stop_sequence"):
            if not isinstance(message.get(name), str):
                message[name] = None
        message["usage"] = _usage(message.get("usage"))
    return message


def _part(block: Any) -> dict[str, Any]:
    if not isinstance(block, dict):
        return {"type": "text", "text": _words(block)}
    part = dict(cast("dict[str, Any]", block))
    if part.get("type") == "tool_result":
        items: Any = part.get("content")
        if isinstance(items, list):
            part["content"] = [_known_or_words(item, ResultContent) for item in cast("list[Any]", items)]
        elif not isinstance(items, str):
            part["content"] = _words(items)
        part["is_error"] = part.get("is_error") is True
    elif part.get("type") == "tool_use" and not isinstance(part.get("input"), dict):
        part["rawInput"], part["input"] = _words(part.get("input")), {}
    return _known_or_words(part, Part)


def _known_or_words(item: Any, kind: Any) -> dict[str, Any]:
    try:
        msgspec.convert(item, kind)
    except (msgspec.ValidationError, TypeError):
        return {"type": "text", "text": _placeholder(item)}
    return item


def _placeholder(item: Any) -> str:
    if isinstance(item, dict):
        block = cast("dict[str, Any]", item)
        if isinstance(block.get("text"), str):
            return block["text"]
        return f"[{block.get('type') or 'unknown'} content not shown]"
    return _words(item)


def _usage(value: Any) -> dict[str, int] | None:
    if not isinstance(value, dict):
        return None
    counts = cast("dict[str, Any]", value)
    return {name: counts[name] if isinstance(counts.get(name), int) else 0 for name in _USAGE_FIELDS}


def _words(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode("utf-8", "replace")
