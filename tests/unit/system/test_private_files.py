"""Our own files: private down from the first directory made, whole or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest

from clew.system import private_files
from clew.system.private_files import open_new, private_dir, replace_private


@pytest.fixture(autouse=True)
def careless_umask():
    before = os.umask(0o002)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_every_directory_that_is_made_is_private(tmp_path: Path):
    assert private_dir(tmp_path / "a" / "b" / "c") == tmp_path / "a" / "b" / "c"
    assert {mode_of(tmp_path / name) for name in ("a", "a/b", "a/b/c")} == {0o700}


def test_directories_that_exist_are_left_alone(tmp_path: Path):
    (tmp_path / "open").mkdir(mode=0o755)
    before = mode_of(tmp_path / "open")
    private_dir(tmp_path / "open" / "inner")
    private_dir(tmp_path / "open")
    assert mode_of(tmp_path / "open") == before


def test_a_file_in_the_way_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError, match="file"):
        private_dir(tmp_path / "file" / "inner")


def test_a_file_is_made_and_replaced_whole(tmp_path: Path):
    path = tmp_path / "home" / "settings.json"
    replace_private(path, b"one")
    replace_private(path, b"two")
    assert path.read_bytes() == b"two"
    assert mode_of(path) == 0o600
    assert os.listdir(path.parent) == ["settings.json"]


def test_a_name_as_long_as_names_may_be(tmp_path: Path):
    path = tmp_path / ("n" * 255)
    replace_private(path, b"x")
    assert path.read_bytes() == b"x"


def test_a_link_is_replaced_not_followed(tmp_path: Path):
    (tmp_path / "target").write_text("theirs")
    (tmp_path / "link").symlink_to("target")
    replace_private(tmp_path / "link", b"ours")
    assert (tmp_path / "target").read_text() == "theirs"
    assert (tmp_path / "link").read_text() == "ours"
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        open_new(tmp_path / "dangling")


@pytest.mark.parametrize("stage", ["write", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_a_failure_keeps_the_old_file_and_leaves_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, error: BaseException
):
    path = tmp_path / "kept"
    replace_private(path, b"old")

    def fail(*_: object) -> int:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(private_files.os, stage, fail)
        with pytest.raises(type(error)):
            replace_private(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


def test_short_writes_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = os.write
    monkeypatch.setattr(private_files.os, "write", lambda fd, data: real(fd, data[:3]))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType] the arguments are those of os.write
    replace_private(tmp_path / "f", b"0123456789")
    assert (tmp_path / "f").read_bytes() == b"0123456789"


def test_a_new_file_is_private_and_never_an_old_one(tmp_path: Path):
    os.close(open_new(tmp_path / "new"))
    assert mode_of(tmp_path / "new") == 0o600
    with pytest.raises(FileExistsError):
        open_new(tmp_path / "new")
