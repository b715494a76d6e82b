"""Always-deny speaks of effects on places: the system, homes, disks, the kernel's files and clew's own state.

A part that cannot be judged never weakens the verdict on the others.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.permissions.access import STRICTNESS, ShellAccess
from clew.permissions.effort import TooMuchWork
from clew.permissions.policy import judge, make_policy
from clew.permissions.rules import parse_rule
from clew.permissions.shell.effects import catastrophe
from clew.permissions.shell.reading.scan import Scan
from clew.permissions.shell.reading.unwrap import Effective
from unit.permissions.redteam.test_redteam import lines_of, written_out
from unit.permissions.world import World

MODES = ("default", "plan", "acceptEdits", "bypassPermissions")
DENIED = [line for _, line in lines_of("places_deny.txt")]
HARMLESS = ("ls", "echo hi", "cat README.md", "true", "git status", "wc -l a.txt")
UNCLEAR = ("cat /proc/1/root/x", "ls /proc/1/cwd/x", "cat $x", "unknowntool -x", "cat {a,b}/*/*", 'echo "$(cat x)"')
PREFIXED = ("{}", "sudo {}", "nice -n 5 {}", "env A=b {}", "timeout 9 {}", "sudo -n env nice {}", "nohup {}")
ENCLOSED = (
    "{}", "( {} )", "{{ {}; }}", "if true; then {}; fi", "true && {}", "false || {}", "! {}", "time {}", "{} &",
    "for i in 1; do {}; done",
)  # fmt: skip
CATASTROPHES = (
    "rm -rf ~",
    "rm -rf /",
    "chmod -R 777 /",
    "mv ~ x",
    "find ~ -delete",
    "dd if=x of=/dev/sda",
    "mkfs /dev/sda",
)


@pytest.mark.parametrize("mode", MODES)
def test_what_destroys_a_place_is_denied_in_every_mode(world: World, mode: str) -> None:
    assert [line for line in DENIED if world.command(written_out(line), mode=mode) != "deny"] == []


def test_looking_at_a_disk_and_work_on_other_places_is_not_denied(world: World) -> None:
    lines = [line for _, line in lines_of("places_not_denied.txt")]
    denied = [line for line in lines for mode in (MODES[0], MODES[3]) if world.command(line, mode=mode) == "deny"]
    assert denied == []


@pytest.mark.parametrize("mode", MODES)
def test_another_place_of_the_same_machine_is_no_way_around(world: World, mode: str) -> None:
    lines = [line for _, line in lines_of("elsewhere_deny.txt")]
    assert [line for line in lines if world.command(line, mode=mode) != "deny"] == []
    harmless = [line for _, line in lines_of("elsewhere_not_denied.txt")]
    denied = [line for line in harmless if mode != "plan" and world.command(line, mode=mode) == "deny"]
    assert denied == []


@pytest.mark.parametrize("unclear", UNCLEAR)
@pytest.mark.parametrize("joined", ["{}; {}", "{} && {}", "{} | {}", "{}\n{}"])
def test_a_part_that_cannot_be_judged_hides_no_other_part(world: World, unclear: str, joined: str) -> None:
    for order in ((unclear, "rm -rf ~"), ("rm -rf ~", unclear)):
        assert world.command(joined.format(*order)) == "deny"
    for order in ((unclear, "rm old.txt"), ("rm old.txt", unclear)):
        assert world.command(joined.format(*order), rules={"deny_prefix": ["rm"]}) == "deny"


IFS_TRICKS = (
    "IFS=,; x=rm,old.txt; $x", "IFS=_; c=rm_old.txt; $c", "x=rm,old.txt; IFS=,; $x", "rm${IFS}old.txt",
    "rm$IFS$9old.txt", "IFS=:; eval ${x:-rm:old.txt}", "{rm,old.txt}", "set -- rm old.txt; $@",
    "a=(rm old.txt); ${a[@]}",
    "bash <(echo rm old.txt)", "eval $(echo rm old.txt)", "$(echo rm) old.txt", "f() { $@; }; f rm old.txt",
    "bash -c '\"$@\"' _ rm old.txt", "IFS=$'\\n'; x=$'rm\\nold.txt'; $x", "IFS=x; c=rmxold.txt; $c",
)  # fmt: skip


@pytest.mark.parametrize("trick", IFS_TRICKS)
def test_no_way_to_split_words_passes_a_deny_rule(world: World, trick: str) -> None:
    assert world.command(trick, rules={"deny_prefix": ["rm"]}) == "deny"


def test_faults_and_spent_budgets_in_one_part_leave_the_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = catastrophe._refuse  # pyright: ignore[reportPrivateUsage] (the part that is broken on purpose)
    for fault in (RuntimeError("broken"), TooMuchWork("spent"), RecursionError()):

        def broken(found: Effective, *rest: object, fault: Exception = fault, **more: object) -> str:
            if found.name == "cat" and more.get("looks"):
                raise fault
            return inner(found, *rest, **more)  # pyright: ignore[reportArgumentType] (handed on as they came)

        monkeypatch.setattr(catastrophe, "_refuse", broken)
        for mode in MODES:
            assert world.command("cat a.txt; rm -rf ~", mode=mode) == "deny"
            assert world.command("rm -rf ~; cat a.txt", mode=mode) == "deny"
            assert world.command("cat a.txt", mode=mode) == "ask"
        assert world.command("cat a.txt; rm x", rules={"deny_prefix": ["rm"]}) == "deny"


def test_a_fault_while_a_part_is_read_leaves_the_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = Scan._unwrap  # pyright: ignore[reportPrivateUsage] (the part that is broken on purpose)

    def broken(self: Scan, first: Effective, *rest: object) -> None:
        if first.name == "cat":
            raise RuntimeError("broken")
        inner(self, first, *rest)  # pyright: ignore[reportArgumentType] (handed on as they came)

    monkeypatch.setattr(Scan, "_unwrap", broken)
    assert world.command("cat a.txt; rm -rf ~") == "deny"
    assert world.command("cat a.txt") == "ask"
    assert world.command("cat a.txt; rm x", rules={"deny_prefix": ["rm"]}) == "deny"


ROOT = "/proc/nonexistent/ws"
PLAIN = make_policy(root=ROOT, home="/proc/nonexistent/home", clew_home="/proc/nonexistent/home/.clew")
RULED = make_policy(
    root=ROOT, home="/proc/nonexistent/home", clew_home="/proc/nonexistent/home/.clew", mode="bypassPermissions",
    rules=(parse_rule("Bash(git push *)", "deny"), parse_rule("Bash(make *)", "ask")),
)  # fmt: skip
PARTS = (
    *HARMLESS, *UNCLEAR, *CATASTROPHES, "git push", "make x", "rm x", "npm test", "grep -rn x .", "echo $((1+2))",
    "echo $(date)", "GIT_PAGER=cat git log", "sed -n 1p a.txt", "> out.txt", "cat < a.txt", "find . -name x", "mkdir d",
)  # fmt: skip


def strict(text: str, *, ruled: bool) -> int:
    return STRICTNESS[judge(ShellAccess(command=text, cwd=ROOT), RULED if ruled else PLAIN).decision]


@given(
    st.lists(st.sampled_from(PARTS), min_size=2, max_size=4),
    st.sampled_from(["; ", " && ", " || ", "\n"]),
    st.booleans(),
)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_strictest_part_decides(parts: list[str], joined: str, ruled: bool) -> None:
    whole = strict(joined.join(parts), ruled=ruled)
    assert whole >= max(strict(part, ruled=ruled) for part in parts)


@given(
    st.sampled_from(PARTS),
    st.sampled_from(HARMLESS),
    st.sampled_from(["; ", " && ", " || ", "\n", " | "]),
    st.booleans(),
)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_harmless_part_never_loosens(part: str, harmless: str, joined: str, ruled: bool) -> None:
    alone = strict(part, ruled=ruled)
    assert strict(f"{part}{joined}{harmless}", ruled=ruled) >= alone
    assert strict(f"{harmless}{joined}{part}", ruled=ruled) >= alone


@given(st.sampled_from(PARTS), st.sampled_from(ENCLOSED), st.sampled_from(PREFIXED), st.booleans())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_wrapping_never_loosens(part: str, outer: str, inner: str, ruled: bool) -> None:
    alone = strict(part, ruled=ruled)
    if part.startswith((">", "GIT_PAGER")):
        return  # no program's words: a wrapper would make another command of it
    assert strict(outer.format(part), ruled=ruled) >= alone
    assert strict(outer.format(inner.format(part)), ruled=ruled) >= alone
