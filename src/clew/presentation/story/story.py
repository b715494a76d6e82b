"""The story of a session as a person sees it: passages, facts, what goes on now. Its folds stand in modules beside."""

from collections.abc import Callable
from functools import singledispatch

from msgspec import Struct
from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.orient.deeds import cut_off
from clew.presentation.story.activity import Activity
from clew.presentation.story.passages import BatchPassage, CallShown, Passage
from clew.protocol.event_kinds.programs import McpServerRow
from clew.protocol.events import EventBase, HookRow, Recorded
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId
from clew.protocol.lookups.base import Answer
from clew.protocol.messages import ToolCallPart
from clew.protocol.state import OpenAsk

LATE = 60
"""So far back a passage may still change: labels come after the turn, withdrawn replies before the next."""


class ChildAtWork(Struct, frozen=True, kw_only=True):
    """A child agent that a call of the main one waits for."""

    call_id: CallId
    since: str
    doing: str = ""
    """Its newest deed, or what it is at."""


class Story(Struct, frozen=True, kw_only=True):
    """All that a front end shows. Nothing in it depends on how wide a screen is."""

    facts: SessionFacts = SessionFacts()
    past: tuple[Passage, ...] = ()
    """What no longer grows, but for a label that comes late."""
    now: tuple[Passage, ...] = ()
    """Of the turn that runs."""
    activity: Activity = Activity()
    denied: dict[CallId, str] = {}
    """Calls of this turn that were not allowed, with the reason."""
    offered: tuple[HookRow, ...] = ()
    """Hooks that wait for a person to look at them."""
    offered_servers: tuple[McpServerRow, ...] = ()
    """MCP servers of the project that do."""
    child_calls: dict[tuple[AgentId, CallId], ToolCallPart] = {}
    """Calls of agents beside the main one that have not ended. Two agents may use one id for two calls."""
    children: dict[AgentId, ChildAtWork] = {}
    """Child agents that calls wait for."""
    older: EntryId | None = None
    """Where the history that is not loaded yet ends."""
    whole: bool = True
    """Nothing older is there to be loaded."""
    head: tuple[Recorded, ...] = ()
    """The first events that were loaded, up to the first prompt: what comes before may belong to them."""
    first_live: EntryId = EntryId("")
    """The first entry this listener saw being written: loaded history ends before it."""
    mark: str = "#"
    """Begins the keys of passages that have no id of their own; `number` counts them."""
    number: int = 0

    @property
    def oldest(self) -> EntryId | None:
        """Ask for history before this; None: for the newest."""
        return self.older or self.first_live or None

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Oldest first."""
        return self.past + self.now

    @property
    def working(self) -> bool:
        """Something runs that can be interrupted: a turn, a command the person typed, the window made smaller."""
        return self.facts.state.interruptible

    def call(self, call_id: CallId, agent: AgentId = MAIN_AGENT) -> ToolCallPart | None:
        """The agent's call of this id, if it was announced lately."""
        if agent != MAIN_AGENT:
            return self.child_calls.get((agent, call_id))
        for passage in reversed(self.past[-LATE:] + self.now):
            if isinstance(passage, BatchPassage):
                for shown in passage.calls:
                    if shown.call.id == call_id:
                        return shown.call
        return None

    def asked_call(self, asked: OpenAsk) -> ToolCallPart | None:
        """The call that an open ask is about, of the agent that asks."""
        call_id: CallId | None = getattr(asked.ask, "call_id", None)
        return self.call(call_id, asked.agent) if call_id is not None else None


def added(story: Story, make: Callable[[str], Passage]) -> Story:
    """One more passage, with a key of its own."""
    passage = make(f"{story.mark}{story.number}")
    return replace(story, now=(*story.now, passage), number=story.number + 1)


def put(story: Story, passage: Passage) -> Story:
    """In place of the one with its key, else at the end."""
    for index in range(len(story.now) - 1, -1, -1):
        if story.now[index].key == passage.key:
            return replace(story, now=(*story.now[:index], passage, *story.now[index + 1 :]))
    return replace(story, now=(*story.now, passage))


def known(story: Story, key: str) -> Passage | None:
    return next((passage for passage in reversed(story.now) if passage.key == key), None)


@singledispatch
def fold(event: EventBase | Answer, story: Story, at: str) -> Story:
    """The story after an event or an answer; each module beside registers those it knows."""
    return story


def with_call(story: Story, call_id: CallId, change: Callable[[CallShown], CallShown]) -> Story:
    """The newest call of this id, changed; one of the past too, that was cut off and is made again."""
    if (now := _with_call(story.now, call_id, change)) is not None:
        return replace(story, now=now)
    if (late := _with_call(story.past[-LATE:], call_id, change)) is not None:
        return replace(story, past=(*story.past[:-LATE], *late))
    return story


def _with_call(
    passages: tuple[Passage, ...], call_id: CallId, change: Callable[[CallShown], CallShown]
) -> tuple[Passage, ...] | None:
    for index in range(len(passages) - 1, -1, -1):
        passage = passages[index]
        if not isinstance(passage, BatchPassage):
            continue
        for place in range(len(passage.calls) - 1, -1, -1):
            if passage.calls[place].call.id == call_id:
                calls = (*passage.calls[:place], change(passage.calls[place]), *passage.calls[place + 1 :])
                return (*passages[:index], replace(passage, calls=calls), *passages[index + 1 :])
    return None


def _cut_off(shown: CallShown) -> CallShown:
    if shown.state == "ended":
        return shown
    return replace(shown, state="ended", cut=True, deeds=(cut_off(shown.call),))


def settled(passage: Passage) -> Passage:
    """What was cut off while it was written does not go on."""
    if isinstance(passage, BatchPassage) and any(shown.state != "ended" for shown in passage.calls):
        return replace(passage, calls=tuple(map(_cut_off, passage.calls)))
    return passage
