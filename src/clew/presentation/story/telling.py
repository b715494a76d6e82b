"""From events to the story: as they happen, from their middle, or read back from the log."""

from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.commands.facts import facts_after, facts_with
from clew.presentation.story import story_of_agents, story_of_remarks, story_of_turns
from clew.presentation.story.activity import activity_after
from clew.presentation.story.passages import (
    AnswerPassage,
    Level,
    LinesPassage,
    NotePassage,
    Passage,
    PromptPassage,
)
from clew.presentation.story.story import Story, added, fold, settled
from clew.presentation.story.story_of_agents import child_told
from clew.presentation.story.story_of_remarks import before_recap
from clew.protocol.events import Envelope, PromptAccepted, Recorded, Rewound, SessionStarted
from clew.protocol.ids import MAIN_AGENT, EntryId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.session import HistoryLoaded

TELLERS = (story_of_turns, story_of_remarks, story_of_agents)
"""Loaded here, so that whoever tells has them all."""


def told(envelope: Envelope, story: Story) -> Story:
    """The story after this event. Of child agents only what they ask for is told, and
    what those do that a call waits for."""
    event = envelope.event
    facts = facts_after(envelope, story.facts)
    story = replace(story, facts=facts, activity=activity_after(envelope, story.activity, facts.state))
    if envelope.agent != MAIN_AGENT:
        return child_told(envelope, story)
    if isinstance(event, Rewound) and event.scope != "files":  # what is left is read from the log again
        story = replace(story, past=(), now=(), older=None, whole=False, head=(), first_live=EntryId(""))
    entry_id = getattr(event, "entry_id", "")
    if entry_id and not story.first_live:
        story = replace(story, first_live=entry_id)
    return fold(event, story, envelope.at)


def answered(answer: Answer, story: Story, at: str = "") -> Story:
    """The story after a lookup of this front end was answered."""
    return fold(answer, replace(story, facts=facts_with(answer, story.facts)), at)


def refused(reason: str, story: Story, at: str = "") -> Story:
    """The story after one was not."""
    return added(story, lambda key: NotePassage(key=key, at=at, text=reason, level="error"))


def retold(events: tuple[Recorded, ...], cwd: str = "") -> tuple[Passage, ...]:
    """The passages of events that were read back from the log, the traces of withdrawn words among them."""
    story = Story(facts=SessionFacts(cwd=cwd), mark=f"{events[0].at}+{len(events)}#" if events else "#")
    for recorded in events:
        story = fold(recorded.event, story, recorded.at)
    return tuple(settled(passage) for passage in story.passages)


def remarked(story: Story, lines: tuple[str, ...], *, level: Level = "info", command: str = "") -> Story:
    """Lines of a front end's own: what a command said by itself."""
    return added(story, lambda key: LinesPassage(key=key, lines=lines, level=level, command=command))


def trimmed(story: Story, keep: int) -> Story:
    """Without what is far back, cut before a prompt; it can be loaded again from there."""
    for index in range(max(len(story.past) - keep, 0), len(story.past)):
        passage = story.past[index]
        if index and isinstance(passage, PromptPassage) and passage.entry_id and not passage.queued:
            kept = story.past[index:]
            return replace(story, past=kept, older=passage.entry_id, whole=False, head=(), first_live=passage.entry_id)
    return story


@fold.register
def _(event: SessionStarted, story: Story, at: str) -> Story:
    return Story(facts=story.facts, whole=not event.resumed, number=story.number)


@fold.register
def _(event: HistoryLoaded, story: Story, at: str) -> Story:
    """A piece of the past goes before everything that is there. What it ends with may belong to what was cut off by the
    piece after it, so both are told anew together."""
    events = event.events
    if story.first_live:
        cut = next((at for at, item in enumerate(events) if _entry_of(item) == story.first_live), len(events))
        events = events[:cut]
    joined = retold((*events, *story.head), story.facts.cwd)
    if not story.past:
        joined = before_recap(joined, story.now)
    behind = len(retold(story.head, story.facts.cwd))
    read = [item.event for item in events if isinstance(item.event, Rewound)]
    now = tuple(item for item in story.now if not (isinstance(item, AnswerPassage) and item.event in read))
    first = next((at for at, item in enumerate(events) if _begins(item)), None)
    head = (*events, *story.head) if first is None else events[:first]
    return replace(
        story,
        past=joined + story.past[behind:],
        now=now,
        older=event.before,
        whole=event.before is None,
        head=head if event.before is not None else (),
    )


def _entry_of(recorded: Recorded) -> str:
    return getattr(recorded.event, "entry_id", "")


def _begins(recorded: Recorded) -> bool:
    event = recorded.event
    return isinstance(event, PromptAccepted) and not event.hidden and not event.queued
