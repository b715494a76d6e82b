"""`clew tour` through the real command: alone, line by line and on the full screen; it leaves nothing behind."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from clew.cli.tour.alone import walk_alone
from clew.cli.tour.guide import PARTS
from clew.cli.tour.place import make_place
from clew.cli.tour.script import TourScript, load_script
from clew.config.schema import Settings
from e2e.command import Place
from e2e.test_plain import WAIT_S, Person

CLEW = [
    sys.executable,
    "-c",
    "import sys; from clew.cli import tour; tour.PAUSE_S = 0; from clew.cli.entry import main; sys.exit(main())",
]
"""The command without the pauses in which a person reads along."""


def parts(out: str) -> list[str]:
    return [line.split()[1] for line in out.splitlines() if line.startswith("ok ")]


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_alone_every_part_of_it_really_happens(tmp_path: Path, sandbox: str) -> None:
    place = Place(tmp_path)
    spare = tmp_path / "tmp"
    spare.mkdir()
    done = place.run("tour", "--headless", env={"TMPDIR": str(spare), "CLEW_SANDBOX": sandbox})
    assert (done.code, done.err) == (0, ""), done.out
    assert parts(done.out) == list(PARTS)
    assert "Last request: Fix it" in done.out
    assert not list(spare.iterdir()), "the project is removed"
    assert not place.transcripts(), "the user's own sessions are untouched"


def test_what_is_kept_is_a_project_that_works_and_a_session_that_can_be_read(tmp_path: Path) -> None:
    place = Place(tmp_path)
    spare = tmp_path / "tmp"
    spare.mkdir()
    done = place.run("tour", "--headless", "--keep", env={"TMPDIR": str(spare)})
    (folder,) = spare.iterdir()
    assert done.code == 0
    assert str(folder / "till") in done.out
    assert "round(cents" in (folder / "till" / "till.py").read_text()
    listed = place.run("sessions", env={"CLEW_HOME": str(folder / "home")})
    assert "Why does a test fail" in listed.out


def with_edit(script: TourScript, **changes: str) -> TourScript:
    """The script with another edit."""
    mending = script.exchanges[1]
    (edit,) = mending.replies[0].calls
    call = replace(edit, arguments={**edit.arguments, **changes})
    replies = (replace(mending.replies[0], calls=(call,)), *mending.replies[1:])
    return replace(script, exchanges=(script.exchanges[0], replace(mending, replies=replies)))


@pytest.mark.parametrize(
    ("spoilt", "missing"),
    [
        (with_edit(load_script(), old_string="nothing like it"), "approval"),  # nobody is asked about it
        (with_edit(load_script(), new_string="    return round(cents * percent / 100)"), "test"),
    ],
    ids=["an edit that does not fit", "a fix that fixes nothing"],
)
async def test_a_part_that_does_not_happen_is_named(tmp_path: Path, spoilt: TourScript, missing: str) -> None:
    """The headless tour can fail: each of these scripts breaks one part of it, and the return with it."""
    lines: list[str] = []
    place = make_place(spoilt, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, Settings(), pause_s=0)
    try:
        assert await walk_alone(place, spoilt, lines.append) == 1
    finally:
        place.remove()
    named = [line.split()[1] for line in lines if line.startswith("MISSING")]
    assert named[0] == missing, lines
    assert named[-1] == "recap"


def test_without_a_terminal_it_says_how_to_walk_it(tmp_path: Path) -> None:
    done = Place(tmp_path).run("tour")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "--headless" in done.err


def test_its_model_can_be_named_by_nobody_else(tmp_path: Path) -> None:
    done = Place(tmp_path).run("--trust", "-p", "hello", env={"CLEW_MODEL": "tour/script"})
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "no provider 'tour'" in done.err


def test_ended_from_outside_it_takes_away_what_it_made(tmp_path: Path) -> None:
    place = Place(tmp_path)
    spare = tmp_path / "tmp"
    spare.mkdir()
    place.env["TMPDIR"] = str(spare)
    process = place.start("tour", "--headless")
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"ok ")
    assert list(spare.iterdir())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, err) == (130, b""), out
    assert not list(spare.iterdir())


@pytest.fixture
def person(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Person]:
    spare = tmp_path / "tmp"
    spare.mkdir()
    words: list[str] = getattr(request, "param", [])
    someone = Person([*CLEW, "tour", *words], tmp_path, columns=80, HOME=str(tmp_path), TMPDIR=str(spare))
    yield someone
    someone.leave()


def allows(person: Person, answer: str) -> None:
    """Keys that come as the question appears do not count, so the answer is given until it is taken."""
    deadline = time.monotonic() + WAIT_S
    while "Tour 4 of 6" not in person.seen:
        assert time.monotonic() < deadline, f"the answer was never taken:\n{person.seen}"
        person.type(answer)
        while person.read(1.0) and "Tour 4 of 6" not in person.seen:
            pass


@pytest.mark.parametrize(
    ("person", "answer"), [([], "y"), (["--plain"], "y\r")], indirect=["person"], ids=["full screen", "plain"]
)
def test_a_person_walks_it_with_enter_and_one_yes(person: Person, answer: str, tmp_path: Path) -> None:
    person.sees("Tour 1 of 6")
    person.sees("Why does a test fail?")
    person.type("\r")
    person.sees("Tour 2 of 6")
    person.sees("Fix it, and run the tests again.")
    person.type("\r")
    person.sees("Tour 3 of 6")
    allows(person, answer)
    person.type("\x15/compact\r")  # a yes that came too early may stand in the prompt
    person.sees("Tour 5 of 6")
    person.sees("/quit")
    person.type("\r")
    person.sees("Press Enter to come back")
    person.type("\r")
    person.sees("Tour 6 of 6")
    person.type("\r")
    assert person.exits() == 0
    assert "recap" in person.seen.lower()
    assert "That was the tour;" in person.seen
    assert "--resume" not in person.seen, "what is removed cannot be resumed"
    assert not list((tmp_path / "tmp").iterdir())


def test_who_leaves_early_is_told_so_and_leaves_nothing_behind(person: Person, tmp_path: Path) -> None:
    person.sees("Tour 1 of 6")
    person.type("\x15/quit\r")
    assert person.exits() == 0
    assert "before its end" in person.seen
    assert not list((tmp_path / "tmp").iterdir())
