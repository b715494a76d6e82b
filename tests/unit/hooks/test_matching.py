"""Matchers: all, names, lists of names, regular expressions; none of them can hang."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.hooks.matching import matches, problem_with
from fakes.effort import not_hanging

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
    ("^(?!.*Output).*Bash", "BashOutput", False),
    ("^(?!Bash|Read)", "Read", False),
    ("^(?!Bash).*", "Read", True),
    ("^(?!Bash).*", "Bash", False),
    ("(", "(", False),
    ("[z-a]", "b", False),
    ("startup|resume", "resume", True),
    ("AskUserQuestion", "AskUser", True),
    ("MultiEdit|Write", "Edit", True),
    ("KillBash", "TaskStop", True),
    ("KillShell", "TaskStop", True),
    ("BashOutput", "TaskOutput", True),
    ("Task", "Agent", True),
    ("LS", "Glob", False),
    ("Task", "Bash", False),
]


@pytest.mark.parametrize(("matcher", "subject", "meant"), CASES)
def test_what_a_matcher_means(matcher: str, subject: str, meant: bool) -> None:
    assert matches(matcher, subject) is meant


@pytest.mark.parametrize(
    "matcher", ["(", ")", "a**", "*a", "+", "[a", "[z-a]", "a{3,1}", "Bash(?!Output)", "(?<=a)b", r"(a)\1", "\\",
                "^(?!Bash).*|Read", "x" * 499 + ".*", "(a{900}){900}", "|", ",", "(?#x)", "a{2}{3}"]
)  # fmt: skip
def test_what_cannot_be_understood_is_told_and_matches_nothing(matcher: str) -> None:
    assert problem_with(matcher)
    assert not matches(matcher, "Bash")
    assert not matches(matcher, matcher)


@pytest.mark.parametrize("matcher", [case[0] for case in CASES if case[0] not in ("(", "[z-a]")])
def test_what_is_understood_has_no_problem(matcher: str) -> None:
    assert problem_with(matcher) == ""


def test_a_long_name_is_cut_before_it_is_matched() -> None:
    with not_hanging():
        assert not matches("(a+)+b$", "a" * 1_000_000)


@given(st.text(max_size=40) | st.text(alphabet="ab()[]{}|*+?.^$\\,-1:=!<>", max_size=40), st.text(max_size=20))
def test_any_matcher_gives_an_answer(matcher: str, subject: str) -> None:
    understood = not problem_with(matcher)
    assert matches(matcher, subject) in ((True, False) if understood else (False,))
