"""AWS's binary event stream from bytes that arrive in any pieces: the framing of Bedrock's InvokeModel."""

import binascii
import struct
from typing import Any, cast

import msgspec

from clew.llm.errors import StreamBroken
from clew.llm.http.sse import SseEvent

PRELUDE = struct.Struct("!III")
"""Length of the whole message, length of its headers, and the checksum of these two."""
CHECKSUM = struct.Struct("!I")
LEAST_BYTES = PRELUDE.size + CHECKSUM.size
MAX_MESSAGE_BYTES = 24 * 1024 * 1024
MAX_HEADER_BYTES = 128 * 1024

FIXED_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Kinds of header values that have one size: true, false, byte, short, int, long, moment, uuid."""
TEXT = 7
SIZED = (6, TEXT)
"""Bytes and text: two bytes of length first."""

ERROR_KINDS = {
    "throttlingException": "rate_limit_error",
    "serviceUnavailableException": "overloaded_error",
    "internalServerException": "api_error",
    "modelStreamErrorException": "api_error",
    "modelTimeoutException": "timeout_error",
    "validationException": "invalid_request_error",
}
"""AWS's names for failures within a stream, as the dialect calls them."""


class EventStreamParser:
    """Feed bytes, get the events that the messages carry. A checksum that does not fit breaks the stream."""

    def __init__(self, *, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_message_bytes = max_message_bytes
        self._rest = bytearray()
        self._size = 0
        """Length of the message under way; 0: its prelude has not come yet."""

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that became whole with these bytes."""
        rest = self._rest
        rest += data
        events: list[SseEvent] = []
        start = 0
        while True:
            if not self._size:
                if len(rest) - start < PRELUDE.size:
                    break
                self._size = self._length(bytes(rest[start : start + PRELUDE.size]))
            if len(rest) - start < self._size:
                break
            events += event_in(bytes(rest[start : start + self._size]))
            start += self._size
            self._size = 0
        del rest[:start]
        return events

    def close(self) -> list[SseEvent]:
        """Half a message is no event; whether the reply is whole is for the dialect to see."""
        return []

    def _length(self, prelude: bytes) -> int:
        size, header_size, checksum = PRELUDE.unpack(prelude)
        if binascii.crc32(prelude[:8]) != checksum:
            raise StreamBroken("the event stream sent a message whose beginning is damaged", retryable=True)
        fits = LEAST_BYTES + header_size <= size <= self._max_message_bytes and header_size <= MAX_HEADER_BYTES
        if not fits:
            raise StreamBroken(f"the event stream announced a message of {size:,} bytes, {header_size:,} of headers")
        return size


def event_in(message: bytes) -> list[SseEvent]:
    """What one whole message carries: an event of the dialect, a failure as such an event, or nothing of interest."""
    _, header_size, _ = PRELUDE.unpack_from(message)
    (checksum,) = CHECKSUM.unpack_from(message, len(message) - CHECKSUM.size)
    if binascii.crc32(message[: -CHECKSUM.size]) != checksum:
        raise StreamBroken("the event stream sent a message that is damaged", retryable=True)
    start = PRELUDE.size + header_size
    headers = headers_in(message[PRELUDE.size : start])
    payload = message[start : -CHECKSUM.size]
    match headers.get(":message-type"):
        case "event":
            return _chunk(payload) if headers.get(":event-type") == "chunk" else []
        case "exception":
            kind = headers.get(":exception-type", "")
            return [_failure(kind, str(_object(payload).get("message") or kind))]
        case "error":
            kind = headers.get(":error-code", "")
            return [_failure(kind, headers.get(":error-message", "") or kind)]
        case _:
            return []


def headers_in(data: bytes) -> dict[str, str]:
    """The headers that hold text, by name; values of other kinds are skipped."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            end = at + 1 + data[at]
            name, kind = data[at + 1 : end].decode(), data[end]
            at = end + 1
            if kind in SIZED:
                (size,) = struct.unpack_from("!H", data, at)
                at += 2
            else:
                size = FIXED_SIZES[kind]
            if at + size > len(data):
                raise IndexError
            if kind == TEXT:
                found[name] = data[at : at + size].decode()
            at += size
    except (IndexError, KeyError, UnicodeDecodeError, struct.error):
        raise StreamBroken("the event stream sent headers that cannot be read") from None
    return found


def _chunk(payload: bytes) -> list[SseEvent]:
    """The dialect's event, which travels as base64 in a field of JSON."""
    carried = _object(payload).get("bytes")
    try:
        data = binascii.a2b_base64(carried, strict_mode=True) if isinstance(carried, str) else b""
    except binascii.Error:
        raise StreamBroken("the event stream sent a chunk that is not base64") from None
    kind = _object(data).get("type") if data else None
    return [SseEvent(kind if isinstance(kind, str) else "", data)] if data else []


def _failure(kind: str, words: str) -> SseEvent:
    error = {"type": ERROR_KINDS.get(kind, kind), "message": words}
    return SseEvent("error", msgspec.json.encode({"type": "error", "error": error}))


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
