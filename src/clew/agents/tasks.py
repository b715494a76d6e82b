"""The one registry of tasks: every piece of work that runs beside the turns of a session, and how it stands."""

import asyncio
import time
from typing import NamedTuple

from msgspec.structs import replace

from clew.agents.log import SessionPort
from clew.protocol.events import Actor, TaskChanged, TaskEnded, TaskRow, TaskStarted
from clew.protocol.ids import AgentId, TaskId
from clew.protocol.lookups.base import LookupRefused
from clew.text.redact import redact
from clew.tools.base import TaskWork

MAX_KNOWN = 200
"""Tasks that have ended are forgotten beyond this, the oldest first."""
TAIL_LINES = 3
MAX_LINE_CHARS = 200


class NoSuchTask(LookupRefused):
    """There is no task of this id, or it has ended already; the words are for people."""


class _Known(NamedTuple):
    work: TaskWork
    owner: AgentId
    told: bool
    """Its events are the registry's; else whoever added it tells of it."""


class TaskRegistry:
    """One per session. What it tells is the main agent's to record, because a task may outlive the child that owns it.

    A task is told of once when it begins and once when it has ended, and each change names its actor.
    """

    def __init__(self, session: SessionPort) -> None:
        self._session = session
        self._known: dict[TaskId, _Known] = {}
        self._ended: set[TaskId] = set()
        self._cleared: set[TaskId] = set()
        """Those that a person does not want to see in the list any more."""
        self._given: set[TaskId] = set()
        """Ids of tasks that are about to begin, or did."""

    def of(self, owner: AgentId) -> "OwnedTasks":
        """The port through which one agent's tools add tasks."""
        return OwnedTasks(self, owner)

    def new_id(self, prefix: str) -> TaskId:
        """The next id of this kind that no task has, and none of an earlier process had that is still known."""
        taken = self._given | {row.task_id for row in self._session.journal.main.state.tasks}
        number = 1
        while (task_id := TaskId(f"{prefix}_{number}")) in taken:
            number += 1
        self._given.add(task_id)
        return task_id

    def add(self, work: TaskWork, owner: AgentId, *, told: bool = True) -> None:
        """It runs from now on. `told` false: whoever adds it tells of its beginning and its end."""
        self._known[work.task_id] = _Known(work, owner, told)
        self._ended.discard(work.task_id)  # an agent that goes on
        self._cleared.discard(work.task_id)
        self._forget_old()
        if told and not self._session.closed:
            self._session.publish(
                TaskStarted(
                    task_id=work.task_id,
                    kind=work.kind,
                    title=redact(work.title),
                    owner=owner,
                    output_file=work.output_file,
                )
            )
        self.changed(work)

    def changed(self, work: TaskWork) -> None:
        """How it stands was changed. Its end is told once, whatever comes later."""
        known = self._known.get(work.task_id)
        if known is None or work.task_id in self._ended:
            return
        over = not work.standing.open
        if over:
            self._ended.add(work.task_id)
        if not known.told or self._session.closed:
            return
        if over:
            ended = TaskEnded(task_id=work.task_id, standing=work.standing, by=work.by, exit_code=work.exit_code)
            self._session.publish(ended)
        elif self._standing_told(work) != work.standing:
            self._session.publish(TaskChanged(task_id=work.task_id, standing=work.standing, by=work.by))

    def rows(self) -> tuple[TaskRow, ...]:
        """Every task as people see it, oldest first; those that an earlier process left behind come first."""
        gone = [row for row in self._session.journal.main.state.tasks if row.task_id not in self._known]
        rows = (*gone, *(self._row(known) for known in self._known.values()))
        return tuple(row for row in rows if row.task_id not in self._cleared)

    def clear(self) -> None:
        """Leave out of the list what has ended."""
        self._cleared |= {row.task_id for row in self.rows() if not row.standing.open}

    def shown(self, task_id: str) -> tuple[TaskRow, str]:
        """One of them, with what it has put out, without secrets; of one that an earlier process left behind only its
        file is known. Raises NoSuchTask."""
        gone = {row.task_id: row for row in self._session.journal.main.state.tasks if row.task_id not in self._known}
        if task_id in gone:
            return gone[TaskId(task_id)], ""
        known = self._find(task_id)
        return self._row(known), redact(known.work.text())

    def check_running(self, task_id: str) -> None:
        """Raises NoSuchTask for one that is not there or has ended."""
        work = self._find(task_id).work
        if not work.standing.open:
            raise NoSuchTask(f"{work.task_id} has ended already")

    async def stop(self, task_id: str, by: Actor) -> None:
        """End one. Raises NoSuchTask."""
        self.check_running(task_id)
        await self._find(task_id).work.stop(by)

    async def close(self) -> None:
        """The session ends: so does everything beside it, and that is told."""
        running = [known.work for known in self._known.values() if known.work.standing.open]
        await asyncio.gather(*(work.stop("session") for work in running))

    def find(self, task_id: str) -> TaskWork | None:
        """A task of this process, by its id or its name."""
        known = self._known.get(TaskId(task_id)) or self._known.get(TaskId(f"bash_{task_id}"))
        return known.work if known is not None else None

    def known(self) -> tuple[str, ...]:
        """The ids of all of them."""
        return tuple(self._known)

    def _find(self, task_id: str) -> _Known:
        known = self._known.get(TaskId(task_id)) or self._known.get(TaskId(f"bash_{task_id}"))
        if known is None:
            raise NoSuchTask(f"there is no task {task_id}; known: {', '.join(self._known) or 'none'}")
        return known

    def _standing_told(self, work: TaskWork) -> str:
        rows = self._session.journal.main.state.tasks
        return next((row.standing for row in rows if row.task_id == work.task_id), "")

    def _row(self, known: _Known) -> TaskRow:
        """The tail comes from what is in memory, so it costs the same for any output."""
        work = known.work
        lines = redact(work.last(TAIL_LINES * MAX_LINE_CHARS * 4)).splitlines()
        row = TaskRow(
            task_id=work.task_id,
            kind=work.kind,
            title=redact(work.title),
            owner=known.owner,
            standing=work.standing,
            by="" if work.standing.open else work.by,
            exit_code=work.exit_code,
            age_s=max(0.0, time.monotonic() - work.started_s),
            tail=tuple(line[-MAX_LINE_CHARS:] for line in lines if line.strip())[-TAIL_LINES:],
            output_file=work.output_file,
        )
        return replace(row, **work.more())

    def _forget_old(self) -> None:
        ended = [task_id for task_id in self._known if task_id in self._ended]
        for task_id in ended[: max(0, len(ended) - MAX_KNOWN)]:
            del self._known[task_id]
            self._ended.discard(task_id)


class OwnedTasks:
    """The registry as one agent's tools see it."""

    def __init__(self, registry: TaskRegistry, owner: AgentId) -> None:
        self._registry = registry
        self._owner = owner

    def new_id(self, prefix: str) -> TaskId:
        """An id that no task of the session has or had."""
        return self._registry.new_id(prefix)

    def began(self, work: TaskWork) -> None:
        """It runs."""
        self._registry.add(work, self._owner)

    def changed(self, work: TaskWork) -> None:
        """It stands otherwise than before."""
        self._registry.changed(work)

    def find(self, task_id: str) -> TaskWork | None:
        """A task of the session, whoever started it."""
        return self._registry.find(task_id)

    def known(self) -> tuple[str, ...]:
        """The ids of all of them."""
        return self._registry.known()
