"""Files by a few letters: ranking, what git ignores, fresh names, odd names, bounded work."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.host.workspace import open_workspace, remember_trust
from clew.parts.files.index import FileIndex, PathMatcher, project_files, with_directories
from clew.parts.files.part import FilePart
from clew.protocol.lookups.place import FindFiles
from fakes.effort import HANG_S
from unit.host.lab import Lab, lab
from unit.host.plugs import part_of


def found(paths: list[str], query: str, limit: int = 20) -> list[str]:
    return list(PathMatcher(paths).find(query, limit))


def test_a_name_that_begins_with_it_comes_before_one_that_holds_it_and_before_scattered_letters() -> None:
    paths = ["src/deep/er/parser.py", "a/my_parser.py", "parser_data/x.bin", "p/a/r/s/e/r.txt", "lib/sparse.py"]
    assert found(paths, "parser") == [
        "src/deep/er/parser.py",
        "a/my_parser.py",
        "parser_data/x.bin",
        "p/a/r/s/e/r.txt",
    ]
    assert found(paths, "parse")[-1] == "p/a/r/s/e/r.txt"


def test_shorter_paths_come_first_and_case_does_not_matter() -> None:
    assert found(["b/readme.md", "README.md", "long/way/Readme.md"], "ReadMe") == [
        "README.md",
        "b/readme.md",
        "long/way/Readme.md",
    ]


def test_letters_at_the_beginning_of_words_win() -> None:
    paths = ["src/xtxaxbxlxe.py", "src/tool_batch_label.py", "src/toolBatchLabel.py"]
    assert set(found(paths, "tbl")[:2]) == {"src/tool_batch_label.py", "src/toolBatchLabel.py"}
    assert found(["src/host/file_index.py", "src/chosen/if.py"], "hfi")[0] == "src/host/file_index.py"


def test_a_path_with_slashes_and_words_apart() -> None:
    paths = ["src/clew/host/door.py", "src/clew/tools/door_bell.py", "host/doors.txt"]
    assert found(paths, "host/door")[:2] == ["host/doors.txt", "src/clew/host/door.py"]
    assert found(paths, "./host/doors.txt") == ["host/doors.txt"]
    assert found(paths, "clew bell") == ["src/clew/tools/door_bell.py"]
    assert found(paths, "zzz") == []


def test_directories_have_a_slash_and_nothing_typed_shows_the_top() -> None:
    names = with_directories(["src/a/one.py", "setup.py"])
    assert names == {"src/", "src/a/", "src/a/one.py", "setup.py"}
    matcher = PathMatcher(names)
    assert matcher.find("", 10) == ("setup.py", "src/")
    assert matcher.find("src", 1) == ("src/",)
    assert matcher.find("a", 0) == ()


def test_what_is_special_in_patterns_is_plain_here() -> None:
    paths = ["a+b.txt", "[x].py", "we ird^.c", "back\\slash", "new\nline.txt", "tab\t.md"]
    for path in paths:
        assert path in found(paths, path)
        assert path in found(paths, path[0] + path[-1])
    assert found(paths, "a\0b") == []


@given(st.lists(st.text("abc/_.", min_size=1, max_size=8), max_size=30), st.text("abc/_.", max_size=6))
def test_everything_that_fits_is_found_once_and_nothing_else(paths: list[str], query: str) -> None:
    rows = found(paths, query, 1_000)
    assert len(rows) == len(set(rows)) or len(paths) != len(set(paths))
    letters = "".join(query.removeprefix("./").split())
    if not letters:
        return
    for path in set(paths):
        rest = iter(path)
        assert (path in rows) == all(letter in rest for letter in letters)


def test_fifty_thousand_names_cost_few_looks() -> None:
    """Counted, not timed: what is compared one by one is bounded, the rest is one search over one text."""
    matcher = PathMatcher(f"src/dir{number % 97}/some_module_{number}.py" for number in range(50_000))
    scored = 0
    plain = matcher._score  # pyright: ignore[reportPrivateUsage] counting is what this test is about

    def counted(index: int, letters: str) -> int:
        nonlocal scored
        scored += 1
        return plain(index, letters)

    matcher._score = counted  # pyright: ignore[reportPrivateUsage] as above
    assert len(matcher.find("sdmod7", 20)) == 20
    assert scored <= 500


def git(project: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(project), *words], check=True, capture_output=True)


@pytest.mark.parametrize("with_git", [True, False])
def test_what_is_ignored_is_left_out(tmp_path: Path, with_git: bool) -> None:
    project = tmp_path / "p"
    for name in ("kept.py", "build/out.o", "sub/kept.txt", "sub/secret.log", "sub/own.tmp"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    (project / ".gitignore").write_text("build/\n*.log\n")
    (project / "sub" / ".gitignore").write_text("*.tmp\n")
    if with_git:
        git(project, "init", "-q")
        git(project, "add", "kept.py")
    env = {"HOME": str(tmp_path), "CLEW_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    (tmp_path / "home").mkdir()
    remember_trust(tmp_path / "home", project)
    names = set(project_files(open_workspace(project, env)))
    assert names == {"kept.py", "sub/kept.txt", ".gitignore", "sub/.gitignore"}


async def test_the_door_answers_and_new_files_are_found(tmp_path: Path) -> None:
    async with lab(tmp_path) as place:
        (place.project / "alpha.py").write_text("")
        answer = await place.look_up(FindFiles(query="alp"))
        assert (answer.query, answer.rows) == ("alp", ("alpha.py",))
        (place.project / "odd\nname.py").write_text("")
        files = part_of(place.door, FilePart)._index
        assert files is not None
        files._clock = lambda: float("inf")  # what was read before is old now
        rows = await eventually(place, "odd")
        assert rows == ("odd\nname.py",)


async def eventually(place: Lab, query: str) -> tuple[str, ...]:
    """Asked until it is there; a hung index ends with the deadline."""
    async with asyncio.timeout(HANG_S):
        while True:
            answer = await place.look_up(FindFiles(query=query))
            if answer.rows:
                return answer.rows
            await asyncio.sleep(0.05)


async def test_the_names_are_read_again_only_when_they_are_old() -> None:
    reads = 0
    now = 0.0

    def read() -> Iterator[str]:
        nonlocal reads
        reads += 1
        yield f"file{reads}.py"

    index = FileIndex(read, clock=lambda: now)
    assert await index.find("file", 5) == ("file1.py",)
    assert await index.find("file", 5) == ("file1.py",)
    assert reads == 1
    now = 60.0
    await index.find("file", 5)
    await index.close()
    assert reads == 2


async def test_a_project_that_is_not_trusted_runs_no_git(tmp_path: Path) -> None:
    async with lab(tmp_path, trusted=False) as place:
        git(place.project, "init", "-q")
        (place.project / "seen.txt").write_text("")
        assert (await place.look_up(FindFiles(query="seen"))).rows == ("seen.txt",)
