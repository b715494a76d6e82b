"""A restore whose process dies in it: told, completed by /undo, or taken back by /redo."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

NAMES = [f"{letter}.txt" for letter in "abcdef"]
DIES = """\
import os, signal

real, count = os.{name}, 0

def dying(source, *args, **more):
    global count
    if str(source).endswith(".clew-undo"):
        count += 1
        if count == {number}:
            os.kill(os.getpid(), signal.SIGKILL)
    return real(source, *args, **more)

os.{name} = dying
"""
"""Loaded by the interpreter before clew: this call for a file of a restore is its last."""


class Desk:
    """Six files that a turn deleted, and a process that dies while /undo brings them back."""

    def __init__(self, tmp_path: Path, server: ModelServer) -> None:
        self.place = Place(tmp_path, server.url)
        self.server = server
        self.present: list[ScreenPerson] = []
        self.early = tmp_path / "early"
        self.early.mkdir()

    def come(self, *args: str, early: str = "") -> ScreenPerson:
        person = ScreenPerson(self.place, "--permission-mode", "bypassPermissions", *args, PYTHONPATH=early)
        self.present.append(person)
        person.sees("F1 help")
        return person

    def killed_restore(self, name: str = "link", number: int = 3) -> None:
        (self.early / "sitecustomize.py").write_text(DIES.format(name=name, number=number))
        for name in NAMES:
            (self.place.project / name).write_text(f"this is {name}\n")
        person = self.come(early=str(self.early))
        person.type("delete them\r")
        person.sees("done")
        person.type("/undo\r")
        person.until_ended()
        assert len(self.drafts()) == 1

    def redone(self, person: ScreenPerson) -> None:
        """/redo deletes files, so it asks; keys count once its dialog has stood for a moment."""
        person.type("/redo\r")
        person.sees("/redo deletes")
        person.type("\r")
        person.until(lambda: any("did not count" in row or "Nothing is chosen" in row for row in person.rows))
        assert self.there()
        person.type("1\r")

    def there(self) -> list[str]:
        return sorted(path.name for path in self.place.project.iterdir() if path.name in NAMES)

    def drafts(self) -> list[str]:
        return [path.name for path in self.place.project.iterdir() if path.name.endswith(".clew-undo")]

    def said(self) -> str:
        return str(self.server.requests[-1].body["messages"])


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    script = {
        "replies": [{"calls": [{"call": "Bash", "arguments": {"command": "rm ?.txt"}}]}, {"text": "done"}],
        "last": {"text": "fine"},
    }
    with ModelServer(script) as server:
        desk = Desk(tmp_path, server)
        yield desk
        for person in desk.present:
            person.leave()


@pytest.mark.parametrize(("name", "number", "restored"), [("link", 1, 0), ("link", 3, 2), ("unlink", 6, 6)])
def test_undo_again_completes_it(desk: Desk, name: str, number: int, restored: int) -> None:
    desk.killed_restore(name, number)
    assert desk.there() == NAMES[:restored]
    person = desk.come("-c")
    person.sees("files were being restored when the process ended")
    person.type("/undo\r")
    person.until(lambda: desk.there() == NAMES)
    person.until(lambda: not desk.drafts())
    person.type("what now\r")
    person.sees_word("fine")
    assert "The user restored files, changes were taken back" in desk.said()
    assert all(name in desk.said() for name in NAMES)
    (told,) = (entry["event"] for entry in desk.place.entries() if "rewound" in str(entry.get("event")))
    assert [Path(file["path"]).name for file in told["files"]] == NAMES, "lists and recaps go by this line"
    desk.redone(person)
    person.until(lambda: desk.there() == [])


def test_the_recap_tells_of_it_until_it_is_settled(desk: Desk) -> None:
    desk.killed_restore()
    told = "files restored in part, /undo completes it"
    assert told in desk.place.run("recap").out
    person = desk.come("-c")
    person.until(lambda: told in " ".join(" ".join(person.rows).split()))
    person.type("/undo\r")
    person.until(lambda: desk.there() == NAMES and not desk.drafts())
    person.type("/clear\r")
    person.sees("a new window begins here")
    person.type("/quit\r")
    person.until_ended()
    assert told not in desk.place.run("recap").out
    again = desk.come("-c")
    again.sees("recap:")
    assert told not in " ".join(" ".join(again.rows).split())


def test_redo_takes_back_what_it_had_done(desk: Desk) -> None:
    desk.killed_restore()
    person = desk.come("-c")
    person.sees("files were being restored")
    desk.redone(person)
    person.until(lambda: desk.there() == [])
    person.until(lambda: not desk.drafts())


def test_the_model_knows_without_it(desk: Desk) -> None:
    desk.killed_restore()
    done = desk.place.run("-c", "-p", "what now")
    assert done.code == 0, done.err
    assert "files were being restored when the process ended" in desk.said()


def test_an_edit_of_a_file_that_was_back_already_is_not_in_the_way(desk: Desk) -> None:
    desk.killed_restore()
    (desk.place.project / "a.txt").write_text("mine\n")
    person = desk.come("-c")
    person.sees("files were being restored")
    person.type("/undo\r")
    person.until(lambda: desk.there() == NAMES)
    person.sees("restored")
    assert not any("changed since" in row for row in person.rows)
    assert (desk.place.project / "a.txt").read_text() == "mine\n"
