"""The whole transcript of scripted sessions, entry by entry."""

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.screen_terminal import ScreenTerminal

from e2e.command import CLEW, Place
from e2e.driver import Driven
from pinned.normal import Json, Normal, all_shown, is_aside, same
from pinned.scenes import ASK, PARTIAL, PLAN, QUESTION, allow, answer, blue, call, deny, is_text, scene, titled_result

FAKES = Path(__file__).parents[1] / "fakes"
STREAM = ("--output-format", "stream-json")
LONG = "words " * 1_500
SUMMARY = "# What was done\n## Done\n" + "\n".join(
    f"- Explained question{number} with some words" for number in range(4)
)


def pinned(place: Place, name: str, **names: str) -> list[Json]:
    """Compares the only transcript; its entries as they are shown."""
    (path,) = place.transcripts()
    normal = Normal(place, **names)
    written = sorted(path.read_text(encoding="utf-8").splitlines(), key=lambda line: is_aside(json.loads(line)))
    entries: list[Json] = [normal.document(line) for line in written]
    for entry in entries:
        if entry["type"] == "system-prompt":  # its words are in the pins of first requests
            words = "\n\n".join(entry["blocks"])
            entry["blocks"] = [f"sha256 {hashlib.sha256(words.encode()).hexdigest()}"]
    same(f"transcripts/{name}", all_shown(entries))
    return entries


@contextmanager
def driven(place: Place, prompt: str, *flags: str) -> Iterator[Driven]:
    """A program that says one prompt and does what it does; the turn ends, and the session."""
    with Driven(place, *flags) as run:
        run.say(prompt)
        yield run
        titled_result(run)
        assert run.end() == 0, run.errors


def test_one_read(tmp_path: Path) -> None:
    with scene(tmp_path, call("Read", file_path="a.txt"), {"text": "Two lines."}) as (place, _):
        assert place.run("-p", "read a.txt", *STREAM).code == 0
        pinned(place, "read")


def test_an_edit_with_its_diff(tmp_path: Path) -> None:
    edit = call("Edit", file_path="a.txt", old_string="beta", new_string="gamma")
    with scene(tmp_path, call("Read", file_path="a.txt"), edit, {"text": "Changed."}) as (place, _):
        assert place.run("-p", "beta is gamma", "--trust", "--permission-mode", "acceptEdits").code == 0
        assert (place.project / "a.txt").read_text() == "alpha\ngamma\n"
        pinned(place, "edit")


def test_a_command_that_fails(tmp_path: Path) -> None:
    with scene(tmp_path, call("Bash", command="echo out; echo err >&2; exit 3"), {"text": "It failed."}) as (place, _):
        assert place.run("-p", "run it", "--permission-mode", "bypassPermissions").code == 0
        pinned(place, "bash-exit-code")


def test_an_approval_that_is_denied(tmp_path: Path) -> None:
    with scene(tmp_path, call("Bash", command="touch b.txt"), {"text": "Not then."}) as (place, _):
        with driven(place, "make b.txt", *ASK) as run:
            answer(run, deny)
        assert not (place.project / "b.txt").exists()
        pinned(place, "approval-denied")


def test_a_question_that_is_answered(tmp_path: Path) -> None:
    with scene(tmp_path, call("AskUser", questions=[QUESTION]), {"text": "Blue it is."}) as (place, _):
        with driven(place, "paint it", *ASK) as run:
            answer(run, blue)
        pinned(place, "question-answered")


def test_a_plan_that_is_accepted(tmp_path: Path) -> None:
    with scene(tmp_path, call("ExitPlanMode", plan=PLAN), {"text": "Begun."}) as (place, _):
        with driven(place, "move the cache", *ASK, "--permission-mode", "plan") as run:
            answer(run, allow)
        pinned(place, "plan-accepted")


def test_an_interrupted_turn(tmp_path: Path) -> None:
    parts = [{"text": "the first words"}, {"wait": "never"}, {"text": " and the last"}]
    with scene(tmp_path, {"parts": parts}) as (place, _):
        with driven(place, "tell me", *PARTIAL) as run:
            run.until(is_text)
            run.ask("stop", "interrupt")
        pinned(place, "interrupted")


def test_a_model_that_fails_and_a_reply_that_is_withdrawn(tmp_path: Path) -> None:
    """Refused once; then cut off in its second part; then whole."""
    cut = {"fault": "cut", "after": 6, "parts": [{"text": "some words"}, {"text": "never whole"}]}
    with scene(tmp_path, {"fault": "overloaded", "retry_after": 0}, cut, {"text": "All of it."}) as (place, server):
        assert place.run("-p", "tell me").out == "All of it.\n"
        assert len(server.requests) == 3
        assert "tombstone" in [entry["type"] for entry in pinned(place, "retried-and-withdrawn")]


def test_a_compaction(tmp_path: Path) -> None:
    replies = [{"text": f"About question{number}: " + LONG} for number in range(4)]
    with scene(tmp_path, *replies, {"text": SUMMARY}) as (place, _):
        for number in range(4):
            assert place.run("-p", f"explain question{number}", *(["-c"] if number else [])).code == 0
        done = place.run("-p", "/compact", "-c")
        assert done.code == 0, done.err
        pinned(place, "compacted", long=LONG)


def test_a_resumed_session(tmp_path: Path) -> None:
    with scene(tmp_path, {"text": "One."}, {"text": "Two."}) as (place, _):
        assert place.run("-p", "first").out == "One.\n"
        assert place.run("-p", "second", "-c").out == "Two.\n"
        pinned(place, "resumed")


def test_a_command_that_a_person_typed(tmp_path: Path) -> None:
    with scene(tmp_path, {"text": "Fine."}) as (place, _):
        command = [CLEW, "--plain", "--trust"]
        with ScreenTerminal(command, {**place.env, "TERM": "xterm"}, place.project) as terminal:
            terminal.until(lambda one: ">" in one.rows())
            terminal.type("!echo from the shell; exit 4\r")
            terminal.shows("  from the shell")
            terminal.type("what was that?\r")
            terminal.shows("Fine.")
            terminal.shows("-- ")
            terminal.until(lambda _: "ai-title" in place.transcripts()[0].read_text())
            terminal.type("\x04")
            assert terminal.wait() == 0
        pinned(place, "typed-command")


def test_a_tool_of_a_server(tmp_path: Path) -> None:
    config = {"mcpServers": {"raw": {"command": sys.executable, "args": [str(FAKES / "raw_mcp.py")]}}}
    echo = call("CallTool", tool="mcp__raw__echo", arguments={"text": "hi"})
    with scene(tmp_path, echo, {"text": "It echoes."}) as (place, _):
        flags = ("--mcp-config", json.dumps(config), "--allowed-tools", "mcp__raw", "--mcp-wait", "60")
        assert place.run("-p", "say hi", *flags).code == 0
        pinned(place, "mcp-call")
