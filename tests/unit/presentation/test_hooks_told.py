"""Hooks in the story: what blocked or failed is one line, what takes long is the sign of life, the rest is not told."""

from functools import reduce

from clew.presentation.status import activity_row
from clew.presentation.story.passages import NotePassage
from clew.presentation.story.story import Story
from clew.presentation.story.telling import told
from clew.protocol.events import (
    Event,
    HookAwaited,
    HookRan,
    StepStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import CallId, EntryId
from clew.protocol.messages import ToolCallPart, ToolResultPart
from unit.plain.play import STARTED, sent

BEGUN = TurnStarted(turn=1)
AWAITED = HookAwaited(hook="./slow.sh\x1b[2J", moment="PreToolUse")
RAN = HookRan(hook="./slow.sh\x1b[2J", moment="PreToolUse", outcome="ok")


def folded(*events: Event) -> Story:
    return reduce(lambda story, event: told(sent(event), story), events, Story())


def notes(story: Story) -> list[str]:
    return [passage.text for passage in story.passages if isinstance(passage, NotePassage)]


def test_only_what_went_wrong_or_blocked_is_told() -> None:
    assert notes(folded(STARTED, BEGUN, RAN)) == []
    (line,) = notes(
        folded(STARTED, BEGUN, HookRan(hook="./h", moment="PreToolUse", outcome="blocked", detail="no\nway"))
    )
    assert line == "Hook blocked (PreToolUse): ./h: no way"


def test_a_hook_that_takes_long_is_what_goes_on() -> None:
    story = folded(STARTED, BEGUN, StepStarted(step=1, model="m"), AWAITED)
    assert story.activity.doing == "hook"
    row = "".join(span.text for span in activity_row(story.activity, 80, now_s=0.0))
    assert "Waiting for a hook" in row
    assert "./slow.sh" in row
    assert "\x1b" not in row
    assert folded(STARTED, BEGUN, AWAITED, RAN).activity.doing == "waiting"


def test_after_it_what_runs_is_told_again() -> None:
    call = ToolCallPart(id=CallId("c"), name="Bash", arguments={"command": "make"})
    story = folded(STARTED, BEGUN, ToolStarted(call=call), AWAITED, RAN)
    assert (story.activity.doing, story.activity.what) == ("running", "Bash make")
    result = ToolResultPart(call_id=CallId("c"), content="ok")
    ended = ToolEnded(entry_id=EntryId("e"), parent_id=EntryId("p"), name="Bash", result=result)
    assert told(sent(ended), story).activity.doing == "waiting"


def test_a_hook_of_the_start_holds_up_the_first_turn_only() -> None:
    start = HookAwaited(hook="./setup", moment="SessionStart")
    story = folded(STARTED, start)
    assert story.activity.doing == "idle"
    story = told(sent(BEGUN), story)
    assert (story.activity.doing, story.activity.what) == ("hook", "./setup")
    story = told(sent(HookRan(hook="./setup", moment="SessionStart", outcome="ok")), story)
    assert story.activity.doing == "waiting"


def test_nobody_waits_for_a_notification_and_a_turn_that_ends_leaves_nothing() -> None:
    assert folded(STARTED, BEGUN, HookAwaited(hook="./n", moment="Notification")).activity.doing == "waiting"
    over = TurnEnded(turn=1, reason="interrupted", steps=0, duration_ms=1)
    assert folded(STARTED, BEGUN, AWAITED, over).activity.doing == "idle"
