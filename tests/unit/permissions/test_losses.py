"""What would be destroyed: known from the program's row, asked about where it could not be brought back."""

import os
import subprocess

import pytest

from clew.permissions.access import FileAccess, Mode, ShellAccess, Verdict
from clew.permissions.policy import judge, make_policy
from clew.permissions.rules import parse_rule
from unit.permissions.world import World

GAP = ("build.log is not kept: larger than 1 MB",)


def verdict(
    world: World,
    command: str,
    mode: Mode = "acceptEdits",
    *,
    held: bool = True,
    unkept: tuple[str, ...] | None = None,
    allow: str = "",
) -> Verdict:
    policy = make_policy(
        root=str(world.workspace),
        home=str(world.home),
        clew_home=str(world.clew_home),
        mode=mode,
        rules=(parse_rule(allow, "allow"),) if allow else (),
    )
    access = ShellAccess(command=world.fill(command), cwd=str(world.workspace), sandboxed=held, unkept=unkept)
    return judge(access, policy)


def stake(world: World, command: str) -> set[str]:
    root = str(world.workspace)
    return {os.path.relpath(path, root) for path in verdict(world, command).at_stake}


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("rm a.txt", {"a.txt"}),
        ("rm -f a.txt missing.txt", {"a.txt"}),
        ("rm -rf src docs", {"src", "docs"}),
        ("rm *.txt", {"a.txt", "b.txt", "names.txt"}),
        ("cd src && rm main.py", {"src/main.py", "main.py"} & {"src/main.py"}),
        ("echo x > a.txt", {"a.txt"}),
        ("echo x > new.txt", set()),
        ("echo x >> a.txt; cat b.txt 2>/dev/null", {"a.txt"}),
        ("cp a.txt b.txt", {"b.txt"}),
        ("cp a.txt sub", set()),
        ("cp a.txt b.txt src/main.py -t sub", set()),
        ("mv a.txt b.txt", {"a.txt", "b.txt"}),
        ("mv a.txt sub/", {"a.txt"}),
        ("sed -i s/one/two/ a.txt b.txt", {"a.txt", "b.txt"}),
        ("sed -i -e s/one/two/ a.txt", {"a.txt"}),
        ("sed s/one/two/ a.txt > b.txt", {"b.txt"}),
        ("truncate -s 0 a.txt", {"a.txt"}),
        ("dd if=/dev/zero of=a.txt count=1", {"a.txt"}),
        ("tee a.txt < b.txt", {"a.txt"}),
        ("mkdir src", set()),
        ("touch a.txt", set()),
        ("find src -name '*.py' -delete", {"src"}),
        ("find src docs -delete", {"src", "docs"}),
        ("find . -name x -exec rm {} +", {".", ".git"}),
        ("git ls-files | xargs rm", {"."}),
        ("git clean -fd", {"."}),
        ("git clean -fd src", {"src"}),
        ("git checkout -- src a.txt", {"src", "a.txt"}),
        ("git checkout main", set()),
        ("git restore .", {".", ".git"}),
        ("git restore --staged a.txt", set()),
        ("git rm a.txt", {"a.txt"}),
        ("rm -rf $(cat names.txt)", {"."}),
        ("npm test", set()),
        ("python3 x.py", set()),
        ("rm {OUTSIDE}/x", set()),
        ("sh -c 'rm a.txt'", {"a.txt"}),
        ("rm -rf sub && mkdir sub && echo 1 > sub/x.txt", {"sub", "sub/x.txt"}),
    ],
)
def test_which_files_are_at_stake(world: World, command: str, paths: set[str]) -> None:
    assert stake(world, command) == paths


def test_a_link_that_is_written_through_puts_its_end_at_stake(world: World) -> None:
    (world.workspace / "link").symlink_to(world.outside / "x")
    (world.outside / "x").write_text("x")
    assert verdict(world, "echo x > link").at_stake == (str(world.outside / "x"),)
    assert verdict(world, "rm link").at_stake == (str(world.workspace / "link"),)


CHANGES = (
    "rm a.txt",
    "mv a.txt c.txt",
    "cp a.txt b.txt",
    "sed -i s/one/two/ a.txt",
    "echo x > a.txt",
    "rm -f a.txt b.txt && touch c",
)


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("command", CHANGES)
def test_what_can_be_brought_back_runs_and_what_cannot_asks(world: World, command: str, held: bool) -> None:
    assert verdict(world, command, held=held, unkept=()).decision == "allow"
    asked = verdict(world, command, held=held, unkept=GAP)
    assert (asked.decision, asked.rule) == ("ask", "not kept")
    assert "could not be undone: build.log" in asked.why


@pytest.mark.parametrize("command", CHANGES)
def test_default_mode_in_the_sandbox_asks_for_what_is_not_kept(world: World, command: str) -> None:
    assert verdict(world, command, "default", unkept=()).decision == "allow"
    assert verdict(world, command, "default", unkept=GAP).decision == "ask"


@pytest.mark.parametrize("command", CHANGES)
def test_bypass_does_not_ask_for_what_is_not_kept(world: World, command: str) -> None:
    assert verdict(world, command, "bypassPermissions", unkept=GAP).decision == "allow"


@pytest.mark.parametrize("command", ["npm test", "python3 x.py", "make", "touch new", "mkdir -p deep/er"])
def test_a_gap_somewhere_is_nothing_to_a_command_that_destroys_nothing(world: World, command: str) -> None:
    assert verdict(world, command, unkept=GAP).decision == "allow"


TREES = ("rm -r src", "rm -rf src docs", "find src -delete", "git clean -fd", "git clean -fdx", "git rm -r src")


@pytest.mark.parametrize("command", TREES)
def test_default_mode_asks_for_whole_directories_even_when_they_are_kept(world: World, command: str) -> None:
    assert verdict(world, command, "default", unkept=()).decision == "ask"


@pytest.mark.parametrize("command", TREES)
def test_accepted_edits_delete_whole_directories_that_are_kept(world: World, command: str) -> None:
    assert verdict(world, command, unkept=()).decision == "allow"
    assert verdict(world, command, unkept=GAP).decision == "ask"


def test_without_a_sandbox_only_plain_deletion_is_an_edit(world: World) -> None:
    assert verdict(world, "rm -r src", held=False).decision == "ask", "nobody knows whether it is kept"
    assert verdict(world, "rm -r src", held=False, unkept=()).decision == "allow"
    assert verdict(world, "rm -r src", held=False, unkept=GAP).decision == "ask"
    assert verdict(world, "find src -delete", held=False, unkept=()).decision == "ask"
    for command in ("rm -r .", "rm -r ..", "rm -r {OUTSIDE}", "rm -r .git", "rm -rf ./", "rm -r {WORKSPACE}"):
        assert verdict(world, command, held=False, unkept=()).decision != "allow", command


HISTORY = (
    "git reset --hard",
    "git reset --har HEAD~1",
    "git reset -q --keep x",
    "git checkout -f main",
    "git checkout -qf main",
    "git checkout -B main HEAD~1",
    "git switch -C main",
    "git switch --discard-changes x",
    "git branch -D x",
    "git branch -fd x",
    "git branch --delete --force x",
    "git branch -f main HEAD~3",
    "git branch -M old main",
    "git tag -d v1",
    "git tag --delete v1",
    "git tag -f v1",
    "git stash drop",
    "git stash clear",
    "git stash drop stash@{1}",
    "git reflog expire --expire=now --all",
    "git reflog delete HEAD@{1}",
    "git gc --prune=now",
    "git prune",
    "git update-ref -d refs/heads/x",
    "git update-ref --stdin < a.txt",
    "git worktree remove --force w",
    "git filter-branch --all",
    "git notes remove HEAD",
    "git replace -d x",
    "git push --force",
    "git push -f origin main",
    "git push origin +main",
    "git push origin :main",
    "git push --delete origin x",
    "git push --force-with-lease",
    "git -C . reset --hard",
    "git --no-pager branch -D x",
    "cd src && git reset --hard",
    "true; git stash clear",
    "sh -c 'git reset --hard'",
    "x=--hard; git reset $x",
    "git reset $(cat flag)",
    "env git reset --hard",
    "git submodule deinit -f sub",
)


@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
@pytest.mark.parametrize("command", HISTORY)
def test_history_asks_in_every_mode_but_bypass_whatever_is_kept(world: World, command: str, mode: Mode) -> None:
    found = verdict(world, command, mode, unkept=())
    assert (found.decision, found.rule) == ("ask", "loses work")
    assert verdict(world, command, "bypassPermissions", unkept=()).rule != "loses work"


NO_LOSS = (
    "git commit -m 'reset --hard'",
    "git add -A",
    "git checkout -b new",
    "git switch -c new",
    "git branch new",
    "git branch -d merged",
    "git tag v2",
    "git tag -a v2 -m fix-d",
    "git stash",
    "git stash pop",
    "git push",
    "git push origin main",
    "git reset",
    "git reset --soft HEAD~1",
    "git merge x",
    "git rebase main",
    "git pull",
    "git clean -n",
    "git clean -nfd",
    "git gc",
    "git worktree add ../w",
    "git restore --staged .",
    "git fetch --prune",
)


@pytest.mark.parametrize("command", NO_LOSS)
def test_ordinary_git_loses_nothing(world: World, command: str) -> None:
    assert verdict(world, command, "default", unkept=()).decision == "allow"


@pytest.mark.parametrize(
    "command", ["git clean -fd -e -n", "git clean -fd -- -n", "git clean -fde-n", "git clean -dfenx"]
)
def test_a_dry_run_is_only_what_git_takes_for_one(world: World, command: str) -> None:
    assert verdict(world, command, "default", unkept=()).decision == "ask"


def test_a_rule_of_the_user_is_the_answer(world: World) -> None:
    assert verdict(world, "rm a.txt", allow="Bash(rm a.txt)", unkept=GAP).decision == "allow"
    assert verdict(world, "rm b.txt", allow="Bash(rm a.txt)", unkept=GAP).decision == "ask"


def test_an_edit_of_a_file_that_is_too_large_to_be_kept_asks(world: World) -> None:
    policy = make_policy(
        root=str(world.workspace), home=str(world.home), clew_home=str(world.clew_home), mode="acceptEdits"
    )

    def edit(unkept: tuple[str, ...] | None) -> Verdict:
        return judge(FileAccess(op="write", path="a.txt", cwd=str(world.workspace), unkept=unkept), policy)

    assert edit(None).at_stake == (str(world.workspace / "a.txt"),)
    assert edit(()).decision == "allow"
    assert (edit(GAP).decision, edit(GAP).rule) == ("ask", "not kept")


def test_every_flag_that_is_called_a_loss_is_one_that_git_knows(world: World) -> None:
    """A row with a misspelt flag would never count."""
    from clew.permissions.shell.programs.tables.git import PROGRAMS

    subprocess.run(["git", "init", "-q", "."], cwd=world.workspace, check=True)
    for name, rows in PROGRAMS["git"].sub_loses.items():
        flags = {word for row in rows for word in row.words if word.startswith("--")}
        if not flags or name in ("worktree", "notes"):
            continue  # theirs belong to a subcommand, which -h does not tell
        told = subprocess.run(["git", name, "-h"], cwd=world.workspace, capture_output=True, check=False)
        usage = (told.stdout + told.stderr).decode().replace("[no-]", "")
        assert [flag for flag in sorted(flags) if flag not in usage] == [], name
