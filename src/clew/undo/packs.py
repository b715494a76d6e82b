"""Kept content, found by its digest: a few append-only files, shared by all sessions of a project.

`<name>.pack` is nothing but contents one after the other, `<name>.idx` has a row for each: digest, offset, length. A
process only appends to packs that it made. The row is written after the content, so that a kill leaves at worst bytes
that no row names; the digest is checked on reading, so that a power cut can lose content but never give a wrong one.
Loose files, one for each content, took 3.6 times as long for 50,000 files; compression 4.4 times (docs/undo.md).
"""

import contextlib
import fcntl
import hashlib
import os
import struct
import threading
import time
from pathlib import Path

from clew.system.private_files import open_new, private_dir, sync_dir, write_all
from clew.transcript.errors import UnsafeTranscript
from clew.transcript.log.files import open_read
from clew.undo.errors import ContentMissing, NotKept

DIGEST_BYTES = 20
_ROW = struct.Struct(">20sQQ")
_ROLL_BYTES = 256 * 1024 * 1024
_LENGTH_BITS = 40
_OFFSET_BITS = 40


def digest_of(data: bytes) -> bytes:
    """Twenty bytes that stand for a content."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


def lock_path(folder: Path) -> Path:
    """Held shared by every session that uses the packs, alone by whoever prunes them."""
    return folder.with_name("lock")


def pack_rows(index: Path) -> list[tuple[bytes, int, int]]:
    """Digest, offset and length of everything in a pack. Raises OSError."""
    fd = open_read(index)
    try:
        data = os.pread(fd, os.fstat(fd).st_size, 0)
    finally:
        os.close(fd)
    return list(_ROW.iter_unpack(data[: len(data) // _ROW.size * _ROW.size]))


class PackStore:
    """Safe to use from several threads. Nothing is created before the first content is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._places: dict[bytes, int] = {}
        """Pack number, offset and length in one integer: a tree of 50,000 files is held in memory by every session."""
        self._packs: list[Path] = []
        self._readers: dict[int, int] = {}
        self._read_rows: dict[str, int] = {}
        self._own = -1
        self._pack = self._index = -1
        self._end = 0
        self._unsynced = False
        self._share = -1
        if folder.is_dir():
            with contextlib.suppress(OSError):
                self._take_share()
        self.refresh()

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._places

    def __len__(self) -> int:
        return len(self._places)

    def size_of(self, digest: bytes) -> int:
        """Bytes of a content that is kept."""
        return self._places[digest] & ((1 << _LENGTH_BITS) - 1)

    def put(self, data: bytes) -> bytes:
        """Keep a content and return its digest. Raises NotKept."""
        digest = digest_of(data)
        if digest in self._places:
            return digest
        with self._lock:
            if digest in self._places:
                return digest
            try:
                self._append(digest, data)
            except OSError as error:
                raise NotKept(f"the undo store {self.folder} cannot be written: {error.strerror}") from error
        return digest

    def get(self, digest: bytes) -> bytes:
        """A content, checked against its digest. Raises ContentMissing."""
        with self._lock:
            if digest not in self._places:
                self.refresh()  # another session may have kept it meanwhile
            place = self._places.get(digest)
            if place is None:
                raise ContentMissing("this content is not in the undo store (any more)")
            data = self._read(place)
        if digest_of(data) != digest:
            with self._lock:
                self._places.pop(digest, None)  # the next `put` writes it anew, and the newest row counts
            raise ContentMissing("the undo store holds this content damaged")
        return data

    def copy(self, digest: bytes) -> None:
        """Write a content once more, into a pack of this process: the one that holds it is about to go."""
        data = self.get(digest)
        with self._lock:
            try:
                self._append(digest, data)
            except OSError as error:
                raise NotKept(f"the undo store {self.folder} cannot be written: {error.strerror}") from error

    def refresh(self) -> None:
        """Learn what is on disk; rows that were read already are not read again."""
        with self._lock:
            try:
                names = sorted(name for name in os.listdir(self.folder) if name.endswith(".idx"))
            except OSError:
                return
            for name in names:
                if self._own < 0 or self._packs[self._own].stem != name[:-4]:
                    with contextlib.suppress(OSError, UnsafeTranscript):
                        self._load(name)

    def sync(self) -> None:
        """On disk, also after a power cut. A disk that refuses is told by the next `put`."""
        with self._lock:
            if self._unsynced and self._pack >= 0:
                with contextlib.suppress(OSError):
                    os.fdatasync(self._pack)
                    os.fdatasync(self._index)
                self._unsynced = False

    def close(self) -> None:
        """Let go of all files."""
        with self._lock:
            self.sync()
            for fd in (self._pack, self._index, self._share, *self._readers.values()):
                if fd >= 0:
                    os.close(fd)
            self._pack = self._index = self._share = self._own = -1
            self._readers = {}

    def alone(self) -> bool:
        """Whether no other process uses these packs; from then on until `shared` none does."""
        with self._lock:
            try:
                self._take_share()
                fcntl.flock(self._share, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self.shared()
                return False
            return True

    def shared(self) -> None:
        """Let others in again."""
        if self._share >= 0:
            with contextlib.suppress(OSError):
                fcntl.flock(self._share, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def remove_pack(self, index: Path) -> None:
        """Delete a pack with whatever it alone holds; the one that is being written stays."""
        with self._lock:
            pack = index.with_suffix(".pack")
            if self._own >= 0 and self._packs[self._own] == pack:
                return
            os.unlink(index)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(pack)
            if pack in self._packs:
                number = self._packs.index(pack)
                shift = _OFFSET_BITS + _LENGTH_BITS
                self._places = {key: place for key, place in self._places.items() if place >> shift != number}

    def _append(self, digest: bytes, data: bytes) -> None:
        if self._pack < 0 or self._end + len(data) > _ROLL_BYTES:
            self._start_pack()
        try:
            write_all(self._pack, data)
            write_all(self._index, _ROW.pack(digest, self._end, len(data)))
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._pack, self._end)
                os.ftruncate(self._index, os.fstat(self._index).st_size // _ROW.size * _ROW.size)
            self._end = os.fstat(self._pack).st_size
            raise
        self._places[digest] = self._place(self._own, self._end, len(data))
        self._end += len(data)
        self._unsynced = True

    def _start_pack(self) -> None:
        self.sync()
        private_dir(self.folder)
        self._take_share()
        name = f"{int(time.time() * 1000):013d}-{os.urandom(4).hex()}"
        pack = open_new(self.folder / f"{name}.pack")
        try:
            index = open_new(self.folder / f"{name}.idx")
        except OSError:
            os.close(pack)
            os.unlink(self.folder / f"{name}.pack")
            raise
        for fd in (self._pack, self._index):
            if fd >= 0:
                os.close(fd)
        self._pack, self._index, self._end = pack, index, 0
        self._own = len(self._packs)
        self._packs.append(self.folder / f"{name}.pack")
        sync_dir(self.folder)

    def _take_share(self) -> None:
        """As long as a session writes here, nobody prunes (`prune.py` asks for the lock alone)."""
        if self._share < 0:
            self._share = os.open(lock_path(self.folder), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with contextlib.suppress(OSError):
                fcntl.flock(self._share, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def _load(self, name: str) -> None:
        fd = open_read(self.folder / name)
        try:
            done = self._read_rows.get(name, 0)
            size = os.fstat(fd).st_size // _ROW.size * _ROW.size
            rows = os.pread(fd, size - done, done) if size > done else b""
        finally:
            os.close(fd)
        if not rows:
            return
        pack = self.folder / f"{name[:-4]}.pack"
        limit = os.stat(pack, follow_symlinks=False).st_size
        if pack not in self._packs:
            self._packs.append(pack)
        number = self._packs.index(pack)
        for digest, offset, length in _ROW.iter_unpack(rows[: len(rows) // _ROW.size * _ROW.size]):
            if offset + length <= limit:
                self._places[digest] = self._place(number, offset, length)
        self._read_rows[name] = done + len(rows) // _ROW.size * _ROW.size

    def _place(self, pack: int, offset: int, length: int) -> int:
        return (pack << (_OFFSET_BITS + _LENGTH_BITS)) | (offset << _LENGTH_BITS) | length

    def _read(self, place: int) -> bytes:
        length = place & ((1 << _LENGTH_BITS) - 1)
        offset = (place >> _LENGTH_BITS) & ((1 << _OFFSET_BITS) - 1)
        number = place >> (_OFFSET_BITS + _LENGTH_BITS)
        try:
            fd = self._pack if number == self._own else self._readers.get(number, -1)
            if fd < 0:
                fd = self._readers[number] = open_read(self._packs[number])
            pieces: list[bytes] = []
            while length > 0 and (piece := os.pread(fd, length, offset)):
                pieces.append(piece)
                offset += len(piece)
                length -= len(piece)
        except (OSError, UnsafeTranscript) as error:
            raise ContentMissing(f"the undo store {self.folder} cannot be read: {error}") from error
        return b"".join(pieces)
