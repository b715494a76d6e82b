"""Commands in the background: the newest line that one of them put out, looked up now and then while one runs."""

import asyncio
from collections.abc import Callable

from clew.presentation.status import background_tasks
from clew.presentation.story.story import Story
from clew.protocol.lookups.tasks import ListTasks, TasksListed
from clew.tui.conversation import ScreenConversation

LOOK_S = 3.0
"""How often, while somebody looks. Nothing is asked while no command runs."""


class BackgroundLine:
    """Asks for the newest line of the command that was started last."""

    def __init__(
        self, conversation: ScreenConversation, *, changed: Callable[[], None], seen: Callable[[], bool]
    ) -> None:
        self._conversation = conversation
        self._changed = changed
        self._seen = seen
        self._timer: asyncio.TimerHandle | None = None
        self._asked = False
        self.newest = ""
        """What the footer shows beside the count."""

    def follow(self, story: Story) -> None:
        """After every event: look as long as a command runs."""
        if not background_tasks(story.facts):
            self.stop()
            self.newest = ""
        elif self._timer is None and not self._asked:
            self._look()

    def stop(self) -> None:
        """Nothing is asked any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._seen():
            self._asked = True
            self._conversation.look_up(ListTasks(), self._told, lambda _: self._again())
        else:
            self._again()

    def _told(self, listed: TasksListed) -> None:
        spoke = [row.tail[-1] for row in listed.tasks if row.kind == "shell" and row.standing.open and row.tail]
        newest = spoke[-1] if spoke else ""
        if newest != self.newest:
            self.newest = newest
            self._changed()
        self._again()

    def _again(self) -> None:
        self._asked = False
        if background_tasks(self._conversation.story.facts):
            self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look)
