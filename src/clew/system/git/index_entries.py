"""The entries of a git index, read from its bytes (versions 2 to 4). Standard library only."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

HEADER = 12
GITLINK = 0o160000


class IndexUnclear(ValueError):
    """The index has a form that is not read here."""


class IndexEntry(NamedTuple):
    """One name in the index."""

    mode: int
    object: str
    stage: int
    path: str


def hash_bytes(config: bytes) -> int:
    """The length of an object's name in a repository with this configuration."""
    return 32 if b"sha256" in config.lower() else 20


def index_entries(data: bytes, *, hash_size: int = 20, whole: bool = False) -> Iterator[IndexEntry]:
    """All entries in order. Raises IndexUnclear; with `whole` also, at the end, when names stand elsewhere: in a shared
    index, or folded into directories."""
    if len(data) < HEADER or data[:4] != b"DIRC":
        raise IndexUnclear("the index has no known form")
    version, count = struct.unpack(">II", data[4:HEADER])
    if version not in (2, 3, 4):
        raise IndexUnclear("the index has no known form")
    at, path = HEADER, b""
    for _ in range(count):
        flags_at = at + 40 + hash_size
        if flags_at + 2 > len(data):
            raise IndexUnclear("the index ends early")
        mode, flags = int.from_bytes(data[at + 24 : at + 28]), int.from_bytes(data[flags_at : flags_at + 2])
        start = flags_at + (4 if flags & 0x4000 else 2)
        if version == 4:
            cut, start = _varint(data, start)
            path = path[: len(path) - cut] if cut else path
        else:
            path = b""
        end = data.find(b"\0", start)
        if end < 0:
            raise IndexUnclear("the index ends early")
        path += data[start:end]
        name = data[at + 40 : flags_at].hex()
        yield IndexEntry(mode, name, flags >> 12 & 3, path.decode(errors="surrogateescape"))
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    while whole and at + 8 <= len(data) - hash_size:
        if data[at : at + 4] in (b"link", b"sdir"):
            raise IndexUnclear("the index leaves names to others")
        at += 8 + int.from_bytes(data[at + 4 : at + 8])


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """How many bytes of the name before are left out, and where the rest begins."""
    value = 0
    for position in range(at, min(at + 8, len(data))):
        byte = data[position]
        value = value << 7 | byte & 127 if position == at else (value + 1) << 7 | byte & 127
        if not byte & 128:
            return value, position + 1
    raise IndexUnclear("the index ends early")
