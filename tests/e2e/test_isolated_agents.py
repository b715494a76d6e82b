"""Isolated agents through the real command: work in a checkout of their own, the way back, a kill."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from clew.host.workspace import remember_trust
from e2e.command import Place, Serve, until
from e2e.test_agents import agent, at_work_on, told
from e2e.worktree_fuzz import play


def git(project: Path, *words: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": "/proc/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(["git", *words], cwd=project, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(place: Place) -> None:
    """A trusted project with one commit."""
    (place.project / "a.txt").write_text("one\n")
    git(place.project, "init", "-q", "-b", "trunk")
    git(place.project, "config", "user.name", "x")
    git(place.project, "config", "user.email", "x@y")
    git(place.project, "add", ".")
    git(place.project, "commit", "-qm", "first")
    remember_trust(place.clew_home, place.project)


def bash(command: str) -> dict[str, Any]:
    return {"call": "Bash", "arguments": {"command": command}}


def write(path: Path | str) -> dict[str, Any]:
    return {"call": "Write", "arguments": {"file_path": str(path), "content": "two\n"}}


def trees(place: Place) -> list[Path]:
    folder = Path(f"{place.clew_home}-worktrees")
    return list(folder.iterdir()) if folder.is_dir() else []


def test_an_isolated_agent_changes_its_checkout_and_nothing_else_and_its_work_can_be_merged(
    serve: Serve, tmp_path: Path
) -> None:
    main = tmp_path / "project"
    inside = [
        write("b.txt"),
        write(main / "a.txt"),
        bash(f"echo x > {main}/c.txt; git add b.txt; git commit -qm b; pwd"),
    ]
    place, server = serve(
        [
            {"calls": [agent("work", isolation="worktree")]},
            {"match": at_work_on("work"), "calls": inside},
            {"text": "inner words"},
            {"text": "done"},
        ]
    )
    repository(place)
    before = git(main, "for-each-ref")
    done = place.run("-p", "go", "--permission-mode", "bypassPermissions")
    assert (done.code, done.err) == (0, "")
    (ended,) = told(place, "agent.ended")
    (tree,) = trees(place)
    assert ended["worktree"] == str(tree)
    assert (tree / "b.txt").read_text() == "two\n"
    assert sorted(entry.name for entry in main.iterdir()) == [".git", "a.txt"]
    assert (main / "a.txt").read_text() == "one\n"
    child = ended["child"]
    refs = [line for line in git(main, "for-each-ref").splitlines() if line not in before.splitlines()]
    assert [line.split("\t")[1] for line in refs] == [f"refs/clew/{child}/head"]
    answer = server.requests[-1].raw.decode()
    assert f"git merge refs/clew/{child}/head" in answer
    assert "NOT ENFORCED" not in answer
    git(main, "merge", "-q", f"refs/clew/{child}/head")
    assert (main / "b.txt").read_text() == "two\n"


def test_an_unchanged_checkout_is_gone_when_its_agent_has_ended(serve: Serve) -> None:
    reply = {"match": at_work_on("look"), "calls": [bash("cat a.txt")]}
    place, server = serve([{"calls": [agent("look", isolation="worktree")]}, reply, {"text": "x"}, {"text": "done"}])
    repository(place)
    before = git(place.project, "for-each-ref")
    assert place.run("-p", "go").code == 0
    assert trees(place) == []
    assert list((place.clew_home / "worktrees").glob("*.json")) == []
    assert git(place.project, "for-each-ref") == before
    assert "changed nothing in its checkout" in server.requests[-1].raw.decode()
    assert next(told(place, "agent.ended")).get("worktree", "") == ""


def test_after_a_kill_the_next_start_saves_the_work_and_tells_where_it_is(serve: Serve) -> None:
    place, server = serve(
        {
            "replies": [
                {"calls": [agent("hanging", isolation="worktree")]},
                {"match": at_work_on("hanging"), "calls": [write("b.txt")]},
                {"parts": [{"wait": "for ever"}, {"text": "never"}]},
            ],
            "last": {"text": "after the kill"},
        }
    )
    repository(place)
    process = place.start("-p", "go", "--permission-mode", "bypassPermissions")
    until(lambda: len(server.requests) >= 3, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (tree,) = trees(place)
    assert place.run("-c", "-p", "what came of it?").code == 0
    (ended,) = told(place, "agent.ended")
    assert (ended["standing"], ended["worktree"]) == ("interrupted", str(tree))
    assert f"<worktree>{tree}" in server.requests[-1].raw.decode()
    assert git(place.project, "show", f"refs/clew/{ended['child']}/head:b.txt") == "two"
    receipt = json.loads((place.clew_home / "worktrees" / f"{ended['child']}.json").read_text())
    assert receipt["state"] == "kept"


def test_without_a_repository_no_isolated_agent_is_started_and_the_words_say_why(serve: Serve) -> None:
    place, server = serve([{"calls": [agent("work", isolation="worktree")]}, {"text": "done"}])
    remember_trust(place.clew_home, place.project)
    assert place.run("-p", "go").code == 0
    assert "in no git repository" in server.requests[-1].raw.decode()
    assert list(told(place, "agent.started")) == []


@pytest.mark.parametrize("seed", [5, 7, 1003])
def test_checkouts_killed_at_random_moments_leak_nothing_and_lose_nothing(seed: int, tmp_path: Path) -> None:
    """`make soak ARGS="--worktrees 1000"` plays more."""
    assert play(seed, tmp_path / "place") == []


def test_doctor_lists_what_agents_left_and_cleans_it_when_asked(serve: Serve) -> None:
    reply = {"match": at_work_on("work"), "calls": [write("b.txt")]}
    place, _ = serve([{"calls": [agent("work", isolation="worktree")]}, reply, {"text": "x"}, {"text": "done"}])
    repository(place)
    assert "worktrees" not in place.run("doctor").out
    place.run("-p", "go", "--permission-mode", "bypassPermissions")
    (tree,) = trees(place)
    listed = place.run("doctor").out
    assert f"{tree}: 1 uncommitted file; saved in refs/clew/{tree.name}/head" in listed
    assert "1 left by agents, 0 in use" in listed
    assert tree.is_dir()
    assert "1 removed, 0 stay" in place.run("doctor", "--clean-worktrees").out
    assert trees(place) == []
    assert "worktrees" not in place.run("doctor").out
    assert git(place.project, "show", f"refs/clew/{tree.name}/head:b.txt") == "two"
