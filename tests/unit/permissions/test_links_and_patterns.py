"""Readers of trees that follow links ask where a link leads out; a pattern lists its directory, whatever reads it."""

import pytest

from unit.permissions.world import World

FOLLOWING = (
    "diff -r src docs",
    "diff src docs",
    "diff -ru src docs",
    "ls -LR",
    "ls -LR src",
    "ls -L src",
    "ls --dereference -R .",
    "grep -R x .",
    "grep -R x *",
    "grep -R x src",
    "grep -Rn x s*",
    "grep --dereference-recursive x src",
    "find -L . -name x",
    "find -L src",
    "find -L s*",
    "ls -LR s*",
)
STAYING = ("diff -r --no-dereference src docs", "ls -R", "ls -lR src", "grep -r x .", "grep -rn x *", "find . -name x")
NEVER_PROVEN = (
    "du -L .",
    "tree -l",
    "rg -L x",
    "rg --follow x",
    "fd -L x",
    "find -L . -exec wc {} +",
    "cp -rL src d",
    "tar -chf x.tar src",
    "find -L . | xargs wc -l",
    "grep -Rl x . | xargs wc -l",
)


@pytest.mark.parametrize("command", FOLLOWING)
def test_a_followed_link_that_leads_out_asks(world: World, command: str) -> None:
    (world.workspace / "src" / "inner").symlink_to(world.workspace / "docs")
    assert world.command(command) == "allow"
    (world.workspace / "src" / "out").symlink_to(world.outside)
    got = world.check(command=command)
    assert (got["verdict"], "leads out" in got["why"]) == ("ask", True)


@pytest.mark.parametrize("command", STAYING)
def test_a_link_that_is_not_followed_is_no_reason(world: World, command: str) -> None:
    (world.workspace / "src" / "out").symlink_to(world.outside)
    assert world.command(command) == "allow"


@pytest.mark.parametrize("command", NEVER_PROVEN)
def test_other_ways_to_follow_ask(world: World, command: str) -> None:
    assert world.command(command) == "ask"


@pytest.mark.parametrize("command", ["diff -r src docs", "grep -R x src", "grep -R x *", "diff src docs"])
def test_a_followed_link_to_a_secret_asks(world: World, command: str) -> None:
    (world.workspace / "sub" / ".env").write_text("A=1")
    (world.workspace / "src" / "notes").symlink_to("../sub/.env")
    assert world.command(command) == "ask"


def test_a_link_deep_in_installed_packages_counts(world: World) -> None:
    folder = world.workspace / "node_modules" / "a"
    folder.mkdir(parents=True)
    (folder / "out").symlink_to(world.outside)
    assert world.command("grep -r x .") == "allow"
    assert world.command("grep -R x .") == "ask"


@pytest.mark.parametrize(
    "command", ["grep -r x *", "grep -rn x s*", "grep -d recurse x src", "rg --hidden x s*", "diff src docs"]
)
def test_a_secret_below_what_a_pattern_takes_is_seen(world: World, command: str) -> None:
    assert world.command(command) == "allow"
    (world.workspace / "src" / ".env").write_text("A=1")
    assert world.command(command) == "ask"


LISTING = (
    "echo {}",
    "printf '%s\\n' {}",
    "true {}",
    ": {}",
    "expr {}",
    "for f in {}; do echo $f; done",
    "for f in {}; do echo x; done",
    "basename -a {}",
    "which {}",
    "ls {}",
    "cat {}",
    "seq {}",
    "dirname {}",
    "echo a {} b",
    "find . -name {}",
    "test -e {}",
    "env LANG=C echo {}",
    "timeout 5 printf %s {}",
    "cd src && echo {}",
)


@pytest.mark.parametrize("command", LISTING)
@pytest.mark.parametrize(
    "pattern", ["~/.ssh/*", "{OUTSIDE}/*", "/etc/*", "~/*", "{OUTSIDE}/*/x", "~/.s?h/id*", "/proc/*/cwd"]
)
def test_a_pattern_outside_asks_whatever_the_program_does(world: World, command: str, pattern: str) -> None:
    assert world.command(command.replace("{}", pattern)) != "allow"


@pytest.mark.parametrize(
    "command", ["echo *", "echo src/*", "printf '%s\\n' *.txt", "for f in *.txt; do echo $f; done"]
)
def test_a_pattern_inside_is_a_listing_inside(world: World, command: str) -> None:
    assert world.command(command) == "allow"
    (world.workspace / "link").symlink_to(world.outside)
    assert world.command(command) == "allow"
    assert world.command("echo link/*") == "ask"


@pytest.mark.parametrize(
    ("command", "word"), [("grep -R x *", ""), ("rg -L x *", "-L"), ("sort --foo *", "--foo"), ("tree -l *", "-l")]
)
def test_the_reason_is_the_true_one(world: World, command: str, word: str) -> None:
    got = world.check(command=command)
    assert ".git" not in got["why"]
    assert word in got["why"]


def test_a_tree_with_too_many_files_to_look_at_asks(world: World) -> None:
    """Nobody knows whether one of them is a secret."""
    for number in range(21):
        folder = world.workspace / "src" / f"many{number}"
        folder.mkdir()
        for file in range(1000):
            (folder / str(file)).touch()
    for command in ("grep -rn x src", "rg x", "diff -r src docs"):
        got = world.check(command=command)
        assert (got["verdict"], "too many files" in got["why"]) == ("ask", True), command
    assert world.command("grep -rl x src") == "allow", "only names are shown"
