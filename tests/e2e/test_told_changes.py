"""What a slash command changed is told under it, and its mark is shown once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer


@pytest.fixture
def person(tmp_path: Path) -> Iterator[ScreenPerson]:
    with ModelServer({"replies": [], "last": {"text": "fine"}}) as server:
        person = ScreenPerson(Place(tmp_path, server.url))
        person.sees("F1 help")
        yield person
        person.leave()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/mode plan", "Permission mode: plan"),
        ("/title My own name", "Title: My own name"),
        ("/model anthropic/claude-opus-4-5", "Model: anthropic/claude-opus-4-5"),
    ],
)
def test_what_changed_stands_under_the_command(person: ScreenPerson, line: str, told: str) -> None:
    person.type(f"{line}\r")
    person.sees(f"┆ {told}")
    rows = person.rows
    command = next(at for at, row in enumerate(rows) if line in row)
    assert command < next(at for at, row in enumerate(rows) if told in row)


def test_a_mode_that_a_key_changed_is_told_by_the_footer_alone(person: ScreenPerson) -> None:
    person.type("\x1b[Z")
    person.sees("edits without asking")
    assert not any("Permission mode" in row for row in person.rows)


@pytest.mark.parametrize("line", ["!echo hi", "/mode plan", "# remember this"])
def test_the_mark_of_a_line_is_shown_once(person: ScreenPerson, line: str) -> None:
    person.type(line)
    person.sees(f"› {line}")
    assert not any(f"{line[0]} {line}" in row for row in person.rows)
