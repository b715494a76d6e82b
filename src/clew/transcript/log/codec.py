"""One entry, one line: encoding, and decoding that never raises.

Of entries of other versions and programs what can be understood is, the rest is kept as words.
"""

import functools
import re
from typing import Any, cast, get_args

import msgspec

from clew.protocol.entries import ChainEntry, Entry, KnownEntry, OpaqueEntry
from clew.protocol.messages import Part, ResultContent
from clew.text.encoding import without_surrogates

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


MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is skipped: no request could carry it, and reading it would not be bounded."""

_encoder = msgspec.json.Encoder()
_object: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


@functools.cache
def _decoder() -> msgspec.json.Decoder[KnownEntry]:
    """Made by the first line that is read: a new session reads none before its first request."""
    return msgspec.json.Decoder(KnownEntry)


# Characters that some readers take for line ends. They can only stand inside strings, so bytes may be swapped.
_LINE_ENDS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085"))

_MARKS = re.compile(rb"(?:\xef\xbb\xbf[ \t]*)+")
"""Byte-order marks, which some editors put at the start of a file, and some programs before each line."""


def encode(entry: Entry) -> bytes:
    """The line of an entry, newline included. Whatever the text holds, it is exactly one line of valid UTF-8."""
    value: Any = entry.raw if isinstance(entry, OpaqueEntry) else entry
    try:
        line = _encoder.encode(value)
    except UnicodeEncodeError:
        line = _encoder.encode(without_surrogates(msgspec.to_builtins(value)))
    return seal(line)


def seal(line: bytes) -> bytes:
    """Encoded JSON made into one line for every reader."""
    for raw, escaped in _LINE_ENDS:
        if raw in line:
            line = line.replace(raw, escaped)
    return line + b"\n"


def decode(line: bytes) -> tuple[Entry | None, str]:
    """The entry of a line and the kind of its problem ("" when there is none). Both may be set, one always is.

    The typed path takes what we and our kin write; anything else is looked at leniently, line by line.
    """
    try:
        return _decoder().decode(line), ""
    except msgspec.ValidationError:
        return _decode_lenient(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_repaired(line)
    except RecursionError:
        return None, "too-deep"


def decode_object(line: bytes) -> dict[str, Any] | None:
    """A line as plain data, None when it is no JSON object."""
    marked = _MARKS.match(line)
    try:
        return _object.decode(line[marked.end() :] if marked else line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _decode_lenient(line: bytes) -> tuple[Entry | None, str]:
    try:
        value = msgspec.json.decode(line)
    except msgspec.ValidationError:
        return None, "bad-entry"
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_repaired(line)
    except RecursionError:
        return None, "too-deep"
    if not isinstance(value, dict):
        return None, "not-object"
    return _from_object(cast("dict[str, Any]", value))


def _decode_repaired(line: bytes) -> tuple[Entry | None, str]:
    """A line that is not valid JSON as it stands: a byte-order mark, broken UTF-8 and lone surrogates can be mended."""
    if marked := _MARKS.match(line):
        return decode(line[marked.end() :])
    if not line.strip(b"\0 \t\r"):
        return None, "nul-bytes"
    text = _mend_surrogates(line.decode("utf-8", "replace").encode())
    if text == line:
        return None, "not-json"
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None, "not-json"
    except RecursionError:
        return None, "too-deep"
    if not isinstance(value, dict):
        return None, "not-object"
    entry, problem = _from_object(cast("dict[str, Any]", value))
    return entry, problem or "bad-text"


def _from_object(value: dict[str, Any]) -> tuple[Entry | None, str]:
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in KNOWN_TYPES:
        return OpaqueEntry(type=kind if isinstance(kind, str) else "", raw=value), ""
    if kind in CHAIN_TYPES and not isinstance(value.get("uuid"), str):
        return OpaqueEntry(type=kind, raw=value), "no-id"
    rootless = kind in CHAIN_TYPES and "parentUuid" not in value
    # A link that is missing altogether is damage, not a root: the empty name lets the chain say and mend it.
    entry = lenient_entry(kind, {**value, "parentUuid": ""} if rootless else value)
    if entry is None:
        return OpaqueEntry(type=kind, raw=value), "bad-entry"
    return entry, "bad-entry" if rootless else ""


@functools.cache
def _escapes() -> re.Pattern[bytes]:
    # Escapes are consumed pairwise, so that an escaped backslash before "ud800" is not taken for a surrogate.
    high, low = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    return re.compile(rb"(" + high + low + rb")|(" + high + rb"|" + low + rb")|\\.", re.DOTALL)


def _mend_surrogates(text: bytes) -> bytes:
    if b"\\u" not in text:
        return text
    return _escapes().sub(lambda match: b"\\ufffd" if match.group(2) else match.group(0), text)
