"""The shared sample of shell and path cases, with the figures they must reach."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from unit.permissions.world import World

SHARED = next((place for above in Path(__file__).parents if (place := above / "shared" / "cases").is_dir()), None)
SHORT = {"read_only_auto_allow": "allow", "needs_approval": "ask", "deny_always": "deny"}
CASE_FIELDS = ("id", "command", "cwd", "rules", "mode", "op", "path")

pytestmark = pytest.mark.skipif(
    SHARED is None, reason="more cases than those in cases/: the shared folder is not beside this checkout"
)


def load(name: str) -> list[dict[str, Any]]:
    assert SHARED is not None
    return [json.loads(line) for line in (SHARED / name).read_text(encoding="utf-8").split("\n") if line]


def accepted(case: dict[str, Any]) -> set[str]:
    verdicts: list[str] = [case["verdict"], *case.get("also_ok", ())]
    return {SHORT.get(verdict, verdict) for verdict in verdicts}


def filled(world: World, case: dict[str, Any]) -> dict[str, Any]:
    return {
        key: world.fill(value) if isinstance(value, str) else value for key, value in case.items() if key in CASE_FIELDS
    }


def prepare_shell(world: World, setup: str) -> None:
    """The sample's setups are sentences; these are the ones that change what a verdict must see."""
    if setup.startswith("docs/link -> "):
        target = world.fill(setup.removeprefix("docs/link -> "))
        (world.workspace / "docs" / "link").symlink_to(target)
    elif "file named -rf" in setup:
        (world.workspace / "-rf").write_text("")


def test_shell_sample_reaches_its_figures(world: World) -> None:
    cases = load("shell_commands.jsonl")
    wrong: dict[str, list[str]] = {"false allow": [], "missed deny": [], "false nag": [], "over-deny": []}
    for case in cases:
        prepare_shell(world, case.get("setup", ""))
        got = world.check(**filled(world, case))["verdict"]
        (world.workspace / "docs" / "link").unlink(missing_ok=True)
        (world.workspace / "-rf").unlink(missing_ok=True)
        fine = accepted(case)
        if got in fine:
            continue
        kind = "false allow" if got == "allow" else "missed deny" if fine == {"deny"} else ""
        kind = kind or ("false nag" if "allow" in fine else "over-deny")
        wrong[kind].append(f"{case['id']} {case['command'][:80]!r}")
    allows = sum(accepted(case) == {"allow"} for case in cases)
    asks = sum(accepted(case) == {"ask"} for case in cases)
    assert wrong["false allow"] == []
    assert wrong["missed deny"] == []
    assert len(wrong["false nag"]) <= 0.02 * allows, wrong
    assert len(wrong["over-deny"]) <= 0.01 * asks, wrong


def test_path_sample_is_complete(world: World) -> None:
    wrong: list[str] = []
    # clew unpacks no archives, so it has nothing to say about their members.
    for case in (case for case in load("paths.jsonl") if case["op"] != "extract"):
        world.setup(case.get("setup", []))
        got = world.check(**filled(world, case))
        if got["verdict"] not in accepted(case):
            wrong.append(f"{case['id']} {got}")
        for step in case.get("setup", []):
            path = world.workspace / world.fill(step[1])
            if path.is_symlink() or not path.is_dir():
                os.unlink(path)
        (world.workspace / "src" / "main.py").write_text("one\n")
    assert wrong == []
