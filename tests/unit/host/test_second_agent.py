"""Many agents: a second runner in one session has its own transcript, switch and books, and is never mistaken for the
main agent."""

import asyncio
import io
from pathlib import Path
from typing import Any

from clew.config.schema import Compaction
from clew.engine.agent import Agent
from clew.engine.compaction.compactor import Compactor
from clew.engine.compaction.live_state import NothingLive
from clew.engine.compaction.window_meter import WindowMeter
from clew.engine.middleware.compaction import MakeRoom
from clew.engine.ports import Limits
from clew.engine.turn import Prompt
from clew.headless.run import HeadlessOptions, run_headless
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.events import ApprovalRequested, CompactionEnded, PartCompleted, ToolStarted, TurnEnded
from clew.protocol.ids import AgentId, CallId, PromptId
from clew.protocol.ops import AnswerApproval, Interrupt, SubmitPrompt
from clew.protocol.usage import Usage
from clew.transcript.log.store import subagent_path
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.past.reader import load
from engine.harness import SESSION, Reader, Shell, TestHost, asks
from unit.host.room import Front, agent_log, furnished, runner_for, session_with

CHILD = AgentId("helper-1")


def add_child(front: Front, model: ScriptedModel, path: Path, **more: Any) -> None:
    """A second agent behind the same door."""
    session = front.door.session
    writer = TranscriptWriter(subagent_path(path, CHILD), SESSION, leased=False)
    log = agent_log(writer, sidechain=CHILD)
    tools = [Reader(), Shell()]
    runner = runner_for(session, log, model, agent_id=CHILD, tools=tools, **more)
    session.add_agent(runner, log, call=CallId("call_1"))


def say_to_child(front: Front, text: str) -> None:
    runner = front.door.session.runners[CHILD]
    runner.submit(Prompt(content=text, prompt_id=PromptId("p"), origin="agent"))


async def test_its_words_go_to_its_own_transcript_and_its_end_is_not_the_sessions(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    child_model = ScriptedModel([Call("Reader", {"name": "inner"}), Say("inner words")])
    async with session_with(ScriptedModel([Say("outer words")]), path=path) as front:
        add_child(front, child_model, path)
        say_to_child(front, "look inside")
        await front.until(TurnEnded, agent=CHILD)
        await front.submit(SubmitPrompt(content="and you?"))
        await front.until(TurnEnded)
    envelopes = [item for item in front.seen if item.agent == CHILD]
    assert envelopes
    assert {item.parent_call for item in envelopes} == {"call_1"}
    main, child = str(load(path).messages), str(load(subagent_path(path, CHILD), sidechain=True).messages)
    assert "outer words" in main
    assert "inner words" not in main
    assert "inner words" in child
    assert "outer words" not in child
    assert "look inside" in child


async def test_each_has_its_own_switch(tmp_path: Path) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([ReplyOf([Wait(hold, reached), Say("main is done")])])
    path = tmp_path / f"{SESSION}.jsonl"
    async with session_with(model, path=path) as front:
        add_child(front, ScriptedModel([Call("Shell", {"name": "hang"})]), path)
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        say_to_child(front, "hang on")
        await front.until(ToolStarted, agent=CHILD)
        await front.submit(Interrupt(agent=CHILD))
        assert (await front.until(TurnEnded, agent=CHILD)).reason == "interrupted"
        assert not front.of(TurnEnded)
        hold.set()
        assert (await front.until(TurnEnded)).reason == "completed"


async def test_each_has_its_own_budget(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    child_model = ScriptedModel([Call("Reader", {"name": "a"}), Say("never")], usd_per_token=1.0)
    async with session_with(ScriptedModel([Say("cheap")], usd_per_token=0.000001), path=path) as front:
        add_child(front, child_model, path, limits=Limits(max_budget_usd=0.5))
        say_to_child(front, "spend")
        assert (await front.until(TurnEnded, agent=CHILD)).reason == "max_budget"
        await front.submit(SubmitPrompt(content="go"))
        assert (await front.until(TurnEnded)).reason == "completed"
        session = front.door.session
        assert session.journal.log(CHILD).state.tally.cost_usd > 1
        assert session.journal.main.state.tally.cost_usd < 0.01


async def test_what_it_asks_reaches_the_person_and_the_answer_reaches_it(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    async with session_with(ScriptedModel([Say("x")]), path=path) as front:
        model = ScriptedModel([Call("Shell", {"name": "x"}), Say("done")])
        add_child(front, model, path, host=TestHost(verdict=asks("ShellAccess")))
        say_to_child(front, "run it")
        asked = await front.until(ApprovalRequested, agent=CHILD)
        await front.submit(AnswerApproval(agent=CHILD, request_id=asked.request_id, decision="allow"))
        assert (await front.until(TurnEnded, agent=CHILD)).reason == "completed"


async def test_a_headless_run_ends_with_the_main_agents_turn_and_prints_its_words(tmp_path: Path) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    path = tmp_path / f"{SESSION}.jsonl"
    door = furnished(ScriptedModel([ReplyOf([Wait(hold, reached), Say("the answer")])]), path=path)
    front = Front(door)
    add_child(front, ScriptedModel([Say("not the answer")]), path)
    out, err = io.StringIO(), io.StringIO()
    run = asyncio.create_task(run_headless(door.connect(), "question", HeadlessOptions(), out=out, err=err))
    await reached.wait()
    say_to_child(front, "go")
    await front.until(TurnEnded, agent=CHILD)
    assert not run.done()
    hold.set()
    assert await run == 0
    assert out.getvalue() == "the answer\n"
    await front.task
    assert front.of(PartCompleted, agent=CHILD)


async def test_cp8_a_second_agent_makes_room_in_its_own_conversation_only(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    record = Say("# Words\n## Done\n- Looked at the inner words")
    long = "inner words " * 1_250
    full = ReplyOf([Say(long)], usage=Usage(input_tokens=3_500, output_tokens=3_700))
    child_model = ScriptedModel([Say(long), full, record, Say("inner end")], window=8_000, max_output_tokens=500)
    async with session_with(ScriptedModel([Say("outer words")]), path=path) as front:
        agents: list[Agent] = []
        settings = Compaction()
        meter = WindowMeter(settings)

        def compactor() -> Compactor:
            (agent,) = agents
            return Compactor(
                agent,
                settings,
                meter=meter,
                live=NothingLive(),
                forget_reads=lambda paths: None,
                log=lambda words: None,
            )

        await front.submit(SubmitPrompt(content="and you?"))
        await front.until(TurnEnded)
        add_child(front, child_model, path, middlewares=[MakeRoom(settings, meter, compactor)])
        session = front.door.session
        agents.append(session.runners[CHILD].agent)
        untouched = (path.read_bytes(), session.main.agent.conversation.messages())
        for number in range(3):
            say_to_child(front, f"look inside {number}")
            await front.until(TurnEnded, number + 1, agent=CHILD)
        assert len(front.of(CompactionEnded, agent=CHILD)) == 1
        assert not front.of(CompactionEnded)
        assert (path.read_bytes(), session.main.agent.conversation.messages()) == untouched
    child = load(subagent_path(path, CHILD), sidechain=True)
    assert "became too long" in str(child.messages)
    assert long not in str(child.messages[0])
    assert str(child.messages).count("inner end") == 1
