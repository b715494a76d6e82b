"""The very first start: no key, no session, no idea. And a reader that leaves in the middle."""

import os
import pwd
import shlex
import sys
from pathlib import Path

import pytest

from e2e.command import CLEW, Place
from e2e.test_plain import Person
from fakes.model_server import ModelServer


def test_without_a_model_nobody_is_asked_for_trust_first(tmp_path: Path) -> None:
    person = Person([sys.executable, "-m", "clew"], tmp_path, columns=100, HOME=str(tmp_path))
    try:
        person.sees("Press Enter for the tour")
        person.type("q\r")
        assert person.exits() == 0
    finally:
        person.leave()
    assert "Tour 1" not in person.seen
    assert "Trust this directory?" not in person.seen
    assert "ANTHROPIC_API_KEY" in person.seen


def test_without_a_model_enter_starts_the_tour(tmp_path: Path) -> None:
    person = Person([sys.executable, "-m", "clew"], tmp_path, columns=100, HOME=str(tmp_path), TMPDIR=str(tmp_path))
    try:
        person.sees("Press Enter for the tour")
        person.type("\r")
        person.sees("Tour 1 of 6")
        person.type("\x15/quit\r")
        assert person.exits() == 0
    finally:
        person.leave()
    assert not list(tmp_path.glob("clew-tour-*"))


def test_a_key_that_is_refused_says_which_one_and_what_to_do(tmp_path: Path) -> None:
    refusal = {"fault": "status", "status": 401, "message": "invalid x-api-key"}
    with ModelServer([refusal]) as server:
        done = Place(tmp_path, server.url).run("--trust", "-p", "hello")
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
    assert "refused the key in ANTHROPIC_API_KEY" in done.err
    assert "set a valid ANTHROPIC_API_KEY and start clew again, or choose another model" in done.err


def test_without_a_model_and_a_terminal_there_is_one_page_and_no_remark(tmp_path: Path) -> None:
    done = Place(tmp_path).run(env={"ANTHROPIC_API_KEY": ""})
    assert (done.code, done.err) == (0, "")
    assert "Where you were" in done.out


@pytest.mark.parametrize("args", [["fix the login"], ["-c"], ["-r", "login"]])
def test_what_was_asked_for_and_cannot_be_done_is_an_error(tmp_path: Path, args: list[str]) -> None:
    done = Place(tmp_path).run(*args, env={"ANTHROPIC_API_KEY": ""})
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
    assert "ANTHROPIC_API_KEY" in done.err


def test_a_reader_that_leaves_ends_the_turn_in_the_log_too(tmp_path: Path) -> None:
    """`clew -p ... | head -1`: the rest of the work stops, and the session says so."""
    call = {"call": "Bash", "arguments": {"command": "touch started; sleep 1000"}}
    with ModelServer([{"calls": [call]}, {"text": "never"}]) as server:
        place = Place(tmp_path, server.url)
        process = place.start("-p", "go", "--trust", "--output-format", "stream-json", "--verbose")
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait(30) == 0
    assert "Traceback" not in err
    kinds = [entry["type"] for entry in place.entries() if entry["type"] not in ("ai-title", "batch-label")]
    assert kinds[-3:] == ["turn-result", "last-prompt", "session-state"]
    assert len(server.requests) <= 1


def test_who_cannot_type_clew_is_told_what_to_type(tmp_path: Path) -> None:
    """After `make run` in a clone: every line of the page names a command that the shell would not find."""
    place = Place(tmp_path)
    alone = place.run(env={"ANTHROPIC_API_KEY": "", "PATH": "/usr/bin:/bin"})
    typed = shlex.quote(CLEW)
    assert f"Your shell does not find clew. Install it (README.md), or type in its place:\n    {typed}\n" in alone.out
    found = place.run(env={"ANTHROPIC_API_KEY": "", "PATH": f"{Path(CLEW).parent}:/usr/bin:/bin"})
    assert (found.code, "does not find" in found.out) == (0, False)


@pytest.mark.parametrize("home", ["", "here"])
def test_a_home_that_is_no_place_is_no_home(tmp_path: Path, home: str) -> None:
    """Whoever starts it in another directory must find the same sessions, and a project never is the user's home."""
    done = Place(tmp_path).run("config", "path", env={"HOME": home, "CLEW_HOME": ""})
    assert done.out == os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".clew", "settings.json") + "\n"


def test_a_command_with_two_letters_swapped_is_no_prompt(tmp_path: Path) -> None:
    done = Place(tmp_path).run("auht")
    assert (done.code, done.out) == (2, "")
    assert "did you mean clew auth?" in done.err
