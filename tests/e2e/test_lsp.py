"""Diagnostics after an edit, through the real command: pyright as it is, and a server that misbehaves in every way."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.test_dialogue import Serve, serve

__all__ = ["serve"]
BIN = str(Path(sys.executable).parent)
ON = {"lsp": {"mode": "on"}}
ODD = Path(__file__).resolve().parents[1] / "fakes" / "language_server.py"


def write(name: str, content: str) -> dict[str, Any]:
    return {"calls": [{"call": "Write", "arguments": {"file_path": name, "content": content}}]}


def edit(name: str, old: str, new: str) -> dict[str, Any]:
    return {"calls": [{"call": "Edit", "arguments": {"file_path": name, "old_string": old, "new_string": new}}]}


def read(name: str) -> dict[str, Any]:
    return {"calls": [{"call": "Read", "arguments": {"file_path": name}}]}


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"call": "Bash", "arguments": {"command": command}}]}


def run(place: Place, settings: dict[str, Any], *more: str) -> Any:
    return place.run(
        *("-p", "go", "--trust", "--permission-mode", "bypassPermissions", "--output-format", "stream-json"),
        *("--settings", json.dumps(settings), *more),
        env={"PATH": f"{BIN}:{os.environ['PATH']}"},
    )


def sent(server: Any) -> str:
    return json.dumps(server.requests[-1].body["messages"])


def test_pyright_tells_what_an_edit_broke_and_nothing_that_was_there_before(serve: Serve) -> None:
    wait = bash("for n in $(seq 200); do sleep 0.1; test -e stop && break; done; true")
    place, server = serve(
        [
            read("a.py"),
            edit("a.py", "total(1)", "total('x')"),
            bash("sleep 15"),
            edit("a.py", "'x'", "'y', 2"),
            bash("sleep 1"),
            {"text": "done"},
        ]
    )
    del wait
    (place.project / "a.py").write_text("def total(n: int) -> int:\n    return n\n\n\nold: str = 5\ntotal(1)\n")
    done = run(place, ON)
    assert done.code == 0, done.err
    told = sent(server)
    assert "reportArgumentType" in told, done.out
    assert "6:7 error" in told
    assert "reportAssignmentType" not in told, "what was wrong before is no news"
    assert "reportCallIssue" in told
