"""The permission engine under random and hostile load (L47, L48)."""

import subprocess

import pytest
from bench.growth import HOSTILE, MOST
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.permissions.access import FileAccess, ShellAccess
from clew.permissions.paths import resolve
from clew.permissions.policy import judge, make_policy
from clew.permissions.shell.reading.lexer import Lexer
from clew.text.guarded_names import word_set
from fakes.effort import calls_in, not_hanging
from unit.permissions.world import World

POLICY = make_policy(
    root="/proc/nonexistent/ws", home="/proc/nonexistent/home", clew_home="/proc/nonexistent/home/.clew"
)
PIECES = word_set(
    """ls cat rm echo git log find . -exec -delete {} + ; && || | & ( ) { } < > >> 2>&1 >/dev/null $( ` ' " \\ $x ${x}
    ${x:- $(( )) [[ ]] [ ] if then fi for in do done while case esac function f() time ! # ~ / * ? {a,b}
    <<EOF EOF <<<"""
)
shellish = st.lists(st.sampled_from([*sorted(PIECES), "\n", " ", "\t", "\\\n", "é", "\u202e"]), max_size=24).map(
    " ".join
)


@given(st.one_of(st.text(max_size=200), shellish, shellish.map(lambda text: text.replace(" ", ""))))
@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_text_raises(text: str) -> None:
    verdict = judge(ShellAccess(command=text, cwd="/proc/nonexistent/ws"), POLICY)
    assert verdict.decision in ("allow", "ask", "deny")
    assert verdict.why


@given(shellish)
@settings(max_examples=150, deadline=None)
def test_what_bash_cannot_parse_is_never_allowed(text: str) -> None:
    if judge(ShellAccess(command=text, cwd="/proc/nonexistent/ws"), POLICY).decision != "allow":
        return
    checked = subprocess.run(["bash", "-n", "-c", text], capture_output=True, check=False)
    assert checked.returncode == 0, (text, checked.stderr)


@given(st.text(max_size=60), st.sampled_from(["read", "list", "write", "delete"]))
@settings(max_examples=400, deadline=None)
def test_no_path_raises(path: str, op: str) -> None:
    judge(FileAccess(op=op, path=path, cwd="/proc/nonexistent/ws"), POLICY)  # pyright: ignore[reportArgumentType] (a sampled literal)
    resolve(path, cwd="/proc/nonexistent", home="/proc/nonexistent/home")


@pytest.mark.parametrize("family", HOSTILE)
def test_huge_and_deep_commands_are_answered(world: World, family: str) -> None:
    size, text = HOSTILE[family]
    with not_hanging():
        assert world.command(text(size)) in ("ask", "deny")


@pytest.mark.parametrize("family", HOSTILE)
def test_twice_the_command_is_about_twice_the_work(world: World, family: str) -> None:
    """Seconds are in bench/growth.py, with the same families."""
    _, text = HOSTILE[family]
    world.command("ls")
    small, large = (calls_in(lambda size=size: world.command(text(size))) for size in (400, 800))
    assert large <= MOST * small + 2_000


def test_a_catastrophe_at_the_end_of_a_long_text_is_still_denied(world: World) -> None:
    assert world.command("ls; " * 3_000 + "rm -rf /") == "deny"
    assert world.command("ls; " * 300_000 + "rm -rf /") == "deny"


@given(shellish)
@settings(max_examples=200, deadline=None)
def test_the_lexer_sees_a_command_wherever_bash_would(text: str) -> None:
    assert all(command.words or command.assigns or command.redirects for command in Lexer(text).commands)
