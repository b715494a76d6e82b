"""Names of teams and members: two of them never share a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.teams.names import BadName, checked_name, slug_of

WRONG = ("1a", "-a", "а", "ａ", "a\u200b", "名前", "a.b", "a:b", "*", "", "  ", "../up", "a/b", "a\\b", ".", "..")
RESERVED = ("a\nb", "a b", "a@b", "@a", "lead", "LEAD", "main", "user", "a" * 41)


@pytest.mark.parametrize("name", [*WRONG, *RESERVED])
def test_what_cannot_be_a_name_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(BadName):
        checked_name(name, "a member")


@pytest.mark.parametrize(("first", "second"), [("A_b", "a-b"), ("Scout", "scout"), ("a__b", "a-b"), ("ab-", "ab")])
def test_tm_10_names_with_one_slug_are_one_name(first: str, second: str) -> None:
    with pytest.raises(BadName, match="too much like"):
        checked_name(second, "a member", [first])


@given(st.text(max_size=45))
def test_a_name_that_is_taken_becomes_a_plain_file(name: str) -> None:
    try:
        taken = checked_name(name, "a member")
    except BadName:
        return
    slug = slug_of(taken)
    assert slug
    assert all(char.isascii() and (char.isalnum() or char == "-") for char in slug)
