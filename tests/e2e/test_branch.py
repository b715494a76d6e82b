"""`/branch` through the real screen: the copy has a title of its own, is listed at once, and stands like its source."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

READY = "F1 help"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ModelServer({"replies": [], "last": {"text": "The lamp is mended."}}) as server:
        yield Place(tmp_path, server.url)


def listed(place: Place) -> dict[str, dict[str, Any]]:
    """All sessions as `clew sessions` tells them, by their titles."""
    rows = json.loads(place.run("sessions", "--json").out)
    return {row["title"]: row for row in (rows["sessions"] if isinstance(rows, dict) else rows)}


@pytest.mark.parametrize("front", [(), ("--plain",)], ids=["screen", "plain"])
def test_bf_2_two_branches_have_titles_of_their_own_and_a_finished_session_stays_finished(
    place: Place, front: tuple[str, ...]
) -> None:
    person = ScreenPerson(place, *front)
    try:
        person.sees("lists commands" if front else READY)
        person.type("mend the lamp\r")
        person.sees("The lamp is mended.")
        (origin,) = place.transcripts()
        person.until(lambda: b'"turn-result"' in origin.read_bytes())
        person.type("/branch\r")
        person.sees("mend the lamp (Branch)")
        person.until(lambda: len(place.transcripts()) == 2)
        before = origin.read_bytes()  # it was left and closed
        person.type("/branch\r")
        person.sees("mend the lamp (Branch 2)")
        person.until(lambda: len(place.transcripts()) == 3)
        assert origin.read_bytes() == before, "BF-1"
        person.type("\x04")
        person.until_ended()
    finally:
        person.leave()
    rows = listed(place)
    assert set(rows) == {"mend the lamp", "mend the lamp (Branch)", "mend the lamp (Branch 2)"}
    assert {row["state"] for row in rows.values()} == {rows["mend the lamp"]["state"]}
    assert "interrupted" not in {row["state"] for row in rows.values()}
    sources = {
        path.stem: line["sourceSession"]
        for path in place.transcripts()
        if (line := json.loads(path.read_text().splitlines()[0]))["type"] == "session-source"
    }
    first = rows["mend the lamp (Branch)"]["session_id"]
    assert sources == {first: origin.stem, rows["mend the lamp (Branch 2)"]["session_id"]: first}
    assert "interrupted" not in place.run("recap", first).out.lower()


def test_a_copy_by_fork_session_stands_as_its_source_did(place: Place) -> None:
    session = place.run("-p", "mend the lamp", "--output-format", "json").result["session_id"]
    assert place.run("-p", "/title Of the copy", "--resume", session, "--fork-session").code == 0
    assert place.run("-p", "", "--resume", session, "--fork-session").code == 2, "nothing was cut off"
    assert len(place.transcripts()) == 1, "BF-6"


def test_fork_needs_a_session_that_goes_on(place: Place) -> None:
    session = place.run("-p", "mend the lamp", "--output-format", "json").result["session_id"]
    before = place.transcripts()[0].read_bytes()
    done = place.run("-p", "/fork look at the door", "--resume", session)
    assert (done.code, done.out) == (2, "")
    assert "needs a session that goes on" in done.err
    assert [path.read_bytes() for path in place.transcripts()] == [before]
