"""`/effort LEVEL` and `/theme NAME` on the screen, line by line and in print mode: they say what they did and are
kept."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

MODEL = {"CLEW_MODEL": "anthropic/claude-opus-4-6"}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({"replies": [], "last": {"text": "The lamp is mended."}}) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: ModelServer) -> Place:
    place = Place(tmp_path, server.url)
    place.env.update(MODEL)
    return place


def settings(place: Place) -> dict[str, Any]:
    path = place.clew_home / "settings.json"
    return json.loads(path.read_text()) if path.exists() else {}


def asked_effort(server: ModelServer) -> Any:
    """The effort of the last request."""
    return server.requests[-1].body.get("output_config", {}).get("effort")


@pytest.mark.parametrize("front", [(), ("--plain",)], ids=["screen", "plain"])
def test_choices_are_told_and_kept(place: Place, server: ModelServer, front: tuple[str, ...]) -> None:
    person = ScreenPerson(place, *front)
    try:
        person.sees("lists commands" if front else "F1 help")
        person.type("/effort high\r")
        person.sees("Effort: high (saved in")
        person.type("/effort current\r")
        person.sees("Effort: high. Levels")
        person.type("/theme light\r")
        person.sees("Theme: clew-light (saved in")
        person.type("mend the lamp\r")
        person.sees("The lamp is mended.")
        assert asked_effort(server) == "high"
    finally:
        person.leave()
    assert settings(place) == {"effort": "high", "screen": {"theme": "clew-light"}}
    assert place.run("-p", "and the door").code == 0
    assert asked_effort(server) == "high", "a later session"


def test_print_mode_keeps_an_effort_and_takes_it_back(place: Place, server: ModelServer) -> None:
    place.clew_home.mkdir()
    (place.clew_home / "settings.json").write_text('{\n    "screen": {"vim": true}\n}\n')
    done = place.run("-p", "/effort medium")
    assert (done.code, "Effort: medium (saved in" in done.out) == (0, True), done.err
    assert settings(place) == {"screen": {"vim": True}, "effort": "medium"}
    assert "Effort: medium." in place.run("-p", "/effort status").out
    for word in ("auto", "unset"):
        assert place.run("-p", "/effort low").code == 0
        done = place.run("-p", f"/effort {word}")
        assert "Effort: auto (the model's own default) (no longer set in" in done.out
        assert settings(place) == {"screen": {"vim": True}}
    assert "Usage: /effort" in place.run("-p", "/effort help").out
    done = place.run("-p", "/effort enormous")
    assert (done.code, settings(place)) == (2, {"screen": {"vim": True}})
    assert "There is no effort enormous" in done.err
    assert server.requests == []


def test_ef_6_a_variable_counts_more_than_what_is_kept_and_both_are_told(place: Place, server: ModelServer) -> None:
    done = place.run("-p", "/effort low", env={"CLEW_EFFORT": "high"})
    assert done.code == 0, done.err
    assert "Effort: high; low is saved in" in done.out
    assert "CLEW_EFFORT is set" in done.out
    assert settings(place) == {"effort": "low"}
    assert place.run("-p", "mend the lamp", env={"CLEW_EFFORT": "high"}).code == 0
    assert asked_effort(server) == "high"
    assert place.run("-p", "mend the lamp").code == 0
    assert asked_effort(server) == "low"


def test_a_level_that_the_model_does_not_take_says_what_is_sent(place: Place, server: ModelServer) -> None:
    place.env.update(CLEW_MODEL="openai/gpt-5", OPENAI_API_KEY="sk-test", OPENAI_BASE_URL=server.url)
    assert "openai/gpt-5 is sent high" in place.run("-p", "/effort max").out


def test_settings_that_cannot_be_written_leave_the_effort_as_it_was(place: Place) -> None:
    person = ScreenPerson(place)
    try:
        person.sees("F1 help")
        (place.clew_home / "settings.json").mkdir(parents=True)
        person.type("/effort high\r")
        person.sees("settings.json")
        person.type("/effort current\r")
        person.sees("Effort: auto (the model's own default). Levels")
    finally:
        person.leave()


def test_where_the_users_settings_are_not_read_nothing_is_written(place: Place) -> None:
    done = place.run("-p", "/effort high", "--setting-sources", "project")
    assert "Effort: high; it holds for this session only" in done.out
    assert settings(place) == {}
