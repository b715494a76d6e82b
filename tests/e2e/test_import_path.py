"""Nothing of the project is imported when clew starts in it, however the project got onto the import path."""

import os
import sys
from pathlib import Path

import pytest

from clew.cli.entry import outside_project
from e2e.command import Place

PLANTED = ("msgspec", "httpx", "clew_plugin", "tomllib", "tree_sitter")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for name in PLANTED:
        (place.project / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + '\\n')\n")
    (place.project / ".git").mkdir()
    (place.project / "sub").mkdir()
    return place


@pytest.mark.parametrize("path", [".", "", "{project}", "{project}/sub:{project}", "{link}"])
def test_a_project_on_pythonpath_is_not_imported(place: Place, tmp_path: Path, path: str) -> None:
    (tmp_path / "link").symlink_to(place.project)
    given = path.format(project=place.project, link=tmp_path / "link")
    done = place.run_anew("permissions", "explain", "ls", env={"PYTHONPATH": given})
    assert (done.code, "allow" in done.out) == (0, True), done.err
    assert not (tmp_path / "ran").exists()


def test_python_m_clew_imports_nothing_from_its_directory(place: Place, tmp_path: Path) -> None:
    done = place.run_anew("-m", "clew", "permissions", "explain", "ls", command=sys.executable)
    assert (done.code, "allow" in done.out) == (0, True), done.err
    assert not (tmp_path / "ran").exists()


def test_what_lies_in_the_project_and_belongs_to_clew_or_its_interpreter_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A venv in the project, clew's own clone, a home as the project, and a prefix that holds the project."""
    own = str(Path(outside_project.__code__.co_filename).parents[2])
    venv = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    venv.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path / "app")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    entries = ["", ".", str(tmp_path), str(tmp_path / "app"), str(venv), own, "/usr/lib/python3"]
    assert outside_project(entries) == [str(venv), own, "/usr/lib/python3"]
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    inner = str(tmp_path / "lib" / "python3.11")
    assert outside_project([str(tmp_path), str(tmp_path / "app"), inner]) == [inner]
    monkeypatch.setattr(sys, "prefix", os.path.dirname(tmp_path))
    assert outside_project([str(tmp_path), str(tmp_path / "app")]) == []
    monkeypatch.chdir(own)
    assert outside_project(["", own]) == [own, own]
