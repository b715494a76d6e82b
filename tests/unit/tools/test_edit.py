"""Edit, Write and NotebookEdit: exact, atomic, never over unseen content, encodings kept."""

import json
import os
from pathlib import Path

import pytest

from clew.protocol.display import DiffBlock
from clew.tools.base import ToolResult

from .conftest import Caller


async def edit_after_read(call: Caller, name: str, **arguments: object) -> ToolResult:
    await call("Read", file_path=name)
    return await call("Edit", file_path=name, **arguments)


async def test_one_replacement_gives_a_diff_and_can_be_followed_by_another(call: Caller, workspace: Path):
    (workspace / "a.py").write_text("x = 1\ny = 2\n")
    result = await edit_after_read(call, "a.py", old_string="x = 1", new_string="x = 10\nz = 3")
    assert not result.is_error
    assert (workspace / "a.py").read_text() == "x = 10\nz = 3\ny = 2\n"
    (block,) = result.display
    assert isinstance(block, DiffBlock)
    assert (block.added, block.removed, block.created) == (2, 1, False)
    assert not (await call("Edit", file_path="a.py", old_string="y = 2", new_string="y = 4")).is_error


async def test_an_unread_or_changed_file_is_refused(call: Caller, workspace: Path):
    path = workspace / "a.py"
    path.write_text("x = 1\n")
    unread = await call("Edit", file_path="a.py", old_string="x", new_string="y")
    assert "has not been read" in unread.text
    assert "has not been read" in (await call("Write", file_path="a.py", content="gone")).text
    await call("Read", file_path="a.py")
    path.write_text("x = 1  # by the user\n")
    changed = await call("Edit", file_path="a.py", old_string="x", new_string="y")
    assert changed.is_error
    assert "changed on disk" in changed.text
    assert "changed on disk" in (await call("Write", file_path="a.py", content="gone")).text
    assert path.read_text() == "x = 1  # by the user\n"


async def test_a_touched_file_with_the_same_content_is_not_stale(call: Caller, workspace: Path):
    path = workspace / "a.py"
    path.write_text("x = 1\n")
    await call("Read", file_path="a.py")
    os.utime(path, (1, 1))
    assert not (await call("Edit", file_path="a.py", old_string="x", new_string="y")).is_error


async def test_no_match_hints_at_the_nearest_line(call: Caller, workspace: Path):
    (workspace / "a.py").write_text("def compute_total(items):\n    return sum(items)\n")
    near = await edit_after_read(call, "a.py", old_string="def compute_totals(item):", new_string="z")
    assert "nearest line is 1: 'def compute_total(items):'" in near.text
    spaces = await call("Edit", file_path="a.py", old_string="  return sum(items)\n", new_string="z")
    assert not spaces.is_error
    tabs = await edit_after_read(call, "a.py", old_string="\tdef compute_total(items):\n", new_string="z")
    assert "match except for white space" in tabs.text
    numbered = await call("Edit", file_path="a.py", old_string="     1\tdef compute", new_string="z")
    assert "line numbers" in numbered.text


async def test_many_matches_name_the_lines_and_replace_all_takes_them(call: Caller, workspace: Path):
    (workspace / "a.py").write_text("a\nb\na\n")
    many = await edit_after_read(call, "a.py", old_string="a", new_string="c")
    assert "matches 2 places (lines 1, 3)" in many.text
    await call("Edit", file_path="a.py", old_string="a", new_string="c", replace_all="true")
    assert (workspace / "a.py").read_text() == "c\nb\nc\n"


async def test_several_edits_are_all_or_none(call: Caller, workspace: Path):
    path = workspace / "a.py"
    path.write_text("one two\n")
    await call("Read", file_path="a.py")
    good = {"old_string": "one", "new_string": "1"}
    bad = await call("Edit", file_path="a.py", edits=[good, {"old_string": "three", "new_string": "3"}])
    assert bad.is_error
    assert "edit 2 of 2" in bad.text
    assert path.read_text() == "one two\n"
    await call("Edit", file_path="a.py", edits=[good, {"old_string": "1 two", "new_string": "done"}])
    assert path.read_text() == "done\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb", b"a\r\nx\r\nb\r\nc\r\n"),
        (b"a\r\nb\nc\rd\n", "b\nc", "B\nC", b"a\r\nB\nC\rd\n"),
        (b"a\nb\r\nc\n", "b", "b1\nb2", b"a\nb1\nb2\r\nc\n"),
        ("grün\r\n".encode("utf-16"), "grün", "blau\nrot", "blau\r\nrot\r\n".encode("utf-16")),
        ("café\n".encode("latin-1"), "café", "cafés", "cafés\n".encode("latin-1")),
        (b"\xef\xbb\xbfx = 1\n", "x = 1", "x = 2", b"\xef\xbb\xbfx = 2\n"),
        (b"no newline at end", "end", "finish", b"no newline at finish"),
    ],
)
async def test_encodings_and_newlines_survive(
    call: Caller, workspace: Path, before: bytes, old: str, new: str, after: bytes
):
    (workspace / "a.txt").write_bytes(before)
    result = await edit_after_read(call, "a.txt", old_string=old, new_string=new)
    assert not result.is_error, result.text
    assert (workspace / "a.txt").read_bytes() == after


async def test_text_the_encoding_cannot_hold_is_refused(call: Caller, workspace: Path):
    (workspace / "a.txt").write_bytes("café\n".encode("latin-1"))
    result = await edit_after_read(call, "a.txt", old_string="caf", new_string="☕")
    assert result.is_error
    assert "LATIN-1" in result.text
    assert (workspace / "a.txt").read_bytes() == "café\n".encode("latin-1")


async def test_writing_makes_directories_and_keeps_the_mode(call: Caller, workspace: Path):
    result = await call("Write", file_path="new/deep/a.sh", content="echo\n")
    assert result.text.startswith("Created")
    path = workspace / "new" / "deep" / "a.sh"
    path.chmod(0o755)
    await call("Read", file_path="new/deep/a.sh")
    await call("Write", file_path="new/deep/a.sh", content="echo 3\n")
    assert path.read_text() == "echo 3\n"
    assert path.stat().st_mode & 0o777 == 0o755
    assert os.listdir(path.parent) == ["a.sh"]


@pytest.mark.parametrize("kind", ["directory", "fifo"])
async def test_what_cannot_hold_content_is_refused(call: Caller, workspace: Path, kind: str):
    path = workspace / "odd"
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    for name, arguments in (("Write", {"content": "x"}), ("Edit", {"old_string": "a", "new_string": "b"})):
        result = await call(name, file_path="odd", **arguments)
        assert result.is_error
        assert "not a regular file" in result.text


async def test_an_empty_old_string_creates_but_never_overwrites(call: Caller, workspace: Path):
    made = await call("Edit", file_path="a.txt", old_string="", new_string="hi\n")
    assert made.text.startswith("Created")
    over = await call("Edit", file_path="a.txt", old_string="", new_string="bye\n")
    assert over.is_error
    assert (workspace / "a.txt").read_text() == "hi\n"


async def test_binary_files_are_not_edited(call: Caller, workspace: Path):
    (workspace / "a.bin").write_bytes(bytes(range(256)))
    result = await call("Edit", file_path="a.bin", old_string="a", new_string="b")
    assert result.is_error


async def test_notebook_cells(call: Caller, workspace: Path):
    cells = [{"cell_type": "code", "id": "one", "metadata": {}, "source": ["a\n"], "outputs": [{"text": "x"}]}]
    path = workspace / "n.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n")
    assert (await call("NotebookEdit", notebook_path="n.ipynb", cell_id="one", new_source="b")).is_error
    await call("Read", file_path="n.ipynb")
    await call("NotebookEdit", notebook_path="n.ipynb", cell_id="one", new_source="b\nc")
    await call(
        "NotebookEdit",
        notebook_path="n.ipynb",
        cell_id="one",
        new_source="# t",
        cell_type="markdown",
        edit_mode="insert",
    )
    saved = json.loads(path.read_text())["cells"]
    assert [cell["source"] for cell in saved] == [["b\n", "c"], ["# t"]]
    assert saved[0]["outputs"] == []
    unknown = await call("NotebookEdit", notebook_path="n.ipynb", cell_id="zzz", edit_mode="delete")
    assert "there is no cell 'zzz'" in unknown.text
    await call("NotebookEdit", notebook_path="n.ipynb", cell_id="1", edit_mode="delete")
    assert len(json.loads(path.read_text())["cells"]) == 1
