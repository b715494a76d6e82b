"""What was cut off: a command that is interrupted, a call and a question whose process died."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

COMMAND = "for i in 1 2 3; do echo line $i; done; touch ran; sleep 1000"
QUESTION = {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}
CHANGE = {"call": "Bash", "arguments": {"command": "sed -i s/old/new/ a.txt; touch ran; sleep 1000"}}
SCRIPT = {
    "replies": [
        {"match": "run it", "calls": [{"call": "Bash", "id": "call_run", "arguments": {"command": COMMAND}}]},
        {"match": "change it", "calls": [CHANGE]},
        {"match": "ask me", "calls": [{"call": "AskUser", "id": "call_ask", "arguments": {"questions": [QUESTION]}}]},
    ],
    "last": {"text": "fine"},
}
FRONT_ENDS = pytest.mark.parametrize("front", [(), ("--plain",)], ids=["screen", "plain"])


class Desk:
    """A place with its model, and the people who come to it one after the other."""

    def __init__(self, tmp_path: Path, server: ModelServer) -> None:
        self.place = Place(tmp_path, server.url)
        self.server = server
        self.present: list[ScreenPerson] = []

    def come(self, *args: str) -> ScreenPerson:
        person = ScreenPerson(self.place, "--permission-mode", "bypassPermissions", *args)
        self.present.append(person)
        person.sees("/help" if "--plain" in args else "F1 help")
        return person

    def runs(self, *args: str) -> ScreenPerson:
        """Somebody whose command has printed its lines and goes on."""
        person = self.come(*args)
        person.type("run it\r")
        person.until(lambda: (self.place.project / "ran").exists())
        return person

    def result(self, call_id: str) -> dict[str, Any]:
        """What the model was told of a call, in the last request."""
        parts = [part for message in self.server.requests[-1].body["messages"] for part in message["content"]]
        (found,) = (part for part in parts if part.get("tool_use_id") == call_id)
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ModelServer(SCRIPT) as server:
        desk = Desk(tmp_path, server)
        yield desk
        for person in desk.present:
            person.leave()


@FRONT_ENDS
def test_an_interrupted_command_keeps_its_lines_and_is_told_once(desk: Desk, front: tuple[str, ...]) -> None:
    person = desk.runs(*front)
    if not front:
        person.sees("line 3")
    person.type("\x1b")
    person.sees("Interrupted by you")
    shown = "\n".join(person.rows)
    assert all(f"    line {number}" in shown for number in (1, 2, 3)), shown
    assert "failed" not in shown
    assert shown.count("Interrupted") == 1, shown

    person.type("and now\r")
    person.sees_word("fine")
    told = desk.result("call_run")
    assert told["content"] == "line 1\nline 2\nline 3\nInterrupted before it finished."
    (kept,) = (entry for entry in desk.place.entries() if "stopped" in str(entry.get("toolUseResult")))
    assert kept["toolUseResult"]["display"][0]["output"] == "line 1\nline 2\nline 3\n"

    person.process.kill()
    person.until_ended()
    again = desk.come("-c", *front)
    if not front:
        again.sees("line 3")
        again.sees("ran  new file, empty")
    assert "failed" not in "\n".join(again.rows)


def test_a_call_whose_process_died_looks_cut_off(desk: Desk) -> None:
    person = desk.runs()
    person.process.kill()
    person.until_ended()
    again = desk.come("-c")
    again.sees("◌ Cut off for i in 1 2 3")
    again.sees("the last turn was cut off: /reopen goes on with it")
    again.type("/reopen\r")
    again.sees_word("fine")
    assert desk.result("call_run")["content"].startswith("[interrupted] This call has no recorded result")


@FRONT_ENDS
def test_a_question_whose_process_died_can_be_reopened(desk: Desk, front: tuple[str, ...]) -> None:
    person = desk.come(*front)
    person.type("ask me\r")
    person.sees("Which colour?")
    person.process.kill()
    person.until_ended()

    again = desk.come("-c", *front)
    if not front:
        again.sees("◌ Cut off the question: Which colour?")
    again.sees("asks the open")
    asked = len(desk.server.requests)
    again.type("/reopen\r")
    again.sees("own words")
    assert len(desk.server.requests) == asked
    if not front:  # keys count once the dialog has stood for a moment
        again.type("\r")
        again.until(lambda: any("did not count" in row or "Nothing is chosen" in row for row in again.rows))
    again.type("2\r")
    again.sees_word("fine")
    assert desk.result("call_ask")["content"] == "The user answered:\n- Which colour?: blue"
    assert not any("Cut off" in row for row in again.rows)


def test_what_was_cut_off_is_not_reopened_once_something_else_was_said(desk: Desk) -> None:
    person = desk.come()
    person.type("ask me\r")
    person.sees("Which colour?")
    person.process.kill()
    person.until_ended()
    again = desk.come("-c")
    again.type("never mind\r")
    again.sees_word("fine")
    told = json.dumps(desk.server.requests[-1].body)
    again.type("/reopen\r")
    again.sees("there is nothing to go on with")
    assert json.dumps(desk.server.requests[-1].body) == told


@FRONT_ENDS
def test_an_interrupted_command_tells_what_it_changed(desk: Desk, front: tuple[str, ...]) -> None:
    (desk.place.project / "a.txt").write_text("one\nold\n")
    person = desk.come(*front)
    person.type("change it\r")
    person.until(lambda: (desk.place.project / "ran").exists())
    person.type("\x1b")
    person.sees("Interrupted by you")
    (kept,) = (entry for entry in desk.place.entries() if "stopped" in str(entry.get("toolUseResult")))
    (block,) = (one for one in kept["toolUseResult"]["display"] if one["kind"] == "diff" and "a.txt" in one["path"])
    assert "-old" in block["patch"]
    assert "+new" in block["patch"]


@FRONT_ENDS
def test_a_command_of_ones_own_tells_what_it_changed(desk: Desk, front: tuple[str, ...]) -> None:
    (desk.place.project / "a.txt").write_text("one\nold\n")
    person = desk.come(*front)
    person.type("!sed -i s/old/new/ a.txt\r")
    person.sees("+ new")
    person.process.kill()
    person.until_ended()
    if not front:
        desk.come("-c").sees("+ new")
