"""Expressions of others: judged as the standard library would, by an engine that cannot run away."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.safe_patterns import BadPattern, compiled
from fakes.effort import not_hanging


@pytest.mark.parametrize(
    "expression",
    ["(a+)+$", "(a|a)*b", "(.*)*x", "(a?){200}a{200}b", "((a*)*)*b", "(a|aa)+$", r"(\w+\s?)*!", "(.*.*.*.*.*.*.*.*)x",
     "^(?=(a+)+$)(?!(a|a)*b)c", "^(([a-z])+.)+[A-Z]([a-z])+$", "[^c]*(a|b).{900}$"],
)  # fmt: skip
def test_no_expression_runs_away(expression: str) -> None:
    test = compiled(expression)
    with not_hanging():
        for length in (60, 10_000, 100_000, 10_000_000):
            assert test("a" * length + "!") in (True, False)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("(", "missing )"),
        ("(?<=a)b", "looking behind"),
        ("(?<!a)b", "looking behind"),
        ("Bash(?!Output)", "looking ahead is understood only right after a ^"),
        ("^(?!a)b|c", "looking ahead is understood only right after a ^"),
        ("^(?!a)*b", "looking ahead is understood only right after a ^"),
        ("^(?!a(?=b))c", "looking ahead is understood only right after a ^"),
        (r"(a)\1", "references to groups"),
        (r"(?<x>a)\k<x>", "references to groups"),
        ("(a{900}){900}", "invalid repetition size"),
        ("a" * 501, "longer than 500 characters"),
        ("\ud800", "half a character"),
    ],
)
def test_what_is_refused_says_why(expression: str, why: str) -> None:
    with pytest.raises(BadPattern, match=re.escape(why)):
        compiled(expression)


def test_a_text_with_half_a_character_gets_an_answer() -> None:
    assert compiled("^b.d$")("b\ud800d")


LETTERS = "abc1_- "
ATOMS = st.sampled_from(
    ["a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", r"\w", r"\W", r"\d", r"\s", r"\b", r"\B", "^", "$", "(a|b)", "(ab)",
     "(?:a|bc)", "(a*b)", "(|a)", r"[\w-]", r"\-", r"\u0061", r"[\u0061-c]", "(?P<x>a)"],
)  # fmt: skip
PIECES = st.tuples(ATOMS, st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?"]))


def joined(pieces: list[tuple[str, str]]) -> str:
    text = "".join(atom + ("" if atom in ("^", "$", r"\b", r"\B") else many) for atom, many in pieces)
    return text if text.count("(?P<x>") < 2 else text.replace("(?P<x>", "(?:")


EXPRESSIONS = st.recursive(
    st.lists(PIECES, min_size=1, max_size=4).map(joined),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map("|".join) | inner.map(lambda text: f"({text})*"),
    max_leaves=6,
).filter(lambda text: text.count("(?P<x>") < 2)
AHEAD = st.lists(st.tuples(st.sampled_from(["(?=", "(?!"]), EXPRESSIONS), max_size=3).map(
    lambda groups: "".join(f"{kind}{inner})" for kind, inner in groups)
)


@given(EXPRESSIONS, st.text(alphabet=LETTERS, max_size=8))
def test_it_finds_what_the_standard_library_finds(expression: str, name: str) -> None:
    expected = re.search(expression, name, re.ASCII) is not None
    if name == "" and r"\B" in expression:
        return  # the library says before 3.14 that nothing is no place without a border; RE2 says that it is one
    assert compiled(expression)(name) is expected


@given(AHEAD, EXPRESSIONS, st.text(alphabet=LETTERS, max_size=8))
def test_looking_ahead_from_the_start_finds_what_the_standard_library_finds(ahead: str, rest: str, name: str) -> None:
    expression = f"^{ahead}(?:{rest})"
    if (name == "" and r"\B" in expression) or expression.count("(?P<x>") > 1:
        return
    assert compiled(expression)(name) is (re.search(expression, name, re.ASCII) is not None)


def test_between_no_letters_there_is_no_border() -> None:
    assert compiled(r"\B")("")
    assert not compiled(r"\b")("")
