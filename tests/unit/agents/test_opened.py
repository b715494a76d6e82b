"""Children and tasks in a session as it is really opened: hooks hold for all, a resume tells what was cut off."""

import json
import shutil

import pytest

from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel
from clew.protocol.events import (
    AgentEnded,
    AgentStarted,
    AttemptEnded,
    Notice,
    SnapshotTaken,
    TaskStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from clew.protocol.messages import result_text
from clew.protocol.ops import SubmitPrompt
from clew.protocol.standing import Standing
from unit.agents.opened_place import Place, opened

CHILD = Call("StartAgent", {"prompt": "look inside"})


async def test_the_users_hooks_hold_for_a_childs_calls_too(place: Place) -> None:
    refuse = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo not here >&2; exit 2"}]}
    (place.home / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [refuse]}}))
    bash = Call("Bash", {"command": "touch made"})
    model = ScriptedModel([CHILD, bash, Say("inner"), Say("outer")])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="go"))
        assert (await front.until(TurnEnded)).reason == "completed"
        child = front.of(AgentStarted)[0].child
        (refused,) = front.of(ToolEnded, agent=child)
        assert "not here" in result_text(refused.result)
        assert refused.refused
    assert not (place.project / "made").exists()


async def test_a_child_is_told_the_same_first_words_as_its_parent_and_leaves_its_files(place: Place) -> None:
    model = ScriptedModel([CHILD, Say("inner"), Say("outer")])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        child = front.of(AgentStarted)[0].child
    outer, inner, _ = model.requests
    assert inner.system[: len(outer.system)] == outer.system, "words of its kind follow the same first bytes"
    names = [tool.name for tool in inner.tools]
    assert "Bash" in names
    assert "EnterPlanMode" not in names
    folder = place.transcript.with_suffix("") / "subagents"
    assert sorted(item.name for item in folder.iterdir()) == [f"agent-{child}.jsonl", f"agent-{child}.meta.json"]
    assert (folder / f"agent-{child}.jsonl").stat().st_mode & 0o777 == 0o600


async def test_what_ran_when_the_process_died_is_interrupted_on_resume(place: Place) -> None:
    """The file is copied while a command and a child are at work, as if the process had ended there."""
    shell = Call("Bash", {"command": "sleep 3600", "run_in_background": True})
    begin = Call("StartAgent", {"prompt": "look inside", "wait": False})
    hang = Call("Bash", {"command": "sleep 3600"})
    inner = [Call("Bash", {"command": "true"}), hang]

    def reply(request: ModelRequest) -> Call | Say:
        return inner.pop(0) if "look inside" in str(request.messages[0]) else Say("out")

    model = ScriptedModel([ReplyOf([shell, begin]), reply, reply, reply], usd_per_token=0.001)
    copy = place.base / "copy"
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        child = front.of(AgentStarted)[0].child
        await front.until(ToolStarted, 2, agent=child)
        spent_by_child = sum(event.cost_usd or 0 for event in front.of(AttemptEnded, agent=child))
        own = front.door.session.journal.main.state.tally.cost_usd
        path = place.transcript
        shutil.copytree(path.parent, copy)
        assert spent_by_child > 0
    shutil.rmtree(path.parent)
    shutil.copytree(copy, path.parent, ignore=shutil.ignore_patterns("*.lock"))
    again = ScriptedModel([Call("Bash", {"command": "true", "run_in_background": True}), Say("on")])
    async with opened(place.request(again, resume=path.stem)) as front:
        state = (await front.until(SnapshotTaken)).state
        assert {row.task_id: row.standing for row in state.tasks} == {
            "bash_1": Standing.INTERRUPTED,
            child: Standing.INTERRUPTED,
        }
        assert state.spent.cost_usd == pytest.approx(own + spent_by_child)
        told = [notice.text for notice in front.of(Notice)]
        assert any("bash_1 (sleep 3600) was interrupted" in text for text in told)
        assert any(f"{child} (look inside) was interrupted" in text for text in told)
        await front.submit(SubmitPrompt(content="go on"))
        await front.until(TurnEnded)
        assert "bash_1 (sleep 3600) was interrupted" in str(again.requests[0].messages)
        assert front.of(TaskStarted)[0].task_id == "bash_2", "an id that the model knows is not given twice"
        assert not front.of(AgentEnded)
    later = ScriptedModel([Say("x")])
    async with opened(place.request(later, resume=path.stem)) as front:
        state = (await front.until(SnapshotTaken)).state
        assert not [row for row in state.tasks if row.lost], "told once"
        assert [(row.task_id, row.standing) for row in state.tasks if row.kind == "agent"] == [
            (child, Standing.INTERRUPTED)
        ], "and listed for ever"
        assert state.spent.cost_usd == pytest.approx(own + spent_by_child)
