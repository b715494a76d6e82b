"""A tool starts a child agent through its port: own log, own tools, rights and budget below its parent's."""

import asyncio
import json
from pathlib import Path

import pytest

from clew.agents.factory import TreeRules
from clew.agents.runner import AgentSpec
from clew.engine.ports import Limits
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.entries import EventEntry
from clew.protocol.events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    ApprovalRequested,
    Envelope,
    Notice,
    OpRejected,
    Rewound,
    SnapshotTaken,
    TaskEnded,
    TaskStarted,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from clew.protocol.ids import AgentId
from clew.protocol.messages import result_text
from clew.protocol.ops import AnswerApproval, Interrupt, SubmitPrompt, Undo
from clew.protocol.standing import Standing
from clew.protocol.state import SessionState, after
from clew.transcript.log.store import subagent_meta_path, subagent_path
from clew.transcript.past.reader import load
from unit.agents.house import House, house

HELPER = AgentSpec(kind="helper", model="helper")


def models(main: list[object], helper: list[object], **more: float) -> dict[str, ScriptedModel]:
    return {"main": ScriptedModel(main, **more), "helper": ScriptedModel(helper, **more)}  # pyright: ignore[reportArgumentType] (options of the model, given by name)


def start(prompt: str = "look inside", *, kind: str = "helper", wait: bool = True) -> Call:
    return Call("StartAgent", {"prompt": prompt, "kind": kind, "wait": wait})


def bash(command: str, *, background: bool = False) -> Call:
    return Call("Bash", {"command": command, "run_in_background": background})


async def child_of(place: House) -> AgentId:
    started: AgentStarted = await place.front.until(AgentStarted)
    return started.child


def folded(seen: list[Envelope]) -> SessionState:
    """What a front end knows that was there from the beginning."""
    state = SessionState()
    for envelope in seen:
        state = envelope.event.state if isinstance(envelope.event, SnapshotTaken) else after(envelope, state)
    return state


async def test_a_child_asks_a_person_answers_it_and_its_words_come_back(tmp_path: Path) -> None:
    scripts = models([start(), Say("outer words")], [bash("touch made"), Say("inner words")])
    async with house(tmp_path, models=scripts, kinds=(HELPER,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        child = await child_of(place)
        asked: ApprovalRequested = await place.front.until(ApprovalRequested, agent=child)
        assert asked.subject == "touch made"
        waiting: AgentChanged = await place.front.until(AgentChanged)
        assert (waiting.child, waiting.standing) == (child, Standing.WAITING)
        await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="allow"))
        refused: OpRejected = await place.front.until(OpRejected)
        assert "nothing waits" in refused.reason
        await place.front.submit(AnswerApproval(agent=child, request_id=asked.request_id, decision="allow"))
        ended: AgentEnded = await place.front.until(AgentEnded)
        assert (ended.standing, ended.by, ended.result) == (Standing.COMPLETED, "itself", "inner words")
        assert (await place.front.until(TurnEnded)).reason == "completed"
        assert (place.project / "made").exists()
        assert {item.parent_call for item in place.front.seen if item.agent == child} == {"call_1"}
        result: ToolEnded = place.front.of(ToolEnded)[0]
        assert result_text(result.result) == "inner words"
        await place.front.submit(SubmitPrompt(agent=child, content="more"))
        assert "there is no agent" in (await place.front.until(OpRejected, 2)).reason
    inner = load(subagent_path(place.path, child), sidechain=True)
    outer = load(place.path)
    assert "inner words" in str(inner.messages)
    assert "look inside" in str(inner.messages)
    assert "outer words" not in str(inner.messages)
    told = [entry.event for entry in outer.entries if isinstance(entry, EventEntry)]
    kinds = [type(event) for event in told if isinstance(event, AgentStarted | AgentEnded | ApprovalRequested)]
    assert kinds == [AgentStarted, AgentEnded]
    meta = json.loads(subagent_meta_path(place.path, child).read_text())
    assert (meta["agentType"], meta["description"], meta["parent"]) == ("helper", "look inside", "main")


async def test_live_state_and_the_fold_of_a_front_end_agree_while_a_child_works_and_after(tmp_path: Path) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    scripts = models([start(), Say("out")], [ReplyOf([Wait(hold, reached), Say("in")])], usd_per_token=0.001)
    async with house(tmp_path, models=scripts, kinds=(HELPER,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        child = await child_of(place)
        row = place.session.journal.state.all_tasks[0]
        assert (row.task_id, row.kind, row.standing) == (child, "agent", Standing.WORKING)
        assert place.session.journal.state.session_standing is Standing.WORKING
        hold.set()
        await place.front.until(TurnEnded)
        live, told = place.session.journal.state, folded(place.front.seen)
        assert live.agents == told.agents == {}
        assert live.spent.cost_usd == told.spent.cost_usd == pytest.approx(0.33)
        assert [row.standing for row in told.all_tasks] == [Standing.COMPLETED]


async def test_equal_call_ids_are_two_calls_for_undo(tmp_path: Path) -> None:
    """Both agents' first call is `call_1`; each changes a file, and one undo takes both back."""
    ours = ReplyOf([bash("sleep 0.01; echo main > a"), start()])
    scripts = models([ours, Say("out")], [bash("echo child > b"), Say("in")])
    async with house(tmp_path, models=scripts, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        child = await child_of(place)
        calls = [place.front.of(ToolEnded, agent=agent)[0] for agent in (AgentId("main"), child)]
        assert {call.result.call_id for call in calls} == {"call_1"}
        told = [[type(block).__name__ for block in call.display] for call in calls]
        assert told == [["TerminalBlock", "DiffBlock", "ChangesBlock"]] * 2, "each tells what its own command changed"
        await place.front.submit(Undo())
        done: Rewound = await place.front.until(Rewound)
        assert sorted(Path(item.path).name for item in done.files) == ["a", "b"]
        assert not list(place.project.iterdir())


async def test_commands_of_two_agents_that_overlap_lose_no_change(tmp_path: Path) -> None:
    """The first command changes a file, waits for the second one's, and changes another; all of it can be undone."""
    first = ReplyOf(
        [start(wait=False), bash("echo main > a; echo ready; until [ -e b ]; do sleep 0.01; done; echo more > c")]
    )
    scripts = models([first, Say("out")], [bash("for i in 1; do echo child > b; done"), Say("in")])
    quiet = TreeRules(wake_parent=False)  # a turn that the child's end begins would be in the way of an undo
    async with house(tmp_path, models=scripts, kinds=(HELPER,), rules=quiet) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        for agent in (AgentId("main"), await child_of(place)):
            asked: ApprovalRequested = await place.front.until(ApprovalRequested, agent=agent)
            await place.front.submit(AnswerApproval(agent=agent, request_id=asked.request_id, decision="allow"))
            await place.front.until(ToolProgress)  # the first command has changed a file before the second one begins
        await place.front.until(TurnEnded)
        await place.front.until(AgentEnded)
        assert len(list(place.project.iterdir())) == 3
        await place.front.submit(Undo())
        await place.front.until(Rewound)
        assert not list(place.project.iterdir())


async def test_a_childs_rights_are_the_stricter_of_its_parents_and_its_own(tmp_path: Path) -> None:
    bold = AgentSpec(kind="bold", model="helper", permission_mode="bypassPermissions")
    scripts = models([start(kind="bold"), Say("out")], [bash("touch made"), Say("in")])
    async with house(tmp_path, models=scripts, kinds=(bold,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        child = await child_of(place)
        asked: ApprovalRequested = await place.front.until(ApprovalRequested, agent=child)
        await place.front.submit(AnswerApproval(agent=child, request_id=asked.request_id, decision="deny"))
        await place.front.until(TurnEnded)
        assert not (place.project / "made").exists()


async def test_a_child_that_only_plans_changes_nothing_where_its_parent_may(tmp_path: Path) -> None:
    planner = AgentSpec(kind="planner", model="helper", permission_mode="plan")
    scripts = models([start(kind="planner"), bash("touch ours"), Say("out")], [bash("touch made"), Say("in")])
    async with house(tmp_path, models=scripts, kinds=(planner,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        child = await child_of(place)
        assert place.front.of(ToolEnded, agent=child)[0].refused
        assert [item.name for item in place.project.iterdir()] == ["ours"]


async def test_a_child_gets_the_tools_it_is_given_and_never_its_parents_plan(tmp_path: Path) -> None:
    reader = AgentSpec(kind="reader", model="helper", tools=("Read", "EnterPlanMode", "NoSuchTool"))
    scripts = models([start(kind="reader"), Say("out")], [Say("in")])
    async with house(tmp_path, models=scripts, kinds=(reader,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        assert [tool.name for tool in scripts["helper"].requests[0].tools] == ["Read"]


async def test_an_unknown_kind_is_an_error_for_the_model(tmp_path: Path) -> None:
    scripts = models([start(kind="wizard"), Say("out")], [])
    async with house(tmp_path, models=scripts, kinds=(HELPER,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        assert "kinds are general, helper" in result_text(place.front.of(ToolEnded)[0].result)
        assert not place.front.of(AgentStarted)


async def test_whoever_interrupts_the_parent_stops_the_child_it_waits_for(tmp_path: Path) -> None:
    scripts = models([start(), Say("never")], [bash("sleep 3600"), Say("never")])
    async with house(tmp_path, models=scripts, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        child = await child_of(place)
        await place.front.until(ToolStarted, agent=child)
        await place.front.submit(Interrupt())
        assert (await place.front.until(TurnEnded)).reason == "interrupted"
        ended: AgentEnded = await place.front.until(AgentEnded)
        assert (ended.standing, ended.by) == (Standing.STOPPED, "agent")
        assert child not in place.session.runners


async def test_a_child_that_a_person_stops_gives_back_what_it_did(tmp_path: Path) -> None:
    said = ReplyOf([Say("half of it"), bash("sleep 3600")])
    scripts = models([start(), Say("out")], [said])
    async with house(tmp_path, models=scripts, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        child = await child_of(place)
        await place.front.until(ToolStarted, agent=child)
        await place.front.submit(Interrupt(agent=child))
        ended: AgentEnded = await place.front.until(AgentEnded)
        assert (ended.standing, ended.by, ended.reason) == (Standing.STOPPED, "user", "interrupted")
        assert (await place.front.until(TurnEnded)).reason == "completed"
        result: ToolEnded = place.front.of(ToolEnded)[0]
        assert (result_text(result.result), result.result.is_error) == ("half of it", True)


async def test_its_own_limits_end_a_child_and_not_its_parent(tmp_path: Path) -> None:
    short = AgentSpec(kind="short", model="helper", limits=Limits(max_steps=1))
    scripts = models([start(kind="short"), Say("out")], [bash("true"), Say("never")])
    async with house(tmp_path, models=scripts, kinds=(short,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        ended: AgentEnded = await place.front.until(AgentEnded)
        assert (ended.standing, ended.reason) == (Standing.SUSPENDED, "max_turns")
        assert (await place.front.until(TurnEnded)).reason == "completed"


async def test_what_a_child_runs_in_the_background_ends_with_it(tmp_path: Path) -> None:
    ours = bash("sleep 3601", background=True)
    scripts = models([ours, start(), Say("out")], [bash("sleep 3602", background=True), Say("in")])
    async with house(tmp_path, models=scripts, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        child = await child_of(place)
        begun: list[TaskStarted] = place.front.of(TaskStarted)
        assert [(task.task_id, task.owner) for task in begun] == [("bash_1", "main"), ("bash_2", child)]
        over: list[TaskEnded] = place.front.of(TaskEnded)
        assert [(task.task_id, task.standing, task.by) for task in over] == [("bash_2", Standing.STOPPED, "agent")]


async def test_closing_the_session_ends_a_child_in_the_background_and_says_so(tmp_path: Path) -> None:
    scripts = models([start(wait=False), Say("out")], [bash("sleep 3600"), Say("never")])
    async with house(tmp_path, models=scripts, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        child = await child_of(place)
        await place.front.until(TurnEnded)
        await place.front.until(ToolStarted, agent=child)
    ended: AgentEnded = place.front.of(AgentEnded)[0]
    assert (ended.child, ended.standing, ended.by) == (child, Standing.STOPPED, "session")
    told = [entry.event for entry in load(place.path).entries if isinstance(entry, EventEntry)]
    assert [event for event in told if isinstance(event, AgentEnded)] == [ended]


async def test_a_disk_that_takes_no_more_ends_no_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("clew.agents.child_files.replace_private", full)
    scripts = models([start(), Say("out")], [Say("in")])
    async with house(tmp_path, models=scripts, kinds=(HELPER,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        assert (await place.front.until(TurnEnded)).reason == "completed"
        assert any("could not be written down" in notice.text for notice in place.front.of(Notice))
