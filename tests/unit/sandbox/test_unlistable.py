"""A directory that may be entered but not listed is looked into like any other: git enters it, too."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.system.git.left_behind import obeyed, opened
from clew.system.sandbox.git_aftermath import marked
from unit.sandbox.world import git

NOBODY = 65534


@contextlib.contextmanager
def without_privileges() -> Iterator[None]:
    """Root may list everything; anybody else shows what the rights of a directory do."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def place() -> Iterator[Path]:
    """Not below pytest's own directory, which only its owner may enter."""
    with tempfile.TemporaryDirectory() as top:
        ws = Path(top, "ws")
        (ws / "vend").mkdir(parents=True)
        git("init", "-q", "vend", cwd=ws)
        git("config", "core.fsmonitor", "/bin/true", cwd=ws / "vend")
        (ws / "vend" / ".git" / "hooks" / "pre-commit").write_text("")
        for folder, _, files in os.walk(top):
            for path in (Path(folder), *(Path(folder, name) for name in files)):
                if os.geteuid() == 0:
                    os.chown(path, NOBODY, NOBODY)
        yield ws
        for folder in ("vend", "vend/.git", "vend/.git/hooks"):
            (ws / folder).chmod(0o700)


@pytest.mark.parametrize("closed", ["vend", "vend/.git", "vend/.git/hooks"])
def test_what_git_would_obey_is_seen(place: Path, closed: str):
    (place / closed).chmod(0o311)
    with without_privileges(), opened(str(place / "vend" / ".git")) as held:
        assert held is not None
        assert {os.path.relpath(found.path, place) for found in obeyed(held)} >= {"vend/.git/config"}
        assert any("hooks" in found.path for found in obeyed(held))


def test_it_is_found_and_keeps_its_rights(place: Path):
    (place / "vend").chmod(0o311)
    with without_privileges():
        assert ".git" in marked([str(place)])[0][str(place / "vend")]
    assert (place / "vend").stat().st_mode & 0o777 == 0o311
