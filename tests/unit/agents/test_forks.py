"""Forks: they begin with their parent's bytes, their directive is their own, and none of them forks again."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.entries import UserEntry
from clew.protocol.events import AgentEnded, AgentStarted, OpRejected, ToolEnded, TurnEnded
from clew.protocol.messages import result_text, text_of
from clew.protocol.ops import ForkAgent, SubmitPrompt
from clew.transcript.log.store import subagent_path
from clew.transcript.past.reader import load
from unit.agents.house import house


def fork(directive: str) -> Call:
    return Call("Agent", {"description": "side work", "prompt": directive, "fork": True})


def directive_in(request: ModelRequest) -> str:
    """The directive that a request ends with, or an earlier one of it; empty: it is no fork's."""
    said = [text_of(message.content) for message in request.messages if message.role == "user"]
    found = [text.rsplit("Directive: ", 1)[1] for text in said if "Directive: " in text]
    return found[0] if found else ""


def on_the_wire(request: ModelRequest) -> str:
    return msgspec.json.encode((request.system, request.tools, request.messages)).decode()


async def test_ag_4_forks_of_one_reply_share_all_bytes_up_to_their_directive(tmp_path: Path) -> None:
    """One of the siblings is a call that has its result long before the forks begin."""

    def reply(request: ModelRequest) -> Any:
        return Say(f"did {directive_in(request)}") if directive_in(request) else Say("main goes on")

    first = ReplyOf([Say("I split it"), Call("Bash", {"command": "echo quick"}), fork("north"), fork("south")])
    model = ScriptedModel([Say("hello"), first, *[reply] * 6])
    async with house(tmp_path, models={"main": model}) as place:
        await place.front.submit(SubmitPrompt(content="long ago " * 400))
        await place.front.until(TurnEnded)
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(AgentEnded, 2)
        await place.front.until(TurnEnded, 2)
        asked = [request for request in model.requests if directive_in(request)]
        assert sorted(map(directive_in, asked)) == ["north", "south"]
        one, two = map(on_the_wire, asked)
        shared = one[: next(at for at, (left, right) in enumerate(zip(one, two, strict=False)) if left != right)]
        assert shared.endswith("Directive: ")
        assert len(shared) / max(len(one), len(two)) > 0.95
        assert asked[0].tools == model.requests[1].tools
        assert asked[0].system == model.requests[1].system
        before = model.requests[1].messages
        assert asked[0].messages[: len(before)] == before, "all that the parent had sent"
        results = [end.result for end in place.front.of(AgentEnded)]
        assert sorted(results) == ["did north", "did south"]
        assert [start.background for start in place.front.of(AgentStarted)] == [True, True]


async def test_ag_5_a_fork_is_refused_a_fork_and_what_belongs_to_its_parent(tmp_path: Path) -> None:
    plan = Call("ExitPlanMode", {"plan": "x"})
    inner = [fork("deeper"), plan, Say("alone then")]

    def reply(request: ModelRequest) -> Any:
        return inner.pop(0) if directive_in(request) else Say("fine")

    model = ScriptedModel([fork("side"), *[reply] * 5])
    async with house(tmp_path, models={"main": model}) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(AgentEnded)
        child = place.front.of(AgentStarted)[0].child
        told = [result_text(event.result) for event in place.front.of(ToolEnded, agent=child)]
        assert "does not fork again" in told[0]
        assert "belongs to the conversation that this fork was made from" in told[1]
        assert len(place.front.of(AgentStarted)) == 1


async def test_a_fork_that_goes_on_is_not_given_its_parents_context_again(tmp_path: Path) -> None:
    tell = Call("SendMessage", {"to": "side", "message": "and then?"})
    named = Call("Agent", {"description": "side", "prompt": "side work", "fork": True, "name": "side"})
    outer: list[Any] = [named, Say("a"), Say("b"), tell, Say("c"), Say("d")]
    inner: list[Any] = [Say("first report"), Say("second report")]

    def reply(request: ModelRequest) -> Any:
        return (inner if directive_in(request) else outer).pop(0)

    model = ScriptedModel([reply] * 8)
    async with house(tmp_path, models={"main": model}) as place:
        await place.front.submit(SubmitPrompt(content="the first words"))
        await place.front.until(AgentEnded)
        await place.front.until(TurnEnded, 2)
        await place.front.submit(SubmitPrompt(content="go on"))
        ended: AgentEnded = await place.front.until(AgentEnded, 2)
        assert ended.result == "second report"
        child = ended.child
        requests = [request for request in model.requests if directive_in(request)]
        assert on_the_wire(requests[1]).count("the first words") == 1
        assert requests[1].messages[: len(requests[0].messages)] == requests[0].messages
    log = load(subagent_path(place.path, child), sidechain=True)
    directives = [entry for entry in log.entries if isinstance(entry, UserEntry) and entry.origin == "agent"]
    assert len([entry for entry in directives if "side work" in str(entry.message.content)]) == 1


async def test_a_person_forks_while_the_conversation_rests_and_while_it_works(tmp_path: Path) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    outer: list[Any] = [Say("hello"), ReplyOf([Wait(hold, reached), Say("later")]), Say("heard"), Say("heard")]

    def reply(request: ModelRequest) -> Any:
        words = directive_in(request)
        return Say(f"did {words}") if words else outer.pop(0)

    model = ScriptedModel([reply] * 8)
    async with house(tmp_path, models={"main": model}) as place:
        await place.front.submit(ForkAgent(directive=" "))
        assert "needs a directive" in (await place.front.until(OpRejected)).reason
        await place.front.submit(SubmitPrompt(content="hi"))
        await place.front.until(TurnEnded)
        await place.front.submit(SubmitPrompt(content="work"))
        await reached.wait()
        await place.front.submit(ForkAgent(directive="beside"))
        assert (await place.front.until(AgentEnded)).result == "did beside"
        hold.set()
        await place.front.until(TurnEnded, 2)
        asked = next(request for request in model.requests if directive_in(request))
        assert [text_of(message.content) for message in asked.messages][:3] == [
            "hi",
            "hello",
            "work" + text_of(asked.messages[2].content)[len("work") :],
        ]
