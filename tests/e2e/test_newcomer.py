"""What a newcomer runs into first: odd streams, odd words, odd places. One clear line each, never a traceback."""

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import CLEW, LIMIT_S, Done, Place, until
from fakes.model_server import ModelServer

ANSWER = "grüße 中文 😀"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place whose model always gives the same answer."""
    with ModelServer({"replies": [], "last": {"text": ANSWER}}) as server:
        yield Place(tmp_path, server.url)


def shell(place: Place, line: str, **env: str) -> Done:
    """A line of shell in the project; `$CLEW` is the command."""
    done = subprocess.run(
        ["bash", "-c", line.replace("$CLEW", shlex.quote(CLEW))],
        cwd=place.project,
        env={**place.env, **env},
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def one_line(done: Done, *words: str) -> None:
    """What went wrong is said once, for a person."""
    assert len(done.err.splitlines()) == 1, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_accident(place: Place, closed: str) -> None:
    done = shell(place, f"$CLEW -p hi --no-session-persistence </dev/null {closed}")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("closed", ["<&-", "<&- >&- 2>&-"])
def test_a_conversation_without_streams_ends_at_once(place: Place, closed: str) -> None:
    done = shell(place, f"$CLEW {closed}")
    assert done.code == 0
    assert "Traceback" not in done.err


def test_a_full_disk_under_stdout_is_told_in_one_line(place: Place) -> None:
    done = shell(place, "$CLEW -p hi </dev/null >/dev/full")
    assert done.code == 1
    one_line(done, "No space left on device")


@pytest.mark.parametrize("command", ["config list", "sessions", "--help", "-V --plain"])
def test_every_command_tells_a_full_disk_in_one_line(place: Place, command: str) -> None:
    done = shell(place, f"$CLEW {command} </dev/null >/dev/full")
    assert done.code == 1
    one_line(done, "No space left on device")


@pytest.mark.parametrize("output", ["text", "json"])
def test_output_is_utf_8_whatever_the_locale(place: Place, output: str) -> None:
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = shell(place, f"$CLEW -p 'schöne 中文' --output-format {output} </dev/null", **ascii_only)
    assert (done.code, done.err) == (0, "")
    assert ANSWER in done.out
    (path,) = place.transcripts()
    assert "schöne 中文" in path.read_text(encoding="utf-8")


def test_a_prompt_that_is_not_text_is_refused(place: Place) -> None:
    done = shell(place, "$CLEW -p $'abc\\xff' </dev/null")
    assert done.code == 2
    one_line(done, "UTF-8")
    assert place.transcripts() == []


@pytest.mark.parametrize("command", ["$CLEW -p hi", "$CLEW", "$CLEW config list", "$CLEW -c -p hi"])
def test_a_directory_that_is_gone(place: Place, command: str) -> None:
    done = shell(place, f"mkdir gone; cd gone; rmdir ../gone; {command} </dev/null")
    assert done.code == 2
    # In a clone whose path has a space, the installed script is started by a shell, which has a word of its own.
    done = done._replace(
        err="".join(line for line in done.err.splitlines(True) if not line.startswith("sh: 0: getcwd"))
    )
    one_line(done, "directory", "does not exist")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["sesions"], ["clew sessions"]),
        (["recaps"], ["clew recap"]),
        (["docter"], ["clew doctor"]),
        (["--output-format", "json"], ["--output-format", "-p"]),
        (["--max-turns", "3"], ["--max-turns", "-p"]),
        (["-p", "hi", "--add-dir", "nowhere"], ["nowhere", "no such directory"]),
        (["-p", "hi", "--add-dir", "file.txt"], ["file.txt", "not a directory"]),
        (["-p", "hi", "--fast-model", "nonsense"], ["nonsense"]),
    ],
)
def test_words_that_cannot_be_meant(place: Place, args: list[str], words: list[str]) -> None:
    (place.project / "file.txt").write_text("x")
    done = place.run(*args)
    assert (done.code, done.out) == (2, "")
    one_line(done, *words)


def test_a_word_that_is_no_command_is_a_prompt(place: Place) -> None:
    assert ANSWER in place.run("explain").out
    assert ANSWER in place.run("--", "sesions").out


def test_a_wrong_rule_names_where_it_stands_and_nothing_else(place: Place) -> None:
    done = place.run("-p", "hi", "--allowed-tools", "Bash(")
    assert done.code == 2
    one_line(done, "--allowed-tools")
    assert "CLEW_MODEL" not in done.err


def test_several_rules_in_one_word(tmp_path: Path) -> None:
    write = {"call": "Bash", "arguments": {"command": "touch made.txt"}}
    with ModelServer([{"calls": [write]}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        rules = "Read, Bash(touch *), Bash(echo a,b)"
        done = place.run("-p", "go", "--trust", "--allowed-tools", rules, env={"CLEW_SANDBOX": "off"})
    assert (done.code, done.err) == (0, "")
    assert (place.project / "made.txt").exists()


def test_what_was_denied_is_told_where_the_answer_alone_would_hide_it(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = [
        {"call": "Write", "arguments": {"file_path": "a.txt", "content": "x"}},
        {"call": "Write", "arguments": {"file_path": "b.txt", "content": "x"}},
    ]
    with ModelServer([{"calls": calls}, {"text": "All done."}]) as server:
        place = Place(tmp_path, server.url)
        done = place.run("-p", "go")
    assert (done.code, done.out) == (1, "All done.\n")
    one_line(done, "2 calls", ": write a.txt; write b.txt (", "--allowed-tools")
    assert not (place.project / "a.txt").exists()


def test_what_is_never_allowed_is_not_offered_to_be(tmp_path: Path) -> None:
    calls = [{"call": "Read", "arguments": {"file_path": "/dev/zero"}}]
    with ModelServer([{"calls": calls}, {"text": "ok"}]) as server:
        done = Place(tmp_path, server.url).run("-p", "go")
    assert (done.code, done.out) == (1, "ok\n")
    one_line(done, "no call of this run was allowed")
    assert "--allowed-tools" not in done.err


def test_a_bug_is_one_line_and_shows_its_place_when_asked(place: Place) -> None:
    """Settings of a kind nobody thought of must not end in a traceback either."""
    broken = place.project / "sitecustomize.py"
    broken.write_text(
        "import clew.cli.main as main\ndef dispatch(argv): raise KeyError('x')\nmain.dispatch = dispatch\n"
    )
    env = {"PYTHONPATH": str(place.project)}
    done = place.run("-p", "hi", env=env)
    assert done.code == 1
    one_line(done, "internal error", "KeyError", "--verbose")
    assert "Traceback" in place.run("-p", "hi", "--verbose", env=env).err
    os.unlink(broken)


NO_ROOM = "ulimit -f 0; "
"""No file can grow: what a full disk does, without one."""


def test_trust_that_cannot_be_saved_says_where(place: Place) -> None:
    done = shell(place, f"{NO_ROOM} $CLEW -p hi --trust </dev/null | cat")
    one_line(done, str(place.clew_home), "trust")
    assert done.out == ""


def test_a_setting_that_cannot_be_saved_says_where(place: Place) -> None:
    done = shell(place, f"{NO_ROOM} $CLEW config set effort low")
    assert done.code == 1
    one_line(done, "settings.json")


def test_a_log_that_cannot_be_written_is_told_once_and_the_answer_comes(place: Place) -> None:
    done = shell(place, f"{NO_ROOM} $CLEW -p hi </dev/null | cat")
    assert done.out == f"{ANSWER}\n"
    told = done.err.splitlines()
    assert ["could not be saved" in line for line in told] == [True]
    assert "another clew" not in done.err


def test_continue_in_a_moved_repository_says_what_finds_its_sessions(place: Place) -> None:
    git = "git -c user.name=n -c user.email=e"
    made = f"git init -q old && cd old && {git} commit -q --allow-empty -m x && $CLEW -p hi --trust </dev/null"
    assert shell(place, made).out == f"{ANSWER}\n"
    done = shell(place, "mv old new && cd new && $CLEW -c -p more </dev/null")
    assert done.code == 1
    one_line(done, "--trust")
    assert shell(place, "cd new && $CLEW -c -p more --trust </dev/null").out == f"{ANSWER}\n"
    assert len(place.transcripts()) == 1


def test_help_of_config_says_what_each_action_does(place: Place) -> None:
    told = place.run("config", "--help").out
    assert "print one value" in told
    assert "where it comes from" in told


def test_a_key_far_from_all_others_is_not_followed_by_an_empty_list(place: Place) -> None:
    done = place.run("config", "get", "nosuch.key")
    assert done.code == 2
    one_line(done, "nosuch.key", "clew config list")


@pytest.mark.parametrize("output", ["json", "stream-json"])
def test_a_run_that_could_not_start_still_has_its_one_result(place: Place, output: str) -> None:
    for args, env in (([], {"ANTHROPIC_API_KEY": ""}), (["-r", "nosuch"], {})):
        done = place.run("-p", "hi", "--output-format", output, *args, env=env)
        assert done.code == 1
        one_line(done)
        *first, result = done.lines
        assert [line["subtype"] for line in first] == (["init"] if output == "stream-json" else [])
        assert (result["type"], result["subtype"], result["is_error"]) == ("result", "error_during_execution", True)
        assert result["error"] in done.err
        assert result["num_turns"] == 0


def test_no_pager_where_the_cursor_cannot_move(place: Place) -> None:
    """`less` on such a terminal warns and waits for a key."""
    place.run("-p", "hi", "--session-id", "one")
    args = ["script", "-qec", f"{shlex.quote(CLEW)} show one", "/dev/null"]
    env = {**place.env, "TERM": "dumb"}
    done = subprocess.run(
        args, cwd=place.project, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S
    )
    assert ANSWER in done.stdout.decode()
    assert b"WARNING" not in done.stdout


def test_all_that_is_kept_is_private(tmp_path: Path) -> None:
    """The folder of a session too, which is first made for the output of a command."""
    with ModelServer(
        [{"calls": [{"call": "Bash", "arguments": {"command": "seq 1 100000"}}]}, {"text": "ok"}]
    ) as server:
        place = Place(tmp_path, server.url)
        assert place.run("-p", "go", "--trust").code == 0
    assert list(place.clew_home.glob("projects/*/*/tool-results/*")) != []
    kept = [place.clew_home, *place.clew_home.rglob("*")]
    assert [path for path in kept if path.stat().st_mode & 0o077] == []


def test_a_terminal_that_closes_ends_the_run_in_order(tmp_path: Path) -> None:
    with ModelServer([{"parts": [{"text": "partial"}, {"wait": "gate"}]}]) as server:
        place = Place(tmp_path, server.url)
        process = place.start("-p", "go", "--output-format", "json")
        until(lambda: server.requests, process)
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert b'"stop_reason":"interrupted"' in out
    assert [entry["type"] for entry in place.entries()][-3:] == ["turn-result", "last-prompt", "session-state"]


def test_commands_run_although_nothing_can_be_kept(tmp_path: Path) -> None:
    with ModelServer(
        [{"calls": [{"call": "Bash", "arguments": {"command": "echo still here"}}]}, {"text": "ok"}]
    ) as server:
        place = Place(tmp_path, server.url)
        place.clew_home.mkdir(mode=0o700)
        (place.clew_home / "projects").write_text("in the way")
        done = place.run("-p", "go", "--trust")
        assert (done.code, done.out) == (1, "ok\n"), "the answer came, and the log has none of it"
        assert "still here" in str(server.requests[1].body["messages"])


def test_damage_in_a_session_is_told_when_it_goes_on(place: Place) -> None:
    place.run("-p", "hi", "--session-id", "once")
    (path,) = place.transcripts()
    with path.open("a") as file:
        file.write("garbage{{{\n")
    done = place.run("-r", "once", "-p", "more")
    assert done.code == 0
    one_line(done, "1 damaged line")


def test_an_archived_session_says_how_it_comes_back(place: Place) -> None:
    place.run("-p", "hi", "--session-id", "once")
    assert "1 turn " in place.run("sessions").out
    assert place.run("sessions", "archive", "once").code == 0
    done = place.run("-r", "once", "-p", "more")
    assert done.code == 1
    one_line(done, "archived", "clew sessions restore once")


def test_an_export_is_whole_or_not_there(place: Place) -> None:
    place.run("-p", "hi", "--session-id", "once")
    done = shell(place, f"{NO_ROOM} $CLEW export once -o out.md")
    assert done.code == 1
    one_line(done, "out.md")
    assert not (place.project / "out.md").exists()
    missing = place.run("export", "once", "-o", "nowhere/out.md")
    assert missing.code == 1
    one_line(missing, "nowhere/out.md: No such file or directory")


def test_help_and_version_are_not_sent_to_a_model(place: Place) -> None:
    assert place.run("help").out == place.run("--help").out
    assert place.run("help", "recap").out == place.run("recap", "--help").out
    assert place.run("version").out == place.run("--version").out
    assert place.transcripts() == []
    assert ANSWER in place.run("help me").out


def test_a_session_without_a_request_is_not_denied(place: Place) -> None:
    place.run("-p", "hi")
    assert "No session was touched" not in place.run("recap").out
