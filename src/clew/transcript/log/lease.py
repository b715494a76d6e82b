"""One writer per session: a lock the kernel drops when its holder dies, and a way to hand it over.

The lock file `<session>.lock` names its holder and is locked with `flock`. Whoever wants the session writes
`<session>.lock.request`; the holder sees it at its next append or poll, finishes its write and lets go. A holder that
does not answer can be displaced: the taker puts a new lock file in place of the old one, under the append lock of the
transcript, so that the old holder is never between "I still hold it" and its write.

Who a process is, in a way that outlives its process number.
"""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import msgspec

from clew.system.private_files import FILE_MODE, private_dir, replace_private
from clew.transcript.errors import SessionBusy, UnsafeTranscript
from clew.transcript.log.files import open_read


class Owner(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process that holds, or asks for, a session."""

    pid: int
    started: str
    """Boot id and start tick: a process number that was given out again does not fit."""
    token: str
    """Random, so that two leases of one process differ."""
    host: str = ""
    name: str = ""
    """What it is, for people: "clew in ~/src/app"."""
    background: bool = False
    """Nobody sits in front of it; `--continue` passes over its session."""
    found_bytes: int = 0
    """How long the transcript was when it was opened: whatever is open before that was another process's work."""
    socket: str = ""
    """Where the session can be reached by other processes; empty: nowhere."""
    no_socket: str = ""
    """Why it cannot."""

    def __str__(self) -> str:
        what = self.name or "another clew"
        return f"{what} (process {self.pid}{f' on {self.host}' if self.host not in ('', _host()) else ''})"

    def alive(self) -> bool:
        """Whether that very process still runs. A process of another machine counts as alive."""
        if self.host and self.host != _host():
            return True
        started = process_start(self.pid)
        if started:
            return not self.started or started == self.started
        if os.path.isdir("/proc/self"):
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


def this_process(name: str = "", *, background: bool = False) -> Owner:
    """The calling process, with a token of its own."""
    pid = os.getpid()
    token = os.urandom(8).hex()
    return Owner(pid=pid, started=process_start(pid), token=token, host=_host(), name=name, background=background)


def process_start(pid: int) -> str:
    """Boot id and start tick of a live process, empty when there is none (or no /proc)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The command name may hold spaces and parentheses; fields are counted after the last one.
            fields = file.read().rpartition(b")")[2].split()
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read().strip()
    except OSError:
        return ""
    if fields[0] in {b"Z", b"X"}:
        return ""
    return f"{boot.decode()[:8]}:{fields[19].decode()}"


def read_owner(data: bytes) -> Owner | None:
    """The owner a lock file names; None when it says nothing usable."""
    try:
        value: Any = msgspec.json.decode(data, type=Owner)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return value


def _host() -> str:
    return os.uname().nodename


_POLL_S = 0.02
_NO_FLOCK = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


class Lease:
    """The right to write one session. Held until released, handed over, or displaced."""

    def __init__(self, path: Path, fd: int, owner: Owner) -> None:
        self._path = path
        self._fd = fd
        self._inode = _identity(os.fstat(fd))
        self._pid = owner.pid
        self.owner = owner

    def held(self) -> bool:
        """Whether this process is still the writer; one `stat`. A forked child never is."""
        if self._fd < 0 or self._pid != os.getpid():
            return False
        try:
            return _identity(os.stat(self._path)) == self._inode
        except FileNotFoundError:
            # Cleaned up by hand, then our flock still counts; or displaced by a taker that is done by now, which left
            # its own name in our file.
            written = read_owner(os.pread(self._fd, 4096, 0))
            return written is not None and written.token == self.owner.token
        except OSError:
            return False

    def requested_by(self) -> Owner | None:
        """Who asks for this session, if anybody alive does."""
        return _requester(self._path)

    def holder(self) -> str:
        """Whoever holds the session now, for people."""
        return _holder_name(self._path)

    def announce(self, *, socket: str = "", no_socket: str = "") -> None:
        """Write down where the session can be reached, or why it cannot."""
        if self.held():
            self.owner = msgspec.structs.replace(self.owner, socket=socket, no_socket=no_socket)
            _write_owner(self._fd, self.owner)

    def release(self) -> None:
        """Let go. The lock file goes away, if it is still ours."""
        if self._fd < 0:
            return
        if self.held():
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        os.close(self._fd)
        self._fd = -1


def acquire(transcript: Path, *, name: str = "", background: bool = False) -> Lease:
    """Become the writer, or raise SessionBusy with the holder. A dead holder's lease is free at once."""
    path = lock_path(transcript)
    private_dir(path.parent)
    owner = this_process(name, background=background)
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
        if not _try_flock(fd):
            holder = read_owner(os.pread(fd, 4096, 0))
            os.close(fd)
            if holder is not None and not holder.alive():
                # The holder is gone but a child it forked keeps the lock open.
                _displace(path, transcript, owner, wait_s=1.0)
                continue
            raise SessionBusy(transcript.stem, str(holder or "another clew"))
        try:
            current = _identity(os.stat(path)) == _identity(os.fstat(fd))
        except FileNotFoundError:
            current = False
        if current:
            break
        os.close(fd)  # the file was released or replaced between open and lock
    owner = msgspec.structs.replace(owner, found_bytes=_size(transcript))
    try:
        _write_owner(fd, owner)
    except OSError:  # no room: what nobody can read is not held, so that the next try can succeed
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(fd)
        raise
    with contextlib.suppress(OSError):
        os.unlink(request_path(transcript))
    return Lease(path, fd, owner)


def take_over(
    transcript: Path,
    *,
    name: str = "",
    wait_s: float = 5.0,
    force: bool = False,
    waiting: Callable[[str], None] | None = None,
) -> Lease:
    """Ask the holder to let go and wait; with `force`, displace one that does not answer (it may be stopped).

    Raises SessionBusy when the holder stays, or is stopped in the middle of a write.
    """
    path = lock_path(transcript)
    asking = this_process(name)
    deadline = time.monotonic() + wait_s
    asked = False
    try:
        while True:
            try:
                return acquire(transcript, name=name)
            except SessionBusy as busy:
                if not asked:
                    replace_private(request_path(transcript), msgspec.json.encode(asking))
                    asked = True
                    if waiting:
                        waiting(busy.owner)
                if time.monotonic() >= deadline:
                    if not force:
                        raise
                    break
                time.sleep(_POLL_S)
        _displace(path, transcript, asking, wait_s=1.0)
        return acquire(transcript, name=name)
    finally:
        if asked:
            with contextlib.suppress(OSError):
                os.unlink(request_path(transcript))


def holder_of(transcript: Path) -> Owner | None:
    """The live writer of a session, None when it is free. Takes nothing, changes nothing."""
    try:
        fd = open_read(lock_path(transcript))
    except (OSError, UnsafeTranscript):
        return None
    try:
        owner = read_owner(os.pread(fd, 4096, 0))
        return owner if owner is not None and owner.alive() else None
    finally:
        os.close(fd)


@contextlib.contextmanager
def append_lock(fd: int) -> Generator[None]:
    """Held while the lease is checked and a line is written; a taker waits for it."""
    _flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        _flock(fd, fcntl.LOCK_UN)


def lock_path(transcript: Path) -> Path:
    """The lock file of a session."""
    return transcript.with_suffix(".lock")


def request_path(transcript: Path) -> Path:
    """Where a hand-over is asked for."""
    return transcript.with_suffix(".lock.request")


def _size(transcript: Path) -> int:
    try:
        return os.stat(transcript).st_size
    except OSError:
        return 0


def _displace(path: Path, transcript: Path, asking: Owner, *, wait_s: float) -> None:
    """Remove the holder's lock file, but never while the holder is inside a write."""
    fd = _lock_transcript(transcript, path, wait_s)
    try:
        # The holder finds the taker's name in its own file, even when the taker has come and gone. A new file under
        # the old name shows it another inode at once; that one is locked by whoever acquires first.
        _sign(path, asking)
        replace_private(path, msgspec.json.encode(asking))
    finally:
        if fd >= 0:
            os.close(fd)


def _lock_transcript(transcript: Path, lock: Path, wait_s: float) -> int:
    """The append lock of the file that has the name now: it may be written anew while we wait. -1: there is no file."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fd = open_read(transcript)
        except FileNotFoundError:
            return -1
        try:
            if _try_flock(fd) and _identity(os.stat(transcript)) == _identity(os.fstat(fd)):
                return fd
        except FileNotFoundError:
            pass
        os.close(fd)
        if time.monotonic() >= deadline:
            raise SessionBusy(transcript.stem, _holder_name(lock))
        time.sleep(_POLL_S)


def _sign(lock: Path, owner: Owner) -> None:
    """Put a name into a lock file that somebody else holds open."""
    with contextlib.suppress(FileNotFoundError):
        fd = os.open(lock, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.ftruncate(fd, 0)
            os.pwrite(fd, msgspec.json.encode(owner), 0)
        finally:
            os.close(fd)


def _requester(lock: Path) -> Owner | None:
    try:
        data = (lock.with_suffix(".lock.request")).read_bytes()
    except OSError:
        return None
    owner = read_owner(data)
    return owner if owner is not None and owner.alive() else None


def _holder_name(path: Path) -> str:
    try:
        return str(read_owner(path.read_bytes()) or "another clew")
    except OSError:
        return "another clew"


def _write_owner(fd: int, owner: Owner) -> None:
    os.ftruncate(fd, 0)
    os.pwrite(fd, msgspec.json.encode(owner), 0)


def _try_flock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_FLOCK:
            raise
        owner = read_owner(os.pread(fd, 4096, 0))
        return owner is None or not owner.alive()
    return True


def _flock(fd: int, operation: int) -> None:
    try:
        fcntl.flock(fd, operation)
    except OSError as error:
        if error.errno not in _NO_FLOCK:
            raise


def _identity(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino
