"""Arrow keys through the history."""

from clew.composing.browsing import HistoryBrowser

ITEMS = ["one", "two", "tree"]


def browser() -> HistoryBrowser:
    return HistoryBrowser(lambda: list(ITEMS))


def test_up_and_down_come_back_to_what_was_typed() -> None:
    walk = browser()
    assert walk.older("") == "tree"
    assert walk.older("tree") == "two"
    assert walk.newer("two") == "tree"
    assert walk.newer("tree") == ""
    assert walk.newer("") is None


def test_with_something_typed_only_what_starts_with_it() -> None:
    walk = browser()
    assert walk.older("t") == "tree"
    assert walk.older("tree") == "two"
    assert walk.older("two") is None
    assert walk.newer("two") == "tree"
    assert walk.newer("tree") == "t"


def test_an_edit_of_an_item_starts_a_new_walk() -> None:
    walk = browser()
    assert walk.older("") == "tree"
    assert walk.newer("tree, edited") is None
    assert walk.older("tw") == "two"


def test_an_item_shown_in_another_form_is_still_the_item() -> None:
    walk = browser()
    walk.older("")
    walk.shown_as("[pasted #1: 3 lines]")
    assert walk.older("[pasted #1: 3 lines]") == "two"
