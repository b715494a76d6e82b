"""Uncommitted changes that go along into a checkout of its own: all kinds of them, and nothing is touched at home."""

import os
from pathlib import Path

import pytest

from clew.agents.checkouts import Checkouts, Receipt, lacking
from clew.protocol.ids import AgentId
from clew.system.git import borrowed
from unit.agents.test_checkouts import inside
from unit.system.test_git import Repo

ONE = AgentId("a" * 16)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit("a.txt", "one\n")
    return made


@pytest.fixture
def checkouts(tmp_path: Path) -> Checkouts:
    return Checkouts(tmp_path / "home", search_path=os.environ["PATH"])


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a directory, git's own included: mode, link or content."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(root.rglob("*")):
        info = path.lstat()
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path)] = (info.st_mode, content)
    return found


def make(checkouts: Checkouts, repo: Repo, *, changes: bool = True) -> tuple[Receipt, Path]:
    receipt = checkouts.make(ONE, "session", repo.root, changes=changes)
    return receipt, Path(receipt.path)


def messed_up(repo: Repo) -> None:
    """Changes of every kind."""
    for name in ("gone.txt", "moved.txt", "run.sh", "staged.txt", "both.txt", "turned"):
        repo.commit(name, f"{name}\n")
    repo.commit(".gitignore", "ignored.txt\nforced.txt\n")
    root = repo.root
    (root / "a.txt").write_text("two\n")
    (root / "gone.txt").unlink()
    repo.git("mv", "moved.txt", "sub-moved.txt")
    (root / "run.sh").chmod(0o755)
    (root / "staged.txt").write_text("staged\n")
    (root / "both.txt").write_text("staged\n")
    repo.git("add", "staged.txt", "both.txt")
    (root / "both.txt").write_text("and then more\n")
    (root / "turned").unlink()
    (root / "turned").symlink_to("a.txt")
    (root / "new").mkdir()
    (root / "new" / "bytes.bin").write_bytes(bytes(range(256)) * 10)
    (root / "new" / "strange\n name ü").write_text("x")
    (root / "dangling").symlink_to("nowhere")
    (root / "ignored.txt").write_text("not this\n")
    (root / "forced.txt").write_text("this\n")
    repo.git("add", "-f", "forced.txt")


def test_changes_of_every_kind_are_carried_and_nothing_is_touched_at_home(repo: Repo, checkouts: Checkouts) -> None:
    messed_up(repo)
    before = everything(repo.root)
    receipt, path = make(checkouts, repo)
    assert everything(repo.root) == before
    theirs, own = (
        {name.removeprefix(f"{root}/"): held for name, held in everything(root).items() if "/.git/" not in name}
        for root in (repo.root, path)
    )
    del theirs["ignored.txt"], theirs[".git"], own[".git"]
    assert own == theirs
    assert inside(path, "status", "--porcelain") == ""
    assert inside(path, "rev-parse", "HEAD", "HEAD^").split() == [receipt.carried, receipt.base]
    assert receipt.lacking == 0


def test_only_what_the_agent_did_is_its_work_and_it_applies_at_home(repo: Repo, checkouts: Checkouts) -> None:
    messed_up(repo)
    receipt, path = make(checkouts, repo)
    (path / "a.txt").write_text("two\nthree\n")
    (path / "new" / "bytes.bin").write_bytes(b"\0")
    told = checkouts.settle(receipt)
    assert "2 uncommitted files" in told.words
    assert f"git diff --binary {receipt.carried[:12]} {told.ref} | git apply" in told.words
    assert set(repo.git("diff", "--name-only", receipt.carried, told.ref).split()) == {"a.txt", "new/bytes.bin"}
    assert repo.git("rev-parse", f"refs/clew/{ONE}/carried") == receipt.carried
    patch = Path(f"{repo.root}.patch")
    repo.git("diff", "--binary", f"--output={patch}", receipt.carried, told.ref)
    repo.git("apply", str(patch))
    assert (repo.root / "a.txt").read_text() == "two\nthree\n"
    assert (repo.root / "gone.txt").exists() is False
    repo.git("fsck", "--strict")


def test_one_that_did_nothing_vanishes_with_what_it_was_given(repo: Repo, checkouts: Checkouts) -> None:
    messed_up(repo)
    before = everything(repo.root)
    receipt, path = make(checkouts, repo)
    assert checkouts.settle(receipt).path == ""
    assert not path.exists()
    assert everything(repo.root) == before


def test_going_on_after_it_was_cleaned_still_knows_what_was_given(repo: Repo, checkouts: Checkouts) -> None:
    messed_up(repo)
    receipt, path = make(checkouts, repo)
    (path / "mine.txt").write_text("x")
    checkouts.settle(receipt)
    (kept,) = checkouts.all()
    assert "removed" in checkouts.clean(kept)
    again = checkouts.again(ONE, "session", repo.root)
    assert again.carried == receipt.carried
    assert (path / "mine.txt").read_text() == "x"
    assert (path / "a.txt").read_text() == "two\n"


def test_what_is_not_carried_is_counted(repo: Repo, checkouts: Checkouts) -> None:
    messed_up(repo)
    receipt, path = make(checkouts, repo, changes=False)
    assert (path / "a.txt").read_text() == "one\n"
    assert receipt.carried == ""
    assert lacking(receipt).startswith(f"The checkout lacks {receipt.lacking} uncommitted changes")
    assert receipt.lacking == 12


def test_repositories_filtered_and_withheld_files_stay_at_home_and_are_counted(
    repo: Repo, checkouts: Checkouts
) -> None:
    script = repo.marker_script()
    repo.git("config", "filter.evil.clean", str(script))
    repo.commit(".gitattributes", "*.big filter=evil\n")
    (repo.root / "x.big").write_text("made by a filter")
    (repo.root / ".env").write_text("KEY=secret")
    (repo.root / "ok.txt").write_text("ok")
    Repo(repo.root / "inner").commit("x")
    receipt = checkouts.make(
        ONE, "session", repo.root, changes=True, withheld=lambda path: os.path.basename(path) == ".env"
    )
    path = Path(receipt.path)
    assert sorted(entry.name for entry in path.iterdir()) == [".git", ".gitattributes", "a.txt", "ok.txt"]
    assert receipt.lacking == 3
    assert not repo.injected


def test_too_much_is_refused_in_words_and_nothing_is_left(
    repo: Repo, checkouts: Checkouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(borrowed, "MAX_CARRIED_BYTES", 100)
    (repo.root / "large").write_bytes(b"x" * 101)
    with pytest.raises(ValueError, match=r"too large to be carried over \(1 files, 101 bytes"):
        make(checkouts, repo)
    assert checkouts.all() == []
    assert not list(Path(f"{repo.root.parent}/home-worktrees").iterdir())


def test_a_clean_checkout_gives_nothing_along(repo: Repo, checkouts: Checkouts) -> None:
    receipt, path = make(checkouts, repo)
    assert (receipt.carried, receipt.lacking) == ("", 0)
    assert inside(path, "rev-parse", "HEAD") == receipt.base


def test_a_file_that_a_sparse_checkout_leaves_out_is_not_taken_for_gone(repo: Repo, checkouts: Checkouts) -> None:
    (repo.root / "deep").mkdir()
    repo.commit("deep/b.txt", "b\n")
    repo.git("sparse-checkout", "set", "--no-cone", "/a.txt")
    assert not (repo.root / "deep").exists()
    (repo.root / "a.txt").write_text("two\n")
    receipt, path = make(checkouts, repo)
    assert (path / "deep" / "b.txt").exists()
    assert (path / "a.txt").read_text() == "two\n"
    assert receipt.carried
