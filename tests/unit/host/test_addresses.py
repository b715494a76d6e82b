"""Everything that happens has an address: what one agent asks, does or ends is never taken for another's."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.presentation.story.story import Story
from clew.presentation.story.telling import told
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    OpRejected,
    PromptAccepted,
    SnapshotTaken,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import AgentId, CallId, OpId, RequestId
from clew.protocol.ops import AnswerApproval, AnswerQuestion, Interrupt, SetModel, SubmitPrompt
from clew.protocol.state import SessionState
from engine.harness import SESSION, TestHost, asks
from unit.host.room import Front, session_with
from unit.host.test_second_agent import CHILD, add_child, say_to_child

ONE_ID = CallId("call_0")
"""Servers that number their calls anew in each reply give two agents the same id."""


def asking_host() -> TestHost:
    return TestHost(verdict=asks("ShellAccess"))


def shell(name: str, call_id: str = ONE_ID) -> ReplyOf:
    return ReplyOf([Call("Shell", {"name": name}, id=call_id)])


def story_of(front: Front) -> Story:
    story = Story()
    for envelope in front.seen:
        story = told(envelope, story)
    return story


async def child_asks(front: Front, path: Path, name: str = "child's") -> ApprovalRequested:
    """A child whose call waits for a person."""
    add_child(front, ScriptedModel([shell(name), Say("done")]), path, host=asking_host())
    say_to_child(front, "run it")
    return await front.until(ApprovalRequested, agent=CHILD)


async def test_who_joins_late_sees_what_a_child_asks_with_its_call(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    async with session_with(ScriptedModel([Say("x")]), path=path) as front:
        asked = await child_asks(front, path)
        late = Front(front.door)
        await late.until(ApprovalRequested, agent=CHILD)
        story = story_of(late)
        assert [(item.agent, item.ask.request_id) for item in story.facts.state.asks] == [(CHILD, asked.request_id)]
        call = story.asked_call(story.facts.state.asks[0])
        assert call is not None
        assert call.arguments == {"name": "child's"}
        await late.submit(AnswerApproval(agent=CHILD, request_id=asked.request_id, decision="allow"))
        await late.until(TurnEnded, agent=CHILD)
        assert story_of(late).facts.state.asks == ()


async def test_a_childs_ask_outlives_the_main_agents_turn(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    async with session_with(ScriptedModel([Say("x")]), path=path) as front:
        asked = await child_asks(front, path)
        await front.submit(SubmitPrompt(content="and you?"))
        await front.until(TurnEnded)
        story = story_of(front)
        assert [item.agent for item in story.facts.state.asks] == [CHILD]
        assert story.activity.doing == "asking"
        late = Front(front.door)
        snapshot: SnapshotTaken = await late.until(SnapshotTaken)
        assert isinstance(snapshot.state, SessionState)
        await front.submit(AnswerApproval(agent=CHILD, request_id=asked.request_id, decision="allow"))
        assert (await front.until(TurnEnded, agent=CHILD)).reason == "completed"
        assert story_of(front).activity.doing == "idle"


async def test_two_calls_of_one_id_are_two_calls(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    model = ScriptedModel([shell("main's"), Say("main is done")])
    async with session_with(model, path=path, host=asking_host()) as front:
        await front.submit(SubmitPrompt(content="go"))
        own = await front.until(ApprovalRequested)
        childs = await child_asks(front, path)
        story = story_of(front)
        about = {item.ask.request_id: story.asked_call(item) for item in story.facts.state.asks}
        shown = {request: call.arguments for request, call in about.items() if call is not None}
        assert shown == {own.request_id: {"name": "main's"}, childs.request_id: {"name": "child's"}}
        await front.submit(AnswerApproval(agent=CHILD, request_id=childs.request_id, decision="deny"))
        await front.until(TurnEnded, agent=CHILD)
        story = story_of(front)
        assert [item.agent for item in story.facts.state.asks] == ["main"]
        assert story.call(ONE_ID) is not None
        await front.submit(AnswerApproval(request_id=own.request_id, decision="allow"))
        assert (await front.until(TurnEnded)).reason == "completed"
        ended: ToolEnded = front.of(ToolEnded)[0]
        assert not ended.refused


@pytest.mark.parametrize(
    ("agent", "kind"),
    [("main", AnswerApproval), ("nobody", AnswerApproval), (CHILD, AnswerQuestion)],
    ids=["of another agent", "of no agent", "of another kind"],
)
async def test_an_answer_to_the_wrong_address_is_refused(tmp_path: Path, agent: str, kind: Any) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    async with session_with(ScriptedModel([Say("x")]), path=path) as front:
        asked = await child_asks(front, path)
        given: dict[str, Any] = {"answers": ()} if kind is AnswerQuestion else {"decision": "allow"}
        await front.submit(kind(op_id=OpId("o"), agent=AgentId(agent), request_id=asked.request_id, **given))
        refused: OpRejected = await front.until(OpRejected)
        assert refused.op_id == "o"
        assert not front.of(ApprovalResolved, agent=CHILD)
        await front.submit(AnswerApproval(agent=CHILD, request_id=asked.request_id, decision="allow"))
        await front.until(TurnEnded, agent=CHILD)
        assert len(front.of(ApprovalResolved, agent=CHILD)) == 1


async def test_an_answer_for_an_id_that_is_gone_is_refused(tmp_path: Path) -> None:
    async with session_with(ScriptedModel([Say("x")])) as front:
        gone = AnswerApproval(op_id=OpId("o"), request_id=RequestId("gone"), decision="allow")
        await front.submit(gone)
        assert "any more" in (await front.until(OpRejected)).reason


async def test_a_prompt_reaches_the_agent_it_names(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    async with session_with(ScriptedModel([Say("x")]), path=path) as front:
        add_child(front, ScriptedModel([Say("the child's words")]), path)
        await front.submit(SubmitPrompt(content="for you", agent=CHILD))
        accepted: PromptAccepted = await front.until(PromptAccepted, agent=CHILD)
        assert accepted.content == "for you"
        await front.until(TurnEnded, agent=CHILD)
        assert not front.of(PromptAccepted)
        await front.submit(SetModel(op_id=OpId("o"), agent=CHILD, model="local/b"))
        assert "main agent" in (await front.until(OpRejected)).reason


async def test_what_all_agents_spent_is_summed(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    async with session_with(ScriptedModel([Say("x")], usd_per_token=0.001), path=path) as front:
        add_child(front, ScriptedModel([Say("y")], usd_per_token=0.01), path)
        await front.submit(SubmitPrompt(content="go"))
        await front.submit(SubmitPrompt(content="go", agent=CHILD))
        await front.until(TurnEnded)
        await front.until(TurnEnded, agent=CHILD)
        state = story_of(front).facts.state
        parts = [state.tally, state.agents[CHILD].tally]
        assert state.spent.cost_usd == pytest.approx(sum(part.cost_usd for part in parts))
        assert state.spent.tokens == sum(part.tokens for part in parts)
        assert min(part.cost_usd for part in parts) > 0
        assert front.door.session.journal.state.spent == state.spent


async def test_a_late_front_end_folds_to_the_same_state_in_the_middle_of_two_turns(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    hold, reached = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([ReplyOf([Say("some words"), Wait(hold, reached)])])
    async with session_with(model, path=path) as front:
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        asked = await child_asks(front, path)
        late = Front(front.door)
        await late.until(ApprovalRequested, agent=CHILD)
        assert story_of(late).facts.state == story_of(front).facts.state
        await front.submit(Interrupt(agent=CHILD))
        await late.until(TurnEnded, agent=CHILD)
        assert story_of(late).facts.state.asks == ()
        assert asked.request_id == late.of(ApprovalResolved, agent=CHILD)[0].request_id
        hold.set()
        await late.until(TurnEnded)
        assert story_of(late).facts.state == story_of(front).facts.state
