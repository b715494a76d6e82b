"""What a command does to files is told like an edit; a commit, which loses nothing, is not warned about."""

import subprocess
from pathlib import Path
from typing import Any

from e2e.command import Place, Serve

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"call": "Bash", "arguments": {"command": command}}]}


def committed(place: Place) -> None:
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run([*GIT, *words], cwd=place.project, check=True, env={**place.env, "GIT_CONFIG_NOSYSTEM": "1"})


def shown(place: Place) -> list[dict[str, Any]]:
    return [block for entry in place.entries() for block in (entry.get("toolUseResult") or {}).get("display", ())]


def test_a_command_that_changed_files_shows_them_with_their_diff(serve: Serve) -> None:
    place, _ = serve([bash("sed -i s/old/new/ a.txt; echo fresh > b.txt; rm c.txt"), {"text": "done"}])
    (place.project / "a.txt").write_text("one\nold\n")
    (place.project / "c.txt").write_text("gone\n")
    assert place.run("-p", "go", "--permission-mode", "bypassPermissions").code == 0
    diffs = {Path(block["path"]).name: block for block in shown(place) if block["kind"] == "diff"}
    assert diffs["a.txt"]["patch"].splitlines()[1:] == [" one", "-old", "+new"]
    assert (diffs["b.txt"]["created"], diffs["b.txt"]["added"]) == (True, 1)
    (counted,) = (block for block in shown(place) if block["kind"] == "changes")
    assert [Path(path).name for path in counted["gone"]] == ["c.txt"]
    labels = [entry["label"] for entry in place.entries() if entry["type"] == "batch-label"]
    assert not labels or "Edited a.txt" in labels[0]
    figures = [entry["state"] for entry in place.entries() if entry["type"] == "session-state"][-1]
    assert {Path(file["path"]).name for file in figures["files"]} == {"a.txt", "b.txt"}


def test_a_commit_is_not_warned_about_and_what_it_loses_is(serve: Serve) -> None:
    commit = f"{' '.join(GIT)} commit -qam two"
    place, server = serve([bash(commit), bash("git reset -q --hard HEAD~1"), {"text": "done"}])
    (place.project / "a.txt").write_text("one\n")
    committed(place)
    (place.project / "a.txt").write_text("two\n")
    assert place.run("-p", "go", "--permission-mode", "bypassPermissions").code == 0
    told = [part["content"] for part in server.requests[-1].body["messages"][-1]["content"] if "content" in part]
    first = [part["content"] for part in server.requests[1].body["messages"][-1]["content"] if "content" in part]
    assert "cannot be undone" not in first[0]
    assert "HEAD moved" in told[0]


def remote(place: Place) -> None:
    """A place to push to, inside the workspace: what the sandbox lets a command reach."""
    committed(place)
    for words in (("init", "-q", "--bare", "remote.git"), ("remote", "add", "origin", "remote.git")):
        subprocess.run([*GIT, *words], cwd=place.project, check=True, env={**place.env, "GIT_CONFIG_NOSYSTEM": "1"})


def test_a_push_only_adds_so_it_is_not_warned_about(serve: Serve) -> None:
    place, server = serve([bash("git push -q origin HEAD:main"), {"text": "done"}])
    (place.project / "a.txt").write_text("one\n")
    remote(place)
    assert place.run("-p", "go", "--permission-mode", "bypassPermissions").code == 0
    told = [part["content"] for part in server.requests[1].body["messages"][-1]["content"] if "content" in part]
    assert "cannot be undone" not in told[0]
    heads = subprocess.run(["git", "branch"], cwd=place.project / "remote.git", capture_output=True, check=True).stdout
    assert b"main" in heads


def test_a_push_that_takes_something_away_is_asked_about_before(serve: Serve) -> None:
    place, _ = serve([bash("git push -q --force origin HEAD:main"), {"text": "done"}])
    (place.project / "a.txt").write_text("one\n")
    remote(place)
    done = place.run("-p", "go", "--output-format", "json", "--trust")
    (denial,) = done.result["permission_denials"]
    assert denial["tool_name"] == "Bash"
    assert not list((place.project / "remote.git" / "refs" / "heads").iterdir())
