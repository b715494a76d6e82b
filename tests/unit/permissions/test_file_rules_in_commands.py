"""A deny or ask rule for files holds for commands that name them, in every mode."""

import os
from pathlib import Path

import pytest

from clew.permissions.access import Decision, Mode, ShellAccess
from clew.permissions.policy import judge, make_policy
from clew.permissions.rules import parse_rule

MODES: tuple[Mode, ...] = ("default", "acceptEdits", "bypassPermissions", "plan")
READING = (
    "cat private/x.txt",
    "cat ./private/x.txt",
    "cat < private/x.txt",
    "cd private && cat x.txt",
    "head -3 sub/../private/x.txt",
    "grep x private/*",
    "cat p*/x.txt",
    "sh -c 'cat private/x.txt'",
    "cat link",
    "git show HEAD:private/x.txt",
    "dd if=private/x.txt",
    "wc -l $PWD/private/x.txt",
    "ls private",
    "base64 private/deep/y.txt",
)
THROUGH = ("cat /*/*/*/*/*/x", "grep -r x .", "rg x", "tar cf /dev/null .", "cp -r . /tmp/z", "find . -type f")
WRITING = (
    "rm private/x.txt",
    "rm -rf private",
    "echo a > private/x.txt",
    "echo a >> ./private/new.txt",
    "sed -i s/a/b/ private/x.txt",
    "touch private/y",
    "cp open.txt private/b",
    "tee private/x.txt < open.txt",
)
FREE = (
    "cat open.txt",
    "ls",
    "echo hello",
    "git status",
    "head -3 privates.txt",
    "cat open.txt > out.txt",
    "wc -l open.txt",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    (place / "private" / "deep").mkdir(parents=True)
    (place / "sub").mkdir()
    for name in ("private/x.txt", "private/deep/y.txt", "open.txt", "privates.txt"):
        (place / name).write_text("x\n")
    os.symlink("private/x.txt", place / "link")
    return place


def verdict(root: Path, command: str, rule: str, effect: Decision, mode: Mode) -> str:
    rules = (parse_rule(rule, effect),)
    policy = make_policy(
        root=str(root),
        home=str(root.parent),
        clew_home=str(root.parent / ".clew"),
        mode=mode,
        rules=rules,
        additional=(),
        trusted=True,
    )
    return judge(ShellAccess(command=command, cwd=str(root)), policy).decision


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", READING)
def test_what_may_not_be_read_is_read_by_no_command(root: Path, command: str, mode: Mode) -> None:
    assert verdict(root, command, "Read(private/**)", "deny", mode) == "deny"


@pytest.mark.parametrize("mode", MODES[:3])
@pytest.mark.parametrize("command", THROUGH)
def test_going_through_a_tree_that_holds_such_files_asks(root: Path, command: str, mode: Mode) -> None:
    assert verdict(root, command, "Read(private/**)", "deny", mode) in ("ask", "deny")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", WRITING)
def test_what_may_not_be_edited_is_changed_by_no_command(root: Path, command: str, mode: Mode) -> None:
    assert verdict(root, command, "Edit(private/**)", "deny", mode) == "deny"


@pytest.mark.parametrize("command", ["cat private/x.txt", "ls private", "grep x private/x.txt"])
def test_a_rule_about_editing_lets_a_proven_reader_read(root: Path, command: str) -> None:
    assert verdict(root, command, "Edit(private/**)", "deny", "default") == "allow"


@pytest.mark.parametrize("command", ["cat private/x.txt", "rm private/x.txt"])
def test_a_rule_that_asks_asks(root: Path, command: str) -> None:
    assert verdict(root, command, "Read(private/**)", "ask", "bypassPermissions") == "ask"


@pytest.mark.parametrize("command", FREE)
def test_other_commands_are_judged_as_ever(root: Path, command: str) -> None:
    for mode in MODES[:3]:
        with_rule = verdict(root, command, "Read(private/**)", "deny", mode)
        assert with_rule == verdict(root, command, "Read(other/**)", "deny", mode)
        assert with_rule != "deny"


def test_a_rule_for_one_file_is_about_that_file(root: Path) -> None:
    assert verdict(root, "cat private/x.txt", "Read(private/x.txt)", "deny", "bypassPermissions") == "deny"
    assert verdict(root, "cat private/deep/y.txt", "Read(private/x.txt)", "deny", "bypassPermissions") == "allow"
