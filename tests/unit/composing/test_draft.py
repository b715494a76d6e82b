"""Unsent text over a crash: kept privately, brought back once, never taken from a clew that still runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew.composing.draft import MAX_AGE_S, Draft, DraftFile


def opened(home: Path, session: str, project: str = "/p") -> tuple[DraftFile, Draft | None]:
    file = DraftFile(home, project, session)
    return file, file.open(now_s=os.stat(home).st_mtime)


def test_what_a_crashed_session_left_comes_back_in_the_next_one_of_the_project(tmp_path: Path) -> None:
    first, nothing = opened(tmp_path, "one")
    assert nothing is None
    first.save("half a thought [pasted #3: 20 lines]", {3: "x\n" * 19})
    first.close()  # as the system does when a process dies
    second, left = opened(tmp_path, "two")
    assert left is not None
    assert (left.text, left.pastes) == ("half a thought [pasted #3: 20 lines]", {3: "x\n" * 19})
    second.close()
    # It moved over: it is there once, and survives another crash.
    third, again = opened(tmp_path, "three")
    assert again is not None
    assert again.text == left.text
    assert again.pastes == left.pastes
    third.close()


def test_a_killed_process_leaves_its_draft(tmp_path: Path) -> None:
    code = (
        "import sys, os, pathlib; from clew.composing.draft import DraftFile\n"
        "file = DraftFile(pathlib.Path(sys.argv[1]), '/p', 'one'); file.open(now_s=0.0)\n"
        "file.save('typed', {}); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=60)
    _, left = opened(tmp_path, "two")
    assert left is not None
    assert left.text == "typed"


def test_a_running_clew_keeps_its_own(tmp_path: Path) -> None:
    first, _ = opened(tmp_path, "one")
    first.save("mine", {})
    second, left = opened(tmp_path, "two")
    assert left is None
    second.save("also mine", {})
    first.close()
    second.close()
    third, left = opened(tmp_path, "one")
    assert left is not None
    assert left.text == "mine", "a session's own draft before that of another one"
    third.close()


def test_drafts_of_other_projects_stay_there(tmp_path: Path) -> None:
    first, _ = opened(tmp_path, "one", "/p")
    first.save("about p", {})
    first.close()
    assert opened(tmp_path, "two", "/q")[1] is None


def test_sent_or_cleared_text_is_gone_from_the_disk(tmp_path: Path) -> None:
    file, _ = opened(tmp_path, "one")
    file.save("a secret: hunter2 [pasted #1: 3 lines]", {1: "a\nb\nc"})
    assert [path for path in tmp_path.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()]
    file.save("", {})
    kept = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert kept == ["one.lock"]


def test_nothing_stays_of_sessions_that_left_nothing(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        file, _ = opened(tmp_path, name)
        file.save("x", {})
        file.save("", {})
        file.close()
        file.save("too late", {})
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_killed_processes_left_half_done_goes(tmp_path: Path) -> None:
    file, _ = opened(tmp_path, "one")
    (folder,) = (tmp_path / "drafts").iterdir()
    file.close()
    (folder / "dead.lock").touch()
    (folder / ".dead.json.00.tmp").write_text("half")
    second = DraftFile(tmp_path, "/p", "two")
    second.open(now_s=os.stat(tmp_path).st_mtime + 7200)
    assert [path.name for path in folder.iterdir()] == ["two.lock"]
    second.close()


def test_a_paste_is_written_once_and_goes_when_it_leaves_the_text(tmp_path: Path) -> None:
    file, _ = opened(tmp_path, "one")
    file.save("a [pasted #1: 2 lines]", {1: "a\nb"})
    (paste,) = tmp_path.rglob("*.paste-1")
    before = paste.stat().st_mtime_ns
    file.save("ab [pasted #1: 2 lines]", {1: "a\nb"})
    assert paste.stat().st_mtime_ns == before
    file.save("ab", {})
    assert not paste.exists()


def test_drafts_are_for_this_user_only(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    file, _ = opened(tmp_path / "home", "../../evil/one")
    file.save("x [pasted #1: 2 lines]", {1: "a\nb"})
    found = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert len(found) == 3
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in found)
    assert all(path.parent.stat().st_mode & 0o777 == 0o700 for path in found)
    assert not list(tmp_path.rglob("evil"))


def test_old_and_broken_drafts_are_not_brought_back(tmp_path: Path) -> None:
    first, _ = opened(tmp_path, "one")
    first.save("old", {})
    first.close()
    file = DraftFile(tmp_path, "/p", "two")
    (draft,) = tmp_path.rglob("one.json")
    assert file.open(now_s=draft.stat().st_mtime + MAX_AGE_S + 1) is None
    assert not draft.exists()
    file.close()
    draft.write_text('{"text": "cut in the')
    third, left = opened(tmp_path, "three")
    assert left is None
    third.close()


def test_trouble_with_the_disk_never_stops_typing(tmp_path: Path) -> None:
    (tmp_path / "drafts").write_text("a file where the folder should be")
    file, left = opened(tmp_path, "one")
    assert left is None
    assert "not kept" in file.problem
    file.save("x", {})
    file.close()


@pytest.mark.parametrize("text", ["näive 日本 \ud800 lone", "\x00\x1b[31m", "x" * 100_000])
def test_any_text_comes_back_as_far_as_a_file_can_hold_it(tmp_path: Path, text: str) -> None:
    file, _ = opened(tmp_path, "one")
    file.save(text, {})
    file.close()
    if file.problem:
        assert "\ud800" in text
    else:
        _, left = opened(tmp_path, "one")
        assert left is not None
        assert left.text == text
