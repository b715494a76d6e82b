"""`clew rewind` as a person or a script runs it."""

import json
import os
import time
from pathlib import Path

import pytest

from clew.cli.main import run as clew
from clew.protocol.ids import SessionId
from clew.system.clock import iso_utc
from unit.transcript.samples import Script
from unit.undo.conftest import Keeping, Seen, seen

HOSTILE = "evil\x1b]0;owned\x07\u202ename"


def next_millisecond() -> None:
    """Timestamps are in milliseconds, and a person types slower than this."""
    now_ms = int(time.time() * 1000)
    while int(time.time() * 1000) <= now_ms + 1:
        pass


class Told:
    """A session of three turns: the first deletes, the second writes, the third only talks."""

    def __init__(self, keeping: Keeping) -> None:
        self.keeping = keeping
        self.script = Script(SessionId("s1"))
        self.states: list[Seen] = []
        self.say("remove the sources", "rm -rf src")
        self.say(f"write {HOSTILE}", f"echo x > $'{HOSTILE}'; git reset -q --hard HEAD~1; echo y > data.bin")
        self.say("what now?", "")
        self.states.append(seen(keeping.root))
        self.script.write(keeping.transcript.parent)
        keeping.kept.close()

    def say(self, prompt: str, command: str) -> None:
        self.states.append(seen(self.keeping.root))
        self.script.user(prompt, timestamp=iso_utc(time.time()))
        if command:
            next_millisecond()
            name = f"call{len(self.states)}"
            self.script.call(name, message=f"m{name}", timestamp=iso_utc(time.time()))
            self.keeping.shell(command)
            self.script.result(name, "done", timestamp=iso_utc(time.time()))
        next_millisecond()
        self.script.assistant("Done.", timestamp=iso_utc(time.time()))


@pytest.fixture
def told(keeping: Keeping, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Told:
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("CLEW_HOME", str(keeping.home))
    monkeypatch.chdir(keeping.root)
    return Told(keeping)


def assert_clean(text: str) -> None:
    assert not set(text) & set("\x1b\x07\u202e\x9b")


def test_the_moments_are_listed(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(["rewind", "s1"]) == 0
    text = capsys.readouterr().out
    assert_clean(text)
    assert "   1  " in text
    assert "254 paths changed" in text
    assert "1 not restorable" in text
    assert clew(["rewind", "s1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["turn"], bool(row["changes"])) for row in rows] == [(1, True), (2, True), (3, False)]
    assert "HEAD moved" in rows[1]["warnings"][0]


def test_a_preview_changes_nothing(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(["rewind", "s1", "--to", "2", "--preview"]) == 0
    text = capsys.readouterr().out
    assert_clean(text)
    assert "--- data.bin (now)" in text
    assert "not restored: HEAD moved" in text
    assert "Not covered: files outside the workspace" in text
    assert seen(told.keeping.root) == told.states[-1]


def test_back_to_a_turn_and_forth_again(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    root = told.keeping.root
    assert clew(["rewind", "s1", "--to", "1"]) == 0
    assert_clean(capsys.readouterr().out)
    assert seen(root) == told.states[0]
    assert clew(["rewind", "s1", "--redo", "--yes"]) == 0
    assert seen(root) == told.states[-1]
    assert clew(["rewind", "s1", "--to", "2"]) == 0
    assert seen(root) == told.states[1]
    assert clew(["rewind", "s1", "--to", "1"]) == 0
    assert seen(root) == told.states[0]
    assert clew(["rewind", "s1", "--redo", "--yes"]) == 0
    assert seen(root) == told.states[1]


def test_back_to_right_after_an_entry(told: Told) -> None:
    for entry in ("a2", "u3", "a4"):  # the call, its result, the words after it
        assert clew(["rewind", "s1", "--to", entry, "--json"]) == 0
        assert seen(told.keeping.root) == told.states[1], entry
        assert clew(["rewind", "s1", "--redo", "--json"]) == 0


def test_edits_of_others_are_left_unless_forced(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    path = told.keeping.root / "data.bin"
    path.write_text("mine")
    assert clew(["rewind", "s1", "--to", "2"]) == 1
    assert "left alone: data.bin: it was changed since" in capsys.readouterr().out
    assert path.read_text() == "mine"
    assert clew(["rewind", "s1", "--to", "2", "--force"]) == 0
    assert path.read_bytes() == bytes(range(256)) * 40


def test_only_some_files(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(["rewind", "s1", "--to", "1", "--only", "src/m002.py", "data.bin", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert {os.path.basename(path) for path in done["done"]} == {"m002.py", "data.bin"}
    assert clew(["rewind", "s1", "--to", "1", "--only", "nowhere"]) == 1


def test_how_to_go_on_with_the_conversation(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    before = seen(told.keeping.root)
    assert clew(["rewind", "s1", "--to", "2", "--conversation"]) == 0
    assert "clew --resume s1 --resume-session-at a4" in capsys.readouterr().out
    assert seen(told.keeping.root) == before
    assert clew(["rewind", "s1", "--to", "1", "--both"]) == 0
    assert "start a new session" in capsys.readouterr().out
    assert seen(told.keeping.root) == told.states[0]


@pytest.mark.parametrize(
    ("words", "code", "told_words"),
    [
        (["nosuch"], 1, "nosuch"),
        (["s1", "--to", "9"], 1, "there is no turn 9"),
        (["s1", "--to", "ffff"], 1, "no entries"),
        (["s1", "--to", "3"], 1, "no file was changed after that"),
        (["s1", "--redo"], 1, "nothing to redo"),
        (["s1", "--redo", "--to", "1"], 2, "cannot be combined"),
        (["s1", "--both"], 2, "need --to"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    told: Told, capsys: pytest.CaptureFixture[str], words: list[str], code: int, told_words: str
) -> None:
    assert clew(["rewind", *words]) == code
    said = capsys.readouterr().err
    assert told_words in said
    assert said.count("\n") == 1


def test_a_session_without_kept_files_lists_its_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    script = Script(SessionId("s9"))
    script.user("hello there")
    script.assistant("hi")
    script.write(tmp_path / "home" / "projects" / "p")
    assert clew(["rewind", "s9"]) == 0
    assert "hello there" in capsys.readouterr().out
    assert clew(["rewind", "s9", "--to", "1"]) == 1
    assert not (tmp_path / "home" / "undo").exists()
