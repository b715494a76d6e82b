"""A process that is killed at any write of a restore: whoever comes next finishes it or takes it back."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.undo.plan import plan_rest, plan_restore
from clew.undo.restore import apply_plan
from clew.undo.state import path_text
from clew.undo.workspace import UndoWorkspace
from unit.undo.conftest import Keeping, Seen, seen

FILES = {
    "one.txt": "one\n",
    "two.txt": "two\n",
    "sub/three.txt": "three\n",
    "sub/deep/four.txt": "four\n",
    "turns": "a\n",
}
MESS = (
    "rm -r sub; echo more >> one.txt; chmod 600 two.txt; mkdir new; echo x > new/x; "
    "rm turns; mkdir turns; echo y > turns/y"
)
WRITES = ("write", "link", "unlink", "rename", "mkdir", "rmdir", "chmod", "fchmod", "symlink", "ftruncate")
"""What a restore does to files, its own log included."""
MOST = 400


class Desk:
    """A workspace that a command changed, and processes that take it back and die."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.keeping = Keeping(folder)
        for name, text in FILES.items():
            path = self.keeping.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.keeping.scan()
        self.before = seen(self.keeping.root)
        self.keeping.shell(MESS)
        self.after = seen(self.keeping.root)
        self.keeping.kept.close()

    @property
    def files(self) -> Seen:
        return seen(self.keeping.root)

    def anew(self) -> UndoWorkspace:
        """As the next session opens it."""
        return self.keeping.open()

    def restored(self, place: UndoWorkspace) -> None:
        """What /undo does: the rest of what was cut off, or the last turn."""
        cut = place.journal.unfinished()
        if cut is not None:
            plan = plan_rest(cut, place.journal.steps.get(cut.id, {}), place.store, place.roots)
        else:
            plan = plan_restore(place.journal.last_turn(), place.store, place.roots, steps=place.journal.steps)
        done = apply_plan(plan, store=place.store, journal=place.journal, call=self.keeping.call("undo"), finishes=cut)
        assert not done.failed
        assert not done.skipped

    def redone(self, place: UndoWorkspace) -> None:
        plan = plan_restore(place.journal.last_restore(), place.store, place.roots, steps=place.journal.steps)
        done = apply_plan(plan, store=place.store, journal=place.journal, call=self.keeping.call("redo"))
        assert not done.failed
        assert not done.skipped

    def dies(self, write: int, act: Callable[[UndoWorkspace], None]) -> bool:
        """Whether a process that does this is killed right before its write of this number."""
        child = os.fork()
        if not child:
            _kill_at(write)
            act(self.anew())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL
        return status != 0

    def done_with(self, name: str) -> bool:
        place = self.anew()
        cut = place.journal.unfinished()
        place.close()
        done = place.journal.steps.get(cut.id, {}) if cut is not None else {}
        return done.get(path_text(str(self.keeping.root / name)), False)

    def drafts(self) -> list[str]:
        return [name for name in self.files if name.endswith(".clew-undo")]


def first_dead(folder: Path, fits: Callable[[Desk], bool]) -> Desk:
    """The first killed restore of which this is true."""
    for write in range(1, MOST):
        desk = Desk(folder / str(write))
        if desk.dies(write, desk.restored) and fits(desk):
            return desk
    pytest.fail("no kill left it so")


def _kill_at(write: int) -> None:
    count = 0

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == write:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **named)

        return call

    for name in WRITES:
        setattr(os, name, dying(getattr(os, name)))


def test_undo_again_finishes_it(tmp_path: Path) -> None:
    for write in range(1, MOST):
        desk = Desk(tmp_path / str(write))
        died = desk.dies(write, desk.restored)
        place = desk.anew()
        if died:
            desk.restored(place)
        assert desk.files == desk.before, write
        assert place.journal.unfinished() is None
        desk.redone(place)
        assert desk.files == desk.after, write
        place.close()
        if not died:
            assert write > 2 * len(FILES), "a step has a line before and after it"
            return
    pytest.fail("it never came to its end")


def test_redo_takes_back_what_it_had_done(tmp_path: Path) -> None:
    for write in range(1, MOST):
        desk = Desk(tmp_path / str(write))
        if not desk.dies(write, desk.restored):
            return
        place = desk.anew()
        if place.journal.unfinished() is not None:
            desk.redone(place)
        assert desk.files == desk.after, write
        assert place.journal.unfinished() is None
        place.close()
    pytest.fail("it never came to its end")


def test_the_finishing_may_be_killed_too(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    assert desk.dies(12, desk.restored)
    killed = 0
    while desk.dies(9, desk.restored):
        killed += 1
        assert killed < MOST
    assert killed
    assert desk.files == desk.before


def test_what_it_was_done_with_may_be_edited_before_it_is_finished(tmp_path: Path) -> None:
    """Its log says so; without that the edit would look like one of a file that it was about to bring back."""
    desk = first_dead(tmp_path, lambda desk: desk.done_with("one.txt"))
    mine = desk.keeping.root / "one.txt"
    mine.write_text("mine\n")
    place = desk.anew()
    desk.restored(place)
    assert mine.read_text() == "mine\n"
    assert {**desk.files, "one.txt": ()} == {**desk.before, "one.txt": ()}
    place.close()


def test_what_it_had_not_begun_with_may_be_edited_before_it_is_taken_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    assert desk.dies(4, desk.restored)
    mine = desk.keeping.root / "two.txt"
    mine.write_text("mine\n")
    place = desk.anew()
    desk.redone(place)
    assert mine.read_text() == "mine\n"
    assert {**desk.files, "two.txt": ()} == {**desk.after, "two.txt": ()}
    place.close()


def test_back_to_before_everything_over_a_killed_restore(tmp_path: Path) -> None:
    for write in range(1, MOST):
        desk = Desk(tmp_path / str(write))
        if not desk.dies(write, desk.restored):
            return
        place = desk.anew()
        plan = plan_restore(place.journal.since(""), place.store, place.roots, steps=place.journal.steps)
        assert not plan.conflicts, write
        apply_plan(plan, store=place.store, journal=place.journal, call=desk.keeping.call("rewind"))
        assert desk.files == desk.before, write
        place.close()


def test_no_draft_stays_when_files_changed_again_instead(tmp_path: Path) -> None:
    desk = first_dead(tmp_path, lambda desk: bool(desk.drafts()))
    desk.keeping.kept = desk.anew()
    desk.keeping.scan()
    desk.keeping.shell("echo later > later.txt")
    assert not desk.drafts()
    desk.keeping.kept.close()


def test_a_disk_that_refuses_the_lines_stops_no_restore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path / "desk")
    place = desk.anew()
    journal, real = place.journal.path, os.open

    def refusing(path: Any, flags: int, *args: Any, **named: Any) -> int:
        if str(path).endswith(journal.name):
            raise OSError(28, "No space left on device")
        return real(path, flags, *args, **named)

    monkeypatch.setattr(os, "open", refusing)
    desk.restored(place)
    assert desk.files == desk.before
    place.close()
