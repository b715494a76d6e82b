"""A child's log is its own: what rebuilds it, what stands for its results, and what its compactions leave alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clew.agents.runner import AgentSpec
from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel
from clew.protocol.entries import ContentReplacementEntry
from clew.protocol.events import AgentEnded, AgentStarted, CompactionEnded, TurnEnded
from clew.protocol.messages import Message, Part, TextPart, text_of
from clew.protocol.ops import SubmitPrompt
from clew.transcript.log.store import subagent_path
from clew.transcript.past.reader import load
from unit.agents.house import house

HELPER = AgentSpec(kind="helper", model="helper")


def agent(prompt: str, **more: Any) -> Call:
    return Call("Agent", {"description": "work", "prompt": prompt, "subagent_type": "helper", **more})


def parts_of(messages: Sequence[Message]) -> list[Part | str]:
    """What is said in order, however it is divided into messages."""
    return [
        TextPart(text=part) if isinstance(part, str) else part
        for message in messages
        for part in ((message.content,) if isinstance(message.content, str) else message.content)
    ]


async def test_tw_7_the_log_of_a_fork_alone_rebuilds_all_that_it_knew(tmp_path: Path) -> None:
    def reply(request: ModelRequest) -> Any:
        forked = any("Directive: " in text_of(message.content) for message in request.messages)
        return Say("the fork's report") if forked else Say("main")

    fork = Call("Agent", {"description": "side", "prompt": "side work", "fork": True, "run_in_background": False})
    model = ScriptedModel([Say("hello"), ReplyOf([Say("so"), fork]), reply, reply])
    async with house(tmp_path, models={"main": model}) as place:
        await place.front.submit(SubmitPrompt(content="long ago"))
        await place.front.until(TurnEnded)
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded, 2)
        child = place.front.of(AgentStarted)[0].child
        sent = next(request for request in model.requests if "Directive: " in str(request.messages[-1]))
    past = load(subagent_path(place.path, child), sidechain=True)
    assert parts_of(past.messages)[: len(parts_of(sent.messages))] == parts_of(sent.messages)
    assert text_of(past.messages[-1].content) == "the fork's report"


async def test_tb_6_a_child_that_goes_on_uses_the_records_of_its_own_log(tmp_path: Path) -> None:
    """Both agents print more than a result may hold; what stands for the child's is the child's."""
    flood = Call("Bash", {"command": "yes child | head -c 200000"})
    ours = Call("Bash", {"command": "yes main | head -c 200000"})
    tell = Call("SendMessage", {"to": "it", "message": "go on"})
    models = {
        "main": ScriptedModel([ours, agent("flood", name="it"), tell, Say("a"), Say("b"), Say("c")], name="main"),
        "helper": ScriptedModel([flood, Say("in"), Say("again")], name="helper"),
    }
    async with house(tmp_path, models=models, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(AgentEnded, 2)
        first, second = models["helper"].requests[1], models["helper"].requests[2]
        assert second.messages[: len(first.messages)] == first.messages, "the same bytes as before"
        child = place.front.of(AgentStarted)[0].child
    log = load(subagent_path(place.path, child), sidechain=True)
    kept = [entry for entry in log.entries if isinstance(entry, ContentReplacementEntry)]
    assert all("main" not in entry.replacement for entry in kept)
    assert repr("child\nchild")[1:-1] in str(second.messages)
    assert repr("main\nmain")[1:-1] not in str(second.messages)


async def test_cp_8_a_childs_compaction_changes_nothing_of_its_parent(tmp_path: Path) -> None:
    steps = [Call("Bash", {"command": f"seq {number} {number + 900}"}) for number in range(0, 12_000, 1_000)]

    def below(request: ModelRequest) -> Any:
        return steps.pop(0) if steps else Say("counted")

    models = {
        "main": ScriptedModel([agent("count"), Say("out")], name="main"),
        "helper": ScriptedModel([below] * 60, name="helper", window=12_000, max_output_tokens=1_000),
    }
    async with house(tmp_path, models=models, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        child = place.front.of(AgentStarted)[0].child
        assert place.front.of(CompactionEnded, agent=child), "the child made room"
        assert not place.front.of(CompactionEnded)
        assert place.front.of(AgentEnded)[0].result == "counted"
    outer = load(place.path)
    assert not [entry for entry in outer.entries if getattr(entry, "subtype", "") == "compact_boundary"]
    assert len(outer.messages) == 4
