"""Making room on request: archive (compressed), trash, restore, size. Nothing here happens by itself or by age."""

import contextlib
import gzip
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from clew.system.private_files import open_new, private_dir
from clew.transcript.errors import AmbiguousSession, SessionNotFound, TranscriptError
from clew.transcript.log.files import open_read
from clew.transcript.log.lease import acquire
from clew.transcript.log.store import SessionStore, checked_id, sidecar_dir

_CHUNK = 1024 * 1024
_SIDECARS = ".files.tar.gz"


class DiskUse(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes on disk."""

    sessions: int
    archive: int
    trash: int
    index: int


def archive_session(store: SessionStore, transcript: Path) -> Path:
    """Compress a session. The original goes only after the copy was read back and found equal. Raises SessionBusy."""
    target = _place(store.archive, transcript).with_suffix(".jsonl.gz")
    _refuse_existing(target)
    lease = acquire(transcript)
    try:
        private_dir(target.parent)
        info = transcript.stat()
        _pack(transcript, target)
        sidecars = sidecar_dir(transcript)
        if sidecars.is_dir():
            packed = target.with_name(f"{transcript.stem}{_SIDECARS}")
            _pack_tree(sidecars, packed)
            shutil.rmtree(sidecars)
        os.utime(target, ns=(info.st_atime_ns, info.st_mtime_ns))
        os.unlink(transcript)
    finally:
        lease.release()
    return target


def trash_session(store: SessionStore, transcript: Path) -> Path:
    """Move a session out of sight; `restore_session` brings it back."""
    target = _place(store.trash, transcript)
    _refuse_existing(target)
    lease = acquire(transcript)
    try:
        private_dir(target.parent)
        sidecars = sidecar_dir(transcript)
        if sidecars.is_dir():
            os.rename(sidecars, sidecar_dir(target))
        os.rename(transcript, target)
    finally:
        lease.release()
    return target


def restore_session(store: SessionStore, session_id: str) -> Path:
    """Bring a session back from trash or archive to where it was. Raises SessionNotFound."""
    prefix = checked_id(session_id)
    put_away = [*store.trash.glob(f"*/{prefix}*.jsonl"), *store.archive.glob(f"*/{prefix}*.jsonl.gz")]
    if len(put_away) > 1:
        raise AmbiguousSession(session_id, [f"{path.name.partition('.')[0]}  ({path.parent})" for path in put_away])
    trashed = next((path for path in put_away if path.suffix == ".jsonl"), None)
    if trashed is not None:
        target = store.projects / trashed.parent.name / trashed.name
        _refuse_existing(target)
        private_dir(target.parent)
        if sidecar_dir(trashed).is_dir():
            os.rename(sidecar_dir(trashed), sidecar_dir(target))
        os.rename(trashed, target)
        return target
    if not put_away:
        raise SessionNotFound(f"no session {session_id} in trash or archive; see `clew sessions --json`")
    return _unpack(store, put_away[0])


def archived_sessions(store: SessionStore) -> Iterator[Path]:
    """All compressed transcripts."""
    yield from sorted(store.archive.glob("*/*.jsonl.gz"))


def archived_id(path: Path) -> str:
    """The session a compressed transcript belongs to."""
    return path.name.removesuffix(".jsonl.gz")


def sizes(store: SessionStore) -> DiskUse:
    """What everything takes on disk."""
    return DiskUse(
        sessions=_tree_size(store.projects),
        archive=_tree_size(store.archive),
        trash=_tree_size(store.trash),
        index=sum(_size(store.home / f"index.db{end}") for end in ("", "-wal", "-shm")),
    )


def session_size(transcript: Path) -> int:
    """A session with its sub-agents and results."""
    return _size(transcript) + _tree_size(sidecar_dir(transcript))


def _place(folder: Path, transcript: Path) -> Path:
    return folder / transcript.parent.name / transcript.name


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise TranscriptError(f"{target} exists already; nothing was moved")


def _pack(source: Path, target: Path) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with (
            os.fdopen(open_read(source), "rb") as plain,
            os.fdopen(open_new(temporary), "wb") as raw,
            gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        ):
            shutil.copyfileobj(plain, packed, _CHUNK)
            packed.close()
            raw.flush()
            os.fsync(raw.fileno())
        with os.fdopen(open_read(source), "rb") as plain, gzip.open(temporary) as packed:
            while True:
                expected, got = plain.read(_CHUNK), packed.read(_CHUNK)
                if expected != got:
                    raise TranscriptError(f"the compressed copy of {source} differs; the original was kept")
                if not expected:
                    break
        os.rename(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _pack_tree(folder: Path, target: Path) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with os.fdopen(open_new(temporary), "wb") as raw, tarfile.open(fileobj=raw, mode="w:gz") as archive:
            archive.add(folder, arcname=folder.name)
            archive.close()
            raw.flush()
            os.fsync(raw.fileno())
        os.rename(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _unpack(store: SessionStore, packed: Path) -> Path:
    target = store.projects / packed.parent.name / f"{archived_id(packed)}.jsonl"
    _refuse_existing(target)
    private_dir(target.parent)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with gzip.open(packed) as source, os.fdopen(open_new(temporary), "wb") as plain:
            shutil.copyfileobj(source, plain, _CHUNK)
            plain.flush()
            os.fsync(plain.fileno())
        info = packed.stat()
        sidecars = packed.with_name(f"{archived_id(packed)}{_SIDECARS}")
        if sidecars.exists():
            _unpack_tree(sidecars, target.parent)
        os.utime(temporary, ns=(info.st_atime_ns, info.st_mtime_ns))
        os.rename(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    os.unlink(packed)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(sidecars)
    return target


def _unpack_tree(packed: Path, folder: Path) -> None:
    """Directories and plain files below `folder`; `filter="data"` does the same from Python 3.11.4 on."""
    with tarfile.open(packed) as archive:
        for member in archive:
            parts = Path(member.name).parts
            content = archive.extractfile(member) if member.isreg() else None
            if member.name.startswith("/") or ".." in parts or not (member.isdir() or content):
                continue
            place = folder.joinpath(*parts)
            if content is None:
                private_dir(place)
                continue
            private_dir(place.parent)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place)  # of a restore that was interrupted; the archive still has it
            with content, os.fdopen(open_new(place), "wb") as plain:
                shutil.copyfileobj(content, plain, _CHUNK)
            os.utime(place, (member.mtime, member.mtime))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _tree_size(folder: Path) -> int:
    total = 0
    for base, _, names in os.walk(folder):
        total += sum(_size(Path(base) / name) for name in names)
    return total
