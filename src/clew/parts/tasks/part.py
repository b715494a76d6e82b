"""Lookups about tasks: list what runs beside the conversation, show what one has put out, stop one."""

from clew.host.part import Answerers, Part, PartSession
from clew.host.session import EndReason
from clew.protocol.lookups.tasks import ListTasks, ShowTask, StopTask, TaskShown, TasksListed


class TaskPart(Part):
    """The registry of tasks, as front ends reach it. The registry itself is loaded by the first task or lookup."""

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._tools = own.toolbox.shared
        self._agents = own.agents

    async def stop(self) -> None:
        """What runs beside the conversation ends with it, and that is told."""
        await self._tools.end_tasks()

    async def leave(self, reason: EndReason) -> None:
        """Until every child that was stopped has been told of."""
        await self._agents.close()

    def lookups(self) -> Answerers:
        """What front ends ask about tasks."""
        return {ListTasks: self._list, ShowTask: self._show, StopTask: self._stop}

    async def _list(self, lookup: ListTasks) -> TasksListed:
        return TasksListed(tasks=self._tools.registry.rows())

    async def _show(self, lookup: ShowTask) -> TaskShown:
        row, output = self._tools.registry.shown(lookup.task_id)
        return TaskShown(task=row, output=output)

    async def _stop(self, lookup: StopTask) -> TasksListed:
        registry = self._tools.registry
        registry.check_running(lookup.task_id)
        await registry.stop(lookup.task_id, "user")
        return TasksListed(tasks=registry.rows())
