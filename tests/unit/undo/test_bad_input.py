"""Caps, odd files, full disks, damaged stores: told in words, and nothing is lost."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from clew.undo import capture, packs
from clew.undo.errors import ContentMissing
from clew.undo.limits import UndoLimits
from clew.undo.packs import PackStore
from clew.undo.state import path_of, path_text
from unit.undo.conftest import Keeping, seen


def refuse(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_more_files_than_the_cap_are_told_and_the_sources_come_first(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path, limits=UndoLimits(max_files=60))
    (keeping.root / ".gitignore").write_text("aaa_modules/\n")
    for name, count in (("aaa_modules", 300), ("src", 40)):
        (keeping.root / name).mkdir()
        for number in range(count):
            (keeping.root / name / f"f{number}").write_text(f"{name} {number}")
    keeping.scan()
    assert "aaa_modules is not kept: the workspace has more than 60 entries" in keeping.said
    made = keeping.shell("echo x > src/f1; echo x > aaa_modules/f1")
    assert [path_of(change.path) for change in made.changes] == [str(keeping.root / "src" / "f1")]
    assert any("aaa_modules" in line for line in made.unseen)
    assert any(line.startswith("not looked at") and "aaa_modules" in line for line in keeping.plan(made).warnings)
    keeping.undo(made)
    made = keeping.shell("rm -rf src aaa_modules")
    assert any("aaa_modules" in line and "not all kept" in line for line in made.warnings)
    keeping.undo(made)
    assert len(list((keeping.root / "src").iterdir())) == 40
    keeping.kept.close()


def test_a_new_tree_beyond_the_cap_is_told(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path, limits=UndoLimits(max_files=20)).scan()
    keeping.shell("mkdir big && touch big/{1..50}")
    assert any("more than 20 entries" in gap for gap in keeping.kept.coverage(None))
    keeping.kept.close()


def test_large_files_are_told_when_they_change_and_are_not_removed_lightly(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path, limits=UndoLimits(max_file_bytes=1000))
    (keeping.root / "model.bin").write_bytes(b"m" * 5000)
    keeping.scan()
    assert "model.bin is not kept: larger than 1,000 bytes" in keeping.said
    assert keeping.kept.coverage([str(keeping.root / "model.bin")])
    assert keeping.kept.coverage([str(keeping.root / "other")]) == ()
    made = keeping.shell("rm model.bin")
    assert any("model.bin" in line and "larger than" in line for line in made.warnings)
    assert [file.impossible for file in keeping.plan(made).files] != [""]
    keeping.kept.close()


def test_a_file_too_large_to_keep_needs_consent_before_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.undo.plan._MAX_READ_BYTES", 1000)
    monkeypatch.setattr("clew.undo.restore._MAX_KEPT_BYTES", 1000)
    keeping = Keeping(tmp_path, limits=UndoLimits(max_file_bytes=1000)).scan()
    made = keeping.shell("head -c 5000 /dev/zero > big")
    plan = keeping.plan(made)
    assert "could not be undone" in plan.conflicts[0].conflict
    keeping.apply(plan)
    assert (keeping.root / "big").exists()
    keeping.apply(plan, consent=[keeping.root / "big"])
    assert not (keeping.root / "big").exists()
    keeping.kept.close()


def test_ignored_directories_keep_small_files_only(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path, limits=UndoLimits(max_ignored_file_bytes=100))
    (keeping.root / ".gitignore").write_text("build/\n")
    (keeping.root / "build" / "deep").mkdir(parents=True)
    (keeping.root / "build" / "deep" / "large").write_bytes(b"x" * 500)
    (keeping.root / "build" / "deep" / "small").write_bytes(b"x" * 50)
    keeping.scan()
    made = keeping.shell("rm -rf build")
    keeping.undo(made)
    assert os.listdir(keeping.root / "build" / "deep") == ["small"]
    assert len(made.warnings) == 1
    keeping.kept.close()


def test_pipes_and_sockets_are_never_opened_and_their_loss_is_told(keeping: Keeping) -> None:
    os.mkfifo(keeping.root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(keeping.root)  # the path of a socket is short
        server.bind("sock")
        os.chdir(here)
    made = keeping.shell("rm pipe sock; echo x > src/m001.py")
    assert sum("no file, link or directory" in line for line in made.warnings) == 2
    done = keeping.undo(made)
    assert len(done.done) == 1
    made = keeping.shell("rm data.bin && mkfifo data.bin")
    assert keeping.plan(made).conflicts, "a pipe is not removed without consent"


def test_names_of_one_file_stay_one_file(keeping: Keeping) -> None:
    one, two, three = (keeping.root / name for name in ("one", "two", "three"))
    one.write_text("shared\n")
    os.link(one, two)
    os.link(one, three)
    made = keeping.shell("echo changed >> one; rm three")
    assert {os.path.basename(change.path) for change in made.changes} == {"one", "two", "three"}
    keeping.undo(made)
    assert [path.read_text() for path in (one, two, three)] == ["shared\n"] * 3
    assert len({path.stat().st_ino for path in (one, two, three)}) == 1
    made = keeping.shell("rm two")
    keeping.undo(made)
    assert two.stat().st_ino == one.stat().st_ino


def test_a_file_that_changes_while_it_is_read_is_read_again_or_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "busy"
    path.write_text("0")
    store = PackStore(tmp_path / "packs")
    real = capture._read
    writes = [1, 2]

    def read_and_write(descriptor: int, limit: int) -> bytes:
        data = real(descriptor, limit)
        if writes:
            path.write_text("x" * (10 + writes.pop()))
        return data

    monkeypatch.setattr(capture, "_read", read_and_write)
    state = capture.state_of(str(path), store=store, max_bytes=1000)
    assert store.get(bytes.fromhex(state.digest)).decode() == path.read_text()
    writes = [*range(50)]
    state = capture.state_of(str(path), store=store, max_bytes=1000)
    assert state.why == capture.BUSY
    assert not state.restorable


def test_two_writes_within_one_tick_are_both_seen(keeping: Keeping) -> None:
    path = keeping.root / "untracked.txt"
    made = keeping.shell("printf aaaa > untracked.txt")
    for text in ("bbbb", "cccc", "dddd"):
        path.write_text(text)
        made = keeping.shell(f"printf {text.upper()} > untracked.txt")
        keeping.undo(made)
        assert path.read_text() == text


def test_an_unreadable_file_is_told(keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(capture, "open_entry", refused)
        keeping.shell("echo x > closed")
    made = keeping.shell("rm closed")
    assert any("closed" in line and "cannot be read" in line for line in made.warnings)


def test_lost_events_lead_to_a_whole_look(keeping: Keeping) -> None:
    before = seen(keeping.root)
    script = "import os\nfor i in range(9000):\n open(f'many/{i}', 'w').close()\n os.utime(f'many/{i}')\n"
    made = keeping.shell(f'mkdir many && rm run.sh && python3 -c "{script}"')
    assert len(made.changes) == 9002
    keeping.undo(made)
    assert seen(keeping.root) == before


def test_a_full_disk_before_a_call_is_told_and_kept_again_when_there_is_room(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = keeping.root / "src" / "m001.py"
    with monkeypatch.context() as patch:
        patch.setattr(packs, "write_all", refuse)
        opened = keeping.kept.before(keeping.call("Write"), [str(path)])
        assert opened.gaps == ()  # the scan has kept it before
        path.write_text("fresh edit of the user\n")
        opened = keeping.kept.before(keeping.call("Write"), [str(path)])
        assert "No space left" in opened.gaps[0]
        made = keeping.shell("echo agent > src/m001.py")
        assert any("No space left" in line for line in made.warnings)
        assert keeping.plan(made).files[0].impossible
    path.write_text("another edit\n")
    made = keeping.shell("echo agent > src/m001.py")
    assert made.warnings == ()
    keeping.undo(made)
    assert path.read_text() == "another edit\n"


def test_a_full_disk_during_a_restore_loses_nothing(keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    made = keeping.shell("echo agent > src/m001.py; rm data.bin")
    (keeping.root / "src" / "m001.py").write_text("mine\n")
    before = seen(keeping.root)
    plan = keeping.plan(made)
    with monkeypatch.context() as patch:
        patch.setattr(packs, "write_all", refuse)
        patch.setattr("clew.undo.restore.write_all", refuse)
        patch.setattr("clew.undo.journal.write_all", refuse)
        done = keeping.apply(plan, force=True)
    assert not done.done
    assert {os.path.basename(path) for path, _ in done.failed} == {"m001.py", "data.bin"}
    assert all("No space left" in why for _, why in done.failed)
    assert seen(keeping.root) == before
    done = keeping.apply(keeping.plan(made), force=True)
    assert len(done.done) == 2


def test_a_home_that_takes_nothing_is_told_and_calls_go_on(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    keeping.home.mkdir(exist_ok=True)
    (keeping.home / "undo").write_text("in the way")
    (keeping.home / "projects").write_text("in the way")
    (keeping.root / "a").write_text("1")
    keeping.scan()
    assert "cannot be written" in keeping.said
    made = keeping.shell("echo 2 > a")
    assert any("cannot be written" in line for line in made.warnings)
    assert any("this session only" in line for line in made.warnings)
    written = keeping.write(keeping.root / "a", "3")
    assert any("could not be kept" in line for line in written.warnings)
    keeping.kept.close()


def test_a_journal_that_takes_nothing_does_not_stop_a_restore(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = keeping.shell("rm -rf src")
    monkeypatch.setattr("clew.undo.journal.write_all", refuse)
    done = keeping.undo(made)
    assert (keeping.root / "src" / "m001.py").exists()
    assert any("only in this session" in line for line in done.warnings)
    assert done.checkpoint is not None
    keeping.undo(done.checkpoint)
    assert not (keeping.root / "src").exists()


def test_damaged_content_is_refused_and_the_file_left_alone(keeping: Keeping) -> None:
    made = keeping.shell("echo agent > data.bin")
    digest = bytes.fromhex(made.changes[0].before.digest)
    for pack in keeping.kept.store.folder.glob("*.pack"):
        data = pack.read_bytes()
        pack.write_bytes(bytes(len(data)))
    done = keeping.undo(made)
    assert [why for _, why in done.failed] == ["the undo store holds this content damaged"]
    assert (keeping.root / "data.bin").read_text() == "agent\n"
    keeping.kept.store.put(bytes(range(256)) * 40)
    assert keeping.kept.store.get(digest) == bytes(range(256)) * 40


def test_a_torn_index_costs_only_its_last_row(tmp_path: Path) -> None:
    store = PackStore(tmp_path / "packs")
    digests = [store.put(b"content %d" % number) for number in range(5)]
    store.close()
    (index,) = (tmp_path / "packs").glob("*.idx")
    os.truncate(index, index.stat().st_size - 7)
    again = PackStore(tmp_path / "packs")
    assert [again.get(digest) for digest in digests[:4]] == [b"content %d" % number for number in range(4)]
    with pytest.raises(ContentMissing):
        again.get(digests[4])
    again.close()


def test_the_store_is_private_and_never_follows_a_link(keeping: Keeping, tmp_path: Path) -> None:
    for base, _, files in os.walk(keeping.home):
        assert stat.S_IMODE(os.stat(base).st_mode) == 0o700
        assert all(stat.S_IMODE(os.stat(os.path.join(base, name)).st_mode) == 0o600 for name in files)
    target = tmp_path / "victim"
    target.write_bytes(b"")
    journal = keeping.kept.journal.path
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.symlink_to(target)
    made = keeping.shell("rm run.sh")
    assert any("symbolic link" in line for line in made.warnings)
    assert target.read_bytes() == b""


def test_the_whole_home_is_not_scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "work"))
    keeping = Keeping(tmp_path).scan()
    assert "too broad" in keeping.said
    assert any("too broad" in line for line in keeping.shell("echo x > y").warnings)
    keeping.kept.close()


def test_our_own_home_inside_the_workspace_is_left_out(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    keeping.home = keeping.root / ".clew"
    keeping.transcript = keeping.home / "projects" / "p" / "s1.jsonl"
    keeping.kept = keeping.open()
    (keeping.root / "a").write_text("1")
    keeping.scan()
    made = keeping.shell("echo 2 > a")
    assert [path_of(change.path) for change in made.changes] == [str(keeping.root / "a")]
    keeping.kept.close()


@pytest.mark.parametrize(("levels", "name"), [(400, "d"), (30, "n" * 250)])
def test_a_path_that_is_too_deep_or_too_long_is_told(tmp_path: Path, levels: int, name: str) -> None:
    keeping = Keeping(tmp_path)
    (keeping.root / "f").write_text("f")
    at = os.open(keeping.root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    keeping.scan()
    assert "is not kept: its path is" in keeping.said
    made = keeping.shell("echo g > f")
    assert made.warnings == ()
    assert len(made.changes) == 1
    keeping.kept.close()
    keeping.shell("rm -rf -- *")


def test_a_workspace_that_vanishes_comes_back(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    (keeping.root / "d").mkdir()
    (keeping.root / "d" / "f").write_text("f")
    keeping.scan()
    before = seen(keeping.root)
    made = keeping.shell("cd .. && rm -rf work")
    assert any("itself is gone" in line for line in made.warnings)
    keeping.undo(made)
    assert seen(keeping.root) == before
    keeping.kept.close()


@pytest.mark.parametrize(
    "name", [b"plain", b"100%", b"%41", b"\xff\xfe", "ünï/中".encode(), b"new\nline", b"\xed\xa0\x80"]
)
def test_any_path_survives_being_written_down(name: bytes) -> None:
    path = os.fsdecode(b"/w/" + name)
    text = path_text(path)
    assert text.encode().decode() == text
    assert path_of(text) == path
