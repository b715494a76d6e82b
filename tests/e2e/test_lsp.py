"""Diagnostics after an edit, through the real command: pyright as it is, and a server that misbehaves in every way."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Done, Place, Serve
from e2e.driver import Driven
from e2e.test_dialogue import bash, write_call

BIN = str(Path(sys.executable).parent)
ODD = Path(__file__).resolve().parents[1] / "fakes" / "language_server.py"


def edit(name: str, old: str, new: str) -> dict[str, Any]:
    return {"calls": [{"call": "Edit", "arguments": {"file_path": name, "old_string": old, "new_string": new}}]}


def read(name: str) -> dict[str, Any]:
    return {"calls": [{"call": "Read", "arguments": {"file_path": name}}]}


def odd(kind: str, *more: str) -> dict[str, Any]:
    row = {"command": [sys.executable, str(ODD), kind, *more], "languages": {".odd": "odd"}}
    return {"lsp": {"mode": "on", "servers": {"odd": row}}}


def run(place: Place, settings: dict[str, Any], *more: str) -> Done:
    return place.run(
        *("-p", "go", "--permission-mode", "bypassPermissions", "--output-format", "stream-json"),
        *("--settings", json.dumps(settings), *(more or ("--trust",))),
        env={"PATH": f"{BIN}:{os.environ['PATH']}"},
    )


def sent(server: Any) -> str:
    return json.dumps(server.requests[-1].body["messages"])


def notices(done: Done) -> list[str]:
    return [line["text"] for line in done.lines if line.get("subtype") == "notice" and line.get("code") == "lsp"]


def test_pyright_tells_what_an_edit_broke_and_nothing_that_was_there_before(serve: Serve) -> None:
    place, server = serve(
        [
            read("a.py"),
            edit("a.py", "total(1)", "total('x')"),
            {"match": "reportArgumentType", **edit("a.py", "'x'", "1, 2")},
            {"match": "reportCallIssue", "text": "done"},
            {"repeat": 150, **bash("sleep 0.2 # {n}")},
        ]
    )
    (place.project / "a.py").write_text("def total(n: int) -> int:\n    return n\n\n\nold: str = 5\ntotal(1)\n")
    done = run(place, {"lsp": {"mode": "on"}})
    assert (done.code, done.lines[-1]["result"], done.err) == (0, "done", "")
    told = sent(server)
    assert "6:7 error" in told
    assert "reportAssignmentType" not in told, "what was wrong before is no news"
    assert told.count("reportArgumentType") == 1


def test_new_findings_stand_in_the_result_and_cannot_move_a_cursor(serve: Serve) -> None:
    place, server = serve(
        [
            read("a.odd"),
            edit("a.odd", "two", "BAD two\nBAD three"),
            edit("a.odd", "BAD two", "fine"),
            {"text": "done"},
        ]
    )
    (place.project / "a.odd").write_text("BAD one\ntwo\n")
    done = run(place, odd("good"))
    assert (done.code, notices(done)) == (0, [])
    results = [json.dumps(request.body["messages"][-1]) for request in server.requests]
    assert "New diagnostics (odd):\\n2:1 error: bad line" in results[2] or "says this about a.odd" in sent(server)
    assert "bad line BAD one" not in sent(server)
    assert "\\u001b" not in results[2]
    assert "New diagnostics" not in results[3]


def test_a_server_may_ask_and_is_answered(serve: Serve) -> None:
    place, server = serve(
        [
            write_call("a.odd", "BAD\n"),
            {"match": "bad line", "text": "done"},
            {"repeat": 100, **bash("sleep 0.1 # {n}")},
        ]
    )
    done = run(place, odd("asks"))
    assert notices(done) == []
    assert "bad line" in sent(server)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("flood", "it floods"),
        ("garbage", "it sends no frames"),
        ("notjson", "a message is not JSON"),
        ("huge", "a message is too large"),
        ("dies", "it ended with code 3"),
    ],
)
def test_a_server_that_misbehaves_is_one_line_and_then_off(serve: Serve, kind: str, why: str) -> None:
    place, server = serve([write_call("a.odd", "one\n"), {"text": "ok"}, write_call("b.odd", "BAD\n"), {"text": "on"}])
    flags = ("--trust", "--permission-mode", "bypassPermissions", "--settings", json.dumps(odd(kind)))
    with Driven(place, *flags) as run:
        run.say("go")
        run.until(lambda _: "result" in run.kinds and any(line.get("code") == "lsp" for line in run.lines))
        (told,) = [line for line in run.lines if line.get("code") == "lsp"]
        assert told["text"] == f"no more diagnostics from odd in this session: {why}"
        run.say("go on")
        assert run.result()["result"] == "on"
        assert run.end() == 0
    assert "diagnostics" not in sent(server)
    assert len([line for line in run.lines if line.get("code") == "lsp"]) == 1
    assert left_of(kind) == []


@pytest.mark.parametrize("kind", ["mute", "silent", "deaf"])
def test_a_server_that_says_nothing_holds_up_nothing_and_ends_with_the_session(serve: Serve, kind: str) -> None:
    place, server = serve([write_call("a.odd", "BAD\n"), {"text": "ok"}])
    done = run(place, odd(kind))
    assert (done.code, done.lines[-1]["result"], notices(done)) == (0, "ok", [])
    assert "diagnostics" not in sent(server)
    assert left_of(kind) == []


def test_what_comes_late_comes_before_the_next_request(serve: Serve, tmp_path: Path) -> None:
    gate = tmp_path / "project" / "gate"
    place, server = serve(
        [
            write_call("a.odd", "BAD\n"),
            bash("touch gate"),
            {"match": "bad line", "text": "done"},
            {"repeat": 100, **bash("sleep 0.1 # {n}")},
        ]
    )
    done = run(place, odd("slow", str(gate)))
    assert done.lines[-1]["result"] == "done"
    assert "odd says this about a.odd, which you changed" in sent(server)


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({"lsp": {"mode": "off"}}, ("--trust",)),
        ({"lsp": {"mode": "auto"}}, ("--trust",)),
        ({"lsp": {"mode": "on"}}, ("--verbose",)),
    ],
)
def test_nothing_starts_where_it_is_off_or_nobody_trusts(
    serve: Serve, settings: dict[str, Any], more: tuple[str, ...], tmp_path: Path
) -> None:
    started = tmp_path / "started"
    row = {"command": ["/bin/sh", "-c", f"touch {started}"], "languages": {".odd": "odd"}}
    place, _ = serve([write_call("a.odd", "BAD\n"), {"text": "ok"}])
    run(place, {"lsp": {**settings["lsp"], "servers": {"odd": row}}}, *more)
    assert not started.exists()


def test_a_program_of_the_project_is_never_taken(serve: Serve) -> None:
    place, _ = serve([write_call("a.odd", "BAD\n"), {"text": "ok"}])
    own = place.project / "server"
    own.write_text(f"#!/bin/sh\ntouch {place.home}/started\n")
    own.chmod(0o755)
    row = {"command": [str(own)], "languages": {".odd": "odd"}}
    done = run(place, {"lsp": {"mode": "on", "servers": {"odd": row}}})
    assert (done.code, notices(done), (place.home / "started").exists()) == (0, [], False)


def left_of(kind: str) -> list[str]:
    """Servers that outlived their session."""
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and f"{ODD}\0{kind}" in command_of(pid)]


def command_of(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
