"""Lookups about tasks: list what runs beside the conversation, show what one has put out, stop one."""

from clew.host.part import Answerers, Brought, Joined
from clew.host.refusal import OpRefused
from clew.protocol.lookups.tasks import ListTasks, ShowTask, StopTask, TaskShown, TasksListed


class TaskPart(Brought):
    """The registry of tasks, as front ends reach it. The registry itself is loaded by the first task or lookup."""

    def __init__(self) -> None:
        self._joined: Joined | None = None

    def attach(self, joined: Joined) -> None:
        """Belong to a session."""
        self._joined = joined

    def lookups(self) -> Answerers:
        """What front ends ask about tasks."""
        return {ListTasks: self._list, ShowTask: self._show, StopTask: self._stop}

    async def _list(self, lookup: ListTasks) -> TasksListed:
        assert self._joined is not None
        return TasksListed(tasks=self._joined.toolbox.shared.registry.rows())

    async def _show(self, lookup: ShowTask) -> TaskShown:
        from clew.agents.tasks import NoSuchTask  # loaded where somebody asks

        assert self._joined is not None
        try:
            row, output = self._joined.toolbox.shared.registry.shown(lookup.task_id)
        except NoSuchTask as error:
            raise OpRefused(str(error)) from error
        return TaskShown(task=row, output=output)

    async def _stop(self, lookup: StopTask) -> TasksListed:
        from clew.agents.tasks import NoSuchTask  # as above

        assert self._joined is not None
        registry = self._joined.toolbox.shared.registry
        try:
            registry.check_running(lookup.task_id)
            await registry.stop(lookup.task_id, "user")
        except NoSuchTask as error:
            raise OpRefused(str(error)) from error
        return TasksListed(tasks=registry.rows())
