"""Checkouts of isolated agents: made, settled and removed with proof, over kills at every step."""

import os
import subprocess
from pathlib import Path

import pytest

from clew.agents import checkouts as module
from clew.agents.checkouts import Checkouts, Receipt
from clew.protocol.ids import AgentId
from clew.system.git.borrowed import Borrower
from unit.system.test_git import Repo

ONE = AgentId("a" * 16)
DEAD = module.Owner(pid=2**22 + 1, started="gone:1", token="x")


class Killed(BaseException):
    """Stands for kill -9: nothing catches it."""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit("a.txt", "one\n")
    return made


@pytest.fixture
def checkouts(tmp_path: Path) -> Checkouts:
    return Checkouts(tmp_path / "home", search_path=os.environ["PATH"])


def everything(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def make(checkouts: Checkouts, repo: Repo) -> tuple[Receipt, Path]:
    receipt = checkouts.make(ONE, "session", repo.root)
    return receipt, Path(receipt.path)


def inside(path: Path, *words: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": "/proc/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(["git", *words], cwd=path, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_checkout_has_the_files_and_history_and_changes_nothing_in_the_repository(
    repo: Repo, checkouts: Checkouts
) -> None:
    repo.git("branch", "other")
    repo.git("tag", "v1")
    before = everything(repo.root)
    receipt, path = make(checkouts, repo)
    assert (path / "a.txt").read_text() == "one\n"
    assert not str(path).startswith(str(repo.root))
    assert inside(path, "rev-parse", "HEAD", "v1", "origin/other").split() == [receipt.base] * 3
    assert inside(path, "status", "--porcelain") == ""
    assert inside(path, "rev-parse", "--abbrev-ref", "HEAD") == receipt.branch
    assert everything(repo.root) == before


def test_an_unchanged_checkout_vanishes_and_leaves_nothing(repo: Repo, checkouts: Checkouts) -> None:
    before = everything(repo.root)
    receipt, path = make(checkouts, repo)
    assert checkouts.settle(receipt).path == ""
    assert not path.exists()
    assert checkouts.all() == []
    assert everything(repo.root) == before


def test_changed_ones_stay_and_their_work_can_be_merged_from_a_ref(repo: Repo, checkouts: Checkouts) -> None:
    receipt, path = make(checkouts, repo)
    (path / "b.txt").write_text("new\n")
    inside(path, "add", "b.txt")
    inside(path, "commit", "-qm", "b")
    (path / "a.txt").write_text("two\n")
    (path / "c.txt").write_text("never added\n")
    inside(path, "branch", "side")
    inside(path, "stash", "push", "-q", "a.txt")
    (path / "a.txt").write_text("three\n")
    told = checkouts.settle(receipt)
    assert told.path == str(path)
    assert "uncommitted files" in told.words
    assert path.is_dir()
    assert (repo.root / "a.txt").read_text() == "one\n", "the checkout of the user is as it was"
    repo.git("merge", "-q", f"refs/clew/{ONE}/head")
    assert {name: (repo.root / name).read_text() for name in ("a.txt", "b.txt", "c.txt")} == {
        "a.txt": "three\n",
        "b.txt": "new\n",
        "c.txt": "never added\n",
    }
    assert "two" in repo.git("show", f"refs/clew/{ONE}/1:a.txt"), "the stash is saved too"
    repo.git("fsck", "--strict")


def test_cleaning_saves_once_more_and_then_removes(repo: Repo, checkouts: Checkouts) -> None:
    receipt, path = make(checkouts, repo)
    (path / "a.txt").write_text("two\n")
    checkouts.settle(receipt)
    (path / "late.txt").write_text("after the end\n")
    (kept,) = checkouts.all()
    assert "removed; its work is in" in checkouts.clean(kept)
    assert not path.exists()
    assert checkouts.all() == []
    assert repo.git("show", f"refs/clew/{ONE}/head:late.txt") == "after the end"
    again = checkouts.again(ONE, "session", repo.root)
    assert (Path(again.path) / "late.txt").read_text() == "after the end\n"


def test_a_checkout_that_holds_a_repository_of_its_own_is_never_removed(repo: Repo, checkouts: Checkouts) -> None:
    receipt, path = make(checkouts, repo)
    Repo(path / "inner").commit("x")
    checkouts.settle(receipt)
    (kept,) = checkouts.all()
    assert "stays" in checkouts.clean(kept)
    assert (path / "inner" / "x").exists()


def test_nothing_of_the_project_or_of_the_checkout_runs(repo: Repo, checkouts: Checkouts) -> None:
    script = repo.marker_script()
    (repo.root / ".gitattributes").write_text("*.txt filter=evil\n")
    repo.git("add", ".gitattributes")
    repo.git("commit", "-qm", "attributes")
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (repo.root / ".git" / "hooks").mkdir(exist_ok=True)
        (repo.root / ".git" / "hooks" / name).symlink_to(script)
    settings = {"filter.evil.smudge": script, "filter.evil.clean": script, "core.fsmonitor": script}
    for key, value in settings.items():
        repo.git("config", key, str(value))
    receipt, path = make(checkouts, repo)
    for key, value in settings.items():
        inside(path, "config", key, str(value))
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (path / ".git" / "hooks" / name).symlink_to(script)
    nested = Repo(path / "inner")
    nested.commit("x")
    nested.git("config", "core.fsmonitor", str(script))
    (path / "a.txt").write_text("two\n")
    assert not repo.injected
    assert checkouts.settle(receipt).path
    (kept,) = checkouts.all()
    checkouts.clean(kept)
    assert not repo.injected


def test_where_no_checkout_can_be_had_the_words_say_why_and_nothing_is_left(
    tmp_path: Path, checkouts: Checkouts
) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(ValueError, match="in no git repository"):
        checkouts.make(ONE, "s", tmp_path / "plain")
    empty = Repo(tmp_path / "empty")
    with pytest.raises(ValueError, match="no commit yet"):
        checkouts.make(ONE, "s", empty.root)
    around = Repo(tmp_path / "around")
    around.commit("a")
    with pytest.raises(ValueError, match="lies in the project"):
        Checkouts(around.root / ".clew", search_path=os.environ["PATH"]).make(ONE, "s", around.root)
    taken = tmp_path / "home-worktrees" / ONE
    taken.mkdir(parents=True)
    (taken / "mine").write_text("of somebody else")
    assert checkouts.all() == []


def test_detached_heads_and_submodules_and_deleted_checkouts(repo: Repo, checkouts: Checkouts, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.commit("x")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    repo.git("commit", "-qm", "sub")
    repo.git("checkout", "-q", "--detach")
    receipt, path = make(checkouts, repo)
    assert list((path / "sub").iterdir()) == []
    assert checkouts.settle(receipt).path == "", "an empty submodule is no change"
    receipt, path = make(checkouts, repo)
    module.remove_tree(str(path))
    assert "removed by somebody else" in checkouts.settle(receipt).words
    assert checkouts.all() == []


STEPS = ("_write", "_init", "make", "examine", "save", "_take_over", "remove_tree", "_forget")


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_loses_no_work_and_leaves_no_secret_tree(
    repo: Repo, checkouts: Checkouts, monkeypatch: pytest.MonkeyPatch, step: str, after: bool, changed: bool
) -> None:
    """A process that dies at a step leaves what the next one settles by the receipts."""
    owner = next(place for place in (Borrower, Checkouts, module) if hasattr(place, step))
    for deadly in range(1, 6):
        if lived(repo, checkouts, monkeypatch, (owner, step), deadly, after=after, changed=changed):
            break


def lived(
    repo: Repo,
    checkouts: Checkouts,
    monkeypatch: pytest.MonkeyPatch,
    place: tuple[object, str],
    deadly: int,
    *,
    after: bool,
    changed: bool,
) -> bool:
    """One life of a checkout that is killed at the n-th time of a step; true: it was never reached."""
    trees = repo.root.parent / "home-worktrees"
    owner, step = place
    calls = 0
    real = getattr(owner, step)

    def killing(*words: object, **more: object) -> object:
        nonlocal calls
        calls += 1
        if calls == deadly and not after:
            raise Killed
        result = real(*words, **more)
        if calls == deadly:
            raise Killed
        return result

    work = f"work {step} {deadly} {after}"
    worked = False
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, killing)
        patch.setattr(module, "this_process", lambda name: DEAD)
        try:
            receipt = checkouts.make(ONE, "session", repo.root)
            if changed:
                (Path(receipt.path) / "work.txt").write_text(work)
                worked = True
            checkouts.settle(receipt)
        except Killed:
            pass
    known = {receipt.path for receipt in checkouts.all()}
    found = {str(path) for path in trees.iterdir()} if trees.is_dir() else set[str]()
    assert found <= known, "no checkout without a receipt"
    checkouts.recover()
    assert all(receipt.state == "kept" for receipt in checkouts.all())
    if worked:
        assert repo.git("show", f"refs/clew/{ONE}/head:work.txt") == work
        (kept,) = checkouts.all()
        checkouts.clean(kept)
    assert checkouts.all() == []
    assert not trees.is_dir() or list(trees.iterdir()) == []
    if worked:
        repo.git("update-ref", "-d", f"refs/clew/{ONE}/head")
    return calls < deadly
