"""The kept workspace of one session, without threads: the state before a call, its changes, what is covered."""

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.ids import new_uuid
from clew.system.clock import iso_utc
from clew.transcript.errors import UnsafeTranscript
from clew.undo.capture import size_words, state_of
from clew.undo.errors import UndoError
from clew.undo.git_history import history_warnings, read_refs
from clew.undo.journal import FileJournal
from clew.undo.limits import UndoLimits
from clew.undo.lineage import lineage
from clew.undo.packs import PackStore
from clew.undo.plan import forbidden
from clew.undo.prune import prune
from clew.undo.restore import remove_drafts
from clew.undo.scan import Progress, Scanner
from clew.undo.state import Change, ChangingCall, Checkpoint, Source, State, path_of, path_text
from clew.undo.tree import GIT, FileTree, inside

_MAX_TOLD = 8


class KeptCall(Struct, frozen=True, kw_only=True):
    """A call between `before` and `after`."""

    call: ChangingCall
    source: Source
    began: str
    states: dict[str, State]
    """A file tool: the files it names and the directories that are missing for them."""
    refs: dict[str, dict[str, str]]
    gaps: tuple[str, ...]
    """Why this call may not be restorable, known before it runs; one line each."""
    covered: bool


def store_folder(home: Path, transcript: Path) -> Path:
    """Where the kept content of a session's project lies."""
    return home / "undo" / transcript.parent.name


class UndoWorkspace:
    """All methods block. One thread at a time by `lock`; the first scan runs outside of it."""

    def __init__(self, *, home: Path, roots: Sequence[Path], transcript: Path, limits: UndoLimits) -> None:
        self.home = home
        self.roots = tuple(dict.fromkeys(os.path.realpath(root) for root in roots))
        self.limits = limits
        self.folder = store_folder(home, transcript)
        self._sessions = transcript.parent
        self.lock = threading.Lock()
        self._sweeping = threading.Lock()
        self._swept = False
        self.ready = False
        self.files = 0
        self.bytes = 0
        self.trouble = _too_broad(self.roots)
        """Why there is no scan, if there is a reason."""
        self.store = PackStore(self.folder / "packs")
        self.journal = FileJournal(transcript, forked_from=lineage(transcript))
        self._tree = FileTree(self.roots, limits)
        self._scanner: Scanner | None = None
        self._closed = False

    def first_scan(self, progress: Progress) -> str:
        """Prune if need be, load what the last session knew, walk. The sentence that tells the outcome.

        Raises Stopped when the session was closed meanwhile."""
        if self.trouble:
            return self.trouble
        said = self._prune()
        self.remove_old_drafts()
        self._tree.load(self.folder / "tree.msgpack", self.store)
        self._scanner = Scanner(self._tree, self.store, leave_out=[os.path.realpath(self.home)])
        self._scanner.stop = self._closed

        def told(files: int, size: int) -> None:
            self.files, self.bytes = files, size
            progress(files, size)

        self._scanner.walk(told)
        self.files, self.bytes = self._tree.count, self._tree.kept_bytes
        self.store.sync()
        self._save()
        with self.lock:
            self.ready = not self._closed
        gaps = self._standing_gaps()
        return "; ".join([f"{self.files:,} files and directories of the workspace are kept for undo", *said, *gaps])

    def remove_old_drafts(self) -> None:
        """Remove what restores of earlier processes left beside their targets, also of one that is not gone on with.
        Once, and never beside a restore of this process: whoever begins one calls this first."""
        with self._sweeping:
            if not self._swept:
                self._swept = True
                for cut in (item for item in self.journal.checkpoints if item.unfinished):
                    remove_drafts(cut)

    def before(self, call: ChangingCall, paths: Sequence[str] | None) -> KeptCall:
        """Keep the state before a call: exactly these files, or the whole workspace (None: a shell command)."""
        began = iso_utc(time.time())
        gaps: list[str] = []
        states: dict[str, State] = {}
        if paths is not None:
            for path in paths:
                gaps += self._keep_named(path, states)
            return KeptCall(
                call=call, source="tool", began=began, states=states, refs={}, gaps=tuple(gaps), covered=not gaps
            )
        with self.lock:
            covered = self.ready and self._scanner is not None
            if self._scanner is None or not self.ready:
                gaps.append(
                    self.trouble or f"the first scan of the workspace is not done yet ({self.files:,} files so far)"
                )
            elif not self._scanner.sync(budget_s=self.limits.before_s):
                gaps.append("more files changed just before this command than could be kept in time")
        refs = {root: read_refs(root) for root in self.roots}
        return KeptCall(call=call, source="shell", began=began, states={}, refs=refs, gaps=tuple(gaps), covered=covered)

    def after(self, opened: KeptCall) -> Checkpoint:
        """What the call changed, written down. Never raises for what the disk refuses: that is a warning in it."""
        if opened.source == "tool":
            return self._after_named(opened)
        warnings = [f"what this command changed is not kept: {gap}" for gap in opened.gaps]
        changes: tuple[Change, ...] = ()
        with self.lock:
            if opened.covered and self._scanner is not None:
                changes, more = self._difference()
                warnings += more
        for root, refs in opened.refs.items():
            warnings += history_warnings(root, refs, read_refs(root))
        return self._record(opened.call, opened.source, opened.began, changes, warnings)

    def collect(self, call: ChangingCall) -> Checkpoint | None:
        """What changed since anybody looked, as the doing of a background command; None when nothing did."""
        began = iso_utc(time.time())
        with self.lock:
            if not self.ready:
                return None
            changes, warnings = self._difference()
        return self._record(call, "background", began, changes, warnings) if changes or warnings else None

    def coverage(self, paths: Sequence[str] | None, *, named: bool = False) -> tuple[str, ...]:
        """Why effects of a shell command on these paths (None: anywhere inside) could not be restored.

        `named`: a file tool will name them, so that each is kept by itself, scan or no scan."""
        if named:
            return tuple(line for path in paths or () for line in self._gaps_named(path))
        with self.lock:
            if not self.ready:
                return (self.trouble or "the first scan of the workspace is not done yet",)
            assert self._scanner is not None
            if not self._scanner.sync(budget_s=self.limits.before_s):
                return ("more files changed just now than could be kept in time",)
            found: list[str] = []
            for path in paths if paths is not None else self.roots:
                real = _real(path)
                refused = "" if real in self.roots else forbidden(real, self.roots)
                if refused:
                    found.append(f"{path_text(real)}: {refused}")
                else:
                    found += [*self._gaps_below(real), *self._histories_below(real)]
            return tuple(dict.fromkeys(found))

    def settle(self) -> None:
        """Take what is there now as seen: a restore was carried out, nobody else is to be held responsible."""
        with self.lock:
            if self.ready and self._scanner is not None:
                self._scanner.sync(budget_s=self.limits.after_s)

    def close(self) -> None:
        """Save what is known for the next session and let go."""
        self._closed = True
        if self._scanner is not None:
            self._scanner.close()
        with self.lock:
            if self.ready:
                self._save()
            self.ready = False
            self.store.close()

    def _difference(self) -> tuple[tuple[Change, ...], list[str]]:
        assert self._scanner is not None
        complete = self._scanner.sync(budget_s=self.limits.after_s)
        changes = self._tree.differences()
        lost = [f"{change.path}: {_why_lost(change.before)}" for change in changes if not change.before.restorable]
        warnings = [*_few(self._tree.notes), *_few(lost)]
        if not complete:
            warnings.append("more files changed than could be looked at in time; the rest counts as changed by others")
        self.files, self.bytes = self._tree.count, self._tree.kept_bytes
        return changes, warnings

    def _keep_named(self, path: str, states: dict[str, State]) -> list[str]:
        real = _real(path)
        if refused := forbidden(real, self.roots):
            return [f"{path_text(real)}: {refused}, so this change cannot be undone"]
        try:
            state = state_of(real, store=self.store, max_bytes=self.limits.max_file_bytes)
        except OSError as error:
            return [f"{path_text(real)} could not be kept: {error.strerror}"]
        folder = os.path.dirname(real)
        while inside(folder, self.roots) and not os.path.lexists(folder):
            states[folder] = State()
            folder = os.path.dirname(folder)
        states[real] = state
        return [] if state.restorable else [f"{path_text(real)} could not be kept: {state.why}"]

    def _after_named(self, opened: KeptCall) -> Checkpoint:
        changes: list[Change] = []
        warnings = list(opened.gaps)
        for path in sorted(opened.states):
            try:
                after = state_of(path, store=self.store, max_bytes=self.limits.max_file_bytes)
            except OSError as error:
                warnings.append(f"{path_text(path)} could not be read after the call: {error.strerror}")
                continue
            if not opened.states[path].same(after):
                changes.append(Change(path=path_text(path), before=opened.states[path], after=after))
        with self.lock:
            if self.ready and self._scanner is not None:
                for change in changes:
                    self._scanner.look(path_of(change.path))
        return self._record(opened.call, "tool", opened.began, tuple(changes), warnings)

    def _record(
        self, call: ChangingCall, source: Source, began: str, changes: tuple[Change, ...], warnings: list[str]
    ) -> Checkpoint:
        made = Checkpoint(
            id=new_uuid(),
            at=iso_utc(time.time()),
            began=began,
            source=source,
            call=call,
            roots=tuple(path_text(root) for root in self.roots),
            changes=changes,
            warnings=tuple(dict.fromkeys(warnings)),
            unseen=tuple(self._left_out(self.roots)) if source != "tool" else (),
        )
        if made.changes or made.warnings:
            try:
                self.journal.add(made)
            except (OSError, UnsafeTranscript) as error:
                told = f"this change could not be written down and can be undone in this session only: {error}"
                made = replace(made, warnings=(*made.warnings, told))
        return made

    def _standing_gaps(self) -> list[str]:
        return [gap for root in self.roots for gap in self._gaps_below(root)]

    def _gaps_below(self, path: str) -> list[str]:
        unkept = [f"{path_text(item)} is not kept: {why}" for item, why in self._tree.unkept(path)]
        return [*self._left_out([path]), *_few(unkept)]

    def _histories_below(self, path: str) -> list[str]:
        nested = [item for item in self._tree.repositories if item != path and inside(item, [path])]
        return _few([f"{path_text(item)}/{GIT} holds history, which is not kept" for item in sorted(nested)])

    def _gaps_named(self, path: str) -> list[str]:
        real = _real(path)
        if refused := forbidden(real, self.roots):
            return [f"{path_text(real)}: {refused}"]
        try:
            size = os.lstat(real).st_size
        except OSError:
            return []
        cap = self.limits.max_file_bytes
        return [f"{path_text(real)} is not kept: larger than {size_words(cap)}"] if size > cap else []

    def _left_out(self, paths: Sequence[str]) -> list[str]:
        return _few(
            [
                f"{path_text(folder)} is not kept: {why}"
                for folder, why in list(self._tree.uncovered.items())
                if inside(folder, paths) or any(inside(path, [folder]) for path in paths)
            ]
        )

    def _prune(self) -> list[str]:
        try:
            done = prune(self.store, self.folder, self._sessions, self.limits, roots=self.roots)
        except (OSError, UndoError) as error:
            return [f"old states could not be pruned: {error}"]
        if done.busy:
            return ["the undo store is above its cap; it is pruned when no other session of this project is open"]
        if not done.freed_bytes:
            return []
        return [f"{done.freed_bytes // 1_000_000:,} MB of old states were pruned ({len(done.sessions)} sessions)"]

    def _save(self) -> None:
        with contextlib.suppress(OSError):  # only the next session's first scan takes longer
            self._tree.save(self.folder / "tree.msgpack")


def _real(path: str) -> str:
    """Links of the parents resolved, the entry itself not."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name) if name else folder


def _too_broad(roots: Sequence[str]) -> str:
    home = os.path.realpath(Path.home())
    for root in roots:
        if root == "/" or root == home:
            return f"{root} is too broad to be kept for undo; start in a project directory"
    return ""


def _why_lost(state: State) -> str:
    if state.kind == "special":
        return "it was no file, link or directory and cannot be brought back"
    return f"its earlier content was not kept: {state.why}"


def _few(lines: Sequence[str]) -> list[str]:
    if len(lines) <= _MAX_TOLD:
        return list(lines)
    return [*lines[:_MAX_TOLD], f"… and {len(lines) - _MAX_TOLD:,} more like these"]
