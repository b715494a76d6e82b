"""Files read, created, changed and deleted, with counted lines."""

import posixpath
from typing import Any, NamedTuple, cast

from clew.ledger.calls import EndedCall, as_int, as_object
from clew.ledger.facts import FileFact
from clew.protocol.ids import CallId, EntryId

MAX_FILES = 2000
_MAX_SOURCES = 4
_MAX_CHANGES = 50
_NO_CALL = CallId("")
_PATCH_MARKS = (("*** Add File: ", "add"), ("*** Update File: ", "update"), ("*** Delete File: ", "delete"))


class _Change(NamedTuple):
    """What one call did to a file; old ones are told together."""

    order: int
    turn: int
    call: CallId
    added: int = 0
    removed: int = 0
    created: bool = False
    deleted: bool = False
    edits: int = 1


class _File:
    """A file is what its changes made of it, so that some of them can be taken back."""

    __slots__ = ("changes", "failed", "path", "reads", "source", "staged", "unknown_to_git")

    def __init__(self, path: str) -> None:
        self.path = path
        self.reads = self.failed = 0
        self.staged = self.unknown_to_git = False
        self.source: list[EntryId] = []
        self.changes: list[_Change] = []

    @property
    def created(self) -> bool:
        """What was there, removed and made again is no new file."""
        return bool(self.changes) and self.changes[0].created

    @property
    def order(self) -> int:
        return self.changes[-1].order if self.changes else 0

    def changed(self, change: _Change) -> None:
        """One more change."""
        self.changes.append(change)
        if len(self.changes) > _MAX_CHANGES:
            first, second, *rest = self.changes
            together = second._replace(
                call=_NO_CALL,
                added=first.added + second.added,
                removed=first.removed + second.removed,
                created=first.created,
                edits=first.edits + second.edits,
            )
            self.changes = [together, *rest]

    def fact(self) -> FileFact:
        last = self.changes[-1] if self.changes else None
        return FileFact(
            path=self.path,
            reads=self.reads,
            edits=sum(change.edits for change in self.changes),
            created=self.created,
            deleted=last is not None and last.deleted,
            added=sum(change.added for change in self.changes),
            removed=sum(change.removed for change in self.changes),
            failed_edits=self.failed,
            order=self.order,
            turn=last.turn if last else 0,
            source=tuple(self.source),
        )

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
        self._aside: list[list[tuple[_File, _Change]]] = []
        """Taken back so that it can come again, the latest last: by a stash, by an undo."""
        self.changes = 0
        self.turn = 0
        self.call = _NO_CALL
        """The call whose changes are told now."""
        self.cwd = ""

    def read(self, path: str, source: tuple[EntryId, ...]) -> None:
        """The file was looked at."""
        file = self._at(path)
        if file:
            file.reads += 1
            file.note(source)

    def settle(self, outcome: EndedCall) -> None:
        """An edit tool finished."""
        if outcome.is_error:
            self.failed(outcome.argument("file_path", "notebook_path", "path"), outcome.source)
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

    def failed(self, path: str, source: tuple[EntryId, ...]) -> None:
        """A change came to nothing, or nobody knows what it came to."""
        if file := self._at(path):
            file.failed += 1
            file.note(source)

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
        file.changed(_Change(self.changes, self.turn, self.call, added, removed, created, deleted))
        file.note(source)

    def move(self, old: str, new: str, source: tuple[EntryId, ...], *, tracked: bool) -> None:
        """A shell command gave the file another name."""
        known = self._files.get(self._known(old))
        before = known.fact() if known else None
        if tracked or before is not None:  # else nobody knows whether it was there before
            self.change(old, 0, 0, source, deleted=True)
        elif file := self._at(old):
            file.staged = True  # what is made in its place may be put back by git
        lines = (before.added, before.removed) if before else (0, 0)
        if (file := self._at(new)) and not file.reads and not file.changes:
            file.staged, file.unknown_to_git = tracked, not tracked
        self.change(new, *lines, source, created=before is not None and before.created)

    def removed(self, path: str, source: tuple[EntryId, ...], *, sure: bool) -> None:
        """A shell command removed the file. Not `sure`: it would not have said so if there was none."""
        file = self._at(path)
        if file and (sure or file.reads or file.changes):
            self.change(path, 0, 0, source, deleted=True)
        elif file:
            file.staged = True  # it may have been there, and come back when git puts all back

    def stage(self, paths: tuple[str, ...]) -> None:
        """Git was told of the files at or below `paths`, or of all."""
        for file in self._below(paths):
            file.staged = True

    def put_back(
        self, paths: tuple[str, ...] = (), *, after: int = 0, known_until: int = 0, stash: bool = False
    ) -> None:
        """Files are as they were before their changes `after` this one: those at or below `paths`, or all; of folders
        those that git knows, which are not those created since `known_until`."""
        named = {self._known(path).rstrip("/") for path in paths}
        files = [
            file
            for file in self._below(paths)
            if file.path in named
            or file.staged
            or file.order <= known_until
            or not (file.created or file.unknown_to_git)
        ]
        gone = [(file, change) for file in files for change in file.changes if change.order > after]
        self._take_back(gone, aside=stash)

    def _below(self, paths: tuple[str, ...]) -> list[_File]:
        """Files at or below `paths`; all of them for none."""
        wanted = {self._known(path).rstrip("/") for path in paths}
        folders = tuple(f"{folder}/" for path in wanted for folder in (path, posixpath.join(self.cwd, path)))
        files = self._files.values()
        return [file for file in files if not wanted or file.path in wanted or file.path.startswith(folders)]

    def undone(self, calls: tuple[CallId, ...], paths: tuple[str, ...]) -> None:
        """What these calls did to the files at `paths` was taken back; what others did to them stays."""
        files = filter(None, (self._files.get(self._known(path)) for path in paths))
        self._take_back([(file, change) for file in files for change in file.changes if change.call in calls])

    def undo_last(self, path: str) -> None:
        """The latest change of a file was taken back by the tool that made it."""
        file = self._files.get(self._known(path))
        self._take_back([(file, file.changes[-1])] if file and file.changes else [], aside=False)

    def come_again(self) -> None:
        """What was put aside last is there again."""
        for file, change in self._aside.pop() if self._aside else ():
            self.changes += 1
            file.changed(change._replace(order=self.changes))

    def _take_back(self, gone: list[tuple[_File, _Change]], *, aside: bool = True) -> None:
        for file, change in gone:
            file.changes.remove(change)
        if gone:
            self.changes += 1
            self._aside += [gone] if aside else []

    def carry(self, path: str, source: tuple[EntryId, ...], *, changed: bool) -> None:
        """The file was touched before all that was fed; how much is not known any more."""
        if path in self._files or not (file := self._at(path)):
            return
        file.reads = int(not changed)
        if changed:
            file.changed(_Change(0, 0, _NO_CALL))
        file.note(source)

    def facts(self) -> tuple[FileFact, ...]:
        """All files in the order they were first met."""
        return tuple(file.fact() for file in self._files.values())

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

    def _creates(self, outcome: EndedCall, path: str) -> bool:
        if outcome.name != "Write":
            return False
        extra = as_object(outcome.extra)
        if extra is not None and isinstance(extra.get("type"), str):
            return extra["type"] == "create"
        if "created" in outcome.text[:200]:
            return True
        known = self._files.get(path)
        return (
            not (known and (known.reads or known.changes))
            and "updated" not in outcome.text[:200]
            and "overwr" not in outcome.text[:200]
        )


def _counts(outcome: EndedCall) -> tuple[int, int]:
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
