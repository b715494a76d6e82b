"""/diff: what the session changed, without what git ignores."""

import subprocess
from pathlib import Path

from e2e.command import Place
from fakes.model_server import ModelServer


def test_ignored_files_are_left_out_and_counted(tmp_path: Path) -> None:
    files = {"src/a.py": "x = 1\n", "build/out.txt": "made\n", "kept.log": "tracked\n", "other.log": "noise\n"}
    calls = [{"call": "Write", "arguments": {"file_path": name, "content": text}} for name, text in files.items()]
    read = {"calls": [{"call": "Read", "arguments": {"file_path": "kept.log"}}]}
    with ModelServer([read, {"calls": calls}, {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        (place.project / ".gitignore").write_text("build/\n*.log\n")
        for words in (["init", "-q"], ["add", "-f", ".gitignore"]):
            subprocess.run(["git", *words], cwd=place.project, check=True)
        (place.project / "kept.log").write_text("")
        subprocess.run(["git", "add", "-f", "kept.log"], cwd=place.project, check=True)
        run = place.run("--plain", "--trust", "--permission-mode", "bypassPermissions", stdin="go\n/diff\n/diff .log\n")
    told, _, named = run.out.partition("not shown (/diff PATH shows them)")
    told = told.partition("> /diff")[2]
    assert "src/a.py" in told
    assert "kept.log" in told, "what is tracked is not ignored"
    assert "build" not in told
    assert "other.log" not in told
    assert "2 files that git ignores" in told
    assert "other.log" in named
