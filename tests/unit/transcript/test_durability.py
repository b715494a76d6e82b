"""A failed sync is not believed later: what `sync` confirmed is on a disk that forgets what it could not write."""

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.protocol.entries import Entry
from clew.transcript.errors import LeaseLost, SessionBusy
from clew.transcript.log import lease
from clew.transcript.log.lease import acquire, append_lock, take_over
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.past.reader import iterate, load
from fakes.effort import HANG_S

from .samples import SESSION, Script

Told = list[tuple[str, str]]


class ForgetfulDisk:
    """`os.fsync` as Linux has it: a failure is told once, the pages count as clean, and the next sync succeeds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.errors: list[int] = []
        """What the next syncs of files fail with."""
        self.directory_errors: list[int] = []
        self.on_step: Callable[[], None] = lambda: None
        self.syncs = 0
        self._real = os.fsync
        self._durable: dict[int, bytes] = {}
        self._lost: dict[int, list[tuple[int, int]]] = {}
        self._open: list[int] = []
        monkeypatch.setattr(os, "fsync", self.fsync)

    def fsync(self, fd: int) -> None:
        self.on_step()
        info = os.fstat(fd)
        if stat.S_ISDIR(info.st_mode):
            if self.directory_errors:
                raise OSError(self.directory_errors.pop(0), "played")
            return
        self.syncs += 1
        content = bytearray(os.pread(fd, info.st_size, 0))
        if self.errors:
            number = self.errors.pop(0)
            span = (len(self._durable.get(info.st_ino, b"")), len(content))
            self._lost.setdefault(info.st_ino, []).append(span)
            self._open.append(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY))  # so that no other file gets its number
            raise OSError(number, os.strerror(number))
        for start, end in self._lost.get(info.st_ino, []):
            content[start:end] = bytes(end - start)
        self._durable[info.st_ino] = bytes(content)

    def close(self) -> None:
        for fd in self._open:
            os.close(fd)

    def after_a_power_cut(self, path: Path) -> list[Entry]:
        """What a reader finds then."""
        kept = path.with_name("after.jsonl")
        kept.write_bytes(self._durable.get(path.stat().st_ino, b""))
        return [found.entry for found in iterate(kept) if found.entry]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForgetfulDisk]:
    made = ForgetfulDisk(monkeypatch)
    yield made
    made.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "key" / f"{SESSION}.jsonl"


@pytest.fixture
def told() -> Told:
    return []


@pytest.fixture
def sink(path: Path, told: Told, disk: ForgetfulDisk) -> TranscriptWriter:
    return TranscriptWriter(path, SESSION, notify=lambda level, text: told.append((level, text)))


def conversation(count: int) -> list[Entry]:
    script = Script()
    for number in range(count):
        script.user(f"prompt {number}")
    return script.entries


def in_file(path: Path) -> list[Entry | None]:
    return [found.entry for found in iterate(path)]


def confirmed(sink: TranscriptWriter, most: int = 40) -> int:
    """How many syncs it takes until one is confirmed."""
    return next(number for number in range(1, most) if sink.sync())


def test_one_failed_sync_loses_nothing(sink: TranscriptWriter, path: Path, disk: ForgetfulDisk, told: Told) -> None:
    entries = conversation(4)
    assert all(sink.append(entry) for entry in entries[:2])
    assert sink.sync()
    assert all(sink.append(entry) for entry in entries[2:])
    disk.errors = [errno.EIO]
    confirmed(sink)
    assert disk.after_a_power_cut(path) == entries
    assert in_file(path) == entries
    assert [level for level, _ in told] == ["warning", "info"]
    assert "Input/output error" in told[0][1]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("count", [2, 3, 7])
def test_while_the_disk_fails_no_sync_is_confirmed_and_the_user_hears_it_once(
    sink: TranscriptWriter, path: Path, disk: ForgetfulDisk, told: Told, count: int
) -> None:
    entries = conversation(80)
    sink.append(entries[0])
    disk.errors = [errno.EIO] * count
    for entry in entries[1:]:
        assert sink.append(entry), "it is in the file, which is all that append says"
        if sink.sync():
            break
        assert len([level for level, _ in told if level == "warning"]) == 1
        assert "info" not in [level for level, _ in told], "nothing is said to be saved before it is"
        assert in_file(path) == entries[: in_file(path).index(entry) + 1]
    assert not disk.errors
    assert disk.after_a_power_cut(path) == in_file(path)
    assert [level for level, _ in told] == ["warning", "info"]
    assert sorted(item.suffix for item in path.parent.iterdir()) == [".jsonl", ".jsonl", ".lock"]


def test_a_disk_that_is_full_while_the_file_is_written_anew(
    sink: TranscriptWriter, path: Path, disk: ForgetfulDisk, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = conversation(6)
    real: Callable[..., int] = os.write
    room = 300

    def full(fd: int, data: bytes) -> int:
        nonlocal room
        if os.fstat(fd).st_ino == path.stat().st_ino:
            return real(fd, data)
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        room -= len(data[:room])
        return real(fd, data[:300])

    assert all(sink.append(entry) for entry in entries)
    disk.errors = [errno.EIO]
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert not any(sink.sync() for _ in range(5))
        assert in_file(path) == entries
        assert not [item for item in path.parent.iterdir() if item.name.startswith(".")], "no draft is left"
    confirmed(sink)
    assert disk.after_a_power_cut(path) == entries
    assert [level for level, _ in told] == ["warning", "info"]


def test_a_full_disk_is_seen_before_a_large_history_is_copied(
    sink: TranscriptWriter, path: Path, disk: ForgetfulDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = conversation(3)
    sink.append(entries[0])
    disk.errors = [errno.EIO]
    real = os.statvfs

    class NoRoom:
        f_bavail, f_frsize = 0, 4096

    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda _: NoRoom)
        assert not sink.sync()
        assert disk.syncs == 1
    assert real(path.parent).f_frsize
    confirmed(sink)
    assert disk.after_a_power_cut(path) == entries[:1]


def test_tries_become_rare_while_the_disk_stays_bad(sink: TranscriptWriter, disk: ForgetfulDisk) -> None:
    """Each try writes the whole history: a hundred syncs may not write it a hundred times."""
    sink.append(conversation(1)[0])
    disk.errors = [errno.EIO] * 1000
    assert not any(sink.sync() for _ in range(100))
    assert disk.syncs <= 12
    disk.errors.clear()
    sink.close()
    assert disk.errors == []


def test_closing_tries_once_more(sink: TranscriptWriter, path: Path, disk: ForgetfulDisk, told: Told) -> None:
    entries = conversation(3)
    disk.errors = [errno.EIO] * 7
    for entry in entries:
        sink.append(entry)
        sink.sync()
    disk.errors.clear()
    sink.close()
    assert disk.after_a_power_cut(path) == entries
    assert [level for level, _ in told] == ["warning", "info"]


def test_closing_on_a_disk_that_stays_bad_says_what_is_not_certain(
    sink: TranscriptWriter, path: Path, disk: ForgetfulDisk, told: Told
) -> None:
    entries = conversation(3)
    disk.errors = [errno.EIO] * 100
    for entry in entries:
        sink.append(entry)
    sink.close()
    assert in_file(path) == entries
    assert [level for level, _ in told] == ["warning", "error"]
    assert "3 entries" in told[-1][1]


def test_readers_see_the_whole_file_at_every_step(
    sink: TranscriptWriter, path: Path, disk: ForgetfulDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = conversation(5)
    for entry in entries:
        sink.append(entry)
    seen: list[int] = []

    def look(*_: object) -> None:
        seen.append(len(in_file(path)))

    def watched(name: str) -> None:
        real = getattr(os, name)

        def step(*args: Any, **more: Any) -> Any:
            look()
            done = real(*args, **more)
            look()
            return done

        monkeypatch.setattr(os, name, step)

    for name in ("write", "rename", "replace", "unlink"):
        watched(name)
    disk.on_step = look
    disk.errors = [errno.EIO, errno.EIO]
    confirmed(sink)
    assert len(seen) > 6
    assert set(seen) == {5}


def test_lines_of_somebody_else_are_kept(sink: TranscriptWriter, path: Path, disk: ForgetfulDisk) -> None:
    entries = conversation(3)
    sink.append(entries[0])
    sink.sync()
    sink.append(entries[1])
    with path.open("ab") as stranger:
        stranger.write(b'{"type":"note-of-another-program","text":"kept"}\n')
    sink.append(entries[2])
    disk.errors = [errno.EIO]
    confirmed(sink)
    assert {entry.uuid for entry in in_file(path) if hasattr(entry, "uuid")} == {"u1", "u2", "u3"}  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess] (hasattr asked)
    assert b"note-of-another-program" in path.read_bytes()
    assert load(path).leaf == "u3"


def test_what_an_earlier_process_wrote_is_written_anew_too(path: Path, disk: ForgetfulDisk) -> None:
    script = Script()
    for number in range(3):
        script.user(f"before {number}")
    script.write(path.parent)
    sink = TranscriptWriter(path, SESSION)
    script.user("now")
    sink.append(script.entries[-1])
    disk.errors = [errno.EIO]
    confirmed(sink)
    assert disk.after_a_power_cut(path) == script.entries
    sink.close()


def test_a_torn_last_line_stays_apart_in_the_new_file(path: Path, disk: ForgetfulDisk) -> None:
    script = Script()
    script.user("one")
    script.user("two")
    whole = script.write(path.parent).read_bytes()
    path.write_bytes(whole[:-20])
    sink = TranscriptWriter(path, SESSION)
    script.user("three", parent="u1")
    sink.append(script.entries[-1])
    disk.errors = [errno.EIO]
    confirmed(sink)
    sink.close()
    assert path.read_bytes().startswith(whole[:-20] + b"\n")
    assert load(path).leaf == "u3"


def test_a_displaced_writer_writes_nothing_anew(sink: TranscriptWriter, path: Path, disk: ForgetfulDisk) -> None:
    entries = conversation(3)
    sink.append(entries[0])
    disk.errors = [errno.EIO] * 2
    assert not sink.sync()
    taken = TranscriptWriter(path, SESSION, lease=take_over(path, wait_s=0, force=True))
    taken.append(entries[1])
    before = path.stat().st_ino
    assert not any(sink.sync() for _ in range(20))
    with pytest.raises(LeaseLost):
        sink.append(entries[2])
    sink.close()
    assert path.stat().st_ino == before
    assert in_file(path) == entries[:2]
    taken.close()


def test_a_file_deleted_while_its_sync_is_in_doubt(sink: TranscriptWriter, path: Path, disk: ForgetfulDisk) -> None:
    entries = conversation(3)
    sink.append(entries[0])
    disk.errors = [errno.EIO] * 2
    assert not sink.sync()
    os.unlink(path)
    sink.append(entries[1])
    confirmed(sink)
    assert disk.after_a_power_cut(path) == entries[:2]


def test_a_name_that_could_not_be_synced_is_not_confirmed(
    sink: TranscriptWriter, path: Path, disk: ForgetfulDisk, told: Told
) -> None:
    entries = conversation(2)
    disk.directory_errors = [errno.EIO] * 2
    sink.append(entries[0])
    assert not sink.sync()
    assert confirmed(sink)
    assert disk.after_a_power_cut(path) == entries[:1]
    assert [level for level, _ in told] == ["warning", "info"]


def test_a_file_system_that_does_not_sync_directories_is_fine(sink: TranscriptWriter, disk: ForgetfulDisk) -> None:
    disk.directory_errors = [errno.EINVAL]
    sink.append(conversation(1)[0])
    assert sink.sync()


def test_only_lines_since_the_last_sync_are_held_in_memory(sink: TranscriptWriter) -> None:
    for entry in conversation(50):
        sink.append(entry)
        assert sink.unconfirmed == 1
        sink.sync()
        assert sink.unconfirmed == 0


def test_a_taker_waits_for_the_new_file_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old holder may be inside a write of the file that took the name while the taker waited for the old one."""
    mine = acquire(path)
    path.write_bytes(b"")
    old, fresh = os.open(path, os.O_RDWR), os.open(path.with_name("new"), os.O_RDWR | os.O_CREAT)
    caught: list[Exception] = []
    waits = threading.Event()
    sleep = lease.time.sleep

    def pause(seconds: float) -> None:
        waits.set()
        sleep(seconds)

    monkeypatch.setattr(lease.time, "sleep", pause)
    lock = append_lock(old)
    lock.__enter__()

    def take() -> None:
        try:
            take_over(path, wait_s=0, force=True)
        except SessionBusy as error:
            caught.append(error)

    with append_lock(fresh):
        taker = threading.Thread(target=take)
        taker.start()
        assert waits.wait(HANG_S)
        os.rename(path.with_name("new"), path)
        lock.__exit__(None, None, None)
        taker.join()
    assert caught
    assert mine.held()
    mine.release()
    os.close(old)
    os.close(fresh)
