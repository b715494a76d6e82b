"""Names in a git index, read as bytes: which entries are other repositories, and which names it holds. Runs nothing."""

import re
import struct
from pathlib import Path

from clew.system.git.layout import Repository, file_start

MAX_INDEX = 16_000_000
_HEADER = 12
_MODE_AT = 24
_GITLINK = b"\x00\x00\xe0\x00"


class IndexUnclear(ValueError):
    """The index has a form that is not read here."""


def gitlinks(repository: Repository) -> list[str]:
    """Paths of entries that are repositories of their own (and a few that are not). Raises IndexUnclear."""
    found: list[str] = []
    for data in _files(repository):
        if _GITLINK not in data:
            continue
        if _version(data) not in (2, 3):
            raise IndexUnclear("the index has packed names")
        for hit in re.finditer(re.escape(_GITLINK), data):
            # The bytes may stand inside a hash: then the name is nonsense, and nothing lies there.
            for hash_size in (20, 32):
                start = hit.start() + 16 + hash_size + 2
                for extended in (0, 2):
                    name = data[start + extended : start + extended + 4096].partition(b"\0")[0]
                    if name and len(found) < 20_000:
                        found.append(name.decode(errors="surrogateescape"))
    return found


def index_names(repository: Repository, *, limit: int = 30_000) -> list[str]:
    """Every name in the index. Raises IndexUnclear where it is too large or has another form."""
    names: list[str] = []
    for data in _files(repository):
        if len(data) < _HEADER or _version(data) not in (2, 3):
            raise IndexUnclear("the index has packed names")
        count = struct.unpack(">I", data[8:12])[0]
        if len(names) + count > limit:
            raise IndexUnclear("the index holds too many names")
        at = _HEADER
        for _ in range(count):
            flags = struct.unpack(">H", data[at + 60 : at + 62])[0] if at + 62 <= len(data) else 0
            start = at + 62 + (2 if flags & 0x4000 else 0)
            end = data.find(b"\0", start)
            if end < 0:
                raise IndexUnclear("the index ends early")
            names.append(data[start:end].decode(errors="surrogateescape"))
            at += (end - at + 8) // 8 * 8
    return names


def _version(data: bytes) -> int:
    return struct.unpack(">I", data[4:8])[0] if len(data) >= 8 and data[:4] == b"DIRC" else 0


def _files(repository: Repository) -> list[bytes]:
    paths: list[Path] = [repository.git_dir / "index"]
    try:
        paths += [path for path in repository.git_dir.iterdir() if path.name.startswith("sharedindex.")]
    except OSError as problem:
        raise IndexUnclear("the repository cannot be read") from problem
    found = [file_start(path, MAX_INDEX) for path in paths]
    if any(len(data) >= MAX_INDEX for data in found):
        raise IndexUnclear("the index is too large to be read")
    return [data for data in found if data]
