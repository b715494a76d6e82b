"""What of a transcript would survive a power cut, and what is done when a sync fails.

After a failed fsync the kernel may count pages as clean that were never written; the next fsync then succeeds over lost
data. So a failure is final for that file: only a new one is believed, written whole from the part that was confirmed
before and the lines that are kept here since.
"""

import errno
import os
from pathlib import Path

from clew.system.private_files import sync_dir
from clew.transcript.file_restore import rewrite_file

_RAREST_TRY = 64
"""Each try writes the whole history, so tries become rarer while the disk stays bad: every 64th sync at last."""


class Durability:
    """Follows one open file. Lines are held in memory from their write to the sync that confirms them."""

    def __init__(self, size: int) -> None:
        """`size`: what was there when the file was opened. It came from a process that may not have synced it."""
        self._confirmed_bytes = size
        self._lines: list[bytes] = []
        self._checked = False
        self._doubt = ""
        self._syncs_until_try = 0
        self._gap = 1

    @property
    def doubt(self) -> str:
        """Why the file itself is not believed any more; "" while it is."""
        return self._doubt

    @property
    def unconfirmed(self) -> int:
        """Lines written since the last sync that succeeded."""
        return len(self._lines)

    @property
    def due(self) -> bool:
        """Whether the next sync would do anything."""
        return bool(self._lines or self._doubt or not self._checked)

    def wrote(self, line: bytes) -> None:
        """A line is in the file."""
        self._lines.append(line)

    def copied(self) -> None:
        """The file is a copy now, byte by byte: to be synced before anything is said about it."""
        self._checked = False

    def named(self, folder: Path) -> None:
        """The file got its name: that, too, must be on disk before anything in it is."""
        if not sync_dir(folder):
            self._doubt = f"{folder.name}: {os.strerror(errno.EIO)}"

    def sync(self, fd: int) -> bool:
        """Force everything to disk. Raises nothing; False leaves a doubt that only `rewrite` can end."""
        if self._doubt:
            return False
        try:
            os.fsync(fd)
        except OSError as error:
            self._doubt = error.strerror or str(error)
            return False
        self._settle(os.fstat(fd).st_size)
        return True

    def worth_a_try(self) -> bool:
        """Whether this sync should try to write the file anew; counted in syncs."""
        if self._syncs_until_try > 0:
            self._syncs_until_try -= 1
            return False
        self._syncs_until_try = self._gap - 1
        self._gap = min(self._gap * 2, _RAREST_TRY)
        return True

    def rewrite(self, path: Path, fd: int) -> int:
        """A new, synced file under the same name: its descriptor; `fd` stays open. Raises OSError."""
        fresh = rewrite_file(path, fd, self._confirmed_bytes, self._lines)
        self._settle(os.fstat(fresh).st_size)
        self.named(path.parent)
        return fresh

    def _settle(self, size: int) -> None:
        self._confirmed_bytes = size
        self._lines = []
        self._checked = True
        self._doubt = ""
        self._syncs_until_try, self._gap = 0, 1
