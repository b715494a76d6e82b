"""A fault in the judge asks: it never allows, never ends a turn, and never stops the list that is being checked."""

import random

import pytest

from clew.permissions.access import Access, FetchAccess, FileAccess, Mode, ShellAccess, ToolAccess
from clew.permissions.effort import TooMuchWork, entries_of, limited_effort, look
from clew.permissions.policy import judge, judge_call, make_policy
from clew.permissions.rules import parse_rule
from clew.permissions.shell.programs.table import PROGRAMS
from unit.permissions.world import World

MODES: tuple[Mode, ...] = ("default", "plan", "acceptEdits", "bypassPermissions")
PIECES = (
    "ls", "cat", "rm", "-rf", "/", "~", "$HOME", "$x", "${x}", "${x%a}", "${x:-b}", "${x/a/b}", "$(ls)", "`ls`", "git",
    "status", "-C", "src", "log", "find", ".", "-exec", "{}", "+", "\\;", "xargs", "sh", "-c", "'rm x'", '"a b"', "for",
    "in", "do", "done", "if", "then", "fi", "&&", "||", "|", ";", "\n", "&", "(", ")", "{", "}", ">", ">>", "<", "<<E",
    "\nE\n", "<<<", "2>&1", "a=b", "{a,b}", "{1..3}", "*", "?", "[a-z]", "cd", "..", "-", "sed", "-i", "s/a/b/", "awk",
    "'{print}'", "jq", ".", "cp", "mv", "a.txt", "b.txt", ".git/config", "tee", "\0", "é", "\u202e", "\ud800", "#", "'",
    '"', "\\", "$'", "$((", "))", "[[", "]]", "[", "]", "!", "time", "env", "timeout", "5", "eval", "python3", "x.py",
)  # fmt: skip


def accesses(world: World) -> tuple[Access, ...]:
    cwd = str(world.workspace)
    return (
        ShellAccess(command="ls", cwd=cwd),
        FileAccess(op="read", path="a.txt", cwd=cwd),
        FetchAccess(url="https://docs.example.com/"),
        ToolAccess(tool="TodoWrite", read_only=True),
    )


def policy_of(world: World, mode: Mode = "default"):
    rules = (parse_rule("Bash", "allow"), parse_rule("Read", "allow"))
    return make_policy(
        root=str(world.workspace), home=str(world.home), clew_home=str(world.clew_home), mode=mode, rules=rules
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", [RuntimeError("broken"), RecursionError(), MemoryError(), KeyError("x")])
def test_a_fault_asks_in_every_mode(
    world: World, monkeypatch: pytest.MonkeyPatch, mode: Mode, fault: Exception
) -> None:
    def broken(*_: object) -> None:
        raise fault

    for name in ("_shell", "_file", "_fetch", "_tool"):
        monkeypatch.setattr(f"clew.permissions.policy.{name}", broken)
    for access in accesses(world):
        verdict = judge(access, policy_of(world, mode))
        assert verdict.decision == "ask"
        assert type(fault).__name__ in verdict.why
        assert not verdict.offers
    assert judge_call(accesses(world), policy_of(world, mode)).decision == "ask"


def test_check_goes_on_with_the_next_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def breaks_once(access: ShellAccess, _: object) -> None:
        calls.append(access.command)
        raise RuntimeError("broken")

    monkeypatch.setattr("clew.permissions.policy._shell", breaks_once)
    assert [world.command(text) for text in ("ls", "pwd")] == ["ask", "ask"]
    assert calls == ["ls", "pwd"]
    monkeypatch.undo()
    for odd in ("\0", "a\0b", "x" * 100_000):
        assert world.check(command="ls", cwd=odd)["verdict"] in ("ask", "deny", "allow")
        assert world.check(op="read", path=odd)["verdict"] in ("ask", "deny", "allow")


def test_the_budget_belongs_to_one_verdict(world: World) -> None:
    with limited_effort():
        look(29_000)
        with limited_effort(), pytest.raises(TooMuchWork):
            look(2_000)
    with limited_effort():
        look(29_000)
    look(1_000_000)


def test_a_listing_is_read_once_and_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.permissions.effort.MAX_ENTRIES", 30)
    for number in range(40):
        (world.outside / f"f{number}").write_text("")
    with limited_effort():
        assert entries_of(str(world.workspace)) is entries_of(str(world.workspace))
        assert entries_of("/proc/nonexistent\0") == ()
        with pytest.raises(TooMuchWork):
            entries_of(str(world.outside))


@pytest.mark.parametrize("seed", range(4))
def test_random_commands_are_answered_in_every_mode(world: World, seed: int) -> None:
    pick = random.Random(seed)
    policies = [policy_of(world, mode) for mode in MODES]
    programs = sorted(PROGRAMS)
    for _ in range(700):
        words = [pick.choice(programs if pick.random() < 0.2 else PIECES) for _ in range(pick.randint(1, 14))]
        text = pick.choice((" ", "")).join(words)
        verdict = judge(ShellAccess(command=text, cwd=str(world.workspace)), pick.choice(policies))
        assert verdict.rule != "fault", (text, verdict.why)
