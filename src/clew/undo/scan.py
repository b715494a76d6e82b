"""Keeping the tree current: one whole walk at first, then only what the kernel says has changed.

A directory is opened by its path and must be the very inode its parent's listing showed, so that no link swapped in on
the way is followed. Walking 50,000 files takes 140 ms whatever changed, asking the kernel well under one; the figures
are in docs/undo.md. The walk remains for the start, for lost events and for directories that have no watch.
"""

import contextlib
import os
import stat
import time
from collections.abc import Callable, Collection, Generator

from clew.undo.capture import BUSY, ScanRow, capture
from clew.undo.ignored import CACHE_TAG, Rules, is_ignored, read_rules
from clew.undo.limits import UndoLimits
from clew.undo.packs import PackStore
from clew.undo.state import path_text
from clew.undo.tree import GIT, FileTree
from clew.undo.watches import Watches

MAX_DEPTH = 200
MAX_PATH_BYTES = 3_800
"""The kernel takes 4,095, and a name comes on top."""
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PROGRESS_FILES = 500

Progress = Callable[[int, int], None]
"""Called with files and bytes so far."""


class Moved(OSError):
    """The path does not name the directory any more that it named when its parent was listed."""


class Stopped(Exception):
    """The session ends; the walk is given up."""


class Scanner:
    """Looks at the disk on behalf of a tree. One thread at a time."""

    def __init__(
        self, tree: FileTree, store: PackStore, *, leave_out: Collection[str] = (), use_events: bool = True
    ) -> None:
        self.tree = tree
        self.store = store
        self.watches = Watches(enabled=use_events)
        self.stop = False
        self._leave_out = frozenset(leave_out)
        self._devices = {root: os.stat(root).st_dev for root in tree.roots}
        self._root_inodes: dict[str, int] = {}
        self._rules: dict[str, Rules] = {}
        self._ignored: set[str] = set()
        self._pending: dict[str, set[str]] = {}
        self._all = True
        self._doubted: set[str] = set()
        self._deadline = 0.0
        self._cut = False
        self._store_down = ""
        self._progress: Progress | None = None
        self._told = 0

    @property
    def limits(self) -> UndoLimits:
        return self.tree.limits

    def walk(self, progress: Progress | None = None) -> None:
        """The first scan: everything within the caps. Raises Stopped."""
        self._progress = progress
        self._all = True
        try:
            self.sync(budget_s=float("inf"))
        finally:
            self._progress = None

    def sync(self, *, budget_s: float) -> bool:
        """Bring the tree up to date; its `changes` are the difference. False when the time did not suffice: the rest
        is looked at next time. Raises Stopped."""
        self._deadline = time.monotonic() + budget_s
        self._store_down = ""
        self._cut = False
        self.tree.begin()
        suspects, self.tree.suspects = self.tree.suspects, set()
        names, lost = self.watches.read()
        for folder, more in self._pending.items():
            names.setdefault(folder, set()).update(more)
        self._pending = {}
        for path in suspects:
            folder, name = os.path.split(path)
            names.setdefault(folder, set()).add(name)
        self._doubted = suspects
        deep, self._all = self._all or lost, False
        complete = self._look_at(names)
        whole = list(self.tree.roots) if deep else sorted(self.watches.unwatched)
        complete = self._list_all(whole, deep=deep) and complete
        self._all = self._all or (deep and not complete)
        return self._look_at(self._other_names()) and complete

    def look(self, path: str) -> None:
        """One path by itself, because we know that it changed."""
        self._deadline = float("inf")
        self._cut = False
        self._doubted = {path}
        folder, name = os.path.split(path)
        while folder not in self.tree.folders and len(folder) > 1:  # a file tool made its parents: the highest is new
            folder, name = os.path.split(folder)
        self._look_at({folder: {name}})

    def close(self) -> None:
        """Give the watches back."""
        self.stop = True
        self.watches.close()

    def _look_at(self, names: dict[str, set[str]]) -> bool:
        """First what is gone everywhere, so that what was moved is known when it turns up under its new name."""
        there: dict[str, set[str]] = {}
        queue = list(names.items())
        while queue:
            folder, found = queue.pop()
            if folder not in self.tree.folders:
                continue
            if self._late():
                self._postpone(folder, found)
                continue
            try:
                with self._opened(folder) as descriptor:
                    for name in found:
                        if self._status(descriptor, name) is None:
                            self._gone(folder, name)
                        else:
                            there.setdefault(folder, set()).add(name)
            except PermissionError:
                continue
            except OSError:
                if folder in self.tree.roots:
                    self._root_gone(folder)
                else:
                    parent, name = os.path.split(folder)
                    queue.append((parent, {name}))
        fresh: list[str] = []
        for folder, found in there.items():
            if self._late():
                self._postpone(folder, found)
            elif folder in self.tree.folders:
                with contextlib.suppress(OSError), self._opened(folder) as descriptor:
                    for name in found:
                        fresh += self._entry(folder, descriptor, name, self._status(descriptor, name), deep=False)
        return self._list_all(fresh, deep=True) and not self._pending

    def _postpone(self, folder: str, names: set[str]) -> None:
        self._pending.setdefault(folder, set()).update(names)
        self.tree.suspects.update(path for name in names if (path := f"{folder}/{name}") in self._doubted)

    def _other_names(self) -> dict[str, set[str]]:
        """A file with several names changed under one of them: the others changed too, without an event."""
        names: dict[str, set[str]] = {}
        for old, new in list(self.tree.changes.values()):
            row = new or old
            for path in self.tree.other_names(row) if row is not None else ():
                if path not in self.tree.changes:
                    self._doubted.add(path)
                    names.setdefault(os.path.dirname(path), set()).add(os.path.basename(path))
        return names

    def _list_all(self, folders: list[str], *, deep: bool) -> bool:
        """List directories, ignored ones after all others. `deep`: also the known ones below."""
        waiting = list(reversed(folders))
        later: list[str] = []
        while waiting or later:
            if self._late():
                self._remember(waiting + later)
                return False
            folder = waiting.pop() if waiting else later.pop()
            for child in self._list(folder, deep=deep):
                (later if child in self._ignored else waiting).append(child)
        return not self._cut

    def _remember(self, folders: list[str]) -> None:
        for folder in folders:
            parent, name = os.path.split(folder)
            if parent in self.tree.folders and folder not in self.tree.folders:
                self._gone(parent, name)  # as if never seen: next time it is new, and listed
                self._postpone(parent, {name})
            else:
                self._all = True

    def _list(self, folder: str, *, deep: bool) -> list[str]:
        """All entries of one directory; the directories below that must be listed too."""
        self.tree.uncovered.pop(folder, None)  # perhaps it fits by now
        if folder.count("/") > MAX_DEPTH or len(os.fsencode(folder)) > MAX_PATH_BYTES:
            self._uncover(folder, "its path is too deep or too long")
            return []
        below: list[str] = []
        try:
            with self._opened(folder) as descriptor:
                rows = self.tree.folders.setdefault(folder, {})
                self.watches.add(folder, descriptor)
                with os.scandir(descriptor) as listing:
                    entries = {item.name: item for item in listing}
                if ".gitignore" in entries:
                    self._rules[folder] = read_rules(descriptor)
                if CACHE_TAG in entries:
                    self._ignored.add(folder)
                for name in [name for name in rows if name not in entries]:
                    self._gone(folder, name)
                for name, item in entries.items():
                    if self._late():
                        self._cut = self._all = True
                        return below
                    try:
                        status = item.stat(follow_symlinks=False)
                    except OSError:
                        status = None
                    below += self._entry(folder, descriptor, name, status, deep=deep)
        except PermissionError:
            self._uncover(folder, "it cannot be read")
        except OSError:
            if folder in self.tree.roots:
                self._root_gone(folder)
            else:  # gone or replaced meanwhile: its parent is looked at next time, unless that went too
                parent, name = os.path.split(folder)
                if name in self.tree.folders.get(parent, {}):
                    self._postpone(parent, {name})
        return below

    def _entry(
        self, folder: str, descriptor: int, name: str, status: os.stat_result | None, *, deep: bool
    ) -> list[str]:
        """Compare one entry with its row. Directories that must be listed are returned."""
        path = f"{folder}/{name}"
        if status is None:
            self._gone(folder, name)
            return []
        if name == GIT:
            self.tree.repositories.add(folder)
            return []
        if path in self._leave_out:
            return []
        is_directory = stat.S_ISDIR(status.st_mode)
        old = self.tree.folders[folder].get(name)
        if old is not None and old.fits(status) and path not in self._doubted:
            return [path] if deep and is_directory and path not in self.tree.uncovered else []
        if old is None and self.tree.count >= self.limits.max_files:
            why = f"the workspace has more than {self.limits.max_files:,} entries"
            self._uncover(path if is_directory else folder, why)
            return []
        if old is not None and stat.S_ISDIR(old.mode) and (not is_directory or old.inode != status.st_ino):
            self._gone(folder, name)
            old = None
        try:
            self.tree.put(folder, name, self._captured(folder, descriptor, name, status))
        except FileNotFoundError:
            self._gone(folder, name)
            return []
        if self._progress is not None and self.tree.count - self._told >= _PROGRESS_FILES:
            self._told = self.tree.count
            self._progress(self.tree.count, self.tree.kept_bytes)
        known = old is not None and stat.S_ISDIR(old.mode) and path not in self.tree.uncovered
        if not is_directory or (known and not deep):
            return []
        if status.st_dev != self._device(folder):
            self._uncover(path, "it is another file system")
            return []
        if folder in self._ignored or is_ignored(path, self._rules, self._root(folder)):
            self._ignored.add(path)
        return [path]

    def _captured(self, folder: str, descriptor: int, name: str, status: os.stat_result) -> ScanRow:
        moved = self.tree.known_content(status)
        if moved is not None and moved.digest in self.store:
            return moved
        size_cap = self.limits.max_ignored_file_bytes if folder in self._ignored else self.limits.max_file_bytes
        if stat.S_ISREG(status.st_mode):
            if self._store_down:
                self.tree.suspects.add(f"{folder}/{name}")
                return _row_without(status, self._store_down)
            if self.tree.kept_bytes + status.st_size > self.limits.max_tree_bytes:
                return _row_without(status, f"the workspace holds more than {self.limits.max_tree_bytes:,} bytes")
        try:
            found = capture(descriptor, name, status, store=self.store, max_bytes=size_cap)
        except FileNotFoundError:
            raise
        except OSError:
            self.tree.suspects.add(f"{folder}/{name}")
            return _row_without(status, BUSY)
        if found.suspect:
            self.tree.suspects.add(f"{folder}/{name}")
            if found.row.why.startswith("the undo store"):
                self._store_down = found.row.why
        return found.row

    @contextlib.contextmanager
    def _opened(self, folder: str) -> Generator[int]:
        descriptor = os.open(folder, _OPEN)
        try:
            status = os.fstat(descriptor)
            if folder in self._devices:
                expected = self._root_inodes.setdefault(folder, status.st_ino)
            else:
                parent, name = os.path.split(folder)
                row = self.tree.folders.get(parent, {}).get(name)
                expected = row.inode if row is not None else -1
            if status.st_ino != expected or status.st_dev != self._device(folder):
                raise Moved(0, "replaced meanwhile", folder)
            yield descriptor
        finally:
            os.close(descriptor)

    def _gone(self, folder: str, name: str) -> None:
        if name == GIT and folder in self.tree.repositories:
            self.tree.repositories.discard(folder)
            self.tree.notes.append(
                f"{path_text(folder)}/{GIT}: the history of this repository is gone; it was not kept"
            )
        for path in self.tree.drop(folder, name):
            self.watches.remove(path)
            self._rules.pop(path, None)
            self._ignored.discard(path)

    def _root_gone(self, root: str) -> None:
        self.tree.notes.append(f"the workspace {path_text(root)} itself is gone or was replaced")
        for name in list(self.tree.folders.get(root, {})):
            self._gone(root, name)
        if os.path.realpath(root) == root:
            self._root_inodes.pop(root, None)  # whatever is made here later is the workspace again; a link never is
        self.watches.remove(root)
        self.watches.unwatched.add(root)

    def _uncover(self, folder: str, why: str) -> None:
        self.tree.uncovered[folder] = why

    def _status(self, descriptor: int, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            return None

    def _late(self) -> bool:
        if self.stop:
            raise Stopped
        return time.monotonic() > self._deadline

    def _root(self, path: str) -> str:
        return max((root for root in self.tree.roots if path.startswith(root)), key=len, default=path)

    def _device(self, path: str) -> int:
        return self._devices[self._root(path)]


def _row_without(status: os.stat_result, why: str) -> ScanRow:
    return ScanRow(
        status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode, status.st_nlink, b"", why
    )
