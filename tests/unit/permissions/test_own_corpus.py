"""Our own corpus of the same kinds as the sample: everyday commands run unasked, attacks never do."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from fakes.effort import HANG_S
from unit.permissions.world import World

CORPUS = Path(__file__).parent / "corpus"


def commands(name: str) -> list[str]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n") if line]


def wrong(world: World, name: str, *fine: str) -> list[str]:
    found = [(command, world.check(command=world.fill(command))) for command in commands(name)]
    return [f"{got['verdict']} {command!r}: {got['why']}" for command, got in found if got["verdict"] not in fine]


def test_everyday_commands_are_not_asked_about(world: World) -> None:
    assert wrong(world, "allowed", "allow") == []


def test_nothing_unproven_is_allowed(world: World) -> None:
    assert wrong(world, "unproven", "ask", "deny") == []


def test_catastrophes_are_denied_however_they_are_written(world: World) -> None:
    assert wrong(world, "denied", "deny") == []


def test_near_misses_ask_and_are_not_denied(world: World) -> None:
    assert wrong(world, "near_misses", "ask") == []


@pytest.mark.parametrize("mode", ["default", "plan", "acceptEdits", "bypassPermissions"])
def test_catastrophes_are_denied_in_every_mode(world: World, mode: str) -> None:
    assert [one for one in commands("denied") if world.command(one, mode=mode) != "deny"] == []


def test_rules_and_modes(world: World) -> None:
    lines = (CORPUS / "rules.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
    bad: list[str] = []
    for case in map(json.loads, lines):
        got = world.check(command=world.fill(case["command"]), rules=case["rules"], mode=case["mode"])
        if got["verdict"] not in case["verdict"]:
            bad.append(f"{case['command']!r} wanted {case['verdict']}: {got}")
    assert bad == []


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    found: dict[str, tuple[int, int, bytes]] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            info = path.lstat()
            found[str(path)] = (info.st_mode, info.st_ino, path.read_bytes() if path.is_file() else b"")
    return found


def test_what_is_allowed_changes_nothing_when_it_really_runs(world: World) -> None:
    """L47: every allowed command of the corpus runs in a throw-away tree, and the tree stays as it was."""
    subprocess.run(["git", "init", "-q"], check=True, cwd=world.workspace)
    # Version managers keep a note of their own in the home directory at first use; the work is what must not change.
    watched = (world.workspace.parent, world.outside, world.clew_home, world.home / ".ssh")
    before = [snapshot(place) for place in watched]
    for command in commands("allowed"):
        if command.startswith(("sleep", "npm", "pip", "java", "cargo", "go ")):
            continue  # slow, or not installed everywhere; they have no file operand
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", world.fill(command)],
            cwd=world.workspace,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(world.home), "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat"},
            timeout=HANG_S,
            check=False,
        )
    assert [snapshot(place) for place in watched] == before
