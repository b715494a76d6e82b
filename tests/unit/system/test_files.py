"""Files: no links followed, no half-written file, and a racing process that swaps links gets nothing (L49)."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clew.system.files import Changed, NotRegular, open_directory, read_regular, replace_file

ROUNDS = 1_000
RACER = """
import ctypes, os, sys
inside, outside, name = sys.argv[1:]
libc = ctypes.CDLL(None)
link = os.fsencode(inside + ".link")
os.symlink(outside, link)
print("up", flush=True)
while os.getppid() != 1:
    libc.renameat2(-100, os.fsencode(inside), -100, link, 2)
    try:
        os.symlink(outside + "/victim", os.path.join(inside, name))
        os.unlink(os.path.join(inside, name))
    except OSError:
        pass
"""
"""Exchanges the directory and a link that leads outside, as one step: the name is always there, as one or the other."""


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is a Linux call")
def test_a_racing_process_gets_no_byte_outside(tmp_path: Path):
    inside, outside = tmp_path / "workspace" / "dir", tmp_path / "outside"
    inside.mkdir(parents=True)
    outside.mkdir()
    (outside / "victim").write_text("untouched")
    (outside / "old").write_text("untouched")
    (inside / "old").write_text("inside")
    racer = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", RACER, str(inside), str(outside), "file"], stdout=subprocess.PIPE
    )
    written = refused = 0
    try:
        assert racer.stdout is not None
        racer.stdout.readline()
        for number in range(ROUNDS):
            try:
                if number % 3:
                    replace_file(f"{inside}/{'file' if number % 2 else f'file-{number}'}", b"payload", expected=None)
                else:
                    seen = read_regular(f"{inside}/old", max_bytes=100)
                    assert seen.data != b"untouched"
                    replace_file(f"{inside}/old", b"payload", expected=seen.status)
                written += 1
            except OSError:
                refused += 1
    finally:
        racer.kill()
        racer.wait()
        assert racer.stdout is not None
        racer.stdout.close()
    assert written
    assert refused
    left = {path.name: path.read_text() for path in outside.iterdir() if not path.is_symlink()}
    assert left == {"victim": "untouched", "old": "untouched"}


def test_links_in_the_middle_and_at_the_end_are_refused(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_text("x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "flink").symlink_to("real/f")
    for path in ("link/f", "flink"):
        with pytest.raises(OSError, match=r"symbolic|directory|link"):
            read_regular(str(tmp_path / path), max_bytes=10)
        with pytest.raises(OSError, match=r"symbolic|directory|link"):
            replace_file(str(tmp_path / path), b"y", expected=None)
    assert (tmp_path / "real" / "f").read_text() == "x"


def test_relative_and_unresolved_paths_are_bugs(tmp_path: Path):
    with pytest.raises(ValueError, match="absolute"):
        open_directory("relative")
    with pytest.raises(ValueError, match="resolved"):
        open_directory(f"{tmp_path}/../x")


def test_replacing_keeps_the_mode_and_leaves_no_rest(tmp_path: Path):
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(0o640)
    seen = read_regular(str(path), max_bytes=100)
    replace_file(str(path), b"new", expected=seen.status)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["f"]


def test_a_file_that_changed_or_appeared_is_not_overwritten(tmp_path: Path):
    path = tmp_path / "f"
    path.write_text("old")
    seen = read_regular(str(path), max_bytes=100)
    path.write_text("someone else's")
    with pytest.raises(Changed, match="changed on disk"):
        replace_file(str(path), b"mine", expected=seen.status)
    with pytest.raises(Changed, match="exists already"):
        replace_file(str(path), b"mine", expected=None)
    path.unlink()
    with pytest.raises(Changed, match="removed"):
        replace_file(str(path), b"mine", expected=seen.status)
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "f"
    path.write_text("old")
    seen = read_regular(str(path), max_bytes=100)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(str(path), b"new", expected=seen.status)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]


def test_limits_and_kinds(tmp_path: Path):
    (tmp_path / "big").write_bytes(b"x" * 11)
    with pytest.raises(OSError, match="larger than 10 bytes"):
        read_regular(str(tmp_path / "big"), max_bytes=10)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(NotRegular, match="FIFO"):
        read_regular(str(tmp_path / "fifo"), max_bytes=10)
    with pytest.raises(NotRegular, match="directory"):
        replace_file("/", b"", expected=None)
