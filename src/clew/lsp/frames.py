"""The framing of the protocol: a header that tells a length, then a JSON document. Everything is bounded."""

import json
from collections.abc import Iterator
from typing import Any, cast

MAX_HEADER_BYTES = 8_192
MAX_BODY_BYTES = 8_000_000
Json = dict[str, Any]


class BadLspFrame(Exception):
    """What came is not the protocol; the message says what, in a few words."""


def framed(message: Json) -> bytes:
    """One message as it is sent."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class FrameReader:
    """Bytes in, whole messages out."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> Iterator[Json]:
        """All messages that are whole now. Raises BadFrame; nothing can be read after that."""
        self._waiting += data
        while True:
            if self._length is None and not self._read_header():
                return
            length = self._length
            if length is None or len(self._waiting) < length:
                return
            body = bytes(self._waiting[:length])
            del self._waiting[:length]
            self._length = None
            yield document(body)

    def _read_header(self) -> bool:
        end = self._waiting.find(b"\r\n\r\n")
        if max(end, len(self._waiting) if end < 0 else 0) > MAX_HEADER_BYTES:
            raise BadLspFrame("it sends no frames")
        if end < 0:
            return False
        header = bytes(self._waiting[:end])
        del self._waiting[: end + 4]
        for line in header.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit() and len(value) < 20:
                self._length = int(value)
                if self._length > MAX_BODY_BYTES:
                    raise BadLspFrame("a message is too large")
                return True
        raise BadLspFrame("a frame has no length")


def document(body: bytes) -> Json:
    """One message. Raises BadFrame."""
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadLspFrame("a message is not JSON") from error
    if not isinstance(found, dict):
        raise BadLspFrame("a message is no object")
    return cast("Json", found)
