"""Commands written by someone who had not seen the engine's own corpus, in plain lists: one command per line.

`⏎` stands for a line break, `⟪200b⟫` for a character by its number, `## ` opens a group; `{HOME}` and the like are
places of the test world. In rules.txt a group names the rules in force and each line begins with its verdict.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from unit.permissions.world import World

HERE = Path(__file__).parent
SHELL_LISTS = {
    "shell_allow.txt": {"allow"},
    "shell_ask.txt": {"ask"},
    "shell_deny.txt": {"deny"},
    "shell_allow_or_ask.txt": {"allow", "ask"},
    "shell_ask_or_deny.txt": {"ask", "deny"},
}


def lines_of(name: str) -> Iterator[tuple[str, str]]:
    """Each line with the heading above it."""
    group = ""
    for line in (HERE / name).read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            group = line[3:]
        elif line:
            yield group, line


def written_out(line: str) -> str:
    return re.sub("⟪([0-9a-f]+)⟫", lambda found: chr(int(found[1], 16)), line.replace("⏎", "\n"))


def rules_of(group: str) -> dict[str, list[str]]:
    """`allow = npm run test, make ; deny = rm`."""
    sides = [side.partition(" = ") for side in group.split(" ; ")]
    return {f"{effect}_prefix": words.split(", ") for effect, _, words in sides}


@pytest.mark.parametrize("name", SHELL_LISTS)
def test_commands_of_a_list_get_its_verdict(world: World, name: str) -> None:
    wrong = [
        f"{verdict}: {line}"
        for _, line in lines_of(name)
        if (verdict := world.command(written_out(line))) not in SHELL_LISTS[name]
    ]
    assert wrong == []


def test_rules_cover_what_they_say(world: World) -> None:
    wrong: list[str] = []
    for group, line in lines_of("rules.txt"):
        expected, _, command = line.partition(" ")
        verdict = world.command(written_out(command), rules=rules_of(group))
        if verdict != expected:
            wrong.append(f"{verdict} instead of {line}")
    assert wrong == []


def test_what_is_allowed_stays_allowed_only_while_a_deny_rule_does_not_name_it(world: World) -> None:
    """The allow list again under a rule for its own program: quoting, paths and wrappers must not hide it."""
    missed: list[str] = []
    for _, line in lines_of("shell_allow.txt"):
        command = written_out(line)
        if program := re.match(r"(?:ls|git|grep|cat|find)\b", command):
            rules = {"deny_prefix": [program[0]]}
            if world.command(f"true && ( {command}\n)", rules=rules) != "deny":
                missed.append(line)
    assert missed == []


HOSTILE_NAMES = ("-o", "-oout.txt", "-exec", "-rf", "--output=x", "a b", "e", "-v", "x*", "BEGIN{system(1)}", "!", "(")


def test_file_names_of_a_hostile_project_do_not_become_flags_or_scripts(world: World) -> None:
    for name in HOSTILE_NAMES:
        (world.workspace / name).write_text("")
    (world.workspace / ".env").write_text("KEY=1")
    (world.workspace / "link.py").symlink_to("/etc/passwd")
    commands = (
        "sort *", "cat *", "awk *", "awk B* a.txt", "sed -n * a.txt", "jq *", "uniq *.txt", "xxd *", "test -f *",
        "find *", "git log *", "for f in *; do cat $f; done", 'for f in *; do cat "$f"; done', "cat *.py",
        "head -5 *.py", "cat .e*", "cat .[^x]nv", "cat .[[:alpha:]]nv", "cat .[!x]nv", "grep -e .* a.txt",
        "grep .* a.txt", "grep x .*", "rg x .e?v", "cat [l]ink.py", "cat l[^x]nk.py", "cat [[:lower:]]*.py",
    )  # fmt: skip
    assert [command for command in commands if world.command(command) == "allow"] == []


def test_a_directory_change_is_followed_only_where_it_surely_happens(world: World) -> None:
    inside = str(world.workspace / "src")
    for command in ("for i in 1 2; do cd ..; cat secret; done", "for i in 1 2; do ls ..; cd ..; done"):
        assert world.check(command=command, cwd=inside)["verdict"] == "ask", command
    assert world.check(command="cd .. && cat README.md", cwd=inside)["verdict"] == "allow"


def test_paths_get_one_of_their_verdicts(world: World) -> None:
    wrong: list[str] = []
    for _, line in lines_of("paths.txt"):
        expected, op, path = line.split(" ", 2)
        got = world.check(op=op, path=world.fill(written_out(path)))
        if got["verdict"] not in expected.split("/"):
            wrong.append(f"{got['verdict']} ({got['why']}) instead of {line}")
    assert wrong == []


LINKS = (
    # op, path, link, target, accepted verdicts
    ("read", "l", "l", "{OUTSIDE}/x", "ask"),
    ("read", "l", "l", "/etc/shadow", "ask deny"),
    ("read", "d/x", "d", "{OUTSIDE}", "ask"),
    ("list", "d", "d", "{OUTSIDE}", "ask"),
    ("write", "l", "l", "{OUTSIDE}/x", "ask"),
    ("write", "l", "l", "{OUTSIDE}/missing", "ask"),
    ("write", "d/new", "d", "{OUTSIDE}", "ask"),
    ("write", "d/sub/new", "d", "{OUTSIDE}", "ask"),
    ("write", "l", "l", ".git/config", "ask deny"),
    ("write", "g/config", "g", ".git", "ask deny"),
    ("write", "l", "l", "{USER_SETTINGS}", "deny"),
    ("read", "l", "l", "{VAULT}", "deny"),
    ("read", "d/vault.json", "d", "{AGENT_HOME}", "deny"),
    ("delete", "l", "l", "{OUTSIDE}/x", "allow ask"),
    ("delete", "d/x", "d", "{OUTSIDE}", "ask"),
    ("read", "l", "l", "README.md", "allow"),
    ("write", "l", "l", "README.md", "allow ask"),
    ("read", "d/main.py", "d", "src", "allow"),
    ("read", "l", "l", "l", "ask deny"),
    ("read", "l", "l", "/proc/self/environ", "ask deny"),
    ("read", "l", "l", ".env", "ask deny"),
    ("write", "l", "l", "/dev/sda", "deny"),
    ("read", "l", "l", "{HOME}/.ssh/id_rsa", "ask deny"),
    ("write", ".vscode/x", ".vscode", "src", "ask deny"),
)


@pytest.mark.parametrize(("op", "path", "link", "target", "accepted"), LINKS)
def test_links_are_judged_by_both_ends(world: World, op: str, path: str, link: str, target: str, accepted: str) -> None:
    world.setup([["symlink", link, target]])
    assert world.check(op=op, path=path)["verdict"] in accepted.split()


FED = (
    "find . -name '*.py' | xargs wc -l", "find . -type f -exec grep -n foo {} +", "git ls-files | xargs wc -l",
    "rg -l foo | xargs grep -n bar", "find . -print0 | xargs -0 md5sum",
)  # fmt: skip


@pytest.mark.parametrize("command", FED)
@pytest.mark.parametrize("name", ["-r", "a b", "it's", 'say "x"', "back\\slash", "line\nbreak"])
def test_names_that_would_become_more_than_names_are_seen_in_the_tree(world: World, command: str, name: str) -> None:
    assert world.command(command) == "allow"
    (world.workspace / "src" / name).write_text("")
    assert world.command(command) == "ask"


@pytest.mark.parametrize("command", FED)
def test_links_that_lead_out_are_seen_in_the_tree(world: World, command: str) -> None:
    (world.workspace / "docs" / "inside").symlink_to(world.workspace / "README.md")
    assert world.command(command) == "allow"
    (world.workspace / "docs" / "outside").symlink_to(world.outside)
    assert world.command(command) == "ask"
