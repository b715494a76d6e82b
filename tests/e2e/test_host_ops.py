"""Typed commands, memory lines and the commands of the screen: at a terminal, on a pipe and with -p."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bench.screen_terminal import ScreenTerminal

from e2e.command import CLEW, Place
from fakes.model_server import ModelServer

KEY = "sk-ant-test-canary-000000000000"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@contextmanager
def typing(place: Place) -> Iterator[ScreenTerminal]:
    """A person at a terminal, line by line."""
    with ScreenTerminal([CLEW, "--plain", "--trust"], {**place.env, "TERM": "xterm"}, place.project) as terminal:
        terminal.until(lambda one: ">" in one.rows())
        yield terminal


def test_a_typed_command_runs_free_and_the_model_sees_it_also_after_resume_fork_and_export(tmp_path: Path) -> None:
    with ModelServer({"replies": [], "last": {"text": "Fine."}}) as server:
        place = Place(tmp_path, server.url)
        with typing(place) as terminal:
            terminal.type("!echo from the shell; printenv ANTHROPIC_API_KEY\r")
            terminal.shows("  from the shell")
            terminal.type("what was that?\r")
            terminal.shows("Fine.")
            terminal.shows("-- ")  # the turn is over: before that, leaving is not offered
            terminal.type("\x04")
            assert terminal.wait() == 0
        assert KEY.encode() not in terminal.output
        (path,) = place.transcripts()
        assert KEY not in path.read_text()
        assert "from the shell" in str(server.requests[0].body["messages"])
        place.run("-p", "go on", "--resume", path.stem)
        place.run("-p", "go on", "--resume", path.stem, "--fork-session")
        for request in server.requests[1:3]:
            assert "from the shell" in str(request.body["messages"][0])
        exported = place.run("export", path.stem)
        assert "echo from the shell" in exported.out
        shown = place.run("export", path.stem, "--to", "claude-code")
        assert any("<bash-input>echo from the shell" in str(json.loads(line)) for line in shown.out.splitlines())


def test_a_pipe_runs_no_commands_and_writes_no_memory(tmp_path: Path) -> None:
    """Lines of a pipe may be anybody's: only a person at a terminal has a shell here."""
    with ModelServer({"replies": [], "last": {"text": "Fine."}}) as server:
        place = Place(tmp_path, server.url)
        (place.project / "AGENTS.md").write_text("- be brief\n")
        done = place.run("--plain", "--trust", stdin="!touch made\n#use tabs\n")
        assert done.code == 0, done.err
        assert not (place.project / "made").exists()
        assert (place.project / "AGENTS.md").read_text() == "- be brief\n"
        assert "!touch made" in str(server.requests[0].body["messages"])


def test_a_line_is_remembered(place: Place) -> None:
    (place.project / "AGENTS.md").write_text("- be brief\n")
    with typing(place) as terminal:
        terminal.type("#use tabs\r")
        terminal.shows("Remembered in AGENTS.md")
    assert (place.project / "AGENTS.md").read_text() == "- be brief\n- use tabs\n"


def test_questions_of_a_pipe_are_answered(place: Place) -> None:
    lines = ("/memory", "/status", "/doctor", "/bashes", "/diff", "/export notes.md", "/add", "/model")
    done = place.run("--plain", "--trust", stdin="\n".join(lines) + "\n")
    assert (place.project / "notes.md").exists()
    for words in (
        "Permission mode",
        "sandbox",
        "Nothing runs",
        "changed no files",
        "Written: ",
        "There is no /add",
        "also opus",
    ):
        assert words in done.out, (words, done.out, done.err)
    assert "/quit" not in done.out


def test_headless_commands_answer_and_end(place: Place) -> None:
    for text, words in (
        ("/status", "Permission mode"),
        ("/memory", "#LINE adds a line"),
        ("/doctor", "sandbox"),
        ("/diff", "changed no files"),
        ("/cost", "Cost: $0"),
        ("/mode", "Mode: default"),
    ):
        done = place.run("-p", text)
        assert done.code == 0, (text, done.err)
        assert words in done.out


def test_a_family_names_a_model(tmp_path: Path) -> None:
    with ModelServer([{"text": "hi"}]) as server:
        place = Place(tmp_path, server.url)
        done = place.run("-p", "hello", "--model", "haiku", "--output-format", "json")
        assert done.code == 0, done.err
        assert server.requests[0].body["model"].startswith("claude-haiku-")
