"""Connections: each front end has its own rights, its own answers and its own end."""

import asyncio
from pathlib import Path

import pytest

from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.base import OpBase, Rights, leaves, rights_of
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    GuestsChanged,
    OpAccepted,
    OpRejected,
    PromptAccepted,
    SessionEnded,
    SessionStarted,
    TurnEnded,
)
from clew.protocol.ids import OpId
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.lookups.rules_and_models import AllowRule, ListRules
from clew.protocol.ops import (
    AnswerApproval,
    Close,
    Interrupt,
    Leave,
    ReportFocus,
    SetTitle,
    SubmitPrompt,
    SwitchSession,
)
from engine.harness import TestHost, asks
from unit.host.room import Front, furnished, session_with


async def test_answers_to_ops_reach_only_the_one_who_asked(tmp_path: Path) -> None:
    async with session_with(ScriptedModel([Say("x")])) as one:
        two = Front(one.door)
        await two.until(SessionStarted)
        await one.submit(SetTitle(op_id=OpId("same"), title="x"))
        await two.submit(SetTitle(op_id=OpId("same"), title=""))
        assert (await two.until(OpRejected)).op_id == "same"
        await one.until(OpAccepted)
        assert not two.of(OpAccepted)
        assert not one.of(OpRejected)


async def test_leaving_ends_one_connection_and_nothing_else() -> None:
    async with session_with(ScriptedModel([Say("still here")])) as one:
        two = Front(one.door)
        await two.until(SessionStarted)
        await two.submit(Leave())
        await two.task
        assert not two.of(SessionEnded)
        await two.submit(SubmitPrompt(content="nobody hears this"))
        await one.submit(SubmitPrompt(content="go"))
        assert (await one.until(TurnEnded)).reason == "completed"
        assert [event.content for event in one.of(PromptAccepted)] == ["go"]


async def test_a_thousand_come_and_go_without_a_trace() -> None:
    async with session_with(ScriptedModel([Say("x")])) as one:
        for number in range(1_000):
            guest = one.door.connect(Rights.WATCH, name=f"guest {number}", guest=True)
            guest.events()
            await guest.submit(Leave())
        assert one.door.guests == ()
        assert len(one.door._connections) == 1
        assert (await one.until(GuestsChanged, 2_000)).guests == ()


@pytest.mark.parametrize("rights", list(Rights), ids=lambda rights: rights.word)
async def test_rights_are_checked_for_every_op(rights: Rights) -> None:
    """Whatever an op is: with less than it needs it is refused, and nothing of it happens."""
    async with session_with(ScriptedModel([Say("x")])) as owner:
        guest = Front(owner.door, rights, name="guest", guest=True)
        await guest.until(SessionStarted)
        refused: set[str] = set()
        for kind in leaves(OpBase):
            if kind in (Leave, Close) or not issubclass(kind, OpBase):
                continue
            if kind.needs > rights:
                fields = {name: "x" for name in kind.__struct_fields__ if name not in ("agent",)}
                op = kind(**{**fields, "op_id": OpId(str(kind.__struct_config__.tag))})
                await guest.submit(op)
                refused.add(str(kind.__struct_config__.tag))
        if refused:
            await guest.until(OpRejected, len(refused))
        told = {event.op_id for event in guest.of(OpRejected) if "may only" in event.reason}
        assert told == refused
        assert bool(refused) == (rights < Rights.DRIVE)


async def test_who_watches_neither_answers_nor_ends_it() -> None:
    model = ScriptedModel([Call("Shell", {"name": "x"}), Say("done")])
    async with session_with(model, host=TestHost(verdict=asks("ShellAccess"))) as owner:
        watcher = Front(owner.door, Rights.WATCH, name="a watcher", guest=True)
        helper = Front(owner.door, Rights.ANSWER, name="a helper", guest=True)
        await owner.submit(SubmitPrompt(content="go"))
        asked: ApprovalRequested = await watcher.until(ApprovalRequested)
        yes = AnswerApproval(op_id=OpId("yes"), request_id=asked.request_id, decision="allow")
        await watcher.submit(yes)
        await watcher.submit(Close())
        await watcher.submit(Interrupt())
        await watcher.until(OpRejected, 3)
        assert not owner.of(ApprovalResolved)
        await helper.submit(SubmitPrompt(content="and this"))
        await helper.until(OpRejected)
        await helper.submit(yes)
        resolved: ApprovalResolved = await owner.until(ApprovalResolved)
        assert (resolved.by, resolved.via) == ("user", "a helper")
        assert (await owner.until(TurnEnded)).reason == "completed"


async def test_of_two_who_answer_at_once_the_first_counts_and_the_other_is_told_who_it_was() -> None:
    model = ScriptedModel([Call("Shell", {"name": "x"}), Say("done")])
    async with session_with(model, host=TestHost(verdict=asks("ShellAccess"))) as owner:
        guest = Front(owner.door, Rights.ANSWER, name="clew answer (process 7)", guest=True)
        await owner.submit(SubmitPrompt(content="go"))
        asked: ApprovalRequested = await guest.until(ApprovalRequested)
        no = AnswerApproval(op_id=OpId("no"), request_id=asked.request_id, decision="deny", via="a liar")
        yes = AnswerApproval(op_id=OpId("yes"), request_id=asked.request_id, decision="allow")
        await asyncio.gather(guest.submit(no), owner.submit(yes))
        refused: OpRejected = await owner.until(OpRejected)
        assert refused.reason == "it was answered already, by clew answer (process 7)"
        await owner.until(TurnEnded)
        (resolved,) = owner.of(ApprovalResolved)
        assert (resolved.decision, resolved.via) == ("deny", "clew answer (process 7)")


async def test_a_guest_stays_with_its_session_and_hears_of_its_end() -> None:
    async with session_with(ScriptedModel([Say("x")])) as owner:
        guest = Front(owner.door, name="attached", guest=True)
        assert (await owner.until(GuestsChanged)).guests == ("attached",)
        await guest.submit(SwitchSession(op_id=OpId("o")))
        assert "attached to one session" in (await guest.until(OpRejected)).reason
        await owner.door.session.close("switched")
        await guest.task
        assert (await guest.until(SessionEnded)).reason == "switched"
        assert not owner.task.done()
        assert owner.door.guests == ()
        owner.door._end(guests_only=False)


async def test_whoever_may_drive_can_close_for_all() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    owner = Front((await _held(hold, reached)).door)
    guest = Front(owner.door, name="attached", guest=True)
    await guest.submit(Close())
    await asyncio.gather(owner.task, guest.task)
    assert owner.of(SessionEnded)
    assert guest.of(SessionEnded)
    assert [envelope async for envelope in owner.door.connect().events()] == []


async def _held(hold: asyncio.Event, reached: asyncio.Event) -> Front:
    front = Front(furnished(ScriptedModel([ReplyOf([Wait(hold, reached), Say("never")])])))
    await front.submit(SubmitPrompt(content="go"))
    await reached.wait()
    return front


class AskNothing(Lookup[Answer], frozen=True, kw_only=True, tag="test.ask_nothing"):
    """A lookup that no session knows."""


async def test_an_unknown_lookup_and_one_after_the_end_are_refused() -> None:
    async with session_with(ScriptedModel([Say("x")])) as front:
        with pytest.raises(LookupRefused, match=r"test\.ask_nothing"):
            await front.client.look_up(AskNothing())
        await front.submit(ReportFocus(focused=False))
    with pytest.raises(LookupRefused, match="ended"):
        await front.client.look_up(AskNothing())


def test_rights_have_names() -> None:
    assert [rights_of(rights.word) for rights in Rights] == list(Rights)
    assert rights_of("own") is None


async def test_a_lookup_is_answered_to_the_asker_and_told_to_nobody() -> None:
    async with session_with(ScriptedModel([Say("x")])) as one:
        two = Front(one.door)
        await two.until(SessionStarted)
        seen = len(one.seen), len(two.seen)
        assert (await one.look_up(ListRules())).mode == "default"
        await two.submit(SetTitle(op_id=OpId("after"), title=""))
        await two.until(OpRejected)
        assert (len(one.seen), len(two.seen)) == (seen[0], seen[1] + 1)


async def test_who_may_only_watch_looks_up_and_changes_nothing() -> None:
    async with session_with(ScriptedModel([Say("x")])) as one:
        watcher = Front(one.door, Rights.WATCH, guest=True)
        await watcher.until(SessionStarted)
        assert (await watcher.look_up(ListRules())).rules == (await one.look_up(ListRules())).rules
        with pytest.raises(LookupRefused, match="right to drive"):
            await watcher.look_up(AllowRule(rule="Bash(ls *)"))
