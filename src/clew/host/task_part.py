"""Ops about tasks: list what runs beside the conversation, show what one has put out, stop one."""

import asyncio
from collections.abc import Callable

from clew.host.brought import Brought, Joined
from clew.host.refusal import OpRefused
from clew.host.room import Effect
from clew.protocol.events import Event, TaskShown, TasksListed
from clew.protocol.ops import ListTasks, Op, ShowTask, StopTask

Tell = Callable[[Event], None]


class TaskPart(Brought):
    """The registry of tasks, as front ends reach it. The registry itself is loaded by the first task or op."""

    ops = (ListTasks, ShowTask, StopTask)

    def __init__(self) -> None:
        self._joined: Joined | None = None
        self._stopping: set[asyncio.Task[None]] = set()

    def attach(self, joined: Joined) -> None:
        """Belong to a session."""
        self._joined = joined

    async def understood_from(self, op: Op, tell: Tell) -> Effect:
        """What one of its ops means; the answer is for whoever asked. Raises OpRefused for a task there is not."""
        from clew.agents.tasks import NoSuchTask  # loaded where somebody asks

        assert self._joined is not None
        registry = self._joined.toolbox.shared.registry
        try:
            match op:
                case ShowTask():
                    row, output = registry.shown(op.task_id)
                    return lambda: tell(TaskShown(op_id=op.op_id, task=row, output=output))
                case StopTask():
                    registry.check_running(op.task_id)
                    return lambda: self._stop(op, tell)
                case _:
                    return lambda: tell(TasksListed(op_id=op.op_id, tasks=registry.rows()))
        except NoSuchTask as error:
            raise OpRefused(str(error)) from error

    def _stop(self, op: StopTask, tell: Tell) -> None:
        """Nobody waits at the door until it has ended."""
        task = asyncio.create_task(self._stopped(op, tell))
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    async def _stopped(self, op: StopTask, tell: Tell) -> None:
        assert self._joined is not None
        registry = self._joined.toolbox.shared.registry
        await registry.stop(op.task_id, "user")
        tell(TasksListed(op_id=op.op_id, tasks=registry.rows()))
