"""Coordinator mode in a session that goes on: the toggle, what it costs, what workers share."""

import asyncio
from pathlib import Path
from typing import Any

from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.events import AgentEnded, AgentStarted, Notice, OpRejected, ToolEnded, TurnEnded
from clew.protocol.messages import result_text
from clew.protocol.ops import ForkAgent, SetCoordinator, SubmitPrompt
from unit.agents.opened_place import Place, opened

DELEGATES = ["Agent", "SendMessage", "TaskStop"]


def agent(prompt: str, **more: Any) -> Call:
    return Call("Agent", {"description": prompt, "prompt": f"TASK {prompt}", **more})


def names(request: ModelRequest) -> list[str]:
    return sorted(tool.name for tool in request.tools)


async def test_the_toggle_changes_prompt_and_tools_together_and_says_what_it_costs(place: Place) -> None:
    model = ScriptedModel([Say("one"), Say("two"), Say("three")])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="a"))
        await front.until(TurnEnded)
        await front.submit(SetCoordinator(on=False))
        assert "does not coordinate" in (await front.until(OpRejected)).reason
        await front.submit(SetCoordinator())
        await front.submit(SubmitPrompt(content="b"))
        await front.until(TurnEnded, 2)
        await front.submit(SetCoordinator())
        await front.submit(SubmitPrompt(content="c"))
        await front.until(TurnEnded, 3)
        told = [notice.text for notice in front.of(Notice) if "coordinator mode" in notice.text]
        assert ["is on" in told[0], "is off" in told[1], "tokens that no cache has" in told[0]] == [True] * 3
    first, second, third = model.requests
    assert names(second) == DELEGATES
    assert "You coordinate" in second.system[0]
    assert "From here on you coordinate" in str(second.messages[-1])
    assert third.tools == first.tools
    assert third.system == first.system
    resumed = ScriptedModel([Say("four")])
    async with opened(place.request(resumed, resume=place.transcript.stem)) as front:
        await front.submit(SetCoordinator(on=True))
        await front.submit(SubmitPrompt(content="d"))
        await front.until(TurnEnded)
    again = ScriptedModel([Say("five")])
    async with opened(place.request(again, resume=place.transcript.stem)) as front:
        await front.submit(SubmitPrompt(content="e"))
        await front.until(TurnEnded)
        assert any("coordinator" in notice.text for notice in front.of(Notice))
    assert names(again.requests[0]) == names(resumed.requests[0]) == DELEGATES
    assert again.requests[0].system == resumed.requests[0].system


async def test_the_toggle_waits_for_the_end_of_a_turn_and_an_agent_cannot_coordinate(place: Place) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([ReplyOf([Wait(hold, reached), Say("one")])])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="a"))
        await reached.wait()
        await front.submit(SetCoordinator())
        assert "a turn runs" in (await front.until(OpRejected)).reason
        hold.set()
        await front.until(TurnEnded)
    async with opened(place.request(ScriptedModel([]), agent="Explore")) as front:
        await front.submit(SetCoordinator())
        assert "Explore, which cannot coordinate" in (await front.until(OpRejected)).reason


async def test_workers_share_a_directory_that_nobody_is_asked_about(place: Place) -> None:
    notes: list[str] = []

    def reply(request: ModelRequest) -> Any:
        words = "\n".join(request.system)
        if "You coordinate" in request.system[0]:
            return agent("note") if len(request.messages) == 1 else Say("fine")
        if len(request.messages) > 1:
            return Say("noted")
        notes.append(words.split("Workers share ")[1].split(": Read")[0] + "/notes.md")
        return Call("Write", {"file_path": notes[0], "content": "found"})

    model = ScriptedModel([reply] * 5)
    request = place.request(model, agent="coordinator")
    request.flags["permissionMode"] = "default"
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="a"))
        await front.until(AgentEnded)
        child = front.of(AgentStarted)[0].child
        assert front.of(AgentStarted)[0].kind == "worker"
        assert front.of(AgentStarted)[0].background
        assert not front.of(ToolEnded, agent=child)[0].refused, result_text(front.of(ToolEnded, agent=child)[0].result)
    assert Path(notes[0]).read_text() == "found"


async def test_a_coordinator_does_not_fork_and_is_no_agent_to_start(place: Place) -> None:
    model = ScriptedModel([agent("x", fork=True), agent("y", subagent_type="coordinator"), Say("fine")])
    async with opened(place.request(model, agent="coordinator")) as front:
        await front.submit(SubmitPrompt(content="a"))
        await front.until(TurnEnded)
        told = [result_text(event.result) for event in front.of(ToolEnded)]
        assert "does not fork" in told[0]
        assert "no agent to start" in told[1]
        await front.submit(ForkAgent(directive="side work"))
        assert "does not fork" in (await front.until(OpRejected)).reason
        assert not front.of(AgentStarted)
