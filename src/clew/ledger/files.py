"""Files read, created, changed and deleted, with counted lines."""

import posixpath
from typing import Any, cast

from clew.ledger.calls import Outcome, as_int, as_object
from clew.ledger.facts import FileFact
from clew.protocol.ids import EntryId

MAX_FILES = 2000
_MAX_SOURCES = 4
_MAX_HISTORY = 50
_PATCH_MARKS = (("*** Add File: ", "add"), ("*** Update File: ", "update"), ("*** Delete File: ", "delete"))


class _File:
    __slots__ = (
        "added",
        "created",
        "deleted",
        "edits",
        "failed",
        "history",
        "order",
        "path",
        "reads",
        "removed",
        "source",
        "turn",
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.reads = self.edits = self.added = self.removed = self.failed = self.order = self.turn = 0
        self.created = self.deleted = False
        self.source: list[EntryId] = []
        self.history: list[tuple[int, int, int, int, bool, bool, int]] = []

    def changed(self, order: int, turn: int) -> None:
        """Keep how the file stands after a change, to be able to go back there."""
        self.order, self.turn = order, turn
        self.history.append((order, self.edits, self.added, self.removed, self.created, self.deleted, turn))
        del self.history[:-_MAX_HISTORY]

    def at(self, order: int) -> "_File":
        """The file as it stood after all changes up to this one."""
        past = _File(self.path)
        for past.order, past.edits, past.added, past.removed, past.created, past.deleted, past.turn in reversed(
            self.history
        ):
            if past.order <= order:
                past.history = [state for state in self.history if state[0] <= order]
                past.source = self.source[:1]
                return past
        return _File(self.path)

    def note(self, source: tuple[EntryId, ...]) -> None:
        """Keep the first and the latest entries that show this file."""
        for entry in source:
            if entry not in self.source:
                self.source.append(entry)
        del self.source[1 : max(1, len(self.source) - _MAX_SOURCES + 1)]


class FilesFold:
    """Facts per path. `changes` numbers every change, so that tests and commits can be put before or after it."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._stashed: list[_File] = []
        self.changes = 0
        self.turn = 0
        self.cwd = ""

    def read(self, path: str, source: tuple[EntryId, ...]) -> None:
        """The file was looked at."""
        file = self._at(path)
        if file:
            file.reads += 1
            file.note(source)

    def settle(self, outcome: Outcome) -> None:
        """An edit tool finished."""
        if outcome.is_error:
            file = self._at(outcome.argument("file_path", "notebook_path", "path"))
            if file:
                file.failed += 1
                file.note(outcome.source)
            return
        diffs = outcome.blocks("diff")
        if diffs:
            for diff in diffs:
                self.change(
                    str(diff.get("path", "")),
                    as_int(diff.get("added")),
                    as_int(diff.get("removed")),
                    outcome.source,
                    created=bool(diff.get("created")),
                )
            return
        if outcome.name == "ApplyPatch":
            patch = outcome.argument("patch", "input", "patchText", "diff")
            for path, added, removed, kind in patch_changes(patch):
                self.change(path, added, removed, outcome.source, created=kind == "add", deleted=kind == "delete")
            return
        path = outcome.argument("file_path", "notebook_path", "path")
        added, removed = _counts(outcome)
        self.change(path, added, removed, outcome.source, created=self._creates(outcome, path))

    def change(
        self,
        path: str,
        added: int,
        removed: int,
        source: tuple[EntryId, ...],
        *,
        created: bool = False,
        deleted: bool = False,
    ) -> None:
        """One file now differs."""
        file = self._at(path)
        if not file:
            return
        self.changes += 1
        file.edits += 1
        file.added += added
        file.removed += removed
        file.created = file.created or created
        file.deleted = deleted
        file.changed(self.changes, self.turn)
        file.note(source)

    def move(self, old: str, new: str, source: tuple[EntryId, ...]) -> None:
        """A shell command gave the file another name."""
        before = self._files.get(self._known(old))
        created = before is not None and before.created
        lines = (before.added, before.removed) if before else (0, 0)
        self.change(old, 0, 0, source, deleted=True)
        self.change(new, *lines, source, created=created)

    def forget_deleted(self, path: str, source: tuple[EntryId, ...]) -> None:
        """A shell command removed the file."""
        self.change(path, 0, 0, source, deleted=True)

    def put_back(
        self, paths: tuple[str, ...] = (), *, after: int = 0, known_until: int = 0, stash: bool = False
    ) -> None:
        """Files are as they were before their changes `after` this one: those at `paths`, or all that git knows, which
        are not those created since `known_until`."""
        wanted = {self._known(path) for path in paths}
        for file in [file for file in self._files.values() if file.order > after]:
            if file.path in wanted if wanted else not file.created or file.order <= known_until:
                if stash:
                    self._stashed.append(file)
                self._files[file.path] = file.at(after)
                self.changes += 1

    def unstash(self) -> None:
        """What was put away is back."""
        for file in self._stashed:
            self.changes += 1
            file.order = self.changes
            self._files[file.path] = file
        self._stashed = []

    def carry(self, path: str, source: tuple[EntryId, ...], *, changed: bool) -> None:
        """The file was touched before all that was fed; how much is not known any more."""
        if path in self._files or not (file := self._at(path)):
            return
        file.reads, file.edits = int(not changed), int(changed)
        file.note(source)

    def facts(self) -> tuple[FileFact, ...]:
        """All files in the order they were first met."""
        return tuple(
            FileFact(
                path=file.path,
                reads=file.reads,
                edits=file.edits,
                created=file.created,
                deleted=file.deleted,
                added=file.added,
                removed=file.removed,
                failed_edits=file.failed,
                order=file.order,
                turn=file.turn,
                source=tuple(file.source),
            )
            for file in self._files.values()
        )

    def _known(self, path: str) -> str:
        """The path as it was met first: from the root, or from where the session is at work."""
        if path in self._files or not self.cwd:
            return path
        other = posixpath.normpath(posixpath.join(self.cwd, path))
        other = path.removeprefix(f"{self.cwd}/") if other == path else other
        return other if other in self._files else path

    def _at(self, path: str) -> _File | None:
        if not path or len(path) > 1000:
            return None
        path = self._known(path)
        file = self._files.get(path)
        if file is None and len(self._files) < MAX_FILES:
            file = self._files[path] = _File(path)
        return file

    def _creates(self, outcome: Outcome, path: str) -> bool:
        if outcome.name != "Write":
            return False
        extra = as_object(outcome.extra)
        if extra is not None and isinstance(extra.get("type"), str):
            return extra["type"] == "create"
        if "created" in outcome.text[:200]:
            return True
        known = self._files.get(path)
        return (
            not (known and (known.reads or known.edits))
            and "updated" not in outcome.text[:200]
            and "overwr" not in outcome.text[:200]
        )


def _counts(outcome: Outcome) -> tuple[int, int]:
    extra = as_object(outcome.extra)
    if extra is not None and isinstance(extra.get("structuredPatch"), list):
        counted = _hunk_counts(cast("list[object]", extra["structuredPatch"]))
        if counted != (0, 0):
            return counted
    arguments = outcome.arguments
    if outcome.name == "MultiEdit" and isinstance(arguments.get("edits"), list):
        pairs = [as_object(edit) or {} for edit in cast("list[object]", arguments["edits"])]
        counts = [changed_lines(_text(pair, "old_string"), _text(pair, "new_string")) for pair in pairs]
        return sum(count[0] for count in counts), sum(count[1] for count in counts)
    if outcome.name == "Edit":
        return changed_lines(_text(arguments, "old_string"), _text(arguments, "new_string"))
    return changed_lines("", _text(arguments, "content") or _text(arguments, "new_source"))


def _text(arguments: dict[str, Any], name: str) -> str:
    value = arguments.get(name)
    return value if isinstance(value, str) else ""


def _hunk_counts(hunks: list[object]) -> tuple[int, int]:
    added = removed = 0
    for hunk in hunks:
        lines = (as_object(hunk) or {}).get("lines")
        for line in cast("list[object]", lines) if isinstance(lines, list) else []:
            if isinstance(line, str):
                added += line.startswith("+")
                removed += line.startswith("-")
    return added, removed


def changed_lines(old: str, new: str) -> tuple[int, int]:
    """Lines added and removed, common head and tail not counted."""
    if old == new:
        return 0, 0
    before = old.splitlines()
    after = new.splitlines()
    if not before or not after:
        return len(after), len(before)
    head = 0
    limit = min(len(before), len(after))
    while head < limit and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < limit - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return len(after) - head - tail, len(before) - head - tail


def patch_changes(patch: str) -> list[tuple[str, int, int, str]]:
    """Path, added, removed and kind (add, update, delete) for each file of a patch, in either common dialect."""
    found: list[tuple[str, int, int, str]] = []
    path, added, removed, kind = "", 0, 0, "update"
    for line in patch.split("\n"):
        opened = _patch_header(line)
        if opened:
            if path:
                found.append((path, added, removed, kind))
            path, kind = opened
            added = removed = 0
        elif line.startswith("*** Move to: "):
            found.append((path, 0, 0, "delete"))
            path = line[13:].strip()
        elif line.startswith("+++ "):
            target = line[4:].split("\t")[0].strip()
            if target == "/dev/null":
                kind = "delete"
            else:
                path = target[2:] if target.startswith("b/") else target
        elif line.startswith("+"):
            added += 1
        elif line.startswith("-"):
            removed += 1
    if path:
        found.append((path, added, removed, kind))
    return found


def _patch_header(line: str) -> tuple[str, str] | None:
    if line.startswith("*** "):
        for mark, kind in _PATCH_MARKS:
            if line.startswith(mark):
                return line[len(mark) :].strip(), kind
    if line.startswith("--- "):
        target = line[4:].split("\t")[0].strip()
        if target == "/dev/null":
            return "(new)", "add"
        return (target[2:] if target.startswith("a/") else target), "update"
    return None
