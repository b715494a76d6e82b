"""Titles: at once from facts, naming tickets; the user's own wins."""

from pathlib import Path

import pytest

from clew.llm.errors import Overloaded
from clew.llm.scripted import Fail, Say, ScriptedModel
from clew.orient.dialog import dialog_of
from clew.orient.titles import clean_title, fact_title, model_title, next_title
from clew.protocol.entries import AiTitleEntry, CustomTitleEntry
from clew.text.terminal_text import display_width
from unit.ledger.talk import SESSION, Talk
from unit.orient.test_side_query import Desk


def asked(text: str = "Please fix the leap year bug in dates.py") -> Talk:
    return Talk().user(text).agent("I fixed it.")


def test_from_facts_at_once() -> None:
    assert fact_title(asked().ledger()) == "Please fix the leap year bug in dates.py"
    assert fact_title(Talk().ledger()) == ""


@pytest.mark.parametrize("mark", ["PAY-1234", "#482"])
def test_tickets_are_named(mark: str) -> None:
    text = f"There is a long story behind this one. Fix the leap year bug. It was reported in {mark} by the shop."
    assert mark in fact_title(asked(text).ledger())


def test_pull_requests_are_named() -> None:
    talk = asked().bash("gh pr create", "https://github.com/o/r/pull/88")
    assert "#88" in fact_title(talk.ledger())


def test_titles_are_short_and_clean() -> None:
    title = fact_title(asked("Rewrite \x1b[31m" + "the importer and every caller of it " * 20).ledger())
    assert display_width(title) <= 70
    assert "\x1b" not in title


def test_the_users_title_always_wins() -> None:
    talk = asked().add(CustomTitleEntry(session_id=SESSION, timestamp="", custom_title="Mine"))
    ledger = talk.user("New task: draw the logo").ledger()
    assert (ledger.title, ledger.title_by) == ("Mine", "user")
    assert next_title(ledger) == ""


def test_a_models_title_stays_and_one_from_facts_gives_way_when_they_say_more() -> None:
    made = asked().add(AiTitleEntry(session_id=SESSION, timestamp="", ai_title="Leap years", source="model"))
    assert next_title(made.ledger()) == ""
    facts = Talk().user("hello").add(AiTitleEntry(session_id=SESSION, timestamp="", ai_title="hello", source="facts"))
    assert next_title(facts.ledger()) == ""
    assert next_title(facts.user("Please fix the leap year bug").ledger()) == "Please fix the leap year bug"


NEXT = "Draw a new logo as SVG for the homepage"


def test_a_title_follows_the_session_when_it_moves_to_something_else() -> None:
    talk = asked().user("What time is it in Lisbon right now?").agent("Noon.")
    assert fact_title(talk.ledger()) == "Please fix the leap year bug in dates.py", "one stray question moves nothing"
    talk.user("and are the dates.py tests green?").agent("Yes.").user(NEXT).agent("Drawn.")
    assert fact_title(talk.ledger()) == "Please fix the leap year bug in dates.py"
    talk.user("Make the logo rounder and the homepage background darker, see PAY-77").agent("Done.")
    assert fact_title(talk.ledger()) == NEXT
    assert next_title(talk.ledger()) == NEXT


def test_a_models_title_gives_way_when_it_names_nothing_of_the_new_topic() -> None:
    def titled(title: str) -> str:
        talk = asked().add(AiTitleEntry(session_id=SESSION, timestamp="", ai_title=title, source="model"))
        return next_title(talk.user(NEXT).user("Make the logo rounder and the homepage background darker").ledger())

    assert titled("Leap years") == NEXT
    assert titled("Logo for the landing page") == ""


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        ("Fix leap years", "Fix leap years"),
        ("Title: **Fix leap years.**\nmore", "Fix leap years"),
        ("「修复闰年」", "修复闰年"),
        ("...", ""),
        ("", ""),
        ("Fix  two   spaces", "Fix two spaces"),
    ],
)
def test_cleaning(reply: str, title: str) -> None:
    assert clean_title(reply) == title


async def test_the_model_refines_within_the_facts(tmp_path: Path) -> None:
    talk = asked()
    ledger, dialog = talk.ledger(), dialog_of(talk.entries)
    model = ScriptedModel([Say("Leap year bug in dates.py"), Say("Rewrite of orders.py"), Fail(Overloaded("x"))])
    desk = Desk(tmp_path, model)
    assert await model_title(ledger, dialog, desk.queries) == "Leap year bug in dates.py"
    assert await model_title(ledger, dialog, desk.queries) is None
    assert await model_title(ledger, dialog, desk.queries) is None
    assert model.requests[0].temperature == 0.2
