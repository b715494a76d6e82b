"""The view of one child agent: its own story, read from its log and told as it goes on."""

from msgspec.structs import replace

from clew.presentation.story.passages import NotePassage, Passage, SeenPassage
from clew.presentation.story.story import Story
from clew.presentation.story.story_of_agents import as_directive, under_way
from clew.presentation.story.telling import answered, told
from clew.protocol.events import Envelope, OpRejected
from clew.protocol.ids import MAIN_AGENT, AgentId, EntryId
from clew.protocol.lookups.session import HistoryLoaded
from clew.protocol.state import session_state


class AgentView:
    """One agent, from the moment it is viewed. Nothing of it is part of the main story, and nothing is sent or stored
    for it."""

    def __init__(self, agent: AgentId, main: Story, *, seen: str = "") -> None:
        """`seen`: the time of the newest thing that was seen of it when it was last viewed."""
        self.agent = agent
        others = {one: state for one, state in main.facts.state.agents.items() if one != agent}
        state = session_state(main.facts.state.of(agent), others)
        self.story = Story(facts=replace(main.facts, state=state), whole=False, mark=f"{agent}#")
        self._seen = seen
        self._problem = ""
        self._made: tuple[tuple[Passage, ...], tuple[Passage, ...]] = ((), ())
        """The past of the story, and what is shown of it."""

    def take(self, envelope: Envelope) -> None:
        """One more event of the session."""
        if envelope.agent == self.agent:
            envelope = replace(envelope, agent=MAIN_AGENT, parent_call=None)
        elif envelope.agent == MAIN_AGENT and not isinstance(envelope.event, OpRejected):
            return
        self.story = told(envelope, self.story)

    def loaded(self, history: HistoryLoaded) -> None:
        """A page of its log. A call without a result that it works on goes on; it was not cut off."""
        self.story = answered(history, self.story)
        if self.story.facts.state.working:
            self.story = replace(self.story, past=under_way(self.story.past, self.story.now))
        self._made = ((), ())

    def failed(self, reason: str) -> None:
        """Its log cannot be read: a note says so, and what it does from now on is still shown."""
        self._problem = reason
        self.story = replace(self.story, whole=True)
        self._made = ((), ())

    @property
    def newest(self) -> str:
        """The time of the newest thing that is shown."""
        return max((passage.at for passage in self.story.passages), default=self._seen)

    def passages(self) -> tuple[tuple[Passage, ...], tuple[Passage, ...]]:
        """What is past and what goes on, with the mark where the part begins that nobody has seen."""
        past, now = self.story.past, self.story.now
        if self._made[0] is not past or not self._made[1]:
            shown = tuple(map(as_directive, past))
            if self._problem:
                text = f"what it did before cannot be read: {self._problem}"
                shown = (NotePassage(key=f"{self.agent}:unread", text=text, level="warning"), *shown)
            self._made = (past, self._marked(shown))
        return self._made[1], self._marked(tuple(map(as_directive, now)), after=self._made[1])

    def _marked(self, passages: tuple[Passage, ...], *, after: tuple[Passage, ...] = ()) -> tuple[Passage, ...]:
        if not self._seen or any(isinstance(passage, SeenPassage) for passage in after):
            return passages
        first = next((at for at, passage in enumerate(passages) if passage.at > self._seen), None)
        if first is None:
            return passages
        mark = SeenPassage(key=f"{self.agent}:seen", entry_id=EntryId(""))
        return (*passages[:first], mark, *passages[first:])
