"""Two people, one session; nothing kept; a narrow screen: what the conversation at a terminal says then."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.test_plain import WAIT_S, Person, environment
from fakes.model_server import ModelServer

CLEW = [sys.executable, "-m", "clew"]


class Room:
    """A model that always answers, and people who come and go."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.keys = {
            "ANTHROPIC_API_KEY": "sk-test-0123456789",
            "ANTHROPIC_BASE_URL": url,
            "CLEW_MODEL": "anthropic/claude-test",
        }
        self.people: list[Person] = []

    def come(self, *args: str, columns: int = 80) -> Person:
        self.people.append(Person([*CLEW, "--plain", *args], self.folder, columns=columns, **self.keys))
        return self.people[-1]

    def run(self, *args: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [*CLEW, *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.folder,
            env=environment(self.folder / "home", **self.keys),
            timeout=WAIT_S,
            check=False,
        )


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with ModelServer({"replies": [], "last": {"text": "Fine."}}) as server:
        room = Room(tmp_path, server.url)
        yield room
        for person in room.people:
            person.leave()


def test_a_hand_over_is_told_once_and_within_the_conversation(room: Room) -> None:
    first = room.come("--trust")
    first.sees("> ")
    first.type("hello\r")
    first.sees("-- ")
    taken = room.run("-c", "--take-over", "-p", "mine now")
    assert (taken.returncode, taken.stdout) == (0, b"Fine.\n")
    first.sees("taken over")
    first.type("and now?\r")
    first.sees("nothing was sent")
    assert first.seen.count("was taken over") == 2  # when it happened, and when something was typed
    assert "clew: " not in first.seen
    first.type("/quit\r")
    assert first.exits() == 0


def test_a_conversation_that_is_not_kept_is_not_offered_again(room: Room) -> None:
    person = room.come("--trust", "--no-session-persistence")
    person.sees("> ")
    person.type("hello\r")
    person.sees("-- ")
    person.type("/quit\r")
    assert person.exits() == 0
    assert "Continue with" not in person.seen
    assert not (room.folder / "home" / "projects").exists()


def test_what_was_always_allowed_is_listed_and_explained(room: Room) -> None:
    write = {"call": "Write", "arguments": {"file_path": "a.txt", "content": "x"}}
    bash = {"call": "Bash", "arguments": {"command": "rm -rf docs"}}
    with ModelServer([{"calls": [write]}, {"calls": [bash]}, {"text": "Fine."}]) as server:
        room.keys["ANTHROPIC_BASE_URL"] = server.url
        person = room.come("--trust")
        person.sees("> ")
        person.type("go\r")
        person.sees("Allow?")
        person.type("a\r")
        person.sees("Allow?", times=2)
        person.type("a\r")
        person.sees("-- ")
    listed = room.run("permissions", "list").stdout.decode()
    assert "Edit(a.txt)" in listed
    assert "permissions.json" in listed
    explained = room.run("permissions", "explain", "rm -rf docs").stdout.decode()
    assert explained.startswith("allow"), explained


def test_permissions_of_a_folder_inside_are_those_of_the_project(room: Room) -> None:
    subprocess.run(["git", "init", "-q", room.folder], check=True)
    assert room.run("-p", "hi", "--trust").returncode == 0
    inside = room.folder / "src"
    inside.mkdir()
    env = environment(inside.parent / "home")
    listed = subprocess.run([*CLEW, "permissions", "list"], cwd=inside, env=env, capture_output=True, check=True).stdout
    assert f"workspace  {inside.parent}\n".encode() in listed
    assert b"trusted    yes" in listed


def test_the_question_for_trust_breaks_between_words(room: Room) -> None:
    person = room.come(columns=40)
    person.sees("[n]o > ")
    rows = person.seen.replace("\r", "").split("\n")
    assert max(len(row) for row in rows if os.fspath(room.folder) not in row) <= 40
    assert "memory files" in " ".join(person.seen.split())
