"""Searching the history backwards: what is found, and what never gets lost."""

from hypothesis import given
from hypothesis import strategies as st

from clew.composing.search import HistorySearch, search

ITEMS = ["git status", "make test", "fix the Parser", "make check", "explain git rebase"]


def after(keys: str, items: list[str] | None = None, before: str = "typed") -> HistorySearch:
    """`<` older, `>` newer, `~` erases; everything else is typed."""
    state = search(ITEMS if items is None else items, before)
    for key in keys:
        match key:
            case "<":
                state = state.older()
            case ">":
                state = state.newer()
            case "~":
                state = state.erased()
            case _:
                state = state.typed(key)
    return state


def test_the_newest_that_fits_is_shown_first_then_older_ones_then_newer_again() -> None:
    assert after("git").text == "explain git rebase"
    assert after("git<").text == "git status"
    assert after("git<>").text == "explain git rebase"


def test_a_longer_query_stays_with_what_it_still_fits() -> None:
    assert after("make<").text == "make test"
    assert after("make< t").text == "make test"


def test_nothing_found_shows_what_was_typed_before_and_says_so() -> None:
    state = after("zzz")
    assert (state.text, state.failed) == ("typed", True)
    assert after("zzz~~~").failed is False


def test_past_the_oldest_the_last_match_stays() -> None:
    state = after("git<<<")
    assert (state.text, state.failed) == ("git status", True)


def test_capitals_count_once_one_is_typed() -> None:
    assert after("parser").text == "fix the Parser"
    assert after("Parser").text == "fix the Parser"
    assert after("PARSER").failed


def test_erasing_goes_back_to_the_newest() -> None:
    assert after("git <~").text == "explain git rebase"
    assert after("g~").text == "typed"


def test_without_a_query_it_walks_through_everything() -> None:
    assert after("<").text == "explain git rebase"
    assert after("<<").text == "make check"


def test_where_the_match_stands_is_known() -> None:
    assert after("rebase").place == (12, 18)
    assert after("").place is None


def test_an_empty_history_is_no_trouble() -> None:
    assert after("x<>~", items=[]).text == "typed"


@given(st.text(alphabet="gitmake <>~X", max_size=30), st.text(max_size=20))
def test_what_was_typed_before_is_kept_whatever_is_pressed(keys: str, before: str) -> None:
    state = after(keys, before=before)
    assert state.before == before
    assert state.text == before or state.text in ITEMS
