"""Recaps already made, kept by file, size and time: what was read once is not read again until it changes."""

import hashlib
import os
from pathlib import Path

import msgspec

from clew import __version__
from clew.orient.load import load_session
from clew.orient.report import Report, make_report
from clew.system.home import private_dir

_FORMAT = "3"


class _Kept(msgspec.Struct):
    version: str
    size: int
    mtime_ns: int
    report: Report


class RecapCache:
    """One small file per session below the home directory; it can be deleted at any time."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "cache" / "recaps"

    def report(self, path: Path, *, agent: str | None = None, session_id: str = "") -> Report:
        """The report of a session file, from the cache when the file is unchanged."""
        size, mtime_ns = _stamp(path)
        place = self._folder / f"{_key(path, session_id)}.json"
        kept = _read(place)
        if kept and (kept.version, kept.size, kept.mtime_ns) == (_version(), size, mtime_ns):
            return kept.report
        report = make_report(load_session(path, agent=agent, session_id=session_id))
        self._write(place, _Kept(version=_version(), size=size, mtime_ns=mtime_ns, report=report))
        return report

    def _write(self, place: Path, kept: _Kept) -> None:
        try:
            private_dir(place.parent)
            fresh = place.with_suffix(f".{os.getpid()}.new")
            fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(msgspec.json.encode(kept))
            os.replace(fresh, place)
        except OSError:
            return  # a home that cannot be written only costs time


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of a file; what a database has not folded in yet lies in a journal beside it."""
    info = path.stat()
    try:
        journal = path.with_name(path.name + "-wal").stat() if path.suffix == ".db" else None
    except OSError:
        journal = None
    if journal is None:
        return info.st_size, info.st_mtime_ns
    return info.st_size + journal.st_size, max(info.st_mtime_ns, journal.st_mtime_ns)


def _read(place: Path) -> _Kept | None:
    try:
        return msgspec.json.decode(place.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None


def _key(path: Path, session_id: str) -> str:
    return hashlib.blake2b(
        f"{path.absolute()}\0{session_id}".encode(errors="surrogateescape"), digest_size=12
    ).hexdigest()


def _version() -> str:
    return f"{__version__}/{_FORMAT}"
