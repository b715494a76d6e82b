"""The plain front end in a process of its own: on a real pseudo-terminal, and on pipes."""

import errno
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fakes.effort import HANG_S
from fakes.model_server import ModelServer
from unit.plain.vt import Screen

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT.parent / "shared" / "cases" / "terminal_escape.jsonl"
WAIT_S = HANG_S
LONG_GUARD_S = 3.0
"""A quiet time in which a test surely gets to type, however busy the machine is."""


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}",
        "CLEW_HOME": str(home),
        "TERM": "xterm-256color",
        "PYTHONUTF8": "1",
        **more,
    }


class Person:
    """Someone at a terminal: types, watches, waits for what must appear."""

    def __init__(self, command: list[str], folder: Path, *, columns: int = 60, **env: str) -> None:
        self.columns = columns
        self.ops_file = folder / "ops.jsonl"
        self.seen = ""
        self._raw = b""
        self.code: int | None = None
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command[0], command, environment(folder / "home", **env))
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    @property
    def ops(self) -> list[dict[str, Any]]:
        if not self.ops_file.exists():
            return []
        return [json.loads(line) for line in self.ops_file.read_text().splitlines()]

    @property
    def screen(self) -> Screen:
        return Screen(self.columns).feed(self.seen)

    def type(self, text: str | bytes) -> None:
        os.write(self._fd, text.encode() if isinstance(text, str) else text)

    def read(self, timeout_s: float) -> bool:
        """Take what the process has written; False when it wrote nothing or is gone."""
        if not select.select([self._fd], [], [], timeout_s)[0]:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        self._raw += data
        self.seen = self._raw.decode("utf-8", "replace")
        return bool(data)

    def sees(self, text: str, times: int = 1) -> None:
        deadline = time.monotonic() + WAIT_S
        while self.seen.count(text) < times:
            assert time.monotonic() < deadline, f"{text!r} never appeared in:\n{self.seen}"
            self.read(0.2)

    def mode(self) -> list[Any]:
        return termios.tcgetattr(self._fd)

    def exits(self) -> int:
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                while self.read(0):
                    pass
                self.code = os.waitstatus_to_exitcode(status)
                return self.code
            self.read(0.05)
        raise AssertionError(f"it does not end; last seen:\n{self.seen}")

    def leave(self) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._fd)


@pytest.fixture
def people(tmp_path: Path) -> Iterator[Any]:
    present: list[Person] = []

    def come(scenario: str, *, command: list[str] | None = None, **more: Any) -> Person:
        child = [sys.executable, "-m", "unit.plain.child", scenario, str(tmp_path / "ops.jsonl")]
        present.append(Person(command or child, tmp_path, **more))
        return present[-1]

    yield come
    for person in present:
        person.leave()


def test_a_conversation_and_a_clean_end(people: Any) -> None:
    person = people("talk")
    before = person.mode()
    person.sees("> ")
    person.type("hello\r")
    person.sees("You said: hello")
    person.sees("> ", times=2)
    person.type("\x1b[A!\r")
    person.sees("You said: hello!")
    person.sees("-- ", times=2)
    person.type("\x04")
    assert person.exits() == 0
    assert [op["op"] for op in person.ops] == ["prompt.submit", "prompt.submit"]
    assert "Continue with: clew --resume s-1" in person.seen
    assert person.mode() == before
    assert person.seen.count("\x1b[?2004h") == person.seen.count("\x1b[?2004l") == 1


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_keys_typed_ahead_do_not_answer_an_approval(people: Any, term: str) -> None:
    person = people("approve", TERM=term, GUARD_S=str(LONG_GUARD_S))
    person.sees("> ")
    person.type("go\ry\ry\r")
    person.sees("Approval needed")
    person.type("y\r")
    person.sees("Allow?")
    assert "> go\r\n" in person.seen
    assert [op["op"] for op in person.ops if op["op"] == "approval.answer"] == []
    person.type("n not on a Friday\r")
    person.sees("decision: deny not on a Friday")


def test_the_prompt_appears_when_no_key_comes(people: Any) -> None:
    """That it waits before, and for how long: tests/unit/plain/test_approval.py."""
    person = people("approve")
    person.sees("> ")
    person.type("go\r")
    person.sees("Approval needed")
    person.sees("Allow?")
    person.type("y\r")
    person.sees("decision: allow")


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_c_interrupts_and_the_terminal_is_restored(people: Any, term: str) -> None:
    person = people("endless", TERM=term)
    before = person.mode()
    person.sees("> ")
    person.type("go\r")
    person.sees("Working on it")
    person.type("\x03")
    person.sees("Interrupting.")
    person.sees("Interrupted")
    assert [op["op"] for op in person.ops] == ["prompt.submit", "interrupt"]
    person.sees("> ", times=2)
    person.type("/quit\r")
    assert person.exits() == 0
    assert person.mode() == before


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_c_takes_nothing_off_the_screen(people: Any, term: str) -> None:
    """The kernel throws away what was written and not yet shown when the key arrives, unless it is told not to."""
    person = people("talk", TERM=term)
    before = person.mode()
    assert not before[3] & termios.NOFLSH
    person.sees("> ")
    assert person.mode()[3] & termios.NOFLSH
    person.type("\x04")
    assert person.exits() == 0
    assert person.mode() == before


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_c_twice_quits_when_idle(people: Any, term: str) -> None:
    person = people("talk", TERM=term)
    before = person.mode()
    person.sees("> ")
    person.type("\x03")
    person.sees("(Ctrl-C again quits")
    person.type("\x03")
    assert person.exits() == 130
    assert person.mode() == before


def test_ctrl_c_at_an_approval_denies_and_interrupts(people: Any) -> None:
    person = people("approve")
    person.sees("> ")
    person.type("go\r")
    person.sees("Allow?")
    person.type("\x03")
    person.sees("Denied, and interrupted.")
    person.sees("decision: deny")
    assert person.ops[1]["stop"] is True
    assert person.ops[2]["op"] == "interrupt"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_termination_closes_and_restores_the_terminal(people: Any, number: signal.Signals) -> None:
    person = people("endless")
    before = person.mode()
    person.sees("> ")
    person.type("go\r")
    person.sees("Working on it")
    os.kill(person.pid, number)
    assert person.exits() == 130
    assert person.mode() == before


def test_ctrl_z_gives_the_terminal_back_and_takes_it_again(people: Any) -> None:
    person = people("talk")
    before = person.mode()
    person.sees("> ")
    person.type("half")
    person.sees("half")
    person.type("\x1a")
    deadline = time.monotonic() + WAIT_S
    while person.mode() != before:
        assert time.monotonic() < deadline
        person.read(0.05)
    while b"T" not in Path(f"/proc/{person.pid}/stat").read_bytes().rpartition(b")")[2][:3]:
        assert time.monotonic() < deadline
    os.kill(person.pid, signal.SIGCONT)
    person.sees("half", times=2)
    person.type(" and half\r")
    person.sees("You said: half and half")


@pytest.mark.parametrize("columns", [20, 60])
def test_narrow_screens_chinese_and_emoji(people: Any, columns: int) -> None:
    person = people("wide", columns=columns)
    person.sees("> ")
    person.type("看看这个文件🎉，然后改一下" * 3)
    person.type("\x7f\r")
    person.sees("-- ")
    person.sees("> ", times=2)
    screen = person.screen
    assert "你好，世界" in screen.text
    assert person.ops[0]["content"] == ("看看这个文件🎉，然后改一下" * 3)[:-1]
    if columns == 60:
        assert [line for line in screen.lines if line.startswith("*")] == [
            "* Read …码/源代码/源代码/源代码/源代码/校验.py (lines 1-40)",
            "* Ran echo 字字字字字字字字字字字字字字字字字字字…: exit 3",
        ]


def test_a_dumb_terminal_gets_no_escape_at_all(people: Any) -> None:
    person = people("talk", TERM="dumb")
    person.sees("> ")
    person.type("hello\n")
    person.sees("You said: hello")
    person.type("/quit\n")
    assert person.exits() == 0
    assert "\x1b" not in person.seen


def test_no_color_is_honoured(people: Any) -> None:
    coloured, plain = people("talk"), people("talk", NO_COLOR="1")
    for person in (coloured, plain):
        person.sees("lists commands")
        person.sees("> ")
    assert coloured.screen.sgr_seen
    assert not plain.screen.sgr_seen


def test_hostile_text_reaches_the_terminal_as_plain_text(people: Any) -> None:
    texts = ["a\x1b]0;title\x07b", "\x1b[2J\x1b[Hgone", "x\x9b5nz", "rm -rf src\rls", "a\u202eb"]
    if CASES.exists():
        for line in CASES.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            if isinstance(case["input"], str) and case["kind"] == "attack":
                texts.append(case["input"])
    person = people("hostile", NO_COLOR="1")
    person.sees("> ")
    # Everything but letters is written as an escape, so that typing it sends no control key.
    person.type(json.dumps(texts) + "\r")
    person.sees("-- ")
    person.sees("> ", times=3)
    screen = person.screen
    assert "ab" in screen.text
    assert "gone" in screen.text
    assert not [char for char in screen.text if char in "\u202e\u200b\u2066" or "\x80" <= char <= "\x9f"]


CONFIRM = """
from clew.plain.dialogs.confirm import confirm
print("answer:", confirm(["Trust this directory?"], "Trust it?", quoted="/tmp/a\\u202eb", guard_s=GUARD_S))
print("next:", input())
"""


@pytest.mark.parametrize(("typed", "answer"), [("y", True), ("YES", True), ("", False), ("n", False), ("yo", False)])
def test_a_question_before_the_session(people: Any, typed: str, answer: bool) -> None:
    person = people("", command=[sys.executable, "-c", CONFIRM.replace("GUARD_S", "0.3")])
    before = person.mode()
    person.sees("Trust this directory?")
    person.sees("  | /tmp/a\\u{202E}b")
    person.sees("Trust it? [y]es / [n]o > ")
    assert person.mode() == before
    person.type(f"{typed}\rafterwards\r")
    person.sees(f"answer: {answer}")
    person.sees("next: afterwards")


def test_keys_typed_ahead_do_not_answer_a_question_before_the_session(people: Any) -> None:
    person = people("", command=[sys.executable, "-c", CONFIRM.replace("GUARD_S", str(LONG_GUARD_S))])
    person.sees("  | /tmp/a\\u{202E}b")
    person.type("y\r")
    person.sees("Trust it? [y]es / [n]o > ")
    assert "answer" not in person.seen
    person.type("n\rafterwards\r")
    person.sees("answer: False")
    person.sees("next: afterwards")


def test_a_question_on_a_pipe_is_no(tmp_path: Path) -> None:
    code = CONFIRM.replace("input()", "1").replace("GUARD_S", "0.3")
    env = environment(tmp_path)
    done = subprocess.run([sys.executable, "-c", code], input=b"y\n", capture_output=True, env=env, check=True)
    assert done.stdout.endswith(b"Nobody can answer here. Taken as no.\nanswer: False\nnext: 1\n")


def run_on_pipes(scenario: str, given: bytes, folder: Path) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "unit.plain.child", scenario, str(folder / "ops.jsonl")]
    env = environment(folder / "home")
    return subprocess.run(command, input=given, capture_output=True, env=env, timeout=WAIT_S, check=False)


def test_a_pipe_is_a_list_of_prompts(tmp_path: Path) -> None:
    done = run_on_pipes("talk", "one\n/version\nzwei ünï\n".encode(), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    text = done.stdout.decode()
    assert "> one\n  You said: one\n-- " in text
    assert "clew 0.1\n> zwei ünï\n  You said: zwei ünï\n-- " in text
    assert text.count("You said: one") == 1
    assert "\x1b" not in text


def test_a_file_as_input_cannot_answer_an_approval(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("go\ny\n")
    command = [sys.executable, "-m", "unit.plain.child", "approve", str(tmp_path / "ops.jsonl")]
    with script.open() as file:
        done = subprocess.run(
            command, stdin=file, capture_output=True, env=environment(tmp_path / "home"), timeout=WAIT_S, check=False
        )
    assert b"decision: deny" in done.stdout
    assert b"decision: allow" not in done.stdout


def test_input_that_is_not_utf8_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    done = run_on_pipes("talk", b"caf\xe9\nfine\n", tmp_path)
    assert b"a line is not UTF-8 (byte 0xe9 at position 4); it was not sent" in done.stdout
    assert b"You said: fine" in done.stdout
    assert done.returncode == 1


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "unit.plain.child", "talk", str(tmp_path / "ops.jsonl")]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path / "home"),
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(b"hello\n" * 5)
    process.stdin.flush()
    assert process.wait(WAIT_S) == 0
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()


def test_no_input_at_all_ends_at_once(tmp_path: Path) -> None:
    assert run_on_pipes("talk", b"", tmp_path).returncode == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_closed_descriptors_end_at_once(tmp_path: Path, closed: str) -> None:
    command = f"exec '{sys.executable}' -m unit.plain.child talk '{tmp_path / 'ops'}' {closed}"
    done = subprocess.run(
        ["sh", "-c", command], input=b"", capture_output=True, env=environment(tmp_path), timeout=WAIT_S, check=False
    )
    assert done.returncode == 0
    assert done.stderr == b""


CLEW = [sys.executable, "-m", "clew", "--plain", "--trust", "--model", "anthropic/claude-test"]


@pytest.fixture
def clew(people: Any) -> Iterator[Any]:
    """The whole program at a terminal, with a model from a script. Without a sandbox, so that commands ask."""
    with ExitStack() as servers:

        def start(*replies: dict[str, Any], **more: Any) -> tuple[Person, ModelServer]:
            server = servers.enter_context(ModelServer([*replies]))
            keys = {"ANTHROPIC_API_KEY": "sk-test-0123456789", "ANTHROPIC_BASE_URL": server.url, "CLEW_SANDBOX": "off"}
            person = people("", command=CLEW, **keys, **more)
            person.sees("> ")
            return person, server

        yield start


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"call": "Bash", "arguments": {"command": command, "description": "a step"}}]}


def test_whole_an_edit_is_approved_and_told(clew: Any, tmp_path: Path) -> None:
    target = tmp_path / "a.py"
    target.write_text("x = 1\n")
    edit = {"file_path": str(target), "old_string": "x = 1", "new_string": "x = 2"}
    person, _ = clew(
        {"calls": [{"call": "Read", "arguments": {"file_path": str(target)}}]},
        {"calls": [{"call": "Edit", "arguments": edit}]},
        {"text": "Done."},
    )
    person.type("change it\r")
    person.sees("Allow?")
    assert "* Read a.py (1 line)" in person.seen
    assert "  | - x = 1" in person.screen.text
    assert "  | + x = 2" in person.screen.text
    assert target.read_text() == "x = 1\n"
    person.type("y\r")
    person.sees("Done.")
    person.sees("Edited a.py +1 -1")
    person.sees("3 steps")
    assert target.read_text() == "x = 2\n"
    person.type("/stats\r")
    person.sees("1 turn, 3 steps")
    person.type("/quit\r")
    assert person.exits() == 0


def test_whole_a_denial_with_a_reason_reaches_the_model(clew: Any, tmp_path: Path) -> None:
    person, server = clew(bash("touch marker"), {"text": "As you wish."})
    person.type("go\r")
    person.sees("  | touch marker")
    person.sees("Allow?")
    person.type("n use a branch instead\r")
    person.sees("* Refused Bash touch marker: use a branch instead")
    person.sees("As you wish.")
    assert "use a branch instead" in json.dumps(server.requests[-1].body["messages"])
    assert not (tmp_path / "marker").exists()


def test_whole_ctrl_c_stops_a_running_command_and_the_session_goes_on(clew: Any, tmp_path: Path) -> None:
    person, _ = clew(bash(f"echo started > {tmp_path}/mark; sleep 1000"), {"text": "Still here."})
    person.type("go\r")
    person.sees("Allow?")
    person.type("y\r")
    deadline = time.monotonic() + WAIT_S
    while not (tmp_path / "mark").exists():
        assert time.monotonic() < deadline, person.seen
        person.read(0.05)
    person.type("\x03")
    person.sees("Interrupted")
    person.sees("-- ")
    person.type("and now?\r")
    person.sees("Still here.")
    person.sees("-- ", times=2)
    person.type("\x04")
    assert person.exits() == 0


def test_whole_words_typed_while_the_agent_works_reach_its_next_request(clew: Any) -> None:
    person, server = clew(
        {"parts": [{"text": "Looking"}, {"wait": "gate"}, {"call": "Bash", "arguments": {"command": "true"}}]},
        {"text": "With tabs then."},
    )
    person.type("go\r")
    person.sees("Looking")
    person.type("use tabs\r")
    person.sees("use tabs")
    server.release("gate")
    person.sees("With tabs then.")
    assert "use tabs" in json.dumps(server.requests[1].body["messages"])


def test_whole_an_unknown_command_sends_nothing(clew: Any) -> None:
    person, server = clew({"text": "never"})
    person.type("/halp\r")
    person.sees("Did you mean /help?")
    person.type("/quit\r")
    assert person.exits() == 0
    assert [request for request in server.requests if b"messages" in request.raw] == []


def test_whole_a_name_of_another_agent_is_answered_and_tab_does_not_put_another_command_in_its_place(clew: Any) -> None:
    person, server = clew({"text": "never"})
    person.type("/connect\t")
    person.sees("/mcp")  # its description tells of connecting: it is listed
    person.type("\r")
    person.sees("There is no /login")
    person.type("/changes\r")
    person.sees("Did you mean /diff?")
    person.type("/quit\r")
    assert person.exits() == 0
    assert [request for request in server.requests if b"messages" in request.raw] == []
