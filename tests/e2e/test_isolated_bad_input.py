"""Isolated agents and what may go wrong beside them: logs cut in the middle, checkouts and branches of others."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from clew.agents.checkouts import Checkouts
from clew.protocol.ids import AgentId
from e2e.agent_fuzz import lines_of
from e2e.command import Place, Serve, until
from e2e.test_agents import agent, at_work_on, transcript
from e2e.test_isolated_agents import git, repository, trees, write

FREELY = ("--permission-mode", "bypassPermissions")


def killed_at_work(serve: Serve) -> Place:
    """An isolated agent has written a file when its process dies."""
    place, server = serve(
        {
            "replies": [
                {"calls": [agent("hanging", isolation="worktree", run_in_background=True)]},
                {"match": at_work_on("hanging"), "calls": [write("b.txt")]},
                {"match": at_work_on("hanging"), "parts": [{"wait": "for ever"}, {"text": "never"}]},
                {"text": "started"},
            ],
            "last": {"text": "after the kill"},
        }
    )
    repository(place)
    process = place.start("-p", "go", *FREELY)
    until(lambda: any("b.txt" in request.raw.decode() for request in server.requests), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return place


def cut(path: Path, mark: str, *, after: bool) -> None:
    """Keep a log up to the middle of the line that holds the mark, or of the one after it."""
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if mark.encode() in line) + after
    torn = lines[at][: len(lines[at]) // 2] if at < len(lines) else b""
    path.write_bytes(b"".join(lines[:at]) + torn)


@pytest.mark.parametrize("after", [True, False])
def test_a_log_cut_in_the_middle_loses_no_work_and_tells_no_outcome_twice(serve: Serve, after: bool) -> None:
    """Cut behind the line that says that the agent began, or in it: then nobody knows of it but its checkout."""
    place = killed_at_work(serve)
    (tree,) = trees(place)
    cut(transcript(place), '"agent.started"', after=after)
    (child,) = transcript(place).with_suffix("").glob("subagents/agent-*.jsonl")
    child.write_bytes(child.read_bytes()[:-20])
    for _ in range(2):
        assert place.run("-c", "-p", "what came of it?").code == 0
    events = [line.get("event", {}) for line in lines_of(transcript(place))]
    ended = [event for event in events if event.get("event") == "agent.ended"]
    assert [event["standing"] for event in ended] == (["interrupted"] if after else [])
    assert git(place.project, "show", f"refs/clew/{tree.name}/head:b.txt") == "two"
    receipt = json.loads((place.clew_home / "worktrees" / f"{tree.name}.json").read_text())
    assert (receipt["state"], receipt["saved"]) == ("kept", True)


def test_a_receipt_that_is_torn_removes_nothing(serve: Serve) -> None:
    place = killed_at_work(serve)
    (tree,) = trees(place)
    path = place.clew_home / "worktrees" / f"{tree.name}.json"
    path.write_bytes(path.read_bytes()[:30])
    assert place.run("-c", "-p", "what came of it?").code == 0
    assert place.run("doctor", "--clean-worktrees").code in (0, 1)
    assert (tree / "b.txt").read_text() == "two\n"


def test_a_checkout_that_was_deleted_by_hand_is_made_anew_with_what_was_saved(serve: Serve) -> None:
    replies = [
        {"calls": [agent("work", isolation="worktree", name="one")]},
        {"match": at_work_on("work"), "calls": [write("b.txt")]},
        {"text": "x"},
        {"text": "done"},
        {"calls": [{"call": "SendMessage", "arguments": {"to": "one", "message": "again"}}]},
        {"match": "<agent-message", "calls": [{"call": "Read", "arguments": {"file_path": "b.txt"}}]},
    ]
    place, server = serve({"replies": replies, "last": {"text": "fine"}})
    repository(place)
    place.run("-p", "go", *FREELY)
    (tree,) = trees(place)
    shutil.rmtree(tree)
    assert place.run("-c", "-p", "go on", *FREELY).code == 0
    of_child = [request.body["messages"] for request in server.requests if "<agent-message" in request.raw.decode()]
    read = [json.dumps(messages[-1]) for messages in of_child if "tool_result" in json.dumps(messages[-1])]
    assert any("two" in words and "is_error" not in words for words in read)
    assert git(place.project, "show", f"refs/clew/{tree.name}/head:b.txt") == "two"


def test_a_branch_or_a_ref_of_the_same_name_is_the_users_and_stays(serve: Serve) -> None:
    place, _ = serve([{"calls": [write("b.txt")]}, {"text": "x"}, {"text": "y"}])
    repository(place)
    git(place.project, "branch", "clew/one")
    git(place.project, "update-ref", "refs/clew/one", "HEAD")
    before = git(place.project, "for-each-ref")
    done = place.run("-p", "go", "--worktree", "one", *FREELY)
    assert done.code == 0
    assert "could not be saved" in done.err
    assert git(place.project, "for-each-ref") == before
    (tree,) = trees(place)
    assert (tree / "b.txt").read_text() == "two\n"
    assert "stays, because it could not be saved" in place.run("doctor", "--clean-worktrees").out
    assert (tree / "b.txt").read_text() == "two\n"


def test_two_processes_cannot_go_on_with_one_isolated_agent(serve: Serve) -> None:
    """The lease of the session keeps the second one out; and where it does not, the receipt does."""
    place, server = serve(
        {
            "replies": [
                {"calls": [agent("work", isolation="worktree", name="one")]},
                {"match": at_work_on("work"), "calls": [write("b.txt")]},
                {"text": "x"},
                {"text": "done"},
                {"calls": [{"call": "SendMessage", "arguments": {"to": "one", "message": "again"}}]},
            ],
            "last": {"parts": [{"wait": "for ever"}, {"text": "never"}]},
        }
    )
    repository(place)
    place.run("-p", "go", *FREELY)
    process = place.start("-c", "-p", "go on", *FREELY)
    until(lambda: any("agent-message" in request.raw.decode() for request in server.requests), process)
    second = place.run("-c", "-p", "me too")
    assert (second.code, "is open in" in second.err) == (1, True)
    (tree,) = trees(place)
    checkouts = Checkouts(place.clew_home, search_path=os.environ["PATH"])
    with pytest.raises(ValueError, match="another process works in its checkout"):
        checkouts.again(AgentId(tree.name), "session", place.project)
    process.send_signal(signal.SIGTERM)
    process.wait()
    again = checkouts.again(AgentId(tree.name), "session", place.project)
    assert again.path == str(tree)
    checkouts.settle(again)
