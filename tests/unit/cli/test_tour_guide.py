"""The guide of the tour: it speaks where something happened, waits where nothing did, and never claims more."""

from collections.abc import AsyncIterator

from clew.cli.tour.guide import PARTS, Guide
from clew.cli.tour.script import load_script
from clew.protocol.display import DiffBlock, TerminalBlock
from clew.protocol.events import (
    ApprovalDecision,
    ApprovalRequested,
    ApprovalResolved,
    BatchLabelled,
    CompactionEnded,
    Envelope,
    Event,
    Notice,
    PromptOffered,
    RecapReady,
    Refuser,
    SessionEnded,
    SessionStarted,
    SnapshotTaken,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import CallId, EntryId, RequestId, SessionId
from clew.protocol.messages import ToolResultPart
from clew.protocol.ops import Op, SubmitPrompt
from clew.protocol.state import SessionState
from fakes.no_lookups import NoLookups

SCRIPT = load_script()
STATE = SnapshotTaken(state=SessionState())
TURN = TurnEnded(turn=1, reason="completed", steps=1, duration_ms=1)
LABEL = BatchLabelled(call_ids=(CallId("c"),), label="Read till.py")
ASKED = ApprovalRequested(request_id=RequestId("r"), call_id=CallId("c"), tool="Edit", subject="till.py", why="writes")
COMPACTED = CompactionEnded(
    entry_id=EntryId("e"), logical_parent_id=None, kind="manual", tokens_before=900, tokens_after=300
)


def started(*, resumed: bool = False) -> SessionStarted:
    return SessionStarted(
        session_id=SessionId("s-1"),
        cwd="/p",
        model="tour/script",
        permission_mode="default",
        tools=(),
        version="0",
        resumed=resumed,
    )


def resolved(decision: ApprovalDecision, by: Refuser = "user") -> ApprovalResolved:
    return ApprovalResolved(
        request_id=RequestId("r"),
        call_id=CallId("c"),
        tool="Edit",
        subject="till.py",
        decision=decision,
        by=by,
    )


def ended(*, exit_code: int | None = None) -> ToolEnded:
    block = (
        DiffBlock(path="till.py", patch="", added=1, removed=1)
        if exit_code is None
        else TerminalBlock(command="python3 -m unittest", output="", exit_code=exit_code)
    )
    return ToolEnded(
        entry_id=EntryId("e"),
        parent_id=EntryId("p"),
        name="Edit" if exit_code is None else "Bash",
        result=ToolResultPart(call_id=CallId("c")),
        display=(block,),
    )


class Played(NoLookups):
    """A client that tells these events and takes every op."""

    def __init__(self, *events: Event) -> None:
        self._events = events
        self.ops: list[Op] = []

    async def submit(self, op: Op) -> None:
        self.ops.append(op)

    async def events(self) -> AsyncIterator[Envelope]:
        for number, event in enumerate(self._events):
            yield Envelope(seq=number, at="2026-01-01T00:00:00.000Z", session_id=SessionId("s-1"), event=event)


async def heard(guide: Guide, *events: Event) -> list[Event]:
    return [envelope.event async for envelope in guide.around(Played(*events)).events()]


def said(events: list[Event]) -> list[str]:
    return [event.text.split(".")[0] for event in events if isinstance(event, Notice)]


def offered(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, PromptOffered)]


async def test_the_whole_way() -> None:
    guide = Guide(SCRIPT, full_screen=True)
    first = await heard(
        guide,
        started(),
        STATE,
        LABEL,
        ended(exit_code=1),
        TURN,
        ASKED,
        resolved("allow"),
        ended(),
        ended(exit_code=0),
        TURN,
        COMPACTED,
        SessionEnded(reason="closed"),
    )
    assert said(first) == [f"Tour {number} of 6" for number in (1, 2, 3, 4, 5)]
    assert offered(first) == [*(exchange.prompt for exchange in SCRIPT.exchanges), "/compact", "/quit"]
    assert guide.missing == ("recap",)
    second = await heard(guide, started(resumed=True), STATE, RecapReady(text="till: fixed"))
    assert said(second) == ["Tour 6 of 6"]
    assert guide.missing == ()
    assert tuple(guide.seen) == PARTS


async def test_the_words_about_a_question_come_before_it() -> None:
    events = await heard(Guide(SCRIPT, full_screen=True), started(), STATE, ASKED)
    assert isinstance(events[-2], Notice)
    assert events[-1] == ASKED


async def test_a_turn_that_led_nowhere_is_offered_again() -> None:
    guide = Guide(SCRIPT, full_screen=True)
    events = await heard(guide, started(), STATE, TURN, TURN)
    assert offered(events) == [SCRIPT.exchanges[0].prompt] * 3
    assert guide.missing == PARTS


async def test_a_no_is_no_approval_and_tests_that_always_passed_show_nothing() -> None:
    guide = Guide(SCRIPT, full_screen=True)
    await heard(guide, started(), STATE, ASKED, resolved("deny"), ended(exit_code=0), TURN)
    assert {"approval", "diff", "test"} <= set(guide.missing)


async def test_a_rule_that_allowed_it_is_no_answer_of_a_person() -> None:
    guide = Guide(SCRIPT, full_screen=True)
    await heard(guide, started(), STATE, resolved("allow", by="rule"))
    assert "approval" in guide.missing


async def test_leaving_before_the_receipt_is_not_the_leaving_of_the_tour() -> None:
    guide = Guide(SCRIPT, full_screen=True)
    await heard(guide, started(), STATE, SessionEnded(reason="closed"))
    assert "leaving" in guide.missing


async def test_no_front_end_is_told_that_the_session_can_be_continued() -> None:
    """It is removed with the tour."""
    events = await heard(Guide(SCRIPT, full_screen=True), started())
    assert isinstance(events[0], SessionStarted)
    assert not events[0].kept


async def test_go_stands_for_the_offered_words() -> None:
    guide = Guide(SCRIPT, full_screen=False)
    played = Played(started(), STATE)
    client = guide.around(played)
    assert offered([envelope.event async for envelope in client.events()])
    await client.submit(SubmitPrompt(content=" Go "))
    await client.submit(SubmitPrompt(content="go on please"))
    assert [op.content for op in played.ops if isinstance(op, SubmitPrompt)] == [
        SCRIPT.exchanges[0].prompt,
        "go on please",
    ]


async def test_where_the_prompt_cannot_be_filled_it_says_what_to_type() -> None:
    guide = Guide(SCRIPT, full_screen=False, fills=False)
    way = (LABEL, ended(exit_code=1), TURN, resolved("allow"), ended(), ended(exit_code=0), TURN, COMPACTED)
    texts = [event.text for event in await heard(guide, started(), STATE, *way) if isinstance(event, Notice)]
    assert [text.rpartition("(")[2] for text in texts] == [
        "Type go first.)",
        "Type go first.)",
        "Type /compact first.)",
        "Type /quit first.)",
    ]


async def test_where_commands_are_asked_for_no_sandbox_is_claimed() -> None:
    guide = Guide(SCRIPT, full_screen=True)
    asked = ApprovalRequested(
        request_id=RequestId("r"), call_id=CallId("c"), tool="Bash", subject="python3 -m unittest", why="runs"
    )
    events = await heard(guide, started(), STATE, asked, ended(exit_code=1), TURN)
    texts = [event.text for event in events if isinstance(event, Notice)]
    assert "No sandbox works here" in texts[1]
    assert "kernel" not in texts[2]
