"""AWS's binary event-stream framing, written: what the fake Bedrock sends. Stdlib only."""

import base64
import json
import struct
import zlib
from typing import Any

Value = bool | int | bytes | str


def frame(headers: dict[str, Value], payload: bytes = b"") -> bytes:
    """One message with its checksums."""
    block = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack("!II", 12 + len(block) + len(payload) + 4, len(block))
    head = prelude + struct.pack("!I", zlib.crc32(prelude))
    whole = head + block + payload
    return whole + struct.pack("!I", zlib.crc32(whole))


def chunk(event: dict[str, Any]) -> bytes:
    """An event of the dialect, as Bedrock wraps it."""
    carried = base64.b64encode(json.dumps(event).encode()).decode()
    payload = json.dumps({"bytes": carried, "p": "abcdefgh"}).encode()
    headers: dict[str, Value] = {
        ":event-type": "chunk",
        ":content-type": "application/json",
        ":message-type": "event",
    }
    return frame(headers, payload)


def exception(kind: str, message: str) -> bytes:
    """A failure within the stream."""
    headers: dict[str, Value] = {
        ":exception-type": kind,
        ":content-type": "application/json",
        ":message-type": "exception",
    }
    return frame(headers, json.dumps({"message": message}).encode())


def _header(name: str, value: Value) -> bytes:
    head = struct.pack("!B", len(name)) + name.encode()
    if isinstance(value, bool):
        return head + (b"\x00" if value else b"\x01")
    if isinstance(value, int):
        return head + b"\x04" + struct.pack("!i", value)
    data = value.encode() if isinstance(value, str) else value
    return head + (b"\x07" if isinstance(value, str) else b"\x06") + struct.pack("!H", len(data)) + data
