"""The session as this screen holds it: events and answers into the story, ops and lookups out, older history."""

import asyncio
from collections.abc import Callable
from typing import Any

from clew.commands.base import CommandHelp
from clew.commands.registry import catalogue
from clew.presentation.client_link import ClientLink
from clew.presentation.story.passages import Passage
from clew.presentation.story.story import Story
from clew.presentation.story.story_of_agents import aged
from clew.presentation.story.telling import answered, refused, remarked, told, trimmed
from clew.protocol.client import Client
from clew.protocol.events import Envelope, Rewound, SessionStarted
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.ops import Op
from clew.tui.agents.view import AgentView

FIRST_PAGE = 60
"""Events asked for at once on resume: the last exchange and some before it."""
PAGE = 300
KEPT = 1_500
"""Passages kept in memory; what is older is read from the log again when somebody scrolls up to it."""


class ScreenConversation:
    """Holds the Client."""

    def __init__(
        self,
        client: Client,
        *,
        on_change: Callable[[Envelope], None],
        on_answer: Callable[[Answer | None], None],
        on_end: Callable[[], None],
    ) -> None:
        """`on_change` hears of every event after the story took it in, `on_answer` of every answer that the story
        tells; None: it tells why there is none."""
        self.story = Story()
        self._on_change = on_change
        self._on_answer = on_answer
        self.link = ClientLink(client, on_event=self._take, on_end=on_end)
        self._loading = False
        self.view: AgentView | None = None
        """The agent that the pane shows; None: the main conversation."""
        self._pages = 0
        """Counts what was asked for and given up: an answer that comes too late is dropped."""

    def commands(self) -> tuple[CommandHelp, ...]:
        """What can be typed after a slash now."""
        return catalogue(self.story.facts)

    def send(self, op: Op) -> None:
        """Hand over an op."""
        self.link.send(op)

    def look_up(
        self,
        lookup: Lookup[Any],
        then: Callable[[Any], None] | None = None,
        refused: Callable[[str], None] | None = None,
    ) -> None:
        """Ask. The answer is told in the story, unless somebody else takes it; so is why there is none."""
        self.link.look_up(lookup, then or self._tell, refused or self._tell_refusal)

    def remark(self, lines: tuple[str, ...], *, is_error: bool = False, command: str = "") -> None:
        """Lines of our own under what is there."""
        self.story = remarked(self.story, lines, level="error" if is_error else "info", command=command)

    @property
    def pane(self) -> Story:
        """The story that the pane shows."""
        return self.view.story if self.view is not None else self.story

    def passages(self) -> tuple[tuple[Passage, ...], tuple[Passage, ...]]:
        """Of that story what is past, and what goes on."""
        return self.view.passages() if self.view is not None else (self.story.past, self.story.now)

    def look_at(self, agent: AgentId, *, seen: str = "") -> None:
        """Show another agent in the pane. The main story goes on meanwhile, and is shown again as it is then."""
        self.view = AgentView(agent, self.story, seen=seen) if agent != MAIN_AGENT else None
        self._loading = False
        self._pages += 1
        self.load_older()

    def load_older(self) -> None:
        """One page more, unless one is on its way or there is none."""
        view, pane = self.view, self.pane
        if self._loading or pane.whole:
            return
        self._loading = True
        self._pages += 1
        page = self._pages
        limit = PAGE if pane.past else FIRST_PAGE
        if view is None:
            wanted = LoadHistory(before=pane.oldest, limit=limit)
            self.look_up(wanted, lambda loaded: self._loaded(loaded, page))
            return
        wanted = LoadHistory(before=pane.oldest, limit=limit, agent=view.agent)

        def arrived(done: Callable[[], None]) -> None:
            if page == self._pages:
                self._loading = False
                done()
                self._on_answer(None)

        self.look_up(
            wanted,
            lambda loaded: arrived(lambda: view.loaded(loaded)),
            lambda reason: arrived(lambda: view.failed(reason)),
        )

    def _loaded(self, history: HistoryLoaded, page: int) -> None:
        if page == self._pages:
            self._loading = False
            self._tell(history)

    def age(self, now_s: float) -> bool:
        """Whether something that is shown got older by this time: an agent that a call waits for."""
        before = self.story
        self.story = aged(before, now_s)
        return self.story is not before

    def trim(self) -> None:
        """Forget what is far above; only while the end is followed."""
        if len(self.story.past) > KEPT * 2 and not self._loading:
            self.story = trimmed(self.story, KEPT)

    def _take(self, envelope: Envelope) -> None:
        self.story = told(envelope, self.story)
        if self.view is not None:
            self.view.take(envelope)
        if isinstance(envelope.event, SessionStarted | Rewound):
            self._loading = False
            self._pages += 1
            self.view = None if isinstance(envelope.event, SessionStarted) else self.view
            # After what is told together with it: the first live entry is where history ends.
            asyncio.get_running_loop().call_soon(self.load_older)
        self._on_change(envelope)

    def _tell(self, answer: Answer) -> None:
        self.story = answered(answer, self.story)
        self._on_answer(answer)

    def _tell_refusal(self, reason: str) -> None:
        self.story = refused(reason, self.story)
        self._on_answer(None)
