"""Appending to the log: what `append` acknowledged is in the file, and nothing is ever dropped."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, Protocol

from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.ids import SessionId
from clew.system.private_files import private_dir, replace_private, write_all
from clew.transcript.errors import LeaseLost, TranscriptError
from clew.transcript.log.codec import encode
from clew.transcript.log.durability import Durability, restore_file
from clew.transcript.log.files import open_append
from clew.transcript.log.lease import Lease, acquire, append_lock

Notify = Callable[[Literal["info", "warning", "error"], str], None]
"""Told about what a person should know: the disk is full, the file was deleted, the session was handed over."""


class TranscriptSink(Protocol):
    """Where entries go. The recorder holds one."""

    def append(self, entry: Entry) -> bool:
        """True: the entry is in the file. False: it is kept in memory and will be tried again (or never, by choice)."""
        ...

    def sync(self) -> bool:
        """A barrier: True when everything so far would survive a power cut. A failure is never made good by trying the
        same again: see `durability.py`."""
        ...

    def unsaved(self) -> int:
        """How many entries are still not in the file, after one more try."""
        ...

    def close(self) -> None:
        """Write what can be written and let go."""
        ...


class NullWriter:
    """`--no-session-persistence`: nothing touches the disk."""

    def append(self, entry: Entry) -> bool:
        """Dropped by choice."""
        return False

    def sync(self) -> bool:
        """There is nothing to sync."""
        return False

    def unsaved(self) -> int:
        """Nothing is missing that anybody wanted."""
        return 0

    def close(self) -> None:
        """Nothing to do."""


class TranscriptWriter:
    """The one writer of one file. Safe to call from several threads; each line is one `write`.

    A new session has no file until its first user or assistant entry; what came before is written first. The file of a
    sub-agent is there from its first entry on: its parent names it. A line that cannot be written stays queued, in
    order, and is tried again at every append, sync and retry.
    """

    def __init__(
        self,
        path: Path,
        session_id: SessionId,
        *,
        notify: Notify | None = None,
        seed: Iterable[bytes] = (),
        lease: Lease | None = None,
        leased: bool = True,
        name: str = "",
        background: bool = False,
        one_shot: bool = False,
    ) -> None:
        """`one_shot`: nobody sits there meanwhile, so only what could not be saved in the end is told.
        `seed`: whole lines a fork starts with, written together with the first prompt. `leased=False` for files
        that have one writer anyway (sub-agents). Raises UnsafeTranscript, SessionBusy; for a new file nothing yet."""
        self.path = path
        self.session_id = session_id
        self.saved = 0
        """Entries acknowledged by this writer."""
        self._notify: Notify = notify or (lambda level, text: None)
        self._seed = list(seed)
        self._lease = lease
        self._leased = leased
        self._name = name
        self._background = background
        self._one_shot = one_shot
        self._lock = threading.RLock()  # whoever is notified may ask about this writer
        self._queue: deque[bytes] = deque()
        self._rest = b""
        """What is missing of the first line in the queue, when only its beginning could be written."""
        self._expected_size = -1
        self._fd = -1
        self._materialised = False
        self._failing = ""
        self._lost = False
        self._durable = Durability(0)
        self._doubt_told = False
        if path.exists() or path.is_symlink():
            self._materialised = True
            self._open()

    def append(self, entry: Entry) -> bool:
        """Write one entry. Raises LeaseLost when another process took the session over; nothing else."""
        line = encode(entry)
        with self._lock:
            if self._lost:
                raise self._lease_lost()
            self._queue.append(line)
            if not self._materialised and self._leased and not isinstance(entry, UserEntry | AssistantEntry):
                return False
            self._materialised = True
            return self._drain()

    def write_seed(self) -> None:
        """Write what a copy starts with now, before its first prompt. Raises OSError or TranscriptError; then there is
        no file."""
        with self._lock:
            try:
                self._open()
            except BaseException:
                self._let_go()
                raise
            self._materialised = True

    def sync(self) -> bool:
        """Retry what waits, then force it to disk."""
        with self._lock:
            return self._materialised and self._drained() and self._make_durable()

    def unsaved(self) -> int:
        """How many entries are still not in the file, after one more try."""
        with self._lock:
            return 0 if not self._materialised or self._drained() else len(self._queue)

    @property
    def pending(self) -> int:
        """Entries that are not in the file yet."""
        return len(self._queue)

    @property
    def unconfirmed(self) -> int:
        """Entries that no sync has confirmed yet; only these are held in memory."""
        return self._durable.unconfirmed

    def asked_for(self) -> str:
        """Who else asks for this session, or "". Whoever holds this writer then settles what runs and closes it."""
        with self._lock:
            if self._lost or self._lease is None:
                return ""
            asking = self._lease.requested_by()
            return "" if asking is None or asking.token == self._lease.owner.token else str(asking)

    @property
    def leased(self) -> bool:
        """Whether the session is on disk and this process has the right to write it."""
        with self._lock:
            return self._lease is not None and not self._lost

    def announce(self, *, socket: str = "", no_socket: str = "") -> None:
        """Write into the lease where the session can be reached, or why it cannot."""
        with self._lock:
            if self._lease is not None and not self._lost:
                self._lease.announce(socket=socket, no_socket=no_socket)

    def close(self) -> None:
        """Write and sync what can be, then release the session. Idempotent."""
        with self._lock:
            if self._materialised and self._drained():
                self._settle_doubt()
            if self._queue and self._materialised:
                many = "entry" if len(self._queue) == 1 else f"{len(self._queue)} entries"
                why = f": {self._failing}" if self._failing else ""
                self._notify(
                    "error",
                    f"the last {many} of this session could not be saved to {self.path}{why}; what came before is "
                    f"kept, if anything: clew --resume {self.session_id}",
                )
            self._let_go()

    def _drained(self) -> bool:
        """Like `_drain`, for callers that have nothing new to write: a lost session is simply not saved to."""
        try:
            return not self._lost and self._drain()
        except LeaseLost:
            return False

    def _drain(self) -> bool:
        try:
            if self._fd < 0:
                self._open()
            self._check_lease()
            self._fd = restore_file(self.path, self._fd, self._tell_restored)
            with append_lock(self._fd):
                self._check_lease()
                self._write_queue()
        except LeaseLost:
            raise
        except (OSError, TranscriptError) as error:
            self._failed(error)
            return False
        if self._failing:
            self._failing = ""
            if not self._one_shot:
                self._notify("info", f"{self.path.name} can be written again; everything is saved")
        return True

    def _check_lease(self) -> None:
        if self._lease is not None and not self._lease.held():
            self._lost = True
            raise self._lease_lost()

    def _write_queue(self) -> None:
        while self._queue:
            line = self._queue[0]
            if not self._rest:
                self._write_line(line)
            elif os.fstat(self._fd).st_size == self._expected_size:
                self._write_line(self._rest)  # the first part of this line is the end of the file
            else:
                self._write_line(b"\n" + line)
            self._queue.popleft()
            self._durable.wrote(line)
            self.saved += 1

    def _write_line(self, data: bytes) -> None:
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError:
            if written:
                self._rest, self._expected_size = data[written:], os.fstat(self._fd).st_size
            raise
        self._rest = b""

    def _open(self) -> None:
        private_dir(self.path.parent)
        if self._leased and self._lease is None:
            self._lease = acquire(self.path, name=self._name, background=self._background)
        if self._seed and not self.path.exists():
            replace_private(self.path, b"".join(self._seed))  # a fork's copied history appears whole or not at all
            self._seed.clear()
        fresh = not self.path.exists()
        fd = open_append(self.path, create=True)
        self._durable = Durability(os.fstat(fd).st_size)
        try:
            if _ends_torn(fd):
                write_all(fd, b"\n")
                self._durable.wrote(b"\n")
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        if fresh:
            self._durable.named(self.path.parent)

    def _let_go(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._lease is not None:
            self._lease.release()

    def _make_durable(self, *, last_chance: bool = False) -> bool:
        """Sync; after a failure, now or before, write the file anew. Call it with nothing queued."""
        if not self._durable.due or self._durable.sync(self._fd):
            return True
        if not self._doubt_told:
            self._doubt_told = True
            self._notify(
                "warning",
                f"{self.path} could not be forced to disk: {self._durable.doubt}. Work goes on; what was added is kept "
                "in memory, and the file is written anew as soon as the disk takes it",
            )
        if not (self._durable.worth_a_try() or last_chance) or not self._written_anew():
            return False
        self._doubt_told = False
        self._notify("info", f"{self.path.name} was written anew and is safe on disk")
        return True

    def _written_anew(self) -> bool:
        old = self._fd
        try:
            with append_lock(old):
                self._check_lease()
                self._fd = self._durable.rewrite(self.path, old)
        except (OSError, LeaseLost):  # the user knows of the disk; a lost session is told by its next append
            return False
        os.close(old)
        return not self._durable.doubt

    def _settle_doubt(self) -> None:
        """The last sync of this writer."""
        if self._fd >= 0 and not self._make_durable(last_chance=True) and self._durable.unconfirmed:
            self._notify(
                "error",
                f"{self._durable.unconfirmed} entries of {self.path.name} are in the file, but the disk did not "
                "confirm them: a power cut could lose them",
            )

    def _failed(self, error: Exception) -> None:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        if self._failing == reason:
            return
        self._failing = reason
        if self._one_shot:
            return
        self._notify(
            "warning",
            f"cannot save to {self.path}: {reason}. Work goes on; unsaved entries are kept in memory and tried again",
        )

    def _tell_restored(self, text: str) -> None:
        self._durable.copied()
        self._notify("warning", text)

    def _lease_lost(self) -> LeaseLost:
        return LeaseLost(self.session_id, self._lease.holder() if self._lease else "another clew")


def _ends_torn(fd: int) -> bool:
    """True when the last byte is no newline, so that an append would join what stands there."""
    size = os.fstat(fd).st_size
    return size > 0 and os.pread(fd, 1, size - 1) != b"\n"
