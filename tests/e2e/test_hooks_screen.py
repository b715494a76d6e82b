"""Hooks at a real terminal: offered after trust, approved by a key that was meant, and a blocked prompt given back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer


@pytest.fixture
def come(tmp_path: Path) -> Iterator[Any]:
    present: list[ScreenPerson] = []
    calls = [{"call": "Bash", "arguments": {"command": "echo hi"}}]
    with ModelServer([{"calls": calls}, {"text": "fine"}] * 3) as server:
        place = Place(tmp_path, server.url)

        def comes(*args: str, **more: Any) -> tuple[ScreenPerson, Place]:
            present.append(ScreenPerson(place, *args, **more))
            return present[-1], place

        comes.place = place  # pyright: ignore[reportFunctionMemberAccess]  # for what lies there before anybody comes
        yield comes
        for person in present:
            person.leave()


def hooked(folder: Path, moment: str, command: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    hooks = {moment: [{"hooks": [{"type": "command", "command": command, "sandbox": False}]}]}
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))


def offered(person: ScreenPerson) -> None:
    """The dialog is there and keys count: Enter alone was answered, as too early or as no choice."""
    person.sees("Let this hook run?")
    person.type("\r")
    person.until(lambda: any("did not count" in row or "Nothing is chosen yet" in row for row in person.rows))


@pytest.mark.parametrize("front", ["screen", "plain"])
def test_hooks_are_offered_and_run_once_approved(come: Any, front: str) -> None:
    place = come.place
    hooked(place.project / ".claude", "PreToolUse", "cat >> $HOME/seen.log")
    person, _ = come(*(["--plain"] if front == "plain" else []))
    person.sees("seen.log")
    if front == "plain":
        person.sees("Let them run?")
        person.type("y\r")
        person.sees("runs")
    else:
        offered(person)
        person.type("a")
        person.sees("PreToolUse  runs")
    assert not (place.home / "seen.log").exists()
    person.type("go\r")
    person.sees_word("fine")
    assert json.loads((place.home / "seen.log").read_text())["tool_name"] == "Bash"
    assert (place.clew_home / "hooks.json").exists()


def test_not_now_runs_nothing_and_the_list_says_so(come: Any) -> None:
    place = come.place
    hooked(place.project / ".claude", "PreToolUse", "cat >> $HOME/seen.log")
    person, _ = come()
    offered(person)
    person.type("n")
    person.sees("ask for something")
    person.type("go\r")
    person.sees_word("fine")
    person.type("/hooks \r")
    person.sees("not approved")
    assert not (place.home / "seen.log").exists()


def test_a_blocked_prompt_is_back_in_the_prompt(come: Any) -> None:
    place = come.place
    hooked(place.clew_home, "UserPromptSubmit", "echo 'no customers here' >&2; exit 2")
    person, _ = come()
    person.sees("F1 help")
    person.type("about ACME\r")
    person.sees("no customers here")
    person.sees("about ACME")
