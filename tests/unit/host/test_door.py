"""The door: ops in, events out, for front ends that come early, late, are slow, or come again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clew.host.connection import MAX_LIVE, Listener
from clew.llm.errors import UnknownModel
from clew.llm.model import Model
from clew.llm.scripted import Call, Fail, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.events import (
    ArgumentsDelta,
    DurableEvent,
    EffortChanged,
    Envelope,
    Event,
    ModelChanged,
    Notice,
    OpAccepted,
    OpRejected,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    SessionEnded,
    SessionStarted,
    SnapshotTaken,
    TextDelta,
    TitleChanged,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from clew.protocol.ids import MessageId, OpId, PromptId, RequestId, SessionId
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.rules_and_models import ListModels, ListRules
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.ops import (
    AnswerApproval,
    Close,
    Compact,
    Interrupt,
    RequestRecap,
    SetEffort,
    SetModel,
    SetPermissionMode,
    SetTitle,
    SubmitPrompt,
    WithdrawPrompt,
)
from clew.protocol.state import SessionState, after
from engine.harness import Shell
from fakes.effort import HANG_S
from unit.host.room import Front, furnished, session_with


async def test_the_first_events_tell_where_things_stand_and_the_last_is_the_end() -> None:
    async with session_with(ScriptedModel([Say("hi")])) as front:
        await front.submit(SubmitPrompt(content="hello"))
        await front.until(TurnEnded)
        await front.submit(Close())
    assert [type(event) for event in front.events[:2]] == [SessionStarted, SnapshotTaken]
    assert isinstance(front.events[-1], SessionEnded)
    assert [item.seq for item in front.seen] == sorted({item.seq for item in front.seen})


async def test_listening_begins_with_the_call_and_ends_after_close() -> None:
    door = furnished(ScriptedModel([Say("hi")])).connect()
    events = door.events()
    await door.submit(SubmitPrompt(content="hello"))
    await door.submit(Close())
    seen = [envelope.event async for envelope in events]
    assert any(isinstance(event, PromptQueued) for event in seen)
    assert isinstance(seen[-1], SessionEnded)
    assert [envelope async for envelope in door.events()] == []
    await door.submit(SubmitPrompt(content="too late"))


async def test_input_while_busy_joins_and_input_after_the_last_step_starts_a_turn_of_its_own() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([ReplyOf([Wait(hold, reached), Say("one")]), Say("two")])
    async with session_with(model) as front:
        await front.submit(SubmitPrompt(content="first"))
        await reached.wait()
        await front.submit(SubmitPrompt(content="second"))
        hold.set()
        await front.until(TurnEnded, 2)
    assert [event.content for event in front.of(PromptAccepted)] == ["first", "second"]
    assert [event.turn for event in front.of(TurnEnded)] == [1, 2]


async def test_an_interrupt_right_after_a_prompt_counts_and_the_prompt_is_kept() -> None:
    model = ScriptedModel([Say("fine")])
    async with session_with(model) as front:
        await front.submit(Interrupt())
        await front.submit(SubmitPrompt(content="go"))
        await front.submit(Interrupt())
        assert (await front.until(TurnEnded)).reason == "interrupted"
        assert not model.requests
        assert front.of(PromptAccepted)[0].content == "go"
        await front.submit(SubmitPrompt(content="again"))
        assert (await front.until(TurnEnded, 2)).reason == "completed"
    assert "go" in str(model.requests[0].messages)


async def test_queued_input_can_be_withdrawn_until_it_joins() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([ReplyOf([Wait(hold, reached), Say("one")]), Say("two")])
    async with session_with(model) as front:
        await front.submit(SubmitPrompt(content="first", prompt_id=PromptId("p1")))
        await reached.wait()
        await front.submit(SubmitPrompt(content="wrong", prompt_id=PromptId("p2"), origin="schedule"))
        assert (await front.until(PromptQueued, 2)).origin == "schedule"
        await front.submit(WithdrawPrompt(prompt_id=PromptId("p2")))
        assert (await front.until(PromptWithdrawn)).prompt_id == "p2"
        await front.submit(WithdrawPrompt(prompt_id=PromptId("p1"), op_id=OpId("late")))
        assert (await front.until(OpRejected)).op_id == "late"
        hold.set()
        await front.until(TurnEnded)
    assert "wrong" not in str(model.requests)


async def test_ops_with_an_id_are_answered_first_and_bad_ones_change_nothing() -> None:
    def connect(name: str) -> Model:
        if name == "nope/x":
            raise UnknownModel("there is no provider 'nope'")
        return ScriptedModel([Say("from the new one")], name=name)

    async with session_with(ScriptedModel([Say("old")]), connect=connect) as front:
        await front.submit(SetModel(model="nope/x", op_id=OpId("1")))
        assert "nope" in (await front.until(OpRejected)).reason
        await front.submit(SetModel(model="other/y", op_id=OpId("2")))
        assert (await front.until(ModelChanged)).model == "other/y"
        kinds = [type(event) for event in front.events]
        assert kinds.index(OpAccepted) < kinds.index(ModelChanged)
        rejected: list[Any] = [
            SetPermissionMode(mode="wild"),
            SetEffort(effort="huge"),
            SetTitle(title="  "),
            AnswerApproval(request_id=RequestId("unknown"), decision="allow"),
            RequestRecap(),
            Compact(),
        ]
        for number, op in enumerate(rejected, start=2):
            await front.submit(op)
            await front.until(OpRejected, number)
        with pytest.raises(LookupRefused, match="not kept"):
            await front.look_up(LoadHistory())
        await front.submit(SetPermissionMode(mode="plan"))
        assert (await front.until(PermissionModeChanged)).mode == "plan"
        await front.submit(SetEffort(effort="high"))
        assert (await front.until(EffortChanged)).effort == "high"
        await front.submit(SetTitle(title="My work"))
        assert (await front.until(TitleChanged)).source == "user"
        assert (await front.look_up(ListModels())).models == ("local/a", "local/b")
        assert (await front.look_up(ListRules())).mode == "plan"


async def test_a_front_end_that_joins_in_the_middle_comes_to_the_same_state() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    last = ReplyOf([Say("Half of it. "), Call("Reader", {"name": "b"}), Say("more"), Wait(hold, reached)])
    model = ScriptedModel([Call("Reader", {"name": "a"}), last, Say("Done.")])
    async with session_with(model) as early:
        await early.submit(SubmitPrompt(content="go"))
        await reached.wait()
        await early.until(ToolEnded, 2)
        late = Front(early.door)
        await late.until(SnapshotTaken)
        hold.set()
        await early.until(TurnEnded)
        await late.until(TurnEnded)
    assert folded(late.seen) == folded(early.seen)
    assert [event.part for event in late.of(PartCompleted)] == [event.part for event in early.of(PartCompleted)][1:]
    await late.task


def folded(seen: list[Envelope]) -> SessionState:
    """What a front end knows in the end."""
    state = SessionState()
    for envelope in seen:
        if isinstance(envelope.event, SnapshotTaken):
            state = envelope.event.state
        else:
            state = after(envelope, state)
    return state


async def test_two_front_ends_see_the_same_durable_events() -> None:
    model = ScriptedModel([ReplyOf([Say("a"), Call("Shell", {"name": "x"})]), Say("b")])
    async with session_with(model) as first:
        second = Front(first.door)
        await second.until(SnapshotTaken)
        await first.submit(SubmitPrompt(content="go"))
        await first.until(TurnEnded)
        await second.until(TurnEnded)
    durable = [[item for item in front.seen if isinstance(item.event, DurableEvent)] for front in (first, second)]
    assert durable[0] == durable[1]
    await second.task


def put(listener: Listener, *events: Event) -> None:
    for number, event in enumerate(events):
        listener.put(Envelope(seq=number, at="", session_id=SessionId("s"), event=event))


async def drained(listener: Listener) -> list[Event]:
    listener.end()
    return [envelope.event async for envelope in listener]


async def test_a_slow_reader_loses_no_durable_event_and_its_queue_is_bounded() -> None:
    listener = Listener(lambda _: None)
    titles = [TitleChanged(title=str(number), source="facts") for number in range(3 * MAX_LIVE)]
    for number, title in enumerate(titles):
        put(listener, TextDelta(reply_id=MessageId("r"), part=number, text="word"), title)
    seen = await drained(listener)
    assert [event for event in seen if isinstance(event, TitleChanged)] == titles
    assert sum(isinstance(event, TextDelta) for event in seen) <= MAX_LIVE


async def test_pieces_of_one_text_are_merged_in_order() -> None:
    listener = Listener(lambda _: None)
    pieces = [TextDelta(reply_id=MessageId("r"), part=0, text=f"{number} ") for number in range(1000)]
    put(listener, *pieces, TextDelta(reply_id=MessageId("r"), part=1, text="next"))
    first, second = await drained(listener)
    assert isinstance(first, TextDelta)
    assert isinstance(second, TextDelta)
    assert first.text == "".join(piece.text for piece in pieces)
    assert second.text == "next"


async def test_texts_that_grow_side_by_side_lose_nothing_however_slow_the_reader() -> None:
    listener = Listener(lambda _: None)
    pieces = [
        ArgumentsDelta(reply_id=MessageId("r"), part=number % 2, tool="Read", text=f"{number} ")
        for number in range(10 * MAX_LIVE)
    ]
    for piece in pieces:
        put(listener, piece)
    seen = await drained(listener)
    for part in (0, 1):
        wanted = "".join(piece.text for piece in pieces if piece.part == part)
        assert (
            "".join(event.text for event in seen if isinstance(event, ArgumentsDelta) and event.part == part) == wanted
        )
    assert len(seen) <= MAX_LIVE


async def test_a_reader_that_stops_listening_is_forgotten() -> None:
    client = furnished(ScriptedModel([Say("hi")])).connect()
    listener = client.events()
    await listener.aclose()
    assert not client._listeners
    await client.submit(Close())


async def test_history_is_loaded_from_the_end_page_by_page(tmp_path: Path) -> None:
    replies = [ReplyOf([Say(f"answer {number}"), Call("Reader", {"name": str(number)})]) for number in range(6)]
    script = [item for reply in replies for item in (reply, Say("done"))]
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    async with session_with(ScriptedModel(script), path=path) as front:
        for number in range(6):
            await front.submit(SubmitPrompt(content=f"question {number}"))
            await front.until(TurnEnded, number + 1)
        told = [item.event for item in front.seen if isinstance(item.event, DurableEvent)]
        pages: list[HistoryLoaded] = []
        before = None
        while not pages or before is not None:
            pages.append(await front.look_up(LoadHistory(before=before, limit=9)))
            before = pages[-1].before
    loaded = [recorded.event for page in reversed(pages) for recorded in page.events]
    wanted = (PromptAccepted, PartCompleted, ToolEnded, TurnEnded)
    strip = [event for event in told if isinstance(event, wanted)]
    kept = [event for event in loaded if isinstance(event, wanted)]
    assert [type(event) for event in kept] == [type(event) for event in strip]
    assert [e.entry_id for e in kept if not isinstance(e, TurnEnded)] == [
        e.entry_id for e in strip if not isinstance(e, TurnEnded)
    ]
    assert len(pages) > 3


async def test_a_model_that_was_replaced_is_closed_with_the_session() -> None:
    old = ScriptedModel()
    async with session_with(old) as front:
        await front.submit(SetModel(model="other/y"))
        await front.until(ModelChanged)
    assert old.closed


@pytest.mark.parametrize("reply", [Say("fine"), Fail(UnknownModel("gone"))])
async def test_the_model_is_closed_with_the_session(reply: Any) -> None:
    model = ScriptedModel([reply])
    async with session_with(model) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
    assert model.closed


async def test_a_session_that_is_asked_for_settles_records_and_then_lets_go(tmp_path: Path) -> None:
    asking = {"who": ""}
    shell = Shell()
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    model = ScriptedModel([Call("Shell", {"name": "hang"}), Say("never")])
    released: list[bool] = []
    async with session_with(model, path=path, tools=[shell], asked_for=lambda: asking["who"]) as front:
        session = front.door.session
        close = session.journal.let_go

        def watched() -> None:
            released.append("end hang" in shell.log and bool(front.door.session.journal.main.state.turns))
            close()

        session.journal.let_go = watched
        await front.submit(SubmitPrompt(content="go"))
        await front.until(ToolStarted)
        asking["who"] = "pid 7"
        await front.submit(SetTitle(title="anything that is recorded"))
        notice = await front.until(Notice)
        assert "pid 7" in notice.text
        await front.submit(SubmitPrompt(content="more", op_id=OpId("x")))
        await front.until(OpRejected)
    assert released == [True]
    assert len(model.requests) == 1


async def test_a_broken_log_ends_the_turn_with_its_words_and_nothing_hangs() -> None:
    async with session_with(ScriptedModel([Say("x")])) as front:
        session = front.door.session
        take = session.journal.main.take

        def broken(event: Event) -> None:
            if isinstance(event, PromptAccepted):
                raise OSError("disk on fire")
            take(event)

        session.journal.main.take = broken
        await front.submit(SubmitPrompt(content="go"))
        ended = await asyncio.wait_for(front.until(TurnEnded), HANG_S)
    assert "disk on fire" in ended.error
