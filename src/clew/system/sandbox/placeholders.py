"""Empty directories that stand where protected names are missing, while a confined command runs.

A name that does not exist cannot be mounted over, so it is made for the time being: as a directory, because git does
not see empty ones, and because no file can be created or renamed over it. A shared lock on the directory says that a
sandbox relies on it; the last one to leave removes it. Standard library only.
"""

import contextlib
import fcntl
import os


def hold(path: str) -> int | None:
    """A locked descriptor of the placeholder; None when something else is there by now or nothing can be made."""
    for _ in range(10):
        try:
            os.mkdir(path, 0o755)
        except FileExistsError:
            pass
        except OSError:
            return None
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)
    return None


def release(path: str, descriptor: int) -> None:
    """Remove the placeholder unless another sandbox relies on it; what has content stays."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rmdir(path)
    os.close(descriptor)
