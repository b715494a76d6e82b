"""Reading git commands in repositories whose configuration names programs: whatever runs unasked starts none (G1)."""

import os
import subprocess
from pathlib import Path

import pytest
from msgspec import json

from clew.cli.sub.permissions import check_line
from clew.tools.session import ToolSession

from .conftest import Caller

READING = (
    "git status",
    "git status -s",
    "git diff",
    "git diff HEAD~1",
    "git diff --stat",
    "git diff --cached",
    "git log -1",
    "git log -p",
    "git show HEAD",
    "git show HEAD:a.txt",
    "git blame a.txt",
    "git grep one",
    "git ls-files -m",
    "git describe --always",
    "git branch -vv",
    "git stash list",
    "git diff --quiet",
    "git diff-index HEAD",
    "git diff-files -p",
    "git submodule status",
    "git shortlog -s --all",
    "git reflog -p",
    "git worktree list",
    "git for-each-ref",
    "git tag -n",
    "cd sub && git status",
    "git status && git diff",
)
# What the environment of the shell tool switches off by itself, whoever allowed the command.
SWITCHED_OFF = {"core.fsmonitor": "{program}", "core.pager": "{program}", "log.showSignature": "true"}
ASKED = {
    "diff.external": "{program}",
    "diff.mine.textconv": "{program}",
    "diff.mine.command": "{program}",
    "filter.mine.clean": "{program}",
    "filter.mine.process": "{program}",
    "core.worktree": "{outside}",
    "include.path": "{outside}/more",
}
HARMLESS = {
    "core.fsmonitor": "false",
    "core.pager": "less",
    "core.hooksPath": ".husky/_",
    "filter.lfs.clean": "git-lfs clean -- %f",
    "filter.lfs.process": "git-lfs filter-process",
    "core.editor": "vim",
    "gpg.program": "gpg2",
    "log.showSignature": "false",
}


def git(directory: Path, *arguments: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(directory), *arguments], env=env, check=True, capture_output=True)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "MARK"


@pytest.fixture
def program(tmp_path: Path, mark: Path) -> Path:
    """A program that leaves a mark and otherwise behaves like cat."""
    path = tmp_path / "program"
    path.write_text(f'#!/bin/sh\necho "$0" >> {mark}\ncat "$@" 2>/dev/null || true\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def repository(workspace: Path, program: Path) -> Path:
    """Signed-looking history, drivers for every file, changes in the work tree, and hooks of every name."""
    git(workspace, "init", "-q", "-b", "main")
    (workspace / "sub").mkdir()
    for name in ("a.txt", "b.bin", "sub/c.txt"):
        (workspace / name).write_text("one\n")
    (workspace / ".gitattributes").write_text("* diff=mine filter=mine\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for message in ("first", "second"):
        (workspace / "a.txt").write_text(f"one\n{message}\n")
        git(workspace, "add", ".")
        git(workspace, *who, "commit", "-qm", message)
    for name in ("a.txt", "b.bin", "sub/c.txt"):
        (workspace / name).write_text("one\ntwo\n")
    for name in ("post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman", "post-checkout"):
        hook = workspace / ".git" / "hooks" / name
        hook.write_text(program.read_text())
        hook.chmod(0o755)
    return workspace


def verdict(command: str, workspace: Path) -> str:
    return check_line(json.encode({"command": command, "cwd": str(workspace)}), str(workspace))["verdict"]


@pytest.mark.parametrize("setting", [*SWITCHED_OFF, *ASKED])
async def test_what_runs_unasked_starts_no_program_of_the_repository(
    repository: Path, mark: Path, program: Path, tmp_path: Path, call: Caller, setting: str
) -> None:
    value = (SWITCHED_OFF | ASKED)[setting].format(program=program, outside=tmp_path)
    git(repository, "config", "gpg.program", str(program))
    git(repository, "config", setting, value)
    for command in READING:
        if verdict(command, repository) == "allow" or setting in SWITCHED_OFF:
            await call("Bash", command=command)
        assert not mark.exists(), command


@pytest.mark.parametrize("setting", ASKED)
def test_drivers_that_cannot_be_switched_off_are_asked_about(
    repository: Path, program: Path, tmp_path: Path, setting: str
) -> None:
    git(repository, "config", setting, ASKED[setting].format(program=program, outside=tmp_path))
    assert {verdict(command, repository) for command in READING} == {"ask"}


def test_ordinary_settings_do_not_make_reading_ask(repository: Path) -> None:
    for setting, value in HARMLESS.items():
        git(repository, "config", setting, value)
    assert {verdict(command, repository) for command in READING} == {"allow"}


def test_a_submodule_brings_its_own_configuration(repository: Path) -> None:
    (repository / ".git" / "hooks" / "post-index-change").unlink()
    inner = repository / ".git" / "modules" / "lib"
    for folder in (inner / "objects", inner / "refs", repository / "lib"):
        folder.mkdir(parents=True)
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (repository / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    (inner / "config").write_text("[core]\n\tworktree = ../../../lib\n")
    assert verdict("git status", repository) == "allow"
    (inner / "config").write_text("[core] fsmonitor = ./x\n")
    assert verdict("git status", repository) == "ask"


def test_a_hook_on_index_refresh_is_asked_about(repository: Path) -> None:
    assert verdict("git status", repository) == "ask"
    assert verdict("git diff", repository) == "ask"
    assert verdict("git log -1", repository) == "allow"
    (repository / ".git" / "hooks" / "post-index-change").unlink()
    assert verdict("git status", repository) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "[core]fsmonitor=./x",
        "[CORE]\n\tFSMonitor\t=\t./x",
        "[core]\r\n\tfsmonitor = ./x\r\n",
        '[a "]\\\n[b"]\n[core]\nfsmonitor = ./x',
        "[core] ; note\n fsmonitor = ./x # note",
        "# note \\\n[core]\nfsmonitor = ./x",
        '[diff "x"] textconv = ./x',
        "[diff.x] command = ./x",
        "\ufeff[core]\nfsmonitor = ./x",
        '[includeIf "gitdir:/"]\npath = /x',
    ],
)
def test_no_spelling_hides_a_program(repository: Path, text: str) -> None:
    (repository / ".git" / "config").write_text(text, newline="")
    assert verdict("git status", repository) == "ask"


async def test_hooks_still_run_for_approved_commands(
    repository: Path, mark: Path, call: Caller, session: ToolSession
) -> None:
    """The user's hooks are part of committing; only reading must not start them."""
    session.env |= {"HOME": str(repository)}
    git(repository, "config", "user.name", "a")
    git(repository, "config", "user.email", "a@example.org")
    result = await call("Bash", command="git commit -qam third")
    assert not result.is_error, result.text
    assert mark.exists()
