"""Writing in one's own editor."""

import os
import stat
import sys
from pathlib import Path

import pytest

from clew.composing.outside import EditorProblem, edit_outside, editor_command


def script(tmp_path: Path, body: str) -> list[str]:
    path = tmp_path / "editor.py"
    path.write_text(f"import sys, os, pathlib\npath = pathlib.Path(sys.argv[1])\n{body}\n")
    return [sys.executable, str(path)]


def test_visual_then_editor_then_what_there_is(tmp_path: Path) -> None:
    assert editor_command({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert editor_command({"VISUAL": " ", "EDITOR": "'my editor' -x"}) == ["my editor", "-x"]
    (tmp_path / "vi").write_text("#!/bin/sh\n")
    (tmp_path / "vi").chmod(stat.S_IRWXU)
    assert editor_command({"PATH": str(tmp_path)}) == [str(tmp_path / "vi")]
    with pytest.raises(EditorProblem, match=r"set \$EDITOR"):
        editor_command({"PATH": str(tmp_path / "empty")})
    with pytest.raises(EditorProblem, match=r"\$EDITOR cannot be understood"):
        editor_command({"EDITOR": "'open"})


def test_the_text_goes_there_and_back(tmp_path: Path) -> None:
    command = script(tmp_path, "path.write_text(path.read_text().upper() + '\\n')")
    assert edit_outside("héllo\nyou", command) == "HÉLLO\nYOU"


def test_a_line_end_that_was_there_stays(tmp_path: Path) -> None:
    assert edit_outside("a\n", script(tmp_path, "pass")) == "a\n"


def test_the_file_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    note = tmp_path / "note"
    body = f"pathlib.Path({str(note)!r}).write_text(f'{{path}} {{oct(os.stat(path).st_mode & 0o777)}}')"
    edit_outside("x", script(tmp_path, body))
    path, mode = note.read_text().split()
    assert mode == "0o600"
    assert not os.path.exists(path)


def test_a_failed_editor_changes_nothing_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(EditorProblem, match="ended with 3"):
        edit_outside("x", script(tmp_path, "sys.exit(3)"))
    with pytest.raises(EditorProblem, match="could not be started"):
        edit_outside("x", [str(tmp_path / "no-such-editor")])
    with pytest.raises(EditorProblem, match="could not be read back"):
        edit_outside("x", script(tmp_path, "path.unlink()"))
