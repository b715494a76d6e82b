"""Cases written before and apart from the code that answers them, by what an attacker or a mistake would try."""

import os
import subprocess
from pathlib import Path

import pytest

from clew.system.environment import tool_environment
from fakes.effort import HANG_S
from unit.permissions.scenes import Scene, prepare, scenes, written_out
from unit.permissions.world import World

LEAVING = scenes("leaving_the_sandbox")
FREEZING = scenes("nothing_freezes")
PROJECT_CODE = scenes("project_code")
RULES = scenes("rules_mean_what_they_say")
FRESH = scenes("fresh_eyes")
SECOND = scenes("second_look")


def named(scene: Scene) -> str:
    return scene.title.replace(" ", "-")


def check(scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in prepare(scene, world).items():
        monkeypatch.setenv(name, value)
    assert scene.wrong(world) == []


@pytest.mark.parametrize("scene", LEAVING, ids=named)
def test_leaving_the_sandbox_always_asks(scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    check(scene, world, monkeypatch)


@pytest.mark.parametrize("scene", FREEZING, ids=named)
def test_nothing_freezes_the_judge(scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    check(scene, world, monkeypatch)


@pytest.mark.parametrize("scene", PROJECT_CODE, ids=named)
def test_a_proof_includes_what_the_program_reads(scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    check(scene, world, monkeypatch)


@pytest.mark.parametrize("scene", RULES, ids=named)
def test_rules_mean_what_they_say(scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    check(scene, world, monkeypatch)


@pytest.mark.parametrize("scene", FRESH, ids=named)
def test_fresh_eyes(scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    check(scene, world, monkeypatch)


@pytest.mark.parametrize("scene", SECOND, ids=named)
def test_second_look(scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    check(scene, world, monkeypatch)


READING_GIT = (
    "git status", "git status --short", "git diff", "git diff HEAD", "git diff --stat", "git log -3", "git log -p",
    "git show HEAD", "git blame a.txt", "git stash list", "git ls-files", "git ls-files -m", "git grep one",
    "git branch -vv", "git tag", "git describe --always", "git rev-parse HEAD", "git reflog", "git remote -v",
    "git diff-index HEAD", "git diff-files", "git log --oneline --graph --all", "git shortlog -s HEAD",
    "git log --remerge-diff", "git rev-list --all", "git for-each-ref", "git submodule status", "git worktree list",
    "git log --alternate-refs", "git show --stat HEAD", "git cat-file -p HEAD", "git check-attr -a a.txt",
)  # fmt: skip


@pytest.mark.parametrize("scene", [scene for scene in (*PROJECT_CODE, *FRESH) if "git" in scene.steps], ids=named)
def test_no_allowed_reading_of_a_hostile_repository_runs_what_was_planted(scene: Scene, world: World) -> None:
    prepare(scene, world)
    env = tool_environment({**os.environ, "HOME": str(world.home)})
    for command in (*READING_GIT, *(written_out(case.command) for case in scene.cases)):
        verdict = scene.judge(world, command)
        if verdict.decision != "allow" or not verdict.reads_only:
            continue
        for path in world.workspace.glob("*.txt"):
            os.utime(path)  # an index that must be refreshed is where hooks and filters are called
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", command],
            cwd=world.workspace, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG_S, check=False,
        )  # fmt: skip
        planted = [path for path in Path(world.base).rglob("MARK") if path.is_file()]
        assert planted == [], command
