"""One entry, one line: encoding, and decoding that never raises."""

import functools
import re
from typing import Any, cast

import msgspec

from clew.protocol.entries import Entry, KnownEntry, OpaqueEntry
from clew.text.encoding import without_surrogates
from clew.transcript.log.lenient import CHAIN_TYPES, KNOWN_TYPES, lenient_entry

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is skipped: no request could carry it, and reading it would not be bounded."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[KnownEntry] = msgspec.json.Decoder(KnownEntry)
_object: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])

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
        return _decoder.decode(line), ""
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
