"""Repositories: read without running anything, run only trusted and neutralised."""

import os
import subprocess
from pathlib import Path

import pytest

from clew.system.git.command import Git, GitRefused, git_environment, open_git
from clew.system.git.layout import Head, describe, find_project_root, find_repository, read_head
from fakes.effort import HANG_S

ENV = {"PATH": os.environ["PATH"]}


class Repo:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "trunk")

    def git(self, *words: str) -> str:
        identity = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A"}
        env = {**ENV, **identity, "GIT_COMMITTER_EMAIL": "a@b", "HOME": "/proc/nonexistent"}
        done = subprocess.run(["git", *words], cwd=self.root, env=env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, name: str, text: str = "text\n") -> str:
        (self.root / name).write_text(text)
        self.git("add", name)
        self.git("commit", "-q", "-m", f"add {name}")
        return self.git("rev-parse", "HEAD")

    def open(self) -> Git:
        found = find_repository(self.root)
        assert found is not None
        git = open_git(found, trusted=True, env=ENV)
        assert git is not None
        return git

    def marker_script(self, name: str = "evil") -> Path:
        script = self.root.parent / name
        script.write_text(f"#!/bin/sh\ntouch {self.root.parent}/INJECTED\ncat\n")
        script.chmod(0o755)
        return script

    @property
    def injected(self) -> bool:
        return (self.root.parent / "INJECTED").exists()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def head_of(directory: Path) -> Head:
    found = find_repository(directory)
    assert found is not None
    return read_head(found)


def test_branch_from_files(repo: Repo) -> None:
    assert head_of(repo.root) == Head(branch="trunk")
    repo.commit("a")
    repo.git("checkout", "-q", "-b", "feature/deep-name")
    below = repo.root / "x" / "y"
    below.mkdir(parents=True)
    assert head_of(below) == Head(branch="feature/deep-name")
    assert find_project_root(below) == repo.root


def test_detached_head(repo: Repo) -> None:
    commit = repo.commit("a")
    repo.git("checkout", "-q", "--detach")
    assert head_of(repo.root) == Head(commit=commit)
    assert str(head_of(repo.root)) == f"detached at {commit[:12]}"


def test_worktree_and_submodule(repo: Repo, tmp_path: Path) -> None:
    repo.commit("a")
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    found = find_repository(tmp_path / "tree")
    assert found is not None
    assert found.root == tmp_path / "tree"
    assert found.git_dir.resolve() == repo.root / ".git" / "worktrees" / "tree"
    assert found.common_dir.resolve() == repo.root / ".git"
    assert read_head(found) == Head(branch="side")
    other = Repo(tmp_path / "other")
    other.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.root), "sub")
    assert head_of(other.root / "sub").branch == "trunk"
    assert find_project_root(other.root / "sub") == other.root / "sub"


def test_no_repository(tmp_path: Path) -> None:
    assert find_repository(tmp_path) is None
    assert find_project_root(tmp_path) == tmp_path


@pytest.mark.parametrize(
    "pointer", ["", "gitdir:", "gitdir: /nowhere/at/all", "nonsense", "gitdir: " + "x" * 9000, "gitdir: \0"]
)
def test_broken_pointer_files_are_no_repository(tmp_path: Path, pointer: str) -> None:
    (tmp_path / ".git").write_text(pointer)
    assert find_repository(tmp_path) is None


def test_odd_heads(repo: Repo) -> None:
    head = repo.root / ".git" / "HEAD"
    for text in ("ref: refs/heads/.invalid\n", "", "garbage", "a" * 39, "\x00\xff"):
        head.write_text(text)
        assert head_of(repo.root) == Head()
    head.write_text("ref: refs/heads/a\u202eb\u001b[2Jc\n", encoding="utf-8")
    assert head_of(repo.root).branch == "a?b?[2Jc"


def test_a_pipe_in_place_of_head_does_not_hang(repo: Repo) -> None:
    head = repo.root / ".git" / "HEAD"
    head.unlink()
    os.mkfifo(head)
    assert find_repository(repo.root) is None


def test_nothing_runs_before_trust(repo: Repo) -> None:
    found = find_repository(repo.root)
    assert found is not None
    assert open_git(found, trusted=False, env=ENV) is None


def test_status_counts_tracked_files(repo: Repo) -> None:
    for name in ("a", "b", "c", "R d"):
        repo.commit(name)

    def changed() -> int | None:
        with repo.open().start_status() as status:
            return status.changed_files(timeout_s=HANG_S)

    (repo.root / "untracked").write_text("")
    assert changed() == 0
    (repo.root / "a").write_text("other\n")
    (repo.root / "R d").write_text("other\n")
    repo.git("mv", "b", "renamed b")
    (repo.root / "c").unlink()
    assert changed() == 4


def test_status_outside_of_time_is_unknown(repo: Repo) -> None:
    status = repo.open().start_status()
    assert status.changed_files(timeout_s=0) in (None, 0)
    assert status._process.returncode is not None


def test_words_for_the_prompt() -> None:
    assert describe(Head(branch="main"), None) == "branch main"
    assert describe(Head(branch="main"), 0) == "branch main, no uncommitted changes"
    assert describe(Head(branch="main"), 1) == "branch main, 1 file with uncommitted changes"
    assert describe(Head(commit="a" * 40), 2) == "detached at aaaaaaaaaaaa, 2 files with uncommitted changes"
    assert describe(Head(), None) == "branch unknown"


def test_identity_survives_moves_and_clones(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit("a")
    repo.commit("b")
    (repo.root / "sub").mkdir()
    assert repo.open().identity(repo.root / "sub") == f"{first}:sub"
    subprocess.run(["git", "clone", "-q", str(repo.root), str(tmp_path / "clone")], check=True, env=ENV)
    clone = find_repository(tmp_path / "clone")
    assert clone is not None
    git = open_git(clone, trusted=True, env=ENV)
    assert git is not None
    assert git.identity(tmp_path / "clone") == f"{first}:."


def test_identity_is_unknown_without_commits_and_in_shallow_clones(repo: Repo, tmp_path: Path) -> None:
    assert repo.open().identity(repo.root) == ""
    repo.commit("a")
    repo.commit("b")
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{repo.root}", str(shallow)], check=True, env=ENV)
    found = find_repository(shallow)
    assert found is not None
    git = open_git(found, trusted=True, env=ENV)
    assert git is not None
    assert git.first_commit() == ""


@pytest.mark.parametrize("where", ["config", "included", "worktree config"])
@pytest.mark.parametrize("driver", ["clean", "process"])
def test_content_filters_do_not_run(repo: Repo, where: str, driver: str) -> None:
    """`git status` runs clean filters on files whose time changed: the classic way to run code on opening."""
    repo.commit("a.txt")
    (repo.root / ".gitattributes").write_text("* filter=my.Evil\n")
    script = repo.marker_script()
    section = f'[filter "my.Evil"]\n\t{driver} = {script}\n\trequired = true\n'
    config = repo.root / ".git" / "config"
    if where == "included":
        (repo.root / "extra.cfg").write_text(section)
        section = "[include]\n\tpath = ../extra.cfg\n"
    if where == "worktree config":
        repo.git("config", "extensions.worktreeConfig", "true")
        config = repo.root / ".git" / "config.worktree"
    with config.open("a") as file:
        file.write(section)
    os.utime(repo.root / "a.txt", (1, 1))
    with repo.open().start_status() as status:
        assert status.changed_files(timeout_s=HANG_S) == 0
    assert not repo.injected


def test_the_filter_would_have_run_without_us(repo: Repo) -> None:
    """The attack of the test above is real: plain git does run it."""
    repo.commit("a.txt")
    (repo.root / ".gitattributes").write_text("* filter=evil\n")
    repo.git("config", "filter.evil.clean", str(repo.marker_script()))
    os.utime(repo.root / "a.txt", (1, 1))
    repo.git("status")
    assert repo.injected


def test_filter_names_that_cannot_be_overridden_stop_us(repo: Repo) -> None:
    repo.git("config", "filter.a=b.clean", "cat")
    with pytest.raises(GitRefused):
        repo.open().run(("status",))


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("core.fsmonitor", ("status",)),
        ("core.pager", ("log",)),
        ("diff.external", ("diff",)),
        ("core.sshCommand", ("ls-remote", "ssh://127.0.0.1:9/x")),
        ("core.editor", ("var", "GIT_EDITOR")),
        ("credential.helper", ("status",)),
        ("gpg.program", ("log", "--format=%H")),
    ],
)
def test_configured_programs_do_not_run(repo: Repo, key: str, words: tuple[str, ...]) -> None:
    repo.commit("a")
    (repo.root / "a").write_text("changed\n")
    repo.git("config", key, str(repo.marker_script()))
    repo.git("config", "log.showSignature", "true")
    repo.open().run(words, timeout_s=HANG_S)
    assert not repo.injected


def test_hooks_and_text_conversion_do_not_run(repo: Repo) -> None:
    repo.commit("a")
    (repo.root / "a").write_text("changed\n")
    script = repo.marker_script()
    (repo.root / ".gitattributes").write_text("* diff=evil\n")
    repo.git("config", "diff.evil.textconv", str(script))
    repo.git("config", "diff.evil.command", str(script))
    hook = repo.root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(script)
    git = repo.open()
    assert "changed" in git.run(("diff",), timeout_s=HANG_S).out
    git.run(("update-index", "--refresh"), timeout_s=HANG_S)
    assert not repo.injected


def test_remote_helpers_do_not_run(repo: Repo) -> None:
    script = repo.marker_script()
    repo.git("config", "protocol.ext.allow", "always")
    result = repo.open().run(("ls-remote", f"ext::{script}"), timeout_s=HANG_S)
    assert not result.ok
    assert not repo.injected


def test_the_environment_is_scrubbed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("a")
    (repo.root / "a").write_text("changed\n")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(repo.marker_script()))
    monkeypatch.setenv("GIT_DIR", "/proc/nonexistent")
    assert repo.open().run(("diff",), timeout_s=HANG_S).ok
    assert not repo.injected
    assert not {"HOME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK"} & set(git_environment())


def test_errors_time_outs_and_floods_are_results(repo: Repo) -> None:
    git = repo.open()
    assert not git.run(("rev-parse", "--verify", "not-a-thing"), timeout_s=HANG_S).ok
    repo.commit("a", "x" * 5000)
    flood = git.run(("show", "HEAD:a"), timeout_s=HANG_S, max_bytes=1000)
    assert (flood.ok, flood.error) == (False, "printed more than 1000 bytes")
    late = git.run(("cat-file", "--batch"), timeout_s=0)
    assert not late.ok or late.out == ""


def test_git_of_the_project_is_never_used(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.system.environment.SYSTEM_DIRS", ())
    planted = repo.root / "git"
    planted.write_text("#!/bin/sh\n")
    planted.chmod(0o755)
    found = find_repository(repo.root)
    assert found is not None
    assert open_git(found, trusted=True, env={"PATH": str(repo.root)}) is None
