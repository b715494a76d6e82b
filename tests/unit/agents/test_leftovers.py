"""Checkouts that were left: listed beside tasks, shown, cleaned on request and with proof; orphans are settled."""

import os
from pathlib import Path

import pytest

from clew.agents import checkouts as module
from clew.agents.checkouts import Checkouts
from clew.agents.leftovers import cleaned, leftover_rows
from clew.commands.tasks import listing
from clew.llm.scripted import Say, ScriptedModel
from clew.protocol.events import Notice, TurnEnded
from clew.protocol.ids import AgentId
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.tasks import CleanWorktrees, ListTasks, ShowTask
from clew.protocol.ops import SubmitPrompt
from unit.agents.opened_place import Place, opened
from unit.agents.test_checkouts import DEAD
from unit.agents.test_worktree_moves import trees
from unit.system.test_git import Repo


@pytest.fixture
def repo(place: Place) -> Repo:
    place.project.rmdir()
    made = Repo(place.project)
    made.commit("a.txt", "one\n")
    return made


def left(place: Place, repo: Repo, name: str, *, changed: bool = True) -> Checkouts:
    """A checkout that somebody left, with work in it."""
    checkouts = Checkouts(place.home, search_path=os.environ["PATH"])
    receipt = checkouts.make(AgentId(name), "session", repo.root)
    if changed:
        (Path(receipt.path) / "work.txt").write_text("x" * 5_000)
    checkouts.settle(receipt, keep=True)
    return checkouts


async def test_they_are_listed_shown_and_cleaned_through_a_session(place: Place, repo: Repo) -> None:
    left(place, repo, "one")
    left(place, repo, "two")
    async with opened(place.request(ScriptedModel([]))) as front:
        assert (await front.look_up(ListTasks())).tasks == (), "who polls is not told of them"
        rows = (await front.look_up(ListTasks(worktrees=True))).tasks
        assert [row.task_id for row in rows] == ["worktree:one", "worktree:two"]
        words = "\n".join(listing(rows))
        assert str(trees(place)[0].parent / "one") in words
        assert "1 uncommitted file; saved in refs/clew/one/head" in words
        assert "MB, " in words
        assert " old" in words
        shown = await front.look_up(ShowTask(task_id="worktree:one"))
        assert "Kept because: 1 uncommitted file" in shown.output
        rest = (await front.look_up(CleanWorktrees(name="worktree:one"))).tasks
        assert [row.task_id for row in rest] == ["worktree:two"]
        assert any("removed; its work is in refs/clew/one/head" in notice.text for notice in front.of(Notice))
        with pytest.raises(LookupRefused, match="there is no checkout one"):
            await front.look_up(CleanWorktrees(name="one"))
        assert (await front.look_up(CleanWorktrees(name="all"))).tasks == ()
    assert trees(place) == []
    assert repo.git("show", "refs/clew/two/head:work.txt") == "x" * 5_000


def test_what_cannot_be_saved_or_is_in_use_stays(place: Place, repo: Repo) -> None:
    checkouts = left(place, repo, "one", changed=False)
    Repo(trees(place)[0] / "inner").commit("x")
    receipt = checkouts.make(AgentId("two"), "session", repo.root)
    assert [row.task_id for row in leftover_rows(checkouts)] == ["worktree:one"]
    first, second = cleaned(checkouts, "all")
    assert "holds repositories of its own" in first
    assert "works there; it stays" in second
    assert sorted(tree.name for tree in trees(place)) == ["one", "two"]
    checkouts.settle(receipt)


async def test_checkouts_of_a_process_that_died_before_it_told_of_them_are_settled_by_the_next_opening(
    place: Place, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkouts = Checkouts(place.home, search_path=os.environ["PATH"])
    with monkeypatch.context() as patch:
        patch.setattr(module, "this_process", lambda name: DEAD)
        checkouts.make(AgentId("empty"), "session", repo.root)
        receipt = checkouts.make(AgentId("full"), "session", repo.root)
    (Path(receipt.path) / "work.txt").write_text("mine")
    model = ScriptedModel([Say("hi")])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="a"))
        await front.until(TurnEnded)
    assert [tree.name for tree in trees(place)] == ["full"]
    (kept,) = checkouts.all()
    assert (kept.state, kept.saved) == ("kept", True)
    assert repo.git("show", "refs/clew/full/head:work.txt") == "mine"
