"""A disk that is full when a run ends: one clear line, an error for programs, the answer all the same."""

import json
import shlex

import pytest

from e2e.command import CLEW, Done, Place, Serve

ROOM_BLOCKS = 10
"""Of 512 bytes: the log begins, and has no room for its end. What a full disk does, for any user."""


def without_room(place: Place, *args: str) -> Done:
    """Only files are bounded: what is printed goes through pipes."""
    command = f"ulimit -f {ROOM_BLOCKS}; exec {shlex.join([CLEW, *args])}"
    return place.run_anew("-c", command, command="/bin/sh")


def place_of(serve: Serve) -> Place:
    place, _ = serve([{"text": "word " * 4_000}])
    return place


def test_a_person_reads_why_once_and_what_is_left(serve: Serve) -> None:
    done = without_room(place_of(serve), "-p", "go")
    assert done.code == 1
    assert done.out.startswith("word word")
    (last,) = done.err.splitlines()
    assert "could not be saved to " in last
    assert ".jsonl: File too large; what came before is kept, if anything: clew --resume" in last
    assert "Traceback" not in done.err


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_a_program_is_told_that_it_is_an_error_and_has_the_answer(serve: Serve, form: str) -> None:
    done = without_room(place_of(serve), "-p", "go", "--output-format", form)
    result = json.loads(done.out.splitlines()[-1])
    assert done.code == 1
    assert result["is_error"] is True
    assert result["subtype"] == "error_during_execution"
    assert "could not be saved" in result["errors"][0]
    assert result["result"].startswith("word word")
    assert "Traceback" not in done.err
