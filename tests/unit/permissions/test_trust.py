"""Trust is keyed on what a place is (T1-T6)."""

import os
import stat
from pathlib import Path

import pytest

from clew.permissions.trust import FILE_NAME, TrustStore, trust_root


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "clew")


def repository(path: Path) -> Path:
    (path / ".git").mkdir(parents=True)
    return path


def test_nothing_is_trusted_at_first(store: TrustStore, tmp_path: Path) -> None:
    assert not store.is_trusted(tmp_path)


def test_a_decision_covers_the_repository_and_lasts(store: TrustStore, tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    (project / "src").mkdir()
    assert store.remember(project / "src") == str(project)
    again = TrustStore(tmp_path / "clew")
    assert again.is_trusted(project)
    assert again.is_trusted(project / "src")
    assert not again.is_trusted(tmp_path)


def test_a_link_to_a_trusted_place_is_that_place(store: TrustStore, tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    (tmp_path / "alias").symlink_to(project)
    store.remember(tmp_path / "alias")
    assert store.is_trusted(project)


def test_nested_repositories_ask_again(store: TrustStore, tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    nested = repository(project / "vendor" / "lib")
    store.remember(project)
    assert not store.is_trusted(nested)


def test_a_pointer_file_borrows_nothing(store: TrustStore, tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    store.remember(project)
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / ".git").write_text(f"gitdir: {project}/.git")
    assert not store.is_trusted(evil)
    (project / "sub").mkdir()
    (project / "sub" / ".git").write_text(f"gitdir: {project}/.git")
    assert not store.is_trusted(project / "sub")


def test_a_replaced_directory_asks_again(store: TrustStore, tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    store.remember(project)
    project.rename(tmp_path / "moved")
    repository(tmp_path / "project")
    assert not store.is_trusted(tmp_path / "project")


def test_plain_folders_share_trust_but_repositories_below_do_not(store: TrustStore, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    repository(notes / "cloned")
    store.remember(notes)
    assert store.is_trusted(notes / "deep")
    assert not store.is_trusted(notes / "cloned")


def test_trusting_the_home_directory_does_not_trust_everything(
    store: TrustStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "downloads").mkdir()
    store.remember(tmp_path)
    assert store.is_trusted(tmp_path)
    assert not store.is_trusted(tmp_path / "downloads")


def test_forget(store: TrustStore, tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    store.remember(project)
    assert store.forget(project)
    assert not store.forget(project)
    assert not store.is_trusted(project)


def test_the_file_is_private_and_whole(store: TrustStore, tmp_path: Path) -> None:
    store.remember(repository(tmp_path / "project"))
    file = tmp_path / "clew" / FILE_NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(tmp_path / "clew") == [FILE_NAME]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"trusted": 1}', b'{"trusted": [{"path": 1}]}', b"\xff\xfe"])
def test_a_damaged_store_trusts_nothing_and_is_kept(store: TrustStore, tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "clew" / FILE_NAME
    file.parent.mkdir()
    file.write_bytes(damage)
    project = repository(tmp_path / "project")
    assert not store.is_trusted(project)
    assert "damaged" in store.problem
    store.remember(project)
    assert store.is_trusted(project)
    kept = [name for name in file.parent.iterdir() if "damaged" in name.name]
    assert [path.read_bytes() for path in kept] == [damage]


def test_a_missing_directory_cannot_be_trusted(store: TrustStore, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.remember(tmp_path / "nowhere" / "at all")


def test_root_of_a_file_is_its_repository(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    (project / "a.py").write_text("")
    assert trust_root(project / "a.py") == str(project)
