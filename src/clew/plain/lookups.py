"""What this front end looks up: answers come in order with everything else; what nobody else takes is told."""

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from clew.commands.facts import facts_with
from clew.plain.agent_story import STORY_EVENTS
from clew.plain.dialogs.dialog import Shown
from clew.plain.render import Renderer
from clew.presentation.client_link import ClientLink
from clew.presentation.story.story import Story
from clew.presentation.story.telling import answered, refused
from clew.protocol.ids import AgentId
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.lookups.tasks import ShowTask

LAST_EXCHANGE = 40
"""Events that are read back when a session is taken up again."""


class Looking:
    """`post` brings what is to be done into the session's queue, which gives it to `take`."""

    def __init__(
        self,
        link: ClientLink,
        renderer: Renderer,
        *,
        post: Callable[[Callable[[], None]], None],
        story: Callable[[], Story],
        put: Callable[[Story], None],
    ) -> None:
        self._link = link
        self._renderer = renderer
        self._post = post
        self._story = story
        self._put = put
        self.waiting = 0
        """Lookups that are not answered yet."""
        self.returning = False
        """The last exchange of a session that is taken up again was asked for."""

    def ask(
        self,
        lookup: Lookup[Any],
        then: Callable[[Any], None] | None = None,
        refused: Callable[[str], None] | None = None,
    ) -> None:
        """The answer is told, unless somebody else takes it; so is why there is none. An agent's story comes first."""
        if isinstance(lookup, ShowTask) and then is None and (agent := self._agent_named(lookup.task_id)):
            wanted = LoadHistory(limit=STORY_EVENTS, agent=agent)
            self.ask(wanted, partial(self._tell_agent, agent), partial(self._no_story, agent))
            return
        self.waiting += 1
        take, complain = then or self.tell, refused or self.tell_refusal
        self._link.look_up(
            lookup,
            lambda answer: self._post(partial(take, answer)),
            lambda reason: self._post(partial(complain, reason)),
        )

    def _agent_named(self, name: str) -> AgentId | None:
        """The agent with this id or this name, if there is one."""
        rows = (row for row in self._story().facts.state.all_tasks if row.kind == "agent")
        return next((AgentId(row.task_id) for row in rows if name in (row.task_id, row.name)), None)

    def _tell_agent(self, agent: AgentId, history: HistoryLoaded) -> None:
        facts = self._story().facts
        self._renderer.agent_story(history, facts.cwd, working=facts.state.of(agent).working)
        self.ask(ShowTask(task_id=agent), self.tell)

    def _no_story(self, agent: AgentId, reason: str) -> None:
        self._renderer.put([Shown(f"What it did cannot be read: {reason}", "warning")])
        self.ask(ShowTask(task_id=agent), self.tell)

    def take(self, deed: Callable[[], None]) -> None:
        """One was answered, or refused."""
        self.waiting -= 1
        deed()

    def ask_last_exchange(self) -> None:
        """For who comes back to a session."""
        self.returning = True
        self.ask(LoadHistory(limit=LAST_EXCHANGE), self._returned, self._not_returned)

    def tell(self, answer: Answer) -> None:
        """In the story, and on the screen."""
        before = self._story()
        after = answered(answer, before)
        self._put(after)
        self._renderer.show_answer(answer, before, after)

    def tell_refusal(self, reason: str) -> None:
        """Why there is no answer."""
        before = self._story()
        after = refused(reason, before)
        self._put(after)
        self._renderer.show_answer(None, before, after)

    def _returned(self, history: HistoryLoaded) -> None:
        if self.returning:
            self.returning = False
            story = self._story()
            self._put(replace(story, facts=facts_with(history, story.facts)))  # /copy knows what was answered before
            self._renderer.last_exchange(history, story.facts.cwd)

    def _not_returned(self, reason: str) -> None:
        self.returning = False
        self.tell_refusal(reason)
