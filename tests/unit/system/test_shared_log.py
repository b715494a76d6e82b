"""A file of JSON lines that several processes write: locks, torn and foreign lines, a full disk."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from clew.system.shared_log import LogBusy, LogFull, SharedLog, locked


class Line(Struct, frozen=True):
    n: int


def log(path: Path) -> SharedLog[Line]:
    return SharedLog(path, Line)


def put(shared: SharedLog[Line], *numbers: int) -> None:
    with shared.alone():
        shared.append(*map(Line, numbers))


def test_what_one_writes_others_read_in_order(tmp_path: Path) -> None:
    mine, theirs = log(tmp_path / "a.jsonl"), log(tmp_path / "a.jsonl")
    put(mine, 1, 2)
    put(theirs, 3)
    assert mine.refresh()
    assert [line.n for line in mine.records] == [1, 2, 3]
    assert not mine.refresh()


@given(junk=st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")), max_size=8))
def test_a_line_that_makes_no_sense_is_skipped_alone(
    junk: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    shared = log(path)
    for number, raw in enumerate(junk):
        put(shared, number)
        with path.open("ab") as file:
            file.write(raw)  # without its newline: somebody was killed
    put(shared, 99)
    found = [line.n for line in log_read(path)]
    assert [n for n in found if n in range(len(junk)) or n == 99][-1] == 99
    assert set(range(len(junk))) | {99} <= set(found)


def log_read(path: Path) -> list[Line]:
    fresh = log(path)
    fresh.refresh()
    return list(fresh.records)


def test_a_lock_that_is_held_all_the_time_is_told_as_busy(tmp_path: Path) -> None:
    waits: list[float] = []
    with locked(tmp_path / "lock"), pytest.raises(LogBusy), locked(tmp_path / "lock", tries=3, pause=waits.append):
        pass
    assert len(waits) == 3


def test_a_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from clew.system.shared_log import locked\n"
        f"with locked(Path({str(tmp_path / 'lock')!r})): print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with locked(tmp_path / "lock", tries=0):
        pass


def test_what_does_not_fit_on_the_disk_is_not_stored_and_nothing_else_is_lost(tmp_path: Path) -> None:
    shared = log(tmp_path / "a.jsonl")
    put(shared, 1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12, before[1]))
    try:
        with pytest.raises(LogFull, match="disk is full"):
            put(shared, *range(10, 40))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    put(shared, 2)
    assert [line.n for line in log_read(tmp_path / "a.jsonl")] == [1, 2]


def test_another_file_at_the_path_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    shared = log(path)
    put(shared, 1, 2, 3)
    other = log(path)
    with other.alone():
        other.rewrite([Line(3)])
    assert shared.refresh()
    assert [line.n for line in shared.records] == [3]
    path.unlink()
    assert shared.refresh()
    assert not shared.records


def test_a_link_at_the_path_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("")
    os.symlink(tmp_path / "target", tmp_path / "a.jsonl")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        put(log(tmp_path / "a.jsonl"), 1)


def test_clocks_have_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = log(tmp_path / "a.jsonl")
    put(shared, 1)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    put(shared, 2)
    assert [line.n for line in log_read(tmp_path / "a.jsonl")] == [1, 2]
