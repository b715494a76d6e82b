"""Notifications through the real command: the terminal's while it has no focus, the webhook's of a run on its own."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from bench.screen_terminal import ScreenTerminal

from e2e.command import CLEW, Place
from fakes.model_server import ModelServer

LOST, FOUND = "\x1b[O", "\x1b[I"
READY = {"--plain": ">", "": "sk for something"}
NO_MINIMUM = json.dumps({"notifications": {"minTurnS": 0}})
EDIT = {"file_path": "made.txt", "content": "x"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@contextmanager
def opened(place: Place, script: Any, front: str, settings: str = NO_MINIMUM, **env: str) -> Iterator[ScreenTerminal]:
    with ModelServer(script) as server:
        env = {**place.env, "ANTHROPIC_BASE_URL": server.url, "TERM": "xterm-256color", **env}
        arguments = [front] if front else []
        with ScreenTerminal([CLEW, "--trust", "--settings", settings, *arguments], env, place.project) as terminal:
            terminal.shows(READY[front])
            yield terminal


def leave(terminal: ScreenTerminal) -> None:
    """Whatever was still to be written has been."""
    terminal.type("\x04")
    assert terminal.wait() == 0


def rung(terminal: ScreenTerminal, words: bytes) -> bool:
    return b"\x1b]9;" + words in terminal.output and b"\x1b]777;notify;clew;" + words in terminal.output


@pytest.mark.parametrize("front", ["", "--plain"])
def test_the_end_of_a_turn_rings_only_while_the_terminal_has_no_focus(place: Place, front: str) -> None:
    with opened(place, [{"text": "first answer"}, {"text": "second answer"}], front) as terminal:
        terminal.type(FOUND + "one\r")
        terminal.shows("first answer")
        terminal.shows(READY[front])
        terminal.type("two\r" + LOST)
        terminal.shows("second answer")
        terminal.until(lambda seen: rung(seen, b"Done"))
        terminal.shows(READY[front])
        leave(terminal)
        assert terminal.output.count(b"\x1b]777;") == 1
        assert b"\x1b[?1004h" in terminal.output
        assert terminal.output.rindex(b"\x1b[?1004l") > terminal.output.rindex(b"\x1b[?1004h")


@pytest.mark.parametrize("front", ["", "--plain"])
def test_a_question_rings_once_and_only_an_answer_answers_it(place: Place, front: str) -> None:
    script = [{"calls": [{"call": "Write", "arguments": EDIT}]}, {"text": "made it"}]
    with opened(place, script, front, TMUX="/tmp/tmux-0/default,1,0") as terminal:
        terminal.type("go\r" + LOST)
        terminal.until(lambda seen: b"\x1bPtmux;\x1b\x1b]9;Approval needed for Write" in seen.output)
        assert not (place.project / "made.txt").exists()
        terminal.type(FOUND)
        terminal.shows("Allow Write?" if not front else "Allow?")
        assert not (place.project / "made.txt").exists()
        terminal.shows("Esc denies" if not front else "Allow?")  # its quiet time is over
        terminal.type("y" if not front else "y\r")
        terminal.shows("made it")
        assert (place.project / "made.txt").exists()
        terminal.shows("2 steps")  # the turn is over: nobody leaves in the middle of it
        terminal.shows(READY[front])
        leave(terminal)
        assert terminal.output.count(b"]777;notify;clew;Approval") == 1


def test_off_is_off(place: Place) -> None:
    settings = json.dumps({"notifications": {"minTurnS": 0, "terminal": "off"}})
    with opened(place, [{"text": "first answer"}], "", settings) as terminal:
        terminal.type("one\r" + LOST)
        terminal.shows("first answer")
        terminal.shows(READY[""])
        leave(terminal)
        assert b"]777;" not in terminal.output


class Hook(ThreadingHTTPServer):
    """Keeps what it is sent, and answers with its status."""

    daemon_threads = True

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.documents: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), Receiver)

    @property
    def settings(self) -> str:
        return json.dumps({"notifications": {"webhook": f"http://127.0.0.1:{self.server_port}/secret-path"}})


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Hook)
        self.server.documents.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def receiving(status: int = 200) -> Iterator[Hook]:
    with Hook(status) as hook:
        thread = threading.Thread(target=hook.serve_forever)
        thread.start()
        try:
            yield hook
        finally:
            hook.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("reply", "arguments", "kind"),
    [
        ({"text": "hi"}, [], "done"),
        ({"calls": [{"call": "Glob", "arguments": {"pattern": "*"}}]}, ["--max-turns", "1"], "limit"),
        ({"fault": "unauthorized"}, [], "failed"),
    ],
    ids=["done", "limit", "failed"],
)
def test_a_run_on_its_own_tells_its_end_to_the_webhook(
    place: Place, reply: dict[str, Any], arguments: list[str], kind: str
) -> None:
    with ModelServer([reply]) as server, receiving() as hook:
        done = place.run("-p", "go", "--settings", hook.settings, *arguments, env={"ANTHROPIC_BASE_URL": server.url})
    (document,) = hook.documents
    assert document["kind"] == kind
    assert document["cwd"] == str(place.project)
    assert document["session_id"]
    assert "\x07" not in done.out + done.err


def test_a_webhook_that_fails_changes_neither_answer_nor_exit_code(place: Place) -> None:
    with ModelServer([{"text": "hi"}]) as server, receiving(404) as hook:
        done = place.run("-p", "go", "--settings", hook.settings, env={"ANTHROPIC_BASE_URL": server.url})
    assert len(hook.documents) == 1
    assert (done.code, done.out) == (0, "hi\n")
    assert "secret-path" not in done.err


def test_an_address_it_cannot_be_ends_the_run_before_anything_is_sent(place: Place) -> None:
    settings = json.dumps({"notifications": {"webhook": "http://example.com/secret-path"}})
    done = place.run("-p", "go", "--settings", settings)
    assert done.code == 2
    assert "notifications.webhook" in done.err
    assert "secret-path" not in done.err
    assert not place.transcripts()
