"""Queued prompts outlive their process: they are back in the queue, told, and go only on a key press."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

FRONT_ENDS = pytest.mark.parametrize("front", [(), ("--plain",)], ids=["screen", "plain"])


class Desk:
    """A place with its model, and the people who come to it one after the other."""

    def __init__(self, tmp_path: Path, server: ModelServer) -> None:
        self.place = Place(tmp_path, server.url)
        self.server = server
        self.present: list[ScreenPerson] = []

    def come(self, *args: str) -> ScreenPerson:
        self.present.append(ScreenPerson(self.place, *args))
        return self.present[-1]

    def left_with_a_queue(self, front: tuple[str, ...], how: signal.Signals) -> None:
        """Two prompts wait behind a turn that does not end; then the process is gone."""
        person = self.come(*front)
        person.sees("F1 help" if not front else "/help")
        person.type("wait\r")
        person.sees("first words")
        for words in ("second thing", "third thing"):
            person.type(f"{words}\r")
            person.until(lambda words=words: words in self.queued())
        person.process.send_signal(how)
        person.until_ended()

    def queued(self) -> list[str]:
        lines = [line for path in self.place.transcripts() for line in path.read_text().splitlines()]
        events = [json.loads(line)["event"] for line in lines if '"prompt.queued"' in line and '"event":' in line]
        return [event["content"] for event in events if "content" in event]

    def asked(self) -> str:
        return json.dumps([request.body["messages"] for request in self.server.requests])


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    script = {
        "replies": [{"match": "wait", "parts": [{"text": "first words"}, {"wait": "gate"}]}],
        "last": {"text": "fine"},
    }
    with ModelServer(script) as server:
        desk = Desk(tmp_path, server)
        yield desk
        for person in desk.present:
            person.leave()


@FRONT_ENDS
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP], ids=["killed", "hung up"])
def test_prompts_of_a_process_that_is_gone_are_queued_again(
    desk: Desk, front: tuple[str, ...], how: signal.Signals
) -> None:
    desk.left_with_a_queue(front, how)
    person = desk.come("-c", *front)
    person.sees("queued second thing")
    person.sees("queued third thing")
    person.sees("2 prompts are still queued")
    assert "second thing" not in desk.asked()

    person.type("\r")
    person.until(lambda: "third thing" in desk.asked())
    assert desk.asked().index("second thing") < desk.asked().index("third thing")


@FRONT_ENDS
def test_a_queued_prompt_that_is_taken_back_is_gone_for_good(desk: Desk, front: tuple[str, ...]) -> None:
    desk.left_with_a_queue(front, signal.SIGKILL)
    person = desk.come("-c", *front)
    person.sees("queued third thing")
    person.type("\x1b[A")
    person.until(lambda: any(row.lstrip("▌> ") == "third thing" for row in person.rows))
    person.process.kill()
    person.until_ended()

    again = desk.come("-c", *front)
    again.sees("queued second thing")
    again.sees("1 prompt is still queued")
    assert not any("queued third thing" in row for row in again.rows)


def test_a_run_without_a_person_sends_nothing_that_was_queued(desk: Desk) -> None:
    desk.left_with_a_queue((), signal.SIGKILL)
    done = desk.place.run("-c", "-p", "and now")
    assert done.code == 0, done.err
    assert "second thing" not in desk.asked()
    person = desk.come("-c")
    person.sees("queued third thing")


def test_what_joined_is_queued_no_more(desk: Desk) -> None:
    desk.left_with_a_queue((), signal.SIGKILL)
    person = desk.come("-c")
    person.sees("queued third thing")
    person.type("\r")
    person.until(lambda: "third thing" in desk.asked())
    person.sees_word("fine")
    person.process.kill()
    person.until_ended()
    again = desk.come("-c")
    again.sees("third thing")
    again.sees("F1 help")
    assert not any(row.lstrip().startswith("queued ") for row in again.rows)
