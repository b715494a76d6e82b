"""A compaction that is stopped, killed, doubled or waited for: nothing changes before its boundary is written."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from e2e.compaction_lab import Lab, fill, good, text_of
from e2e.conversation_person import Person
from fakes.fault_script import Place

Json = dict[str, Any]


def held(lab: Lab, person: Person, line: str = "/compact") -> list[Json]:
    """A compaction that waits for its summary; the lines of the log before it."""
    fill(lab, person, 4)
    lab.last = {"text": "fine"}
    lab.summariser = lambda request: good(request) | {"hold": Place("opened", 0, "summary")}
    before = lab.entries()
    person.say(line)
    person.wait(lambda: "summary" in lab.server.reached, "the summary is asked for")
    return before


def assert_unchanged(lab: Lab, before: list[Json]) -> None:
    """Nothing that the next request is made from was written."""
    new = lab.entries()[len(before) :]
    assert not lab.boundaries()
    assert not [entry for entry in new if entry["type"] in ("user", "assistant")]


def assert_goes_on(lab: Lab, person: Person) -> None:
    """Everything that was said is sent again."""
    lab.turn(person, "ask900 go on")
    sent = text_of(lab.asked[-1].request)
    assert [sent.count(f"say00{number}") for number in range(4)] == [1, 1, 1, 1]
    assert sent.count("ask900") == 1


def test_killed_in_the_middle_nothing_has_changed(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start()
        before = held(lab, person)
        person.kill()
        assert_unchanged(lab, before)
        lab.server.release("summary")
        assert_goes_on(lab, lab.start("--continue"))


@pytest.mark.parametrize("terminal", [True, False])
def test_ctrl_c_in_the_middle_is_told_and_the_session_goes_on(tmp_path: Path, terminal: bool) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start(terminal=terminal)
        before = held(lab, person)
        person.interrupt()
        person.wait(lambda: "Not compacted. It was interrupted; nothing was changed." in person.text, "the word")
        assert_unchanged(lab, before)
        lab.server.release("summary")
        assert_goes_on(lab, person)


def test_a_closed_terminal_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start(terminal=True)
        before = held(lab, person)
        os.kill(person.pid, signal.SIGHUP)
        person.wait(lambda: person.ended, "its end")
        assert_unchanged(lab, before)
        lab.server.release("summary")
        assert_goes_on(lab, lab.start("--continue"))


def test_typed_words_wait_and_a_second_compaction_is_refused(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start(terminal=True)
        held(lab, person)
        asked = len(lab.asked)
        for line in ("/compact", "/clear", "/compact fast"):
            before = len(person.text)
            person.type(line)
            person.wait(
                lambda at=before: "Error: the conversation is being made smaller already" in person.text[at:], line
            )
        person.queue("ask901 and this afterwards")
        assert len(lab.asked) == asked
        lab.server.release("summary")
        person.wait(lambda: len(lab.asked) > asked, "the request")
        sent = text_of(lab.asked[-1].request)
        assert sent.count("ask901") == 1
        assert "say000" not in sent
        assert len(lab.boundaries()) == 1


def test_stopped_while_a_turn_makes_room_the_turn_ends_and_nothing_has_changed(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start()
        fill(lab, person, 5, tokens=800)
        asked = len(lab.asked)
        lab.summariser = lambda request: good(request) | {"hold": Place("opened", 0, "summary")}
        person.say("ask899 go on")
        person.wait(lambda: "summary" in lab.server.reached, "the summary is asked for")
        person.interrupt()
        person.wait(person.idle, "the end of the turn")
        assert not lab.boundaries()
        assert len(lab.asked) == asked
        lab.server.release("summary")
        lab.summariser = good
        lab.last = {"text": "fine"}
        lab.turn(person, "ask900 go on")
        assert len(lab.boundaries()) == 1
        sent = text_of(lab.asked[-1].request)
        assert "ask899" in sent
        assert "ask900" in sent


def test_ops_while_a_turn_runs_wait_for_its_end(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start(terminal=True)
        fill(lab, person, 4)
        lab.last = {"text": "say500 fine", "hold": Place("opened", 0, "reply")}
        person.say("ask500 go on")
        person.wait(lambda: "reply" in lab.server.reached, "the reply")
        person.type("/compact")
        person.type("/pin keep the order of the fields")
        person.wait(lambda: "Pinned: keep the order of the fields" in person.text, "the pin")
        assert not lab.summaries
        lab.server.release("reply")
        person.wait(lambda: "Compacted (manual)" in person.text, "the compaction")
        lab.last = {"text": "fine"}
        lab.turn(person, "ask501 go on")
        sent = text_of(lab.asked[-1].request)
        assert "keep the order of the fields" in sent
        assert "say500 fine" in sent
        assert "say000" not in sent


def test_a_boundary_that_names_missing_entries_loses_nothing(tmp_path: Path) -> None:
    """Whatever the file says of a segment that is not there, the next request is valid and holds what was said."""
    with Lab(tmp_path) as lab:
        person = lab.start()
        fill(lab, person, 4)
        lab.ask(person, "/compact", r"Compacted")
        person.leave()
        (boundary,) = lab.boundaries()
        head = boundary["compactMetadata"]["preservedSegment"]["headUuid"]
        text = lab.path.read_text()
        lab.path.write_text(text.replace(f'"headUuid":"{head}"', '"headUuid":"00000000-0000-4000-8000-000000000000"'))
        resumed = lab.start("--continue")
        lab.last = {"text": "fine"}
        lab.turn(resumed, "ask900 go on")
        sent = text_of(lab.asked[-1].request)
        assert "say003" in sent
        assert sent.count("ask900") == 1
