"""Who is at the other end of a Unix socket, and whether a process descends from a clew session.

A process that runs a session names itself (`SessionMark`), which no other process can take back. Command keepers are
subreapers, so a descendant that forks twice stays below its session.
"""

import os
import socket
import struct
import sys
from typing import NamedTuple

SESSION_NAME = "clew-session"
"""The kernel's name for the process; at most 15 bytes."""
MAX_ANCESTORS = 200
_CREDENTIALS = struct.Struct("3i")


class Peer(NamedTuple):
    """The process that connected, as the kernel knows it."""

    pid: int
    uid: int


def has_peer_credentials() -> bool:
    """Whether this system tells who connects; without that nobody is let in."""
    return sys.platform == "linux" and hasattr(socket, "SO_PEERCRED") and os.path.isdir("/proc/self")


def peer_of(connected: "socket.socket") -> Peer | None:
    """Who connected; None where the system does not tell."""
    try:
        raw = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except (AttributeError, OSError):
        return None
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return Peer(pid, uid)


class SessionMark:
    """This process runs a session, as the kernel's name for it tells: everything below it counts as the session's."""

    _open = 0
    _before = ""

    @classmethod
    def put(cls) -> None:
        """One more session."""
        if cls._open == 0:
            cls._before = _named(SESSION_NAME)
        cls._open += 1

    @classmethod
    async def take_away(cls) -> None:
        """One less; with the last one the process has the name it had before."""
        cls._open -= 1
        if cls._open == 0:
            _named(cls._before or "clew")


def _named(name: str) -> str:
    """Give this process a name; the one it had. Where there is no /proc there is no socket either."""
    try:
        with open("/proc/self/comm", "r+", encoding="utf-8", errors="replace") as file:
            before = file.read().strip()
            file.seek(0)
            file.write(name)
            return before
    except OSError:
        return ""


def session_above(pid: int) -> int | None:
    """The nearest session that the process is, or descends from; None when there is none. Raises ProcessLookupError
    when a process of the chain cannot be looked at: then nothing is known."""
    for _ in range(MAX_ANCESTORS):
        if pid < 1:
            return None
        try:
            name, parent = _name_and_parent(pid)
        except ProcessLookupError:
            if pid == 1:
                return None  # some systems show nobody the first process
            raise
        if name == SESSION_NAME:  # process 1 of a sandbox has it too: nothing beyond it is seen from inside
            return pid
        pid = parent
    raise ProcessLookupError(f"more than {MAX_ANCESTORS} processes stand above it")


def _name_and_parent(pid: int) -> tuple[str, int]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name may hold anything, parentheses included; fields are counted after the last one.
            front, _, rest = file.read().rpartition(b")")
    except OSError as error:
        raise ProcessLookupError(f"process {pid} cannot be looked at") from error
    return front.partition(b"(")[2].decode("utf-8", "replace"), int(rest.split()[1])
