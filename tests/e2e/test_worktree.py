"""A conversation in a checkout of its own, through the real command: made, gone back into, left, told of."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place, Serve, until
from e2e.test_agents import transcript
from e2e.test_isolated_agents import bash, git, repository, trees, write

FREELY = ("--permission-mode", "bypassPermissions")


def changes(place: Place) -> list[dict[str, Any]]:
    """What the log says of moves, read without any code of ours."""
    lines = [json.loads(line) for line in transcript(place).read_text().splitlines()]
    return [line["event"] for line in lines if line.get("event", {}).get("event") == "worktree.changed"]


def test_a_run_in_a_worktree_changes_nothing_else_and_says_where_its_work_is(serve: Serve) -> None:
    place, server = serve(
        [{"calls": [write("b.txt"), write("sub/c.txt"), bash("pwd; git status --short")]}, {"text": "x"}]
    )
    repository(place)
    before = git(place.project, "status", "--porcelain", "--branch")
    done = place.run("-p", "go", "--worktree", "feature", *FREELY)
    assert done.code == 0
    (tree,) = trees(place)
    assert tree.name == "feature"
    assert (tree / "b.txt").read_text() == "two\n"
    assert sorted(entry.name for entry in place.project.iterdir()) == [".git", "a.txt"]
    assert git(place.project, "status", "--porcelain", "--branch") == before
    assert f"works in {tree}" in server.requests[0].raw.decode()
    assert str(tree) in server.requests[1].raw.decode()
    assert "worktree feature: the work is in refs/clew/feature/head" in done.err
    assert git(place.project, "show", "refs/clew/feature/head:sub/c.txt") == "two"
    (entered,) = changes(place)
    assert (entered["name"], entered["path"], entered["branch"]) == ("feature", str(tree), "clew/feature")


def test_an_unchanged_worktree_vanishes_and_a_resume_makes_it_anew(serve: Serve) -> None:
    place, server = serve([{"text": "x"}, {"calls": [bash("pwd; git log -1 --format=%d")]}, {"text": "y"}])
    repository(place)
    done = place.run("-p", "go", "--worktree")
    assert (done.code, trees(place)) == (0, [])
    assert "changed nothing" in done.err
    (entered,) = changes(place)
    done = place.run("-c", "-p", "where are you?", *FREELY)
    assert done.code == 0
    assert f"{entered['path']}\\n" in server.requests[-1].raw.decode()
    assert "it stopped in" not in server.requests[-1].raw.decode()
    assert trees(place) == []


@pytest.mark.parametrize("way", ["-c", "-r"])
def test_a_resume_goes_back_into_it_with_all_that_was_there(serve: Serve, way: str) -> None:
    place, server = serve(
        [{"calls": [write("b.txt")]}, {"text": "x"}, {"calls": [bash("cat b.txt; pwd")]}, {"text": "y"}]
    )
    repository(place)
    place.run("-p", "go", "--worktree", "one", *FREELY)
    (tree,) = trees(place)
    named = ("-c",) if way == "-c" else ("-r", transcript(place).stem)
    assert place.run(*named, "-p", "again", *FREELY).code == 0
    body = server.requests[-1].raw.decode()
    assert f"two\\n{tree}" in body
    assert len(changes(place)) == 1, "nothing changed"


def test_after_a_kill_the_work_is_there_and_the_resume_goes_on_in_it(serve: Serve) -> None:
    place, server = serve(
        {
            "replies": [{"calls": [write("b.txt")]}, {"parts": [{"wait": "for ever"}, {"text": "never"}]}],
            "last": {"text": "after the kill"},
        }
    )
    repository(place)
    process = place.start("-p", "go", "--worktree", "one", *FREELY)
    until(lambda: len(server.requests) >= 2, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert place.run("-c", "-p", "go on", *FREELY).code == 0
    (tree,) = trees(place)
    assert (tree / "b.txt").read_text() == "two\n"
    assert git(place.project, "show", "refs/clew/one/head:b.txt") == "two"


def test_a_name_that_was_used_is_opened_again_also_after_it_was_cleaned(serve: Serve) -> None:
    place, _ = serve([{"calls": [write("b.txt")]}, {"text": "x"}, {"text": "y"}, {"text": "z"}])
    repository(place)
    place.run("-p", "go", "--worktree", "one", *FREELY)
    assert place.run("-p", "more", "--worktree", "one").code == 0
    assert "1 removed, 0 stay" in place.run("doctor", "--clean-worktrees").out
    assert place.run("-p", "more", "--worktree", "one").code == 0
    (tree,) = trees(place)
    assert (tree / "b.txt").read_text() == "two\n"


def test_a_name_in_use_of_another_project_or_bad_is_refused_in_words(serve: Serve, tmp_path: Path) -> None:
    place, server = serve(
        {"replies": [{"parts": [{"wait": "for ever"}, {"text": "never"}]}], "last": {"text": "later"}}
    )
    repository(place)
    process = place.start("-p", "go", "--worktree", "one")
    until(lambda: len(server.requests) >= 1, process)
    busy = place.run("-p", "go", "--worktree", "one")
    assert (busy.code, "somebody works in the worktree one already" in busy.err) == (2, True)
    process.send_signal(signal.SIGTERM)
    process.wait()
    bad = place.run("-p", "go", "--worktree", "../x")
    assert (bad.code, "is no name for a worktree" in bad.err) == (2, True)
    assert trees(place) == []


def test_without_a_trusted_repository_there_is_no_worktree_and_no_session(serve: Serve) -> None:
    place, server = serve([{"text": "never"}])
    done = place.run("-p", "go", "--worktree")
    assert (done.code, "in no git repository" in done.err) == (2, True)
    git(place.project, "init", "-q")
    done = place.run("-p", "go", "--worktree")
    assert (done.code, "not trusted" in done.err) == (2, True)
    assert server.requests == []


def test_none_goes_on_in_the_project_and_the_log_says_so(serve: Serve) -> None:
    place, server = serve(
        [{"calls": [write("b.txt")]}, {"text": "x"}, {"calls": [bash("pwd")]}, {"text": "y"}, {"text": "z"}]
    )
    repository(place)
    place.run("-p", "go", "--worktree", "one", *FREELY)
    assert place.run("-c", "-p", "again", "--worktree", "none", *FREELY).code == 0
    assert (
        f'{place.project}"' in server.requests[-1].raw.decode()
        or f"{place.project}\\n" in server.requests[-1].raw.decode()
    )
    assert [event.get("path", "") != "" for event in changes(place)] == [True, False]
    place.run("-c", "-p", "and again")
    assert len(changes(place)) == 2


def test_commands_are_held_in_the_worktree_by_the_sandbox(serve: Serve, tmp_path: Path) -> None:
    main = tmp_path / "project"
    outside = main / "c.txt"
    place, _ = serve([{"calls": [bash(f"echo x > b.txt; echo x > {outside}; git -C {main} tag evil")]}, {"text": "x"}])
    repository(place)
    assert place.run("-p", "go", "--worktree", "one", *FREELY).code == 0
    assert (trees(place)[0] / "b.txt").exists()
    assert not outside.exists()
    assert git(place.project, "tag") == ""
