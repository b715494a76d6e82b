"""Server-sent events from bytes that arrive in any pieces."""

from msgspec import Struct

from clew.llm.errors import StreamBroken

MAX_EVENT_BYTES = 32 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SseEvent(Struct, frozen=True):
    """One event: its name (empty: none was given) and its data lines joined by newlines."""

    event: str
    data: bytes


class SseParser:
    """Feed bytes, get whole events. Comments, unknown fields and lines without a colon are skipped as the format asks.

    A last event without its blank line is delivered too: whether its data is whole is for the dialect to see.
    """

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._rest = bytearray()
        self._fresh = True
        """Nothing was read yet: a byte order mark may stand here."""
        self._event = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that became whole with these bytes."""
        rest = self._rest
        searched = max(0, len(rest) - 1)  # the last byte may be a CR whose LF comes now
        rest += data
        if self._fresh:
            if len(rest) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(rest):
                return []  # perhaps its first bytes
            self._fresh = False
            if rest.startswith(BYTE_ORDER_MARK):
                del rest[: len(BYTE_ORDER_MARK)]
            searched = 0
        events: list[SseEvent] = []
        start = 0
        while (end := _line_end(rest, max(start, searched))) is not None:
            stop, following = end
            self._line(bytes(rest[start:stop]), events)
            start = searched = following
        del rest[:start]
        if len(rest) > self._max_event_bytes:
            raise StreamBroken(f"the stream sent a line of more than {self._max_event_bytes} bytes")
        return events

    def close(self) -> list[SseEvent]:
        """What was still open when the bytes ended; a line without its newline counts as whole."""
        events: list[SseEvent] = []
        if self._rest:
            self._line(bytes(self._rest).rstrip(b"\r"), events)
            self._rest.clear()
        self._line(b"", events)
        return events

    def _line(self, line: bytes, events: list[SseEvent]) -> None:
        if not line:
            if self._data:
                events.append(SseEvent(self._event, b"\n".join(self._data)))
            self._event, self._data, self._size = "", [], 0
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value)
            if self._size > self._max_event_bytes:
                raise StreamBroken(f"the stream sent an event of more than {self._max_event_bytes} bytes")
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")


def _line_end(buffer: bytearray, start: int) -> tuple[int, int] | None:
    """Where the line ends and where the next begins. A lone CR at the very end may be half of a CRLF: wait."""
    newline = buffer.find(b"\n", start)
    carriage = buffer.find(b"\r", start, newline if newline >= 0 else len(buffer))
    if carriage >= 0:
        if carriage + 1 == newline:
            return carriage, newline + 1
        if carriage + 1 < len(buffer):
            return carriage, carriage + 1
        return None
    return (newline, newline + 1) if newline >= 0 else None
