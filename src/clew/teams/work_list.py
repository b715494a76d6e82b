"""The one list of work of a session or a team: items that several agents and processes create, claim and finish.

The file holds each state that an item came to, one line each; the last one counts. One lock per list: a claim sets
owner and status in one step. Who blocks whom is kept at one end only, so both ends agree.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from clew.system.shared_log import LogBusy, LogFull, SharedLog
from clew.transcript.log.stamp import utc_now

Status = Literal["pending", "in_progress", "completed"]
MAX_ITEMS = 1_000
MAX_SUBJECT_CHARS = 1_000
MAX_DESCRIPTION_CHARS = 20_000
MAX_FILE_BYTES = 4 * 1024 * 1024
"""Beyond that, states that no longer count are dropped."""


ABOVE = ("lead", "user")
"""Who may give away what somebody else works on."""


class WorkItem(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line", tag="item"):
    """One piece of work, as it stands."""

    id: int
    subject: str
    description: str = ""
    active_form: str = ""
    status: Status = "pending"
    owner: str = ""
    """Who works on it, or will; empty: nobody."""
    blocked_by: tuple[int, ...] = ()
    metadata: dict[str, Any] = {}
    by: str = ""
    """Who brought it to stand so."""
    todo_of: str = ""
    """Whose TodoWrite wrote it; empty: it was created on its own."""
    at: str = ""


class Gone(Struct, frozen=True, kw_only=True, tag_field="line", tag="gone"):
    """An item that was deleted; its id is never given again."""

    id: int
    by: str = ""


class Todo(Struct, frozen=True, kw_only=True):
    """One line of a TodoWrite."""

    subject: str
    status: Status
    active_form: str = ""


Refusal = Literal[
    "not_found", "already_claimed", "already_resolved", "blocked", "agent_busy", "cycle", "busy", "full", "bad"
]


class WorkRefused(ValueError):
    """A change of the list that was not made; `code` says which kind, the words say why."""

    def __init__(self, code: Refusal, words: str) -> None:
        super().__init__(words)
        self.code: Refusal = code


class WorkChange(Struct, frozen=True, kw_only=True):
    """What is to be different; what is not set stays."""

    subject: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    active_form: str | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    owner: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    """Joins what is there; null takes a key away."""
    blocked_by: tuple[int, ...] = ()
    """More items that must be done first."""
    blocks: tuple[int, ...] = ()
    """More items that wait for it."""
    unblocked_by: tuple[int, ...] = ()
    """Items that it waits for no longer."""
    alone: bool = False
    """The caller works on one item at a time: refused while it has another one in progress."""


class WorkList:
    """The items of one list, as this process knows them."""

    def __init__(self, folder: Path) -> None:
        self._log: SharedLog[WorkItem | Gone] = SharedLog(folder / "list.jsonl", WorkItem | Gone)  # pyright: ignore[reportArgumentType] - a union is a type to msgspec
        self._items: dict[int, WorkItem] = {}
        self._last = 0
        self._folding = threading.Lock()
        self._records: Sequence[WorkItem | Gone] = ()
        """The list of records that was folded, so far."""
        self._folded = 0

    # Reading.

    def refresh(self) -> bool:
        """Read what came since; whether anything did."""
        changed = self._log.refresh()
        self._fold()
        return changed

    def items(self) -> tuple[WorkItem, ...]:
        """All of them now, by their ids."""
        self.refresh()
        items = self._items
        return tuple(items[number] for number in sorted(items))

    @property
    def known(self) -> bool:
        """Whether the file holds anything."""
        self.refresh()
        return bool(self._log.records)

    @property
    def bad_lines(self) -> int:
        """Lines that nobody understands; they are left where they are."""
        return self._log.bad

    def find(self, number: int) -> WorkItem:
        """One of them. Raises WorkRefused."""
        self.refresh()
        return self._found(number)

    def blockers(self, item: WorkItem) -> tuple[WorkItem, ...]:
        """What must be done before it and is not."""
        before = (self._items.get(number) for number in item.blocked_by)
        return tuple(found for found in before if found is not None and found.status != "completed")

    def blocks(self, number: int) -> tuple[int, ...]:
        """What waits for it."""
        return tuple(item.id for item in self._items.values() if number in item.blocked_by)

    def _found(self, number: int) -> WorkItem:
        item = self._items.get(number)
        if item is None:
            known = ", ".join(f"#{one}" for one in sorted(self._items)[:20]) or "none"
            raise WorkRefused("not_found", f"there is no item #{number}; items are {known}")
        return item

    def _fold(self) -> None:
        """Several threads may: each sees whole states, and no record is left out."""
        with self._folding:
            records = self._log.records
            if records is not self._records:
                self._records, self._items, self._folded = records, {}, 0
            upto = len(records)
            if upto == self._folded:
                return
            items = dict(self._items)
            for record in records[self._folded : upto]:
                self._last = max(self._last, record.id)
                if isinstance(record, Gone):
                    items.pop(record.id, None)
                else:
                    items[record.id] = record
            self._items, self._folded = items, upto

    # Changing.

    def create(
        self,
        subject: str,
        *,
        by: str,
        description: str = "",
        active_form: str = "",
        owner: str = "",
        blocked_by: tuple[int, ...] = (),
        metadata: dict[str, Any] | None = None,
    ) -> WorkItem:
        """One more item; nobody begins it by that. Raises WorkRefused."""

        def created() -> list[WorkItem | Gone]:
            if len(self._items) >= MAX_ITEMS:
                raise WorkRefused("full", f"the list has {MAX_ITEMS:,} items already")
            item = WorkItem(
                id=self._last + 1,
                subject=checked_subject(subject),
                description=description[:MAX_DESCRIPTION_CHARS],
                active_form=active_form[:MAX_SUBJECT_CHARS],
                owner=owner,
                blocked_by=tuple(sorted(set(blocked_by))),
                metadata=metadata or {},
                by=by,
                at=utc_now(),
            )
            for number in item.blocked_by:
                self._found(number)
            return [item]

        (item,) = self._changed(created)
        assert isinstance(item, WorkItem)
        return item

    def update(self, number: int, change: WorkChange, *, by: str) -> WorkItem:
        """Change one item; owner and status come in one step. Who begins one that nobody owns is its owner. Raises
        WorkRefused."""

        def updated() -> list[WorkItem | Gone]:
            item = self._found(number)
            new = self._as_wanted(item, change, by)
            lines: list[WorkItem | Gone] = [new]
            for waiting in change.blocks:
                other = self._found(waiting)
                if number not in other.blocked_by:
                    after = tuple(sorted({*other.blocked_by, number}))
                    lines.append(replace(other, blocked_by=after, by=by, at=utc_now()))
            self._check_cycles({line.id: line.blocked_by for line in lines if isinstance(line, WorkItem)})
            return lines

        first = self._changed(updated)[0]
        assert isinstance(first, WorkItem)
        return first

    def _as_wanted(self, item: WorkItem, change: WorkChange, by: str) -> WorkItem:
        status = item.status if change.status is UNSET else change.status
        owner = item.owner if change.owner is UNSET else change.owner
        begun = item.status == "in_progress"
        before = tuple(sorted(({*item.blocked_by, *change.blocked_by}) - set(change.unblocked_by)))
        for other in change.blocked_by:
            self._found(other)
        new = replace(item, blocked_by=before)
        if change.status == "in_progress":
            owner = owner if change.owner is not UNSET and owner else by
            self._check_claim(new, owner, by, change)
        elif begun and (owner != item.owner or status == "pending") and by not in (item.owner, *ABOVE):
            raise WorkRefused("already_claimed", f"{item.owner} works on #{item.id}: only it or the lead gives it away")
        elif status == "completed" and not owner:
            owner = by
        metadata = item.metadata
        if change.metadata is not UNSET:
            metadata = {key: value for key, value in {**metadata, **change.metadata}.items() if value is not None}
        return replace(
            new,
            subject=item.subject if change.subject is UNSET else checked_subject(change.subject),
            description=item.description if change.description is UNSET else change.description[:MAX_DESCRIPTION_CHARS],
            active_form=item.active_form if change.active_form is UNSET else change.active_form[:MAX_SUBJECT_CHARS],
            status=status,
            owner=owner,
            metadata=metadata,
            by=by,
            at=utc_now(),
        )

    def _check_claim(self, item: WorkItem, owner: str, by: str, change: WorkChange) -> None:
        """Whether somebody may begin it."""
        if item.status == "completed":
            raise WorkRefused("already_resolved", f"#{item.id} is completed already, by {item.owner or item.by}")
        given = change.owner is not UNSET and by in (item.owner, *ABOVE)
        if item.owner and item.owner != owner and not given:
            works = "works on" if item.status == "in_progress" else "was given"
            raise WorkRefused("already_claimed", f"{item.owner} {works} #{item.id} already")
        if item.status == "pending" and (waiting := self.blockers(item)):
            named = ", ".join(f"#{one.id} {one.subject[:60]!r}" for one in waiting)
            raise WorkRefused("blocked", f"#{item.id} is blocked: first comes {named}")
        mine = [one for one in self._items.values() if one.owner == owner and one.status == "in_progress"]
        if change.alone and any(one.id != item.id for one in mine):
            raise WorkRefused("agent_busy", f"{owner} works on #{mine[0].id} already: finish that first")

    def _check_cycles(self, new: dict[int, tuple[int, ...]]) -> None:
        """Whether an item would wait for itself."""

        def before(number: int) -> tuple[int, ...]:
            item = self._items.get(number)
            return new.get(number, item.blocked_by if item is not None else ())

        for start in new:
            seen: set[int] = set()
            todo = list(before(start))
            while todo:
                number = todo.pop()
                if number == start:
                    raise WorkRefused("cycle", f"#{start} would wait for itself; nothing was changed")
                if number not in seen:
                    seen.add(number)
                    todo += before(number)

    def delete(self, number: int, *, by: str) -> None:
        """Take an item away; nothing waits for it any longer. Raises WorkRefused."""

        def deleted() -> list[WorkItem | Gone]:
            self._found(number)
            return [Gone(id=number, by=by), *self._without({number}, by)]

        self._changed(deleted)

    def _without(self, gone: set[int], by: str) -> list[WorkItem]:
        """The items that waited for these, waiting for them no longer."""
        return [
            replace(item, blocked_by=tuple(one for one in item.blocked_by if one not in gone), by=by, at=utc_now())
            for item in self._items.values()
            if gone & set(item.blocked_by) and item.id not in gone
        ]

    def release(self, owner: str, *, by: str) -> tuple[int, ...]:
        """Somebody is gone: what it had open is pending and nobody's; which items those were. Raises WorkRefused."""

        def released() -> list[WorkItem | Gone]:
            return [
                replace(item, status="pending", owner="", by=by, at=utc_now())
                for item in self._items.values()
                if item.owner == owner and item.status != "completed"
            ]

        return tuple(record.id for record in self._changed(released))

    def write_todos(self, todos: Sequence[Todo], *, by: str) -> tuple[WorkItem, ...]:
        """Replace the items that this caller wrote so before, and no others; all items now. What keeps its words keeps
        its id. Raises WorkRefused."""

        def written() -> list[WorkItem | Gone]:
            if len(todos) > MAX_ITEMS:
                raise WorkRefused("full", f"a list has at most {MAX_ITEMS:,} items")
            old = [item for item in self._items.values() if item.todo_of == by]
            lines: list[WorkItem] = []
            last = self._last
            for todo in todos:
                subject = checked_subject(todo.subject)
                same = next((item for item in old if item.subject == subject), None)
                if same is not None:
                    old.remove(same)
                else:
                    last += 1
                item = same or WorkItem(id=last, subject=subject, todo_of=by)
                new = replace(
                    item, status=todo.status, active_form=todo.active_form[:MAX_SUBJECT_CHARS], owner=by, by=by
                )
                if same is None or (new.status, new.active_form, new.owner) != (
                    same.status,
                    same.active_form,
                    same.owner,
                ):
                    lines.append(replace(new, at=utc_now()))
            gone = {item.id for item in old}
            known = {line.id for line in lines}
            freed = [one for one in self._without(gone, by) if one.id not in known]
            lines = [replace(one, blocked_by=tuple(n for n in one.blocked_by if n not in gone)) for one in lines]
            return [*lines, *(Gone(id=number, by=by) for number in sorted(gone)), *freed]

        self._changed(written)
        return self.items()

    def restore(self, items: Iterable[WorkItem]) -> None:
        """Make a list again whose file is gone, as it was last seen; does nothing where there is one. Raises
        WorkRefused."""
        found = list(items)

        def restored() -> list[WorkItem | Gone]:
            return [] if self._log.records else list(found)

        self._changed(restored)

    def _changed(self, lines: "Callable[[], list[WorkItem | Gone]]") -> list[WorkItem | Gone]:
        """One step under the lock of the list: read, decide, write. Raises WorkRefused."""
        try:
            with self._log.alone():
                self._fold()
                new = lines()
                if new:
                    if self._log.size > MAX_FILE_BYTES:
                        self._log.rewrite([*self._items.values(), Gone(id=self._last)])
                        self._fold()
                    self._log.append(*new)
                self._fold()
                return new
        except LogBusy as busy:
            raise WorkRefused("busy", "the list is busy: others change it all the time; try again") from busy
        except LogFull as full:
            raise WorkRefused("full", str(full)) from full
        except OSError as error:
            raise WorkRefused("full", f"the list cannot be written: {error}") from error


def checked_subject(subject: str) -> str:
    """The words of an item on one line. Raises WorkRefused."""
    line = " ".join(subject.split())
    if not line:
        raise WorkRefused("bad", "an item needs a subject")
    return line[:MAX_SUBJECT_CHARS]


def list_folder(home: Path, list_id: str) -> Path:
    """Where a list is: `list_id` is the id of a session, whose team shares it, and never anybody's words."""
    return home / "tasks" / list_id
