"""What a restore would do to each path, looked up now: nothing is touched here.

Checkpoints are composed per path: the state before the first of them is the target, the state after the last is what we
expect to find. Anything else that is found there, or that came in between, is somebody's edit and needs consent.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from clew.undo.capture import row_of
from clew.undo.limits import MIB
from clew.undo.packs import PackStore
from clew.undo.state import MISSING, Change, Checkpoint, State, path_of
from clew.undo.tree import GIT, inside

Action = Literal["write", "link", "mkdir", "mode", "remove", "rmdir", "none"]
_MAX_READ_BYTES = 64 * MIB
"""A file that grew beyond this is not what we left; its content need not be known."""


class FilePlan(Struct, frozen=True, kw_only=True):
    """One path of a restore."""

    path: str
    """As `path_text` writes it."""
    action: Action
    current: State
    target: State
    conflict: str = ""
    """Why this path is left alone without consent."""
    impossible: str = ""
    """Why it cannot be restored at all."""
    stamp: tuple[int, int, int] = (0, 0, 0)
    """What was looked at (`stamp_of`): a path that differs at the moment of writing is left alone."""


class RestorePlan(Struct, frozen=True, kw_only=True):
    """All of a restore, parents before children. Paths that are as wanted already are not in it."""

    files: tuple[FilePlan, ...]
    warnings: tuple[str, ...]
    """What the calls did that no restore brings back."""
    undoes: tuple[str, ...]
    roots: tuple[str, ...]

    @property
    def conflicts(self) -> tuple[FilePlan, ...]:
        """Paths that need consent."""
        return tuple(file for file in self.files if file.conflict and not file.impossible)

    @property
    def clean(self) -> tuple[FilePlan, ...]:
        """Paths that are restored without a question."""
        return tuple(file for file in self.files if not file.conflict and not file.impossible)

    @property
    def impossible(self) -> tuple[FilePlan, ...]:
        """Paths whose earlier state cannot be brought back."""
        return tuple(file for file in self.files if file.impossible)


class _Composed(Struct):
    target: State
    expected: State
    broken: bool = False
    cut: bool = False
    """A restore died while it changed it: it may be on its way from one state to the other."""
    or_still: State | None = None
    """A restore died that was to change it and never said that it had: this is what it was before."""
    untouched: bool = False
    """Only such a restore is taken back, and it had not begun with this path."""

    def expects(self, state: State) -> bool:
        """Whether the path is as the calls left it."""
        return self.expected.same(state) or (self.or_still is not None and self.or_still.same(state))

    def under_way(self, current: State) -> bool:
        """Whether the path is as a restore leaves it for a moment: a directory that has not got its mode yet, or
        nothing where a directory and a file take each other's place."""
        kinds = {state.kind for state in (self.target, self.expected, self.or_still) if state is not None}
        if not self.cut or "directory" not in kinds:
            return False
        return current.kind == "directory" or (current.kind == "missing" and len(kinds) > 1)


def plan_restore(
    checkpoints: Sequence[Checkpoint],
    store: PackStore,
    roots: Sequence[str],
    *,
    steps: Mapping[str, Mapping[str, bool]] | None = None,
) -> RestorePlan:
    """The way back over these checkpoints, which are in the order they were made. `steps`: how far restores came whose
    process died in them (`FileJournal.steps`)."""
    composed: dict[str, _Composed] = {}
    for made, change in ((item, change) for item in checkpoints for change in item.changes):
        known = composed.get(change.path)
        step = (steps or {}).get(made.id, {}).get(change.path) if made.unfinished else True
        if known is None:
            known = composed[change.path] = _Composed(change.before, change.after, untouched=step is None)
        else:
            known.broken = known.broken or not known.expects(change.before)
            known.expected, known.untouched = change.after, False
        known.cut, known.or_still = step is False, None if step else change.before
    resolved = [os.path.realpath(root) for root in roots]
    folders = {path_of(path) for path, item in composed.items() if item.target.kind == "directory"}
    files = [
        plan
        for path in sorted(composed, key=path_of)
        if (plan := _plan_path(path, composed[path], store, resolved, folders)) is not None
    ]
    told = [line for item in checkpoints for line in item.warnings]
    unseen = [f"not looked at: {line}" for item in checkpoints for line in item.unseen]
    warnings = dict.fromkeys([*told, *unseen])
    return RestorePlan(
        files=tuple(files),
        warnings=tuple(warnings),
        undoes=tuple(item.id for item in checkpoints),
        roots=tuple(resolved),
    )


def plan_rest(cut: Checkpoint, steps: Mapping[str, bool], store: PackStore, roots: Sequence[str]) -> RestorePlan:
    """What a restore had still to do when its process died: its changes, taken as if they had been made the other way
    round. Paths that it was done with (`steps`) are left out, whatever became of them since."""
    left = tuple(
        Change(path=item.path, before=item.after, after=item.before)
        for item in cut.changes
        if not steps.get(item.path, False)
    )
    begun = {item.path: item.path not in steps for item in left}
    plan = plan_restore((replace(cut, changes=left),), store, roots, steps={cut.id: begun})
    return replace(plan, undoes=cut.undoes)


def _plan_path(
    text: str, composed: _Composed, store: PackStore, roots: Sequence[str], folders: Collection[str]
) -> FilePlan | None:
    path = path_of(text)
    target = composed.target
    if refused := forbidden(path, roots):
        return FilePlan(path=text, action="none", current=MISSING, target=target, impossible=refused)
    try:
        found = row_of(path, store=None, max_bytes=_MAX_READ_BYTES)
    except OSError as error:
        if not any(parent in folders for parent in _parents(path)):
            why = f"it cannot be looked at: {error.strerror}"
            return FilePlan(path=text, action="none", current=MISSING, target=target, impossible=why)
        found = None  # a link stands where a directory comes back first
    row = found.row if found else None
    current = row.state() if row else MISSING
    if current.same(target) or (composed.untouched and not current.same(composed.expected)):
        return None
    action = _action(current, target)
    return FilePlan(
        path=text,
        action=action,
        current=current,
        target=target,
        conflict=_conflict(current, composed),
        impossible="" if action == "mode" else _impossible(target, store),
        stamp=stamp_of(row.inode, row.ctime_ns, row.mtime_ns, row.size, current) if row else (0, 0, 0),
    )


def stamp_of(inode: int, ctime_ns: int, mtime_ns: int, size: int, state: State) -> tuple[int, int, int]:
    """Inode, time and size. Restoring one name of a file with several changes the inode time of the others."""
    return inode, mtime_ns if state.inode else ctime_ns, size


def _parents(path: str) -> Iterable[str]:
    while len(path) > 1:
        path = os.path.dirname(path)
        yield path


def forbidden(path: str, roots: Sequence[str]) -> str:
    """Why a path is never written, whatever a checkpoint says."""
    if not inside(path, roots) or path in roots:
        return "it lies outside the workspace"
    parts = path.split("/")
    if ".." in parts or "." in parts or "" in parts[1:]:
        return "it is no plain path"
    if any(part.casefold() == GIT for part in parts):
        return "it lies inside .git, which is never written"
    return ""


def _action(current: State, target: State) -> Action:
    if target.kind == "missing":
        return "rmdir" if current.kind == "directory" else "remove"
    if target.kind == "directory":
        return "mode" if current.kind == "directory" else "mkdir"
    if target.kind == "link":
        return "link"
    only_mode = current.kind == "file" and current.same(replace(target, mode=current.mode))
    return "mode" if only_mode else "write"


def _conflict(current: State, composed: _Composed) -> str:
    if current.kind == "special":
        return "something that is no file took its place"
    if not composed.expects(current) and not composed.under_way(current):
        return "it was changed since, not by the agent"
    if composed.broken:
        return "it was also changed in between, not by the agent"
    if current.kind in ("file", "link") and not current.digest and _action(current, composed.target) != "mode":
        return f"its present content was not kept ({current.why}); this restore could not be undone"
    return ""


def _impossible(target: State, store: PackStore) -> str:
    if target.kind == "special":
        return "it was no file, link or directory; these are not brought back"
    if not target.restorable:
        return f"its earlier content was not kept: {target.why or 'no reason known'}"
    if target.digest and bytes.fromhex(target.digest) not in store:
        return "its earlier content is not in the undo store any more"
    return ""


def only_paths(plan: RestorePlan, chosen: Iterable[str]) -> tuple[FilePlan, ...]:
    """The files of a plan at or below these absolute paths."""
    wanted = [item.rstrip("/") for item in chosen]
    return tuple(file for file in plan.files if inside(path_of(file.path), wanted))


def as_changes(files: Iterable[FilePlan]) -> tuple[Change, ...]:
    """A restore is a change too: from what is there to what is wanted. Taking it back is the redo."""
    return tuple(Change(path=file.path, before=file.current, after=file.target) for file in files)
