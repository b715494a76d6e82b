"""What was shown stays after a resume too: withdrawn words, and questions that were declined."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

QUESTION = {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}
ASKING = {"match": "ask me", "calls": [{"call": "AskUser", "arguments": {"questions": [QUESTION]}}]}
BROKEN = {"match": "tell me", "parts": [{"text": "The scale rounds up, and then"}], "fault": "cut", "after": 4}


@pytest.fixture
def come(tmp_path: Path) -> Iterator[Any]:
    people: list[ScreenPerson] = []
    with ModelServer({"replies": [BROKEN, ASKING], "last": {"text": "fine"}}) as server:
        place = Place(tmp_path, server.url)

        def comes(*args: str) -> ScreenPerson:
            people.append(ScreenPerson(place, *args))
            people[-1].sees("F1 help")
            return people[-1]

        yield comes
    for person in people:
        person.leave()


def gone(person: ScreenPerson) -> None:
    person.process.kill()
    person.until_ended()


def test_withdrawn_words_are_there_after_a_resume(come: Any) -> None:
    person = come()
    person.type("tell me\r")
    person.sees_word("fine")
    person.sees("withdrawn, the stream broke off: The scale rounds")
    gone(person)
    again = come("-c")
    again.sees_word("fine")
    again.sees("withdrawn, the stream broke off: The scale rounds")


def test_a_declined_question_shows_question_and_who_declined(come: Any) -> None:
    person = come()
    person.type("ask me\r")
    person.sees("Esc declines")
    person.type("\x1b")
    person.sees("→ declined by you")
    assert any("Which colour?" in row for row in person.rows)
    person.sees("Asked a question (declined by you)")
    assert not any("failed" in row for row in person.rows), "nothing went wrong"
    gone(person)
    again = come("-c")
    again.sees("→ declined by you")
    again.sees("Asked a question (declined by you)")
