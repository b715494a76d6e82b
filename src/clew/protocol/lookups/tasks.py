"""Lookups about tasks: what runs beside the conversation, what one of them has put out, and its end."""

from typing import ClassVar

from clew.protocol.base import Rights
from clew.protocol.event_kinds.agents import TaskRow
from clew.protocol.lookups.base import Answer, Lookup


class TasksListed(Answer, frozen=True, kw_only=True, tag="tasks.listed"):
    """The tasks of the session, oldest first."""

    tasks: tuple[TaskRow, ...]


class ListTasks(Lookup[TasksListed], frozen=True, kw_only=True, tag="tasks.list"):
    """Ask which tasks run beside the conversation, and which did."""

    worktrees: bool = False
    """Checkouts that agents and conversations left, too, after the others: rows of the kind `worktree`."""


class CleanWorktrees(Lookup[TasksListed], frozen=True, kw_only=True, tag="worktrees.clean"):
    """Remove a checkout that was left, or `all`, once what it holds is saved in its repository. What became of each is
    told as a notice; the answer lists what there is then."""

    needs: ClassVar[Rights] = Rights.DRIVE

    name: str


class ClearTasks(Lookup[TasksListed], frozen=True, kw_only=True, tag="tasks.clear"):
    """Leave those that have ended out of the list from now on. Their logs and files stay."""

    needs: ClassVar[Rights] = Rights.DRIVE


class StopTask(Lookup[TasksListed], frozen=True, kw_only=True, tag="task.stop"):
    """End a task and everything it started; the answer comes when it has ended."""

    needs: ClassVar[Rights] = Rights.DRIVE

    task_id: str


class TaskShown(Answer, frozen=True, kw_only=True, tag="task.shown"):
    """What a task has put out so far."""

    task: TaskRow
    output: str
    """Without secrets, and of long output both ends."""


class ShowTask(Lookup[TaskShown], frozen=True, kw_only=True, tag="task.show"):
    """Ask what a task has put out. For the model it stays unread."""

    task_id: str
