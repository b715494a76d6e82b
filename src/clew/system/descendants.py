"""All processes below one, and ending them all. Standard library only."""

import contextlib
import os
import signal
import sys
import time

POLL_S = 0.005
HAS_LISTS = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
"""Some kernels are built without lists of children; then every process is looked at."""


def children(pid: int) -> list[int]:
    """The children of every thread of a process."""
    if not HAS_LISTS:
        return children_by_scan(pid)
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += (int(word) for word in file.read().split())
    return found


def children_by_scan(parent: int) -> list[int]:
    """The children of a process, by asking all processes for their parent."""
    found: list[int] = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdecimal():
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    if int(file.read().rpartition(b")")[2].split()[1]) == parent:
                        found.append(int(name))
    return found


def descendants(root: int, *, skip: int = 0) -> list[int]:
    """Processes below `root`, without that many upper levels."""
    found: list[int] = []
    level, number = children(root), 1
    while level:
        if number > skip:
            found += level
        level = [child for pid in level for child in children(pid)]
        number += 1
    return found


def signal_all(root: int, number: int, *, skip: int = 0, group: int = 0) -> None:
    """Some may be gone already. Without /proc the command's own process group is all that can be reached."""
    if sys.platform != "linux" and group:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for pid in descendants(root, skip=skip):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def resident_bytes(pid: int) -> int:
    """The memory that a process and all it started hold now; 0 where that cannot be told."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            own = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
    return own + sum(resident_bytes(child) for child in children(pid))


class Ender:
    """Ends every descendant of this process, which is their subreaper: each death brings the dead one's children
    within reach, so the end is reached when there is no child left at all."""

    def __init__(self, main: int = 0) -> None:
        self.main = main
        self.status: int | None = None
        """The wait status of the main child, once it is known."""

    def end_all(self, *, grace_s: float, skip: int = 0) -> None:
        """SIGTERM, some time, then SIGKILL until none is left. `skip`: upper levels that SIGTERM would tear down."""
        root = os.getpid()
        if not self.reap():
            return
        if grace_s:
            signal_all(root, signal.SIGTERM, skip=skip, group=self.main)
            deadline = time.monotonic() + grace_s
            while time.monotonic() < deadline:
                time.sleep(POLL_S)
                if not self.reap():
                    return
        while self.reap():
            signal_all(root, signal.SIGKILL, group=self.main)
            time.sleep(POLL_S)

    def reap(self) -> bool:
        """Collect the dead; False when no child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.main:
                self.status = status
