"""The conversation moves into a checkout of its own and out of it: by tools, by people, over a resume."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clew.host.workspace import remember_trust
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.events import (
    Notice,
    OpRejected,
    PlaceChanged,
    SessionEnded,
    SessionStarted,
    ToolEnded,
    TurnEnded,
    WorktreeChanged,
)
from clew.protocol.messages import ToolResultPart, result_text
from clew.protocol.ops import EnterWorktree, LeaveWorktree, SubmitPrompt
from unit.agents.opened_place import Place, opened
from unit.system.test_git import Repo


@pytest.fixture
def repo(place: Place) -> Repo:
    place.project.rmdir()
    made = Repo(place.project)
    made.commit("a.txt", "one\n")
    remember_trust(place.home, place.project)
    return made


def searched(tool: str, **arguments: Any) -> Call:
    return Call("CallTool", {"tool": tool, "arguments": arguments})


def answers(model: ScriptedModel) -> list[str]:
    parts = [part for message in model.requests[-1].messages for part in message.content]
    return [result_text(part) for part in parts if isinstance(part, ToolResultPart)]


def trees(place: Place) -> list[Path]:
    folder = Path(f"{place.home}-worktrees")
    return list(folder.iterdir()) if folder.is_dir() else []


def pwd() -> Call:
    return Call("Bash", {"command": "pwd"})


async def test_tools_leave_and_enter_and_what_they_write_goes_to_the_right_place(place: Place, repo: Repo) -> None:
    calls = [
        searched("ExitWorktree", action="remove"),
        Call("Write", {"file_path": "at-home.txt", "content": "x"}),
        searched("EnterWorktree", name="two"),
        searched("EnterWorktree", name="three"),
        Call("Write", {"file_path": "there.txt", "content": "x"}),
        Call("Write", {"file_path": str(place.project / "not.txt"), "content": "x"}),
        pwd(),
        searched("ExitWorktree", action="keep"),
        searched("ExitWorktree", action="keep"),
        pwd(),
    ]
    model = ScriptedModel([*calls, Say("done")])
    async with opened(place.request(model, worktree="one")) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        moves = front.of(WorktreeChanged)
    left, _, entered, twice, _, outside, inside, kept, none, home = answers(model)
    (tree,) = trees(place)
    assert tree.name == "two"
    assert "it changed nothing" in left.lower()
    assert f"works in {tree}" in entered
    assert "already: leave it first" in twice
    assert "checkout of its own" in outside
    assert (inside.strip(), home.strip()) == (str(tree), str(place.project))
    assert "refs/clew/two/head" in kept
    assert "works in no worktree" in none
    assert sorted(entry.name for entry in place.project.iterdir()) == [".git", "a.txt", "at-home.txt"]
    assert repo.git("show", "refs/clew/two/head:there.txt") == "x"
    assert [(move.name, bool(move.path)) for move in moves] == [
        ("one", False),
        ("two", True),
        ("two", False),
    ]


async def test_remove_saves_first_and_removes_nothing_that_cannot_be_saved(place: Place, repo: Repo) -> None:
    calls = [
        Call("Write", {"file_path": "there.txt", "content": "x"}),
        searched("ExitWorktree", action="remove"),
        searched("EnterWorktree", name="two"),
        Call("Bash", {"command": "git init -q inner && touch inner/x"}),
        searched("ExitWorktree", action="remove"),
    ]
    model = ScriptedModel([*calls, Say("done")])
    async with opened(place.request(model, worktree="one")) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
    _, removed, _, _, stays = answers(model)
    assert "removed; its work is in refs/clew/one/head" in removed
    assert repo.git("show", "refs/clew/one/head:there.txt") == "x"
    assert "stays" in stays
    assert [tree.name for tree in trees(place)] == ["two"]


async def test_a_person_moves_it_and_a_resume_goes_on_there(place: Place, repo: Repo) -> None:
    (place.project / "a.txt").write_text("changed\n")
    model = ScriptedModel([Say("one"), Call("Bash", {"command": "cat a.txt"}), Say("two")])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="a"))
        await front.until(TurnEnded)
        await front.submit(LeaveWorktree())
        assert "works in no worktree" in (await front.until(OpRejected)).reason
        await front.submit(EnterWorktree(name="mine", changes=True))
        await front.until(WorktreeChanged)
        await front.submit(SubmitPrompt(content="b"))
        await front.until(TurnEnded, 2)
        assert any(f"works in {trees(place)[0]}" in notice.text for notice in front.of(Notice))
    assert answers(model)[-1].strip() == "changed"
    assert "works in" in str(model.requests[1].messages)
    again = ScriptedModel([pwd(), Say("three"), Say("four")])
    async with opened(place.request(again, resume=place.transcript.stem)) as front:
        started = front.of(SessionStarted)[0] if front.of(SessionStarted) else await front.until(SessionStarted)
        await front.submit(SubmitPrompt(content="c"))
        await front.until(TurnEnded)
        (tree,) = trees(place)
        assert started.cwd == str(tree)
        await front.submit(LeaveWorktree(remove=True))
        await front.until(WorktreeChanged)
    assert answers(again)[-1].strip() == str(tree)
    assert trees(place) == []
    last = ScriptedModel([pwd(), Say("five")])
    async with opened(place.request(last, resume=place.transcript.stem)) as front:
        await front.submit(SubmitPrompt(content="d"))
        await front.until(TurnEnded)
    assert answers(last)[-1].strip() == str(place.project)
    assert (place.project / "a.txt").read_text() == "changed\n"


async def test_a_copy_of_the_session_works_in_the_project_and_the_footer_follows(place: Place, repo: Repo) -> None:
    model = ScriptedModel([Say("one"), Say("two")])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="a"))
        await front.until(TurnEnded)
        await front.submit(EnterWorktree(name="one"))
        moved = await front.until(PlaceChanged)
        (tree,) = trees(place)
        assert (moved.cwd, moved.branch) == (str(tree), "clew/one")
        await front.submit(SubmitPrompt(content="b"))
        await front.until(TurnEnded, 2)
    copy = ScriptedModel([pwd(), Say("three")])
    async with opened(place.request(copy, resume=place.transcript.stem, fork=True)) as front:
        await front.submit(SubmitPrompt(content="c"))
        await front.until(TurnEnded)
        assert front.door.session.journal.main.state.worktree is None
    assert answers(copy)[-1].strip() == str(place.project)


async def test_nobody_moves_it_while_something_runs(place: Place, repo: Repo) -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    background = Call("Bash", {"command": "sleep 100", "run_in_background": True})
    model = ScriptedModel([background, Say("one"), ReplyOf([Wait(hold, reached), Say("two")])])
    async with opened(place.request(model)) as front:
        await front.submit(SubmitPrompt(content="a"))
        await front.until(TurnEnded)
        await front.submit(EnterWorktree())
        assert "a command runs in the background" in (await front.until(OpRejected)).reason
        await front.submit(SubmitPrompt(content="b"))
        await reached.wait()
        await front.submit(EnterWorktree())
        assert "a turn runs" in (await front.until(OpRejected, 2)).reason
        hold.set()
        await front.until(TurnEnded, 2)
    assert trees(place) == []


async def test_agents_work_in_the_worktree_of_the_conversation_and_have_none_of_its_tools(
    place: Place, repo: Repo
) -> None:
    inner = [pwd(), Call("EnterWorktree", {}), Say("inner")]
    ask = Call("Agent", {"description": "x", "prompt": "TASK x"})
    model = ScriptedModel([ask, *inner, Say("out")])
    async with opened(place.request(model, worktree="one")) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        results = [result_text(event.result) for event in front.events if isinstance(event, ToolEnded)]
        entered = front.door.session.journal.main.state.worktree
    assert entered is not None
    assert results[0].strip() == entered.path
    assert "The user moves the conversation with /worktree" in results[1]


async def test_the_end_says_what_is_left(place: Place, repo: Repo) -> None:
    model = ScriptedModel([Call("Write", {"file_path": "b.txt", "content": "x"}), Say("one")])
    async with opened(place.request(model, worktree="one")) as front:
        await front.submit(SubmitPrompt(content="a"))
        await front.until(TurnEnded)
    (ended,) = front.of(SessionEnded)
    assert ended.left.startswith("worktree one: the work is in refs/clew/one/head (1 uncommitted file")
