"""Matchers: all, names, lists of names, regular expressions; none of them can hang."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.hooks.matching import matches, problem_with
from clew.system.safe_patterns import compiled
from fakes.effort import calls_in, not_hanging

CASES = [
    ("", "Bash", True),
    ("*", "Bash", True),
    ("  ", "Bash", True),
    ("Bash", "Bash", True),
    ("Bash", "bash", False),
    ("Bash", "BashOutput", False),
    ("Edit|Write", "Write", True),
    ("Edit|Write", "NotebookEdit", False),
    (" Edit | Write ", "Write", True),
    ("Edit,Write", "Edit", True),
    ("Edit|", "Edit", True),
    ("Edit|", "Bash", False),
    ("mcp__memory", "mcp__memory__add", False),
    ("mcp__memory__.*", "mcp__memory__add", True),
    ("mcp__.*__write.*", "mcp__fs__write_file", True),
    ("Notebook.*", "NotebookEdit", True),
    ("^Notebook", "NotebookEdit", True),
    ("^Edit$", "NotebookEdit", False),
    (".*", "Anything", True),
    ("(Edit|Write)", "Write", True),
    ("Bash(?!Output)", "BashOutput", False),
    ("^(?!Bash).*", "Read", True),
    ("^(?!Bash).*", "Bash", False),
    ("(", "(", False),
    ("[z-a]", "b", False),
    ("startup|resume", "resume", True),
    ("AskUserQuestion", "AskUser", True),
    ("MultiEdit|Write", "Edit", True),
    ("KillBash", "KillShell", True),
    ("LS", "Glob", False),
    ("Task", "Bash", False),
]


@pytest.mark.parametrize(("matcher", "subject", "meant"), CASES)
def test_what_a_matcher_means(matcher: str, subject: str, meant: bool) -> None:
    assert matches(matcher, subject) is meant


@pytest.mark.parametrize(
    "matcher", ["(", ")", "a**", "*a", "+", "[a", "[z-a]", "a{3,1}", "(?P<x>a)", "(?<=a)b", r"(a)\1", r"\p{L}", "\\",
                "(" * 100 + ")" * 100, "x" * 499 + ".*", "(a{900}){900}", "|", ",", "(?#x)", "a{2}{3}"]
)  # fmt: skip
def test_what_cannot_be_understood_is_told_and_matches_nothing(matcher: str) -> None:
    assert problem_with(matcher)
    assert not matches(matcher, "Bash")
    assert not matches(matcher, matcher)


@pytest.mark.parametrize("matcher", [case[0] for case in CASES if case[0] not in ("(", "[z-a]")])
def test_what_is_understood_has_no_problem(matcher: str) -> None:
    assert problem_with(matcher) == ""


@pytest.mark.parametrize(
    "expression",
    ["(a+)+$", "(a|a)*b", "(.*)*x", "(a?){200}a{200}b", "((a*)*)*b", "(a|aa)+$", r"(\w+\s?)*!", "((?=a*).)*b",
     "(?=(?=(?=a*b)*a*b)*a*b)x", "(.*.*.*.*.*.*.*.*)x", "^(([a-z])+.)+[A-Z]([a-z])+$"],
)  # fmt: skip
def test_no_expression_runs_away(expression: str) -> None:
    """The work grows no faster than with the square of the name: twice the name, at most about four times the work."""
    test = compiled(expression)
    with not_hanging():
        short, long = (calls_in(lambda length=length: test("a" * length + "!")) for length in (60, 120))
    assert long <= 5 * short + 1_000


def test_a_long_name_is_cut_before_it_is_matched() -> None:
    with not_hanging():
        assert not matches("(a+)+b$", "a" * 1_000_000)


LETTERS = "abc1_- "
ATOMS = st.sampled_from(
    ["a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", r"\w", r"\W", r"\d", r"\s", r"\b", r"\B", "^", "$", "(a|b)", "(ab)",
     "(?:a|bc)", "(?=a)", "(?!b)", "(a*b)", "(|a)", r"[\w-]", r"\-", "[]a]"[1:3]],
)  # fmt: skip
PIECES = st.tuples(ATOMS, st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?"]))


def joined(pieces: list[tuple[str, str]]) -> str:
    return "".join(atom + ("" if atom in ("^", "$", r"\b", r"\B") else many) for atom, many in pieces)


EXPRESSIONS = st.recursive(
    st.lists(PIECES, min_size=1, max_size=4).map(joined),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map("|".join) | inner.map(lambda text: f"({text})*"),
    max_leaves=6,
)


@given(EXPRESSIONS, st.text(alphabet=LETTERS, max_size=8))
def test_it_finds_what_the_standard_library_finds(expression: str, name: str) -> None:
    assert compiled(expression)(name) is (re.search(expression, name, re.ASCII) is not None)


@given(st.text(max_size=40) | st.text(alphabet="ab()[]{}|*+?.^$\\,-1:=!<>", max_size=40), st.text(max_size=20))
def test_any_matcher_gives_an_answer(matcher: str, subject: str) -> None:
    understood = not problem_with(matcher)
    assert matches(matcher, subject) in ((True, False) if understood else (False,))
