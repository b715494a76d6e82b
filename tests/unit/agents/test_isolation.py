"""Isolated agents through a session's front door: which files their tools reach, who may be isolated, and going on."""

import os
from pathlib import Path
from typing import Any

import pytest

from clew.agents.checkouts import Checkouts
from clew.agents.runner import AgentSpec
from clew.llm.scripted import Call, Say, ScriptedModel
from clew.permissions.conditions import with_rules
from clew.permissions.rules import parse_rule
from clew.protocol.events import AgentEnded, AgentStarted, ToolEnded, TurnEnded
from clew.protocol.messages import ToolResultPart, result_text
from clew.protocol.ops import SubmitPrompt
from unit.agents.house import house
from unit.agents.test_agent_tool import HELPER, agent, asked, scripts
from unit.system.test_git import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "project")
    (made.root / "private").mkdir()
    (made.root / "private" / "x.txt").write_text("needle\n")
    made.git("add", ".")
    made.commit("a.txt", "needle\n")
    return made


def trees(base: Path) -> list[Path]:
    folder = base / "home-worktrees"
    return list(folder.iterdir()) if folder.is_dir() else []


def results(model: ScriptedModel) -> list[str]:
    """What the calls of an agent were answered, oldest first: as its model read it."""
    parts = [part for message in model.requests[-1].messages for part in message.content]
    return [result_text(part) for part in parts if isinstance(part, ToolResultPart)]


async def run(base: Path, inner: list[Any], *, mode: str = "bypassPermissions", rule: str = "") -> list[str]:
    """The answers that an isolated child gets to these calls."""
    models = scripts([agent(isolation="worktree"), Say("out")], [*inner, Say("inner")])
    async with house(base, models=models, kinds=(HELPER,), mode=mode) as place:
        if rule:
            permits = place.shared.permits
            permits.policy = with_rules(permits.policy, (parse_rule(rule, "deny"),))
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        return results(models["helper"])


async def test_file_tools_change_the_checkout_and_nothing_else(repo: Repo, tmp_path: Path) -> None:
    outside = repo.root / "a.txt"
    calls = [
        Call("Write", {"file_path": "new.txt", "content": "x"}),
        Call("Write", {"file_path": str(repo.root / "new.txt"), "content": "x"}),
        Call("Write", {"file_path": "../../project/new.txt", "content": "x"}),
        Call("Bash", {"command": f"ln -s {repo.root} link; ln -s {outside} one"}),
        Call("Write", {"file_path": "link/new.txt", "content": "x"}),
        Call("Read", {"file_path": str(outside)}),
        Call("Edit", {"file_path": str(outside), "old_string": "needle", "new_string": "x"}),
        Call("Edit", {"file_path": "one", "old_string": "needle", "new_string": "x"}),
    ]
    made, plain, above, _, linked, read, edited, through = await run(tmp_path, calls)
    (tree,) = trees(tmp_path)
    assert str(tree / "new.txt") in made or "new.txt" in made
    assert (tree / "new.txt").read_text() == "x"
    for refused in (plain, above, linked, edited, through):
        assert "checkout of its own" in refused
    assert "needle" in read
    assert sorted(entry.name for entry in repo.root.iterdir()) == [".git", "a.txt", "private"]
    assert outside.read_text() == "needle\n"


async def test_rules_about_the_project_hold_in_the_checkout_and_in_the_project(repo: Repo, tmp_path: Path) -> None:
    calls = [
        Call("Read", {"file_path": "private/x.txt"}),
        Call("Read", {"file_path": str(repo.root / "private" / "x.txt")}),
        Call("Read", {"file_path": "a.txt"}),
        Call("Grep", {"pattern": "needle"}),
    ]
    own, theirs, read, found = await run(tmp_path, calls, rule="Read(private/**)")
    for refused in (own, theirs):
        assert "needle" not in refused
    assert "needle" in read
    assert "a.txt" in found


async def test_in_a_mode_that_asks_the_checkout_is_judged_like_the_project(repo: Repo, tmp_path: Path) -> None:
    calls = [Call("Read", {"file_path": "a.txt"}), Call("Write", {"file_path": "new.txt", "content": "x"})]
    read, written = await run(tmp_path, calls, mode="plan")
    assert "needle" in read
    assert "plan mode" in written
    assert trees(tmp_path) == []


async def test_agents_of_an_isolated_agent_work_in_its_checkout_and_it_is_isolated_once(
    repo: Repo, tmp_path: Path
) -> None:
    below = AgentSpec(kind="below", model="below")
    inner = [agent(isolation="worktree"), agent(subagent_type="below"), Say("inner")]
    models = scripts([agent(isolation="worktree"), Say("out")], inner)
    write = [Call("Write", {"file_path": "deep.txt", "content": "x"}), Say("deep")]
    models["below"] = ScriptedModel(write, name="below")
    async with house(tmp_path, models=models, kinds=(HELPER, below), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        told = results(models["helper"])
    (tree,) = trees(tmp_path)
    assert (tree / "deep.txt").exists()
    assert not (repo.root / "deep.txt").exists()
    assert "in a checkout of your own already" in told[0]


async def test_what_is_not_enforced_without_a_sandbox_is_said(repo: Repo, tmp_path: Path) -> None:
    models = scripts([agent(isolation="worktree", run_in_background=True), Say("out"), Say("heard")], [Say("inner")])
    async with house(tmp_path, models=models, kinds=(HELPER,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded, 2)
        (ended,) = place.front.of(AgentEnded)
        notice = asked(models["main"].requests[-1])
    assert ended.unheld
    assert "<unheld>" in notice
    assert len(notice.encode()) <= 1_024


async def test_an_agent_that_goes_on_finds_its_work_also_where_its_checkout_is_gone(repo: Repo, tmp_path: Path) -> None:
    first = [Call("Write", {"file_path": "new.txt", "content": "mine"}), Say("inner")]
    again = [Call("Bash", {"command": "pwd; cat new.txt"}), Say("again")]
    models = scripts([agent(isolation="worktree"), Say("out"), Say("heard")], [*first, *again])
    async with house(tmp_path, models=models, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        (ended,) = place.front.of(AgentEnded)
        checkouts = Checkouts(tmp_path / "home", search_path=os.environ["PATH"])
        (receipt,) = checkouts.all()
        assert "removed; its work is in" in checkouts.clean(receipt)
        await place.factory.children.talk.message(ended.child, "go on", sender=place.session.main.agent.id)
        await place.front.until(AgentEnded, 2)
        said = results(models["helper"])[-1]
    assert "mine" in said
    assert str(receipt.path) in said


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"fork": True}, "fork works in its parent's directory"),
        ({"name": "taken"}, "already an agent named"),
        ({"model": "unknown"}, "KeyError"),
    ],
)
async def test_an_agent_that_is_not_started_leaves_no_checkout(
    repo: Repo, tmp_path: Path, more: dict[str, Any], why: str
) -> None:
    models = scripts([agent(name="taken"), agent(isolation="worktree", **more), Say("out")], [Say("inner")])
    async with house(tmp_path, models=models, kinds=(HELPER,)) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        refused = result_text(place.front.of(ToolEnded)[1].result)
    assert why in refused
    assert trees(tmp_path) == []
    assert len(place.front.of(AgentStarted)) == 1


@pytest.mark.parametrize("changes", [True, False])
async def test_a_child_gets_uncommitted_changes_or_both_are_told_that_they_are_missing(
    repo: Repo, tmp_path: Path, changes: bool
) -> None:
    (repo.root / "a.txt").write_text("changed\n")
    (repo.root / "new.txt").write_text("new\n")
    order = {"isolation": "worktree+changes" if changes else "worktree"}
    models = scripts(
        [agent(**order), agent(**order, run_in_background=True), Say("out"), Say("heard")],
        [Call("Bash", {"command": "cat a.txt new.txt"}), Say("inner"), Say("again")],
    )
    async with house(tmp_path, models=models, kinds=(HELPER,), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded, 2)
    told = [result for result in results(models["main"]) if "checkout lacks 2 uncommitted changes" in result]
    system = "\n".join(models["helper"].requests[0].system)
    assert len(told) == (0 if changes else 2)
    assert ("lacks 2 uncommitted changes" in system) is not changes
    parts = [part for message in models["helper"].requests[1].messages for part in message.content]
    read = "".join(result_text(part) for part in parts if isinstance(part, ToolResultPart))
    assert ("changed\nnew" in read) is changes


async def test_a_kind_may_want_the_changes_of_its_parent(repo: Repo, tmp_path: Path) -> None:
    (repo.root / "a.txt").write_text("changed\n")
    kind = AgentSpec(kind="below", model="below", isolation="worktree+changes")
    models = scripts([agent(subagent_type="below"), Say("out")], [])
    calls = [Call("Bash", {"command": "cat a.txt; echo mine >> a.txt"}), Say("deep")]
    models["below"] = ScriptedModel(calls, name="below")
    async with house(tmp_path, models=models, kinds=(HELPER, kind), mode="bypassPermissions") as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(TurnEnded)
        (ended,) = place.front.of(AgentEnded)
    assert "changed" in "".join(results(models["below"]))
    assert f"git diff --binary {ended.carried[:12]} {ended.work_ref} | git apply" in "".join(results(models["main"]))
    assert (repo.root / "a.txt").read_text() == "changed\n"
