"""Who a process is, in a way that outlives its process number."""

import os
from typing import Any

import msgspec


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
