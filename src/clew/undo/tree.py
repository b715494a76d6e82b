"""The workspace as it was last seen: a row for every entry, and what differs since a moment."""

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from clew.system.private_files import replace_private
from clew.transcript.errors import UnsafeTranscript
from clew.transcript.log.files import open_read
from clew.undo.capture import ScanRow
from clew.undo.limits import UndoLimits
from clew.undo.packs import PackStore
from clew.undo.state import MISSING, Change, path_text

GIT = ".git"
_VERSION = 1


class Saved(msgspec.Struct, frozen=True, array_like=True):
    """The rows of the last session: what still fits need not be read again."""

    version: int
    roots: list[bytes]
    folders: dict[bytes, dict[bytes, ScanRow]]


class FileTree:
    """Only bookkeeping: `scan.py` looks at the disk."""

    def __init__(self, roots: Sequence[str], limits: UndoLimits) -> None:
        self.roots = tuple(roots)
        self.limits = limits
        self.folders: dict[str, dict[str, ScanRow]] = {}
        self.uncovered: dict[str, str] = {}
        """Directories below which nothing is kept, with the reason."""
        self.repositories: set[str] = set()
        """Directories with a `.git`, whose history is never kept."""
        self.suspects: set[str] = set()
        """Paths whose row may be older than the file although it fits."""
        self.count = 0
        self.kept_bytes = 0
        self.changes: dict[str, tuple[ScanRow | None, ScanRow | None]] = {}
        self.notes: list[str] = []
        self._linked: dict[int, set[str]] = {}
        self._reuse: dict[int, ScanRow] = {}

    def begin(self) -> None:
        """From here on changes count."""
        self.changes, self.notes, self._reuse = {}, [], {}

    def put(self, folder: str, name: str, row: ScanRow) -> None:
        """An entry is there, new or changed."""
        rows = self.folders[folder]
        path = f"{folder}/{name}"
        old = rows.get(name)
        self._account(path, old, row)
        rows[name] = row
        self._note(path, old, row)

    def drop(self, folder: str, name: str) -> list[str]:
        """An entry is gone, with all below it. The directories that went are returned: their watches go too."""
        path = f"{folder}/{name}"
        old = self.folders[folder].pop(name, None)
        if old is None:
            self._uncovered_gone(path)
            return []
        self._lose(path, old)
        if not stat.S_ISDIR(old.mode):
            return []
        gone: list[str] = []
        waiting = [path]
        while waiting:
            at = waiting.pop()
            gone.append(at)
            if at in self.repositories:
                self.repositories.discard(at)
                self.notes.append(f"{path_text(at)}/{GIT}: the history of this repository is gone; it was not kept")
            self._uncovered_gone(at)
            for child, row in self.folders.pop(at, {}).items():
                below = f"{at}/{child}"
                self._lose(below, row)
                if stat.S_ISDIR(row.mode):
                    waiting.append(below)
        return gone

    def known_content(self, status: os.stat_result) -> ScanRow | None:
        """The row of an entry that was moved here whole."""
        row = self._reuse.get(status.st_ino)
        return row if row is not None and row.digest and row.fits(status) else None

    def other_names(self, row: ScanRow) -> Iterable[str]:
        """All paths of a file with several names."""
        return tuple(self._linked.get(row.inode, ())) if row.links > 1 else ()

    def differences(self) -> tuple[Change, ...]:
        """What changed since `begin`, as far as a person would see it; parents before children."""
        found: dict[str, Change] = {}
        for path in sorted(self.changes):
            old, new = self.changes[path]
            before = old.state() if old else MISSING
            after = new.state() if new else MISSING
            if not before.same(after):
                found[path] = Change(path=path_text(path), before=before, after=after)
        for path, change in found.items():
            if change.before.inode:
                untouched = self._linked.get(change.before.inode, set()) - found.keys()
                twin = path_text(min(untouched, default=""))
                found[path] = replace(change, before=replace(change.before, twin=twin))
        return tuple(found.values())

    def unkept(self, below: str = "") -> Iterable[tuple[str, str]]:
        """Files without kept content, with the reason; at or below one path if given."""
        for folder, rows in self.folders.items():
            if below and not _touch(folder, below):
                continue
            for name, row in rows.items():
                path = f"{folder}/{name}"
                if row.why and (not below or path == below or path.startswith(f"{below}/")):
                    yield path, row.why

    def save(self, path: Path) -> None:
        """For the next session. Rows in doubt are left out."""
        doubtful: dict[str, set[str]] = {}
        for item in self.suspects:
            doubtful.setdefault(os.path.dirname(item), set()).add(os.path.basename(item))
        folders = {
            os.fsencode(folder): {
                os.fsencode(name): row for name, row in rows.items() if name not in doubtful.get(folder, ())
            }
            for folder, rows in self.folders.items()
        }
        saved = Saved(_VERSION, [os.fsencode(root) for root in self.roots], folders)
        replace_private(path, msgspec.msgpack.encode(saved))

    def load(self, path: Path, store: PackStore) -> None:
        """Rows of the last session whose content is still kept. A missing or damaged file only costs time."""
        try:
            with os.fdopen(open_read(path), "rb") as file:
                saved = msgspec.msgpack.decode(file.read(), type=Saved)
        except (OSError, UnsafeTranscript, msgspec.DecodeError, UnicodeDecodeError):
            return
        if saved.version != _VERSION or saved.roots != [os.fsencode(root) for root in self.roots]:
            return
        self._adopt(saved.folders, store)

    def _adopt(self, folders: Mapping[bytes, Mapping[bytes, ScanRow]], store: PackStore) -> None:
        for raw_folder, raw_rows in folders.items():
            folder = os.fsdecode(raw_folder)
            rows = self.folders.setdefault(folder, {})
            for raw_name, row in raw_rows.items():
                if row.why or (row.digest and row.digest not in store):
                    continue  # read it again: the reason or the content may be gone
                name = os.fsdecode(raw_name)
                rows[name] = row
                self._account(f"{folder}/{name}", None, row)

    def _lose(self, path: str, old: ScanRow) -> None:
        self._account(path, old, None)
        self._note(path, old, None)
        self.suspects.discard(path)
        self._reuse[old.inode] = old

    def _uncovered_gone(self, path: str) -> None:
        why = self.uncovered.pop(path, "")
        if why:
            self.notes.append(f"{path_text(path)} is gone and was not all kept ({why})")

    def _account(self, path: str, old: ScanRow | None, new: ScanRow | None) -> None:
        for row, sign in ((old, -1), (new, 1)):
            if row is None:
                continue
            self.count += sign
            if row.digest:
                self.kept_bytes += sign * row.size
            if row.links > 1 and stat.S_ISREG(row.mode):
                names = self._linked.setdefault(row.inode, set())
                (names.add if sign > 0 else names.discard)(path)

    def _note(self, path: str, old: ScanRow | None, new: ScanRow | None) -> None:
        first = self.changes[path][0] if path in self.changes else old
        self.changes[path] = (first, new)


def inside(path: str, roots: Collection[str]) -> bool:
    """Whether a resolved path lies at or below one of the roots."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _touch(folder: str, below: str) -> bool:
    """Whether entries of `folder` can lie at or below `below`."""
    return folder == below or folder.startswith(f"{below}/") or os.path.dirname(below) == folder
