"""git's configuration and index read as bytes, compared with what git itself says; our own reads of hostile ones."""

import os
import subprocess
from pathlib import Path

import pytest

from clew.system.git.command import open_git
from clew.system.git.config import ConfigError, parse_config
from clew.system.git.index import IndexUnclear, gitlinks, index_names
from clew.system.git.layout import find_repository
from unit.permissions.scenes import GIT_ENV, Scene, git, make_repository, prepare, scenes
from unit.permissions.world import World

TEXTS = (
    "[a]\n\tb = c\n",
    '[A "x.Y"]\n\tB = c d # comment\n\te = "f # g"\n',
    "[a.sub]\nk = v\n",
    "[a] b = c\n",
    "[a]\n\tb\n\tc = \n",
    "[a]\n\tb = one \\\n  two\n",
    '[a]\n\tb = "q\\"uo\\\\te" end ; c\n',
    "\ufeff[a]\nb=c\n",
    "# only a comment\n[a]\n; another\nb=c",
    '[a "s\\"q"]\nb = 1\n',
    "[a]\nb = c\nb = d\n[e]\n[a]\nf=g\n",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_configuration_is_read_as_git_reads_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    listed = subprocess.run(
        ["git", "config", "--file", str(path), "--null", "--list"], env=GIT_ENV, capture_output=True, check=True
    ).stdout.decode()
    theirs = [tuple(entry.partition("\n")[::2]) for entry in listed.split("\0") if entry]
    ours = [
        (".".join(part for part in (one.section, one.name, one.key) if part), one.value or "")
        for one in parse_config(text)
    ]
    assert ours == theirs


@pytest.mark.parametrize(
    "text", ["[a\nb=c", "b = c\n", "[a]\n=c\n", '[a]\nb = "c\n', "[a]\nb = \\x\n", "[a]\n1b = c\n"]
)
def test_what_git_would_not_read_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_config(text)


def test_an_index_tells_its_names_and_its_gitlinks(tmp_path: Path) -> None:
    for name in ("a.txt", "dir with blank/b.txt", "-dash"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    make_repository(tmp_path, "--", "a.txt", "dir with blank/b.txt", "-dash")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f").write_text("x")
    make_repository(tmp_path / "sub", "f")
    repository = find_repository(tmp_path)
    assert repository is not None
    assert gitlinks(repository) == []
    git(tmp_path, "add", "sub")
    assert "sub" in gitlinks(repository)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=tmp_path, env=GIT_ENV, capture_output=True, check=True)
    assert index_names(repository) == [name for name in listed.stdout.decode().split("\0") if name]
    names = index_names(repository)
    git(tmp_path, "update-index", "--index-version", "4")
    assert index_names(repository) == names
    assert gitlinks(repository) == ["sub"]
    (tmp_path / ".git" / "index").write_bytes(b"DIRC\0\0\0\x02\0\0\0\x05" + b"\0\0\xe0\0" * 9)
    for read in (gitlinks, index_names):
        with pytest.raises(IndexUnclear):
            read(repository)


HOSTILE = [scene for scene in scenes("project_code") if "git" in scene.steps]


@pytest.mark.parametrize("scene", HOSTILE, ids=lambda scene: scene.title.replace(" ", "-"))
def test_our_own_reads_of_a_hostile_repository_run_nothing_of_it(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    monkeypatch.setenv("HOME", str(world.home))
    prepare(scene, world)
    repository = find_repository(world.workspace)
    if repository is None:
        return
    for path in world.workspace.glob("*.txt"):
        os.utime(path)
    reader = open_git(repository, trusted=True, env=os.environ)
    assert reader is not None
    with reader.start_status() as running:
        running.changed_files(timeout_s=20)
    reader.first_commit(timeout_s=20)
    reader.identity(world.workspace)
    assert [path for path in tmp_path.rglob("MARK") if path.is_file()] == []
