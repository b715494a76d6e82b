"""`-c` goes on with the newest conversation; a run of a script or a program only where there is no other."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import Place
from e2e.driver import Driven
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({"replies": [], "last": {"text": "ok then"}}) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: ModelServer) -> Place:
    return Place(tmp_path, server.url)


def turns(place: Place) -> int:
    """How many turns have ended, by what is on disk."""
    return sum(path.read_bytes().count(b'"type":"turn-result"') for path in place.transcripts())


def talked(place: Place, prompt: str, *arguments: str) -> str:
    """A conversation at a terminal of one prompt; the session it is in."""
    before = {path: path.read_bytes() for path in place.transcripts()}
    ended = turns(place)
    person = ScreenPerson(place, *arguments)
    try:
        person.sees("lists commands" if "--plain" in arguments else "F1 help")
        person.type(f"{prompt}\r")
        person.until(lambda: any(prompt.encode() in path.read_bytes() for path in place.transcripts()))
        person.sees("ok then")
        person.until(lambda: turns(place) > ended)  # while a turn runs, Ctrl-D means something else
        person.type("\x04")
        person.until_ended()
    finally:
        person.leave()
    (changed,) = [path for path in place.transcripts() if before.get(path) != path.read_bytes()]
    return changed.stem


def ran(place: Place, prompt: str, *arguments: str) -> str:
    """A run of a script; the session it is in."""
    done = place.run("-p", prompt, "--output-format", "json", *arguments)
    assert done.code == 0, done.err
    return done.result["session_id"]


def dated(place: Place, *sessions: str) -> None:
    """As if they had been written in this order."""
    paths = {path.stem: path for path in place.transcripts()}
    for number, session in enumerate(sessions):
        os.utime(paths[session], (1_000_000 + number, 1_000_000 + number))


def origins(place: Place, session: str) -> list[str]:
    """What the log says of who worked in it."""
    (path,) = [path for path in place.transcripts() if path.stem == session]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["entrypoint"] for line in lines if line["type"] == "session-origin"]


@pytest.mark.parametrize("front", [(), ("--plain",)], ids=["screen", "plain"])
def test_a_conversation_is_preferred_to_newer_runs(place: Place, front: tuple[str, ...]) -> None:
    conversation = talked(place, "mend the lamp", *front)
    script = ran(place, "how many files are there?")
    with Driven(place) as run:
        run.say("and folders?")
        program = run.result()["session_id"]
        run.end()
    assert [origins(place, session) for session in (conversation, script, program)] == [[], ["print"], ["stream"]]
    dated(place, conversation, script, program)
    assert ran(place, "and the door", "-c") == conversation
    assert origins(place, conversation) == [], "a script that goes on with it does not make it a run"


def test_without_a_conversation_the_newest_run_is_gone_on_with(place: Place) -> None:
    older, newer = ran(place, "first"), ran(place, "second")
    dated(place, older, newer)
    assert ran(place, "third", "-c") == newer
    copy = ran(place, "fourth", "-c", "--fork-session")
    assert origins(place, copy) == ["print"]
    dated(place, older, newer, copy)
    assert ran(place, "fifth", "-c") == copy


def test_a_run_that_a_person_went_on_with_is_a_conversation(place: Place) -> None:
    first, second = ran(place, "first"), ran(place, "second")
    assert talked(place, "mend the lamp", "--resume", first) == first
    assert origins(place, first) == ["print", "terminal"]
    dated(place, first, second)
    assert ran(place, "and the door", "-c") == first
