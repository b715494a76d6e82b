"""One story, however it is come to: told as it happens, joined late, or read back from the log in pages of any size."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from clew.presentation.story.passages import (
    BatchPassage,
    Passage,
    PromptPassage,
    ReasoningPassage,
    RecapPassage,
    TurnPassage,
    WordsPassage,
)
from clew.presentation.story.story import Story
from clew.presentation.story.telling import answered, told, trimmed
from clew.protocol.events import Envelope, Event, RecapReady, Recorded, SessionStarted
from clew.protocol.ids import EntryId
from clew.protocol.lookups.session import HistoryLoaded
from clew.transcript.past.scrollback import Scrollback
from engine.harness import SESSION
from unit.host.test_live_and_resumed import Played

SEEDS = range(int(os.environ.get("CLEW_FUZZ_SEEDS", "25")))
AT = "2026-11-16T08:00:00.000Z"


def envelope(event: Event) -> Envelope:
    return Envelope(seq=1, at=AT, session_id=SESSION, event=event)


def started(*, resumed: bool = False) -> Event:
    return SessionStarted(
        session_id=SESSION, cwd="/p", model="m", permission_mode="default", tools=(), version="1", resumed=resumed
    )


def essence(passages: tuple[Passage, ...]) -> list[Any]:
    """What a person would read, without keys, times and what only ever is live."""
    seen: list[Any] = []
    for passage in passages:
        match passage:
            case PromptPassage():
                seen.append(("prompt", passage.text, passage.queued))
            case WordsPassage(withdrawn=True):
                pass  # a trace of what was shown and is in no log
            case WordsPassage():
                seen.append(("words", passage.text))
            case ReasoningPassage():
                seen.append(("reasoning", passage.text))
            case BatchPassage():
                calls = [
                    (shown.call.name, shown.text, shown.failed, shown.refused, [deed.line() for deed in shown.deeds])
                    for shown in passage.calls
                ]
                seen.append(("batch", calls))
            case TurnPassage():
                seen.append(("turn", passage.ending, passage.done))
            case _:
                pass
    return seen


def paged(path: Path, chance: random.Random, story: Story) -> Story:
    """All of the log before what the story has, in pages of random size."""
    book = Scrollback(path, session_id=SESSION)
    before: EntryId | None = story.oldest
    while not story.whole:
        page = book.page(before, chance.choice([1, 2, 3, 5, 8, 13, 40]))
        story = answered(HistoryLoaded(events=page.events, before=page.before), story)
        before = page.before
    return story


@pytest.mark.parametrize("seed", SEEDS)
async def test_live_is_replayed_is_joined_late(seed: int, tmp_path: Path) -> None:
    played = Played(seed, tmp_path)
    turns = played.chance.randrange(1, 5)
    joins = played.chance.randrange(0, turns)
    live = told(envelope(started()), Story())
    late = told(envelope(started(resumed=True)), Story())
    seen = 0
    for number in range(turns):
        await played.turn(number)
        fresh, seen = played.stage.events[seen:], len(played.stage.events)
        for event in fresh:
            live = told(envelope(event), live)
            if number >= joins:
                late = told(envelope(event), late)
    played.writer.close()
    replayed = paged(played.path, played.chance, told(envelope(started(resumed=True)), Story()))
    assert essence(replayed.passages) == essence(live.passages)
    joined = paged(played.path, played.chance, late)
    assert essence(joined.passages) == essence(live.passages)
    assert len({passage.key for passage in joined.passages}) == len(joined.passages), "keys are not distinct"


async def test_what_was_trimmed_is_loaded_again(tmp_path: Path) -> None:
    played = Played(7, tmp_path)
    live = told(envelope(started()), Story())
    for number in range(5):
        await played.turn(number)
    for event in played.stage.events:
        live = told(envelope(event), live)
    played.writer.close()
    short = trimmed(live, 8)
    assert len(short.past) < len(live.past)
    assert short.older is not None
    book = Scrollback(played.path, session_id=SESSION)
    before: EntryId | None = short.oldest
    while not short.whole:
        page = book.page(before, 5)
        short = answered(HistoryLoaded(events=page.events, before=page.before), short)
        before = page.before
    assert essence(short.passages) == essence(live.passages)


def test_a_page_of_an_unknown_place_changes_nothing() -> None:
    story = told(envelope(started(resumed=True)), Story())
    story = answered(HistoryLoaded(events=(), before=None), story)
    assert story.whole
    assert story.passages == ()


@pytest.mark.parametrize("history_first", [True, False])
def test_who_comes_back_is_not_told_twice_what_the_log_ends_with(*, history_first: bool) -> None:
    log = (RecapReady(text="facts", entry_id=EntryId("r1")), RecapReady(text="words", entry_id=EntryId("r2")))
    page = HistoryLoaded(events=tuple(Recorded(at=AT, event=event) for event in log), before=None)
    now = (RecapReady(text="facts"), RecapReady(text="words"))
    story = Story()
    for event in (started(resumed=True), *((page, *now) if history_first else (*now, page)), RecapReady(text="words")):
        story = answered(event, story) if isinstance(event, HistoryLoaded) else told(envelope(event), story)
    shown = [passage.text for passage in story.passages if isinstance(passage, RecapPassage)]
    assert shown == ["facts", "words", "words"], "once on return, and once more for who asks"
