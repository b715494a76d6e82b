"""Writing: the TW cases and the D cases of the corruption list."""

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.protocol.entries import CustomTitleEntry, Entry, UserEntry
from clew.protocol.ids import SessionId
from clew.transcript.errors import LeaseLost, SessionBusy, UnsafeTranscript
from clew.transcript.log import files, writer
from clew.transcript.log.lease import acquire, append_lock, holder_of, lock_path, take_over
from clew.transcript.log.writer import NullWriter, TranscriptWriter
from clew.transcript.past.reader import iterate, load

from .samples import SESSION, Script

Told = list[tuple[str, str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "key" / f"{SESSION}.jsonl"


@pytest.fixture
def told() -> Told:
    return []


def open_writer(path: Path, told: Told | None = None, **more: Any) -> TranscriptWriter:
    notify = (lambda level, text: told.append((level, text))) if told is not None else None
    return TranscriptWriter(path, SESSION, notify=notify, **more)


def conversation(count: int = 3) -> list[Entry]:
    script = Script()
    for number in range(count):
        script.user(f"prompt {number}")
    return script.entries


def title(text: str = "My title") -> CustomTitleEntry:
    return CustomTitleEntry(session_id=SESSION, timestamp="2026-11-15T10:00:00.000Z", custom_title=text)


def test_tw1_start_and_quit_leave_nothing(path: Path) -> None:
    sink = open_writer(path)
    assert sink.append(title()) is False
    sink.sync()
    sink.close()
    assert not path.parent.exists()


def test_tw2_a_title_before_the_first_prompt_is_written_before_it(path: Path) -> None:
    sink = open_writer(path)
    sink.append(title())
    assert sink.append(conversation(1)[0]) is True
    assert [type(found.entry).__name__ for found in iterate(path)] == ["CustomTitleEntry", "UserEntry"]
    sink.close()


def test_modes_are_private(path: Path) -> None:
    old = os.umask(0)
    try:
        sink = open_writer(path)
        sink.append(conversation(1)[0])
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
    sink.close()


def test_d11_a_missing_directory_is_made(path: Path) -> None:
    sink = open_writer(path)
    assert sink.append(conversation(1)[0])
    sink.close()
    assert path.exists()


class Disk:
    """`os.write` that fails, stalls or writes short, as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.real: Callable[..., int] = os.write
        self.error: int | None = None
        self.short = 0
        self.budget: int | None = None
        monkeypatch.setattr(writer.os, "write", self.write)

    def write(self, fd: int, data: bytes) -> int:
        if self.budget is not None:
            if self.budget <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            data = data[: self.budget]
            self.budget -= len(data)
        if self.error is not None:
            raise OSError(self.error, os.strerror(self.error))
        return self.real(fd, data[: self.short] if self.short else data)


def test_tw4_five_thousand_entries_on_a_stalled_disk_all_arrive(
    path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    sink = open_writer(path, told)
    disk.error = errno.ENOSPC
    entries = conversation(5000)
    assert not any(sink.append(entry) for entry in entries)
    assert sink.sync() is False
    assert sink.pending == 5000
    assert len(told) == 1, "one warning, not five thousand"
    disk.error = None
    assert sink.append(title())
    assert [found.entry for found in iterate(path)] == [*entries, title()]
    assert told[-1][0] == "info"
    sink.close()


def test_d05_short_writes_give_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    disk.short = 7
    sink = open_writer(path)
    entries = conversation(2)
    assert all(sink.append(entry) for entry in entries)
    assert [found.entry for found in iterate(path)] == entries
    sink.close()


def test_a_line_that_was_half_written_when_the_disk_was_full_is_completed(
    path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    sink = open_writer(path, told)
    entries = conversation(3)
    assert sink.append(entries[0])
    disk.budget = 40
    assert not sink.append(entries[1])
    assert not sink.append(entries[2])
    assert load(path).leaf == "u1"
    disk.budget = None
    assert sink.sync()
    assert [found.entry for found in iterate(path)] == entries
    assert [level for level, _ in told] == ["warning", "info"]
    sink.close()


def test_a_half_written_line_is_begun_anew_when_somebody_wrote_after_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    sink = open_writer(path)
    entries = conversation(2)
    sink.append(entries[0])
    disk.budget = 40
    sink.append(entries[1])
    disk.budget = None
    with path.open("ab") as stranger:
        stranger.write(b"\nnoise\n")
    assert sink.sync()
    assert [found.entry for found in iterate(path) if found.entry] == entries
    sink.close()


def test_d01_a_really_full_file_system_is_survived(tmp_path: Path) -> None:
    """The kernel itself refuses to let the file grow, in the middle of a line."""
    code = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from unit.transcript.samples import SESSION, Script
from clew.transcript.log.writer import TranscriptWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
told = []
sink = TranscriptWriter(Path(sys.argv[1]), SESSION, notify=lambda level, text: told.append(level))
script = Script()
for number in range(20):
    script.user("x" * 100)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
saved = [sink.append(entry) for entry in script.entries]
assert saved[0] and not saved[-1], saved
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
assert sink.sync()
sink.close()
assert told == ["warning", "info"], told
"""
    path = tmp_path / f"{SESSION}.jsonl"
    tests = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code, str(path), str(tests)], check=True)
    assert len([found for found in iterate(path) if found.entry]) == 20
    assert load(path).problems == ()


def test_d07_a_directory_that_becomes_read_only(path: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root ignores modes, so the refusal is played at the one place that opens files."""
    real = files.os.open
    refuse = True

    def refusing(target: Any, flags: int, *more: Any, **named: Any) -> int:
        if refuse and flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(target))
        return real(target, flags, *more, **named)

    monkeypatch.setattr(files.os, "open", refusing)
    sink = open_writer(path, told)
    entries = conversation(3)
    assert not any(sink.append(entry) for entry in entries)
    assert len(told) == 1
    assert "Read-only" in told[0][1]
    refuse = False
    assert sink.sync()
    assert [found.entry for found in iterate(path)] == entries
    sink.close()


def test_closing_with_unsaved_entries_says_so(path: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    disk.error = errno.EIO
    sink = open_writer(path, told)
    sink.append(conversation(1)[0])
    sink.close()
    level, words = told[-1]
    assert level == "error"
    start = f"the last entry of this session could not be saved to {path}: Input/output error; what came before"
    assert words.startswith(start)


def test_tw5_a_torn_last_line_never_joins_the_next(path: Path) -> None:
    """A01: the torn text stays, the new line parses."""
    script = Script()
    script.user("one")
    script.user("two")
    whole = script.write(path.parent).read_bytes()
    path.write_bytes(whole[:-20])
    sink = open_writer(path)
    script.user("three", parent="u1")
    assert sink.append(script.entries[-1])
    sink.close()
    assert path.read_bytes().startswith(whole[:-20] + b"\n")
    assert load(path).leaf == "u3"
    assert [problem.kind for problem in load(path).problems] == ["not-json"]


def test_a02_a_missing_final_newline_is_added(path: Path) -> None:
    script = Script()
    script.user("one")
    whole = script.write(path.parent).read_bytes()
    path.write_bytes(whole[:-1])
    assert load(path).leaf == "u1"
    sink = open_writer(path)
    script.user("two")
    sink.append(script.entries[-1])
    sink.close()
    assert [found.entry for found in iterate(path)] == script.entries


def test_d08_a_deleted_file_is_written_anew_with_its_whole_history(path: Path, told: Told) -> None:
    script = Script()
    script.user("from an earlier process")
    script.write(path.parent)
    sink = open_writer(path, told)
    script.user("two")
    sink.append(script.entries[1])
    os.unlink(path)
    script.user("three")
    assert sink.append(script.entries[2])
    assert [found.entry for found in iterate(path)] == script.entries
    assert len(told) == 1
    assert "deleted" in told[0][1]
    sink.close()


def test_d08_even_when_the_directory_went_with_it(path: Path, told: Told) -> None:
    sink = open_writer(path, told)
    entries = conversation(2)
    sink.append(entries[0])
    for item in path.parent.iterdir():
        item.unlink()
    path.parent.rmdir()
    assert sink.append(entries[1])
    assert [found.entry for found in iterate(path)] == entries
    sink.close()


def test_d09_a_file_swapped_for_a_link_is_not_followed(path: Path, told: Told) -> None:
    sink = open_writer(path, told)
    entries = conversation(2)
    sink.append(entries[0])
    victim = path.parent / "victim"
    victim.write_bytes(b"precious\n")
    os.unlink(path)
    path.symlink_to(victim)
    assert sink.append(entries[1])
    assert victim.read_bytes() == b"precious\n"
    assert not path.is_symlink()
    assert [found.entry for found in iterate(path)] == entries
    assert any(item.is_symlink() for item in path.parent.iterdir()), "what was there is kept under another name"
    sink.close()


def test_a_replaced_file_is_kept_beside(path: Path, told: Told) -> None:
    sink = open_writer(path, told)
    entries = conversation(2)
    sink.append(entries[0])
    other = path.parent / "other"
    other.write_bytes(b"restored from a backup\n")
    os.rename(other, path)
    assert sink.append(entries[1])
    assert [found.entry for found in iterate(path)] == entries
    assert b"restored from a backup\n" in [item.read_bytes() for item in path.parent.iterdir()]
    sink.close()


def test_d09_a_link_is_refused_on_open(path: Path) -> None:
    path.parent.mkdir(parents=True)
    target = path.parent / "elsewhere"
    target.write_bytes(b"")
    path.symlink_to(target)
    with pytest.raises(UnsafeTranscript, match="symbolic link"):
        open_writer(path)
    assert [problem.kind for problem in load(path).problems] == ["unreadable"]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_d10_directories_and_pipes_are_refused_without_waiting(path: Path, make: Callable[[Path], None]) -> None:
    path.parent.mkdir(parents=True)
    make(path)
    with pytest.raises(UnsafeTranscript):
        open_writer(path)
    assert [problem.kind for problem in load(path).problems] == ["unreadable"]


def test_d13_a_file_of_another_user_is_refused(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    Script().write(path.parent)
    os.chown(path, 12345, -1)
    with pytest.raises(UnsafeTranscript, match="another user"):
        open_writer(path)


def test_tw6_the_second_writer_is_told_who_holds_the_session(path: Path) -> None:
    first = open_writer(path, name="clew in a terminal")
    entries = conversation(2)
    first.append(entries[0])
    before = path.read_bytes()
    with pytest.raises(SessionBusy, match=r"clew in a terminal \(process \d+\).*--fork-session.*take it over"):
        open_writer(path)
    assert path.read_bytes() == before
    first.close()
    second = open_writer(path)
    assert second.append(entries[1])
    second.close()
    assert not lock_path(path).exists()


def test_whoever_is_asked_for_a_session_lets_go_when_it_is_settled_not_before(path: Path, told: Told) -> None:
    sink = open_writer(path, told)
    entries = conversation(3)
    sink.append(entries[0])
    with pytest.raises(SessionBusy):
        take_over(path, wait_s=0, name="the other")
    leases: list[Any] = []
    taker = threading.Thread(target=lambda: leases.append(take_over(path, name="the other", wait_s=10)))
    taker.start()
    while not sink.asked_for():
        pass
    assert "the other" in sink.asked_for()
    assert sink.append(entries[1])  # what still has to be recorded is
    assert not leases
    sink.close()
    taker.join()
    second = open_writer(path, lease=leases[0])
    assert second.append(entries[2])
    second.close()
    assert [found.entry for found in iterate(path)] == entries


def test_e03_a_displaced_writer_notices_also_when_the_taker_is_done(path: Path) -> None:
    mine = acquire(path, name="asleep")
    taken = take_over(path, name="awake", wait_s=0, force=True)
    taken.release()
    assert not lock_path(path).exists()
    assert not mine.held()
    mine.release()


def test_a_lock_file_removed_by_hand_does_not_end_the_lease(path: Path) -> None:
    mine = acquire(path, name="me")
    lock_path(path).unlink()
    assert mine.held()
    mine.release()


def test_e03_a_displaced_writer_notices_before_its_next_line(path: Path) -> None:
    first = open_writer(path, name="asleep")
    entries = conversation(3)
    first.append(entries[0])
    lease = take_over(path, name="awake", wait_s=0, force=True)
    second = open_writer(path, lease=lease)
    second.append(entries[1])
    before = path.read_bytes()
    with pytest.raises(LeaseLost, match="awake"):
        first.append(entries[2])
    first.close()
    assert path.read_bytes() == before
    assert lock_path(path).exists(), "the old holder must not remove the new holder's lock"
    second.close()


def test_e12_a_forked_child_cannot_write(path: Path) -> None:
    sink = open_writer(path)
    entries = conversation(2)
    sink.append(entries[0])
    child = os.fork()
    if child == 0:
        try:
            sink.append(entries[1])
        except LeaseLost:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert sink.append(entries[1])
    assert [found.entry for found in iterate(path)] == entries
    sink.close()


def test_tw8_without_persistence_nothing_is_written(tmp_path: Path) -> None:
    sink = NullWriter()
    for entry in (title(), *conversation(2)):
        assert sink.append(entry) is False
    sink.sync()
    sink.close()
    assert list(tmp_path.iterdir()) == []


def test_sub_agents_need_no_lease_and_have_their_own_file(path: Path) -> None:
    main = open_writer(path)
    main.append(conversation(1)[0])
    side = TranscriptWriter(path.with_suffix("") / "subagents" / "agent-x.jsonl", SESSION, leased=False)
    script = Script(sidechain=True, agent="x")
    script.user("sub task", parent=None)
    assert side.append(script.entries[0])
    side.close()
    main.close()
    assert load(side.path, sidechain=True).leaf == "u1"


def test_tw7_a_fork_agents_file_alone_rebuilds_its_context(tmp_path: Path) -> None:
    """Its file repeats the parent's entries under their own ids; nothing is left out as a duplicate."""
    script = Script(sidechain=True, agent="x")
    script.user("inherited prompt", parent=None, uuid="p1")
    script.assistant("inherited answer", uuid="p2")
    script.user("do this on the side")
    path = tmp_path / "agent-x.jsonl"
    sink = TranscriptWriter(path, SESSION, leased=False)
    for entry in script.entries:
        sink.append(entry)
    sink.close()
    assert len(load(path, session_id=SESSION, sidechain=True).messages) == 3


def test_a_seed_appears_with_the_first_prompt_and_whole(path: Path) -> None:
    """BF-6: a fork that is left at once leaves no session."""
    script = Script()
    script.user("copied")
    seed = script.lines()
    open_writer(path, seed=seed).close()
    assert not path.exists()
    sink = open_writer(path, seed=seed)
    script.user("new")
    sink.append(script.entries[1])
    sink.close()
    assert [found.entry for found in iterate(path)] == script.entries


def test_a_seed_that_is_written_at_once_is_there_before_a_prompt_or_not_at_all(path: Path, tmp_path: Path) -> None:
    script = Script()
    script.user("copied")
    sink = open_writer(path, seed=script.lines())
    sink.write_seed()
    assert [found.entry for found in iterate(path)] == script.entries
    script.user("new")
    sink.append(script.entries[1])
    sink.close()
    assert [found.entry for found in iterate(path)] == script.entries
    (tmp_path / "no folder").write_text("a file")
    nowhere = tmp_path / "no folder" / "x.jsonl"
    with pytest.raises((NotADirectoryError, FileExistsError)):
        open_writer(nowhere, seed=script.lines()).write_seed()
    assert (tmp_path / "no folder").read_text() == "a file"


def test_lines_of_two_sessions_do_not_mix(tmp_path: Path) -> None:
    """E05 in small: two writers in one directory."""
    names = [SessionId("one"), SessionId("two")]
    sinks = [TranscriptWriter(tmp_path / f"{name}.jsonl", name) for name in names]
    for number in range(50):
        for name, sink in zip(names, sinks, strict=True):
            script = Script(name)
            script.user(f"{number}", uuid=f"{name}-{number}")
            sink.append(script.entries[0])
    for name, sink in zip(names, sinks, strict=True):
        sink.close()
        assert {found.entry.session_id for found in iterate(sink.path) if isinstance(found.entry, UserEntry)} == {name}


def test_a_lease_without_flock_holder_is_free(path: Path) -> None:
    """E04: a lock file left by a process number that now belongs to somebody else."""
    path.parent.mkdir(parents=True)
    lock_path(path).write_bytes(b'{"pid": %d, "started": "another:1", "token": "x"}' % os.getpid())
    assert holder_of(path) is None
    acquire(path).release()


def test_a_lost_session_does_not_raise_from_sync_or_close(path: Path) -> None:
    first = open_writer(path)
    first.append(conversation(1)[0])
    lease = take_over(path, wait_s=0, force=True)
    assert first.sync() is False
    first.close()
    lease.release()


def test_a_line_that_fails_twice_around_a_foreign_write_is_whole(
    path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Full disk, somebody else's bytes at the end, full disk again: the entry must not join what stands there."""
    disk = Disk(monkeypatch)
    sink = open_writer(path, told)
    first, second = conversation(2)
    assert sink.append(first)
    disk.budget = 10
    assert not sink.append(second)
    with path.open("ab") as other:
        other.write(b"foreign")
    disk.budget = 25
    assert not sink.sync()
    disk.budget = None
    assert sink.sync()
    assert [found.entry for found in iterate(path) if found.entry is not None] == [first, second]
    sink.close()


def test_a_notified_host_may_look_at_the_writer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    disk.error = errno.ENOSPC
    seen: list[bool] = []
    sink = TranscriptWriter(path, SESSION, notify=lambda level, text: seen.append(sink.sync()))
    sink.append(conversation(1)[0])
    assert seen == [False]
    disk.error = None
    assert sink.sync()
    sink.close()


def test_a_holder_inside_a_write_is_not_displaced(path: Path) -> None:
    """Between its look at the lease and its write nobody may take the session, else a line could come after ours."""
    first = open_writer(path)
    first.append(conversation(1)[0])
    fd = files.open_append(path, create=False)
    try:
        with append_lock(fd), pytest.raises(SessionBusy):
            take_over(path, wait_s=0, force=True)
        assert first.append(title()), "and it keeps the session"
    finally:
        os.close(fd)
        first.close()
