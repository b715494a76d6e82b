"""`clew answer` and `clew attach`: a session that lives in another process, reached through the real commands."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.protocol.base import Rights
from clew.protocol.wire import WIRE_VERSION, Hello, line_of
from clew.system.peers import has_peer_credentials
from e2e.command import Place, until
from e2e.driver import Driven, is_asked
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

SESSION = "0a0a0a0a-1111-4222-8333-444444444444"
STDIO = ("--permission-prompt-tool", "stdio", "--session-id", SESSION)
pytestmark = pytest.mark.skipif(not has_peer_credentials(), reason="sessions serve no socket on this system")


def write_call(name: str, content: str = "x") -> dict[str, Any]:
    return {"calls": [{"call": "Write", "arguments": {"file_path": name, "content": content}}]}


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[tuple[Place, Driven, dict[str, Any]]]:
    """A session that waits for leave to write a file, and a program that does not answer."""
    target = tmp_path / "outside.txt"
    with ModelServer([write_call(str(target), "a\nb"), {"text": "done"}, {"text": "more"}]) as server:
        place = Place(tmp_path, server.url)
        with Driven(place, *STDIO) as run:
            run.say("go")
            asked = run.until(is_asked("can_use_tool"))
            until(lambda: lease(place).get("socket"), run.process)
            yield place, run, asked


def lease(place: Place) -> dict[str, Any]:
    paths = list(place.clew_home.glob("projects/*/*.lock"))
    try:
        return json.loads(paths[0].read_text()) if paths else {}
    except (ValueError, OSError):
        return {}


def test_what_waits_is_listed_answered_once_and_told_who_was_first(
    asking: tuple[Place, Driven, dict[str, Any]],
) -> None:
    place, run, asked = asking
    target = asked["request"]["input"]["file_path"]
    listed = place.run("answer", SESSION[:8])
    assert (listed.code, listed.err) == (0, "")
    (line,) = listed.out.splitlines()
    request = line.split()[0]
    assert json.dumps({"file_path": target, "content": "a\nb"}, separators=(",", ":")) in line
    wrong = place.run("answer", SESSION, request, "perhaps")
    assert (wrong.code, wrong.out) == (2, "")
    assert "allow or deny" in wrong.err
    done = place.run("answer", SESSION, request[:8], "allow")
    assert (done.code, done.out, done.err) == (0, "", "")
    late = place.run("answer", SESSION, request, "deny")
    assert late.code == 1
    assert "answered already, by clew answer (process " in late.err
    withdrawn = run.until(lambda line: line["type"] == "control_cancel_request")
    assert withdrawn["request_id"] == asked["request_id"]
    assert not run.result()["is_error"]
    assert Path(target).read_text() == "a\nb"
    assert place.run("answer", SESSION).err == "Nothing waits for you.\n"
    assert run.end() == 0
    (resolved,) = [entry for entry in place.entries() if entry["type"] == "approval" and entry["decision"] != "pending"]
    assert (resolved["decision"], resolved["via"][:11]) == ("allow", "clew answer")


def test_a_no_with_its_reason_reaches_the_model(asking: tuple[Place, Driven, dict[str, Any]]) -> None:
    place, run, asked = asking
    assert place.run("answer", SESSION, "deny", "--why", "not there, please").code == 0
    run.result()
    assert "not there, please" in str(place.entries())
    assert not Path(asked["request"]["input"]["file_path"]).exists()


@pytest.mark.parametrize("command", ["answer", "attach"])
def test_a_session_that_nobody_runs_names_the_way_on(
    asking: tuple[Place, Driven, dict[str, Any]], command: str
) -> None:
    place, run, _ = asking
    door = Path(lease(place)["socket"])
    run.signal(signal.SIGKILL)
    run.process.wait()
    assert door.exists()
    dead = place.run(command, SESSION)
    assert dead.code == 1
    assert f"clew -r {SESSION}" in dead.err
    assert not door.exists(), "the socket of a dead process is removed"
    unknown = place.run(command, "no-such-session")
    assert unknown.code in (1, 2)
    assert "no-such-session" in unknown.err
    goes_on = place.run("-p", "and now?", "-r", SESSION)
    assert (goes_on.code, goes_on.out) == (0, "done\n")


def test_a_lease_of_a_dead_process_with_a_socket_is_no_way_in(tmp_path: Path) -> None:
    with ModelServer([{"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        assert place.run("-p", "hi", "--session-id", SESSION).code == 0
    (path,) = place.transcripts()
    gone = {"pid": 999_999, "started": "00000000:1", "token": "x", "host": os.uname().nodename, "socket": "/nowhere"}
    path.with_suffix(".lock").write_text(json.dumps(gone))
    dead = place.run("answer", SESSION)
    assert dead.code == 1
    assert f"clew -r {SESSION}" in dead.err


def talk(path: str, *lines: bytes) -> bytes:
    """Say this to a session's socket, and all that it says back."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(30)
        client.connect(path)
        for line in lines:
            client.sendall(line)
        client.shutdown(socket.SHUT_WR)
        heard = b""
        while chunk := client.recv(65_536):
            heard += chunk
        return heard


def hello(**changed: Any) -> bytes:
    fields: dict[str, Any] = {"wire": WIRE_VERSION, "version": "0", "rights": Rights.DRIVE.word, "name": "test"}
    return line_of(Hello(**{**fields, **changed}))


def test_who_only_watches_looks_up_tasks_and_history_and_may_stop_nothing(
    asking: tuple[Place, Driven, dict[str, Any]],
) -> None:
    place, _, _ = asking
    lookups: tuple[dict[str, str], ...] = (
        {"lookup": "tasks.list"},
        {"lookup": "history.load"},
        {"lookup": "task.stop", "task_id": "bash_1"},
    )
    asked = [json.dumps({"frame": "look_up", "id": at, "lookup": one}).encode() for at, one in enumerate(lookups)]
    heard = talk(lease(place)["socket"], hello(rights=Rights.WATCH.word), *(line + b"\n" for line in asked))
    answers = {frame["id"]: frame for frame in map(json.loads, heard.splitlines()) if "id" in frame}
    assert answers[0]["answer"] == {"answer": "tasks.listed", "tasks": []}
    assert "go" in str(answers[1]["answer"])
    assert "may only watch" in str(answers[2])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((b"GET / HTTP/1.1\r\n\r\n",), b"refused"),
        ((b"\xff\xfe\x00\n",), b"refused"),
        ((b"{}\n",), b"refused"),
        ((hello(wire=99),), b"use the same clew"),
        ((hello(rights="own"),), b"watch, answer and drive"),
        ((hello(), hello()), b"second hello"),
        ((hello(), b'{"frame":"op","op":{"op":"format.disk"}}\n'), b"not understood"),
        ((hello(), b'{"frame":"op","op":' + b"[" * 5_000 + b"\n"), b"not understood"),
        ((hello(), b'{"frame":"look_up","id":1,"lookup":{"lookup":"nothing"}}\n'), b"no_answer"),
        ((), b""),
    ],
    ids=["http", "bytes", "object", "version", "rights", "twice", "unknown op", "deep", "unknown lookup", "silence"],
)
def test_what_is_not_understood_is_refused_and_harms_nothing(
    asking: tuple[Place, Driven, dict[str, Any]], lines: tuple[bytes, ...], said: bytes
) -> None:
    place, run, _ = asking
    assert said in talk(lease(place)["socket"], *lines)
    assert place.run("answer", SESSION, "allow").code == 0
    assert not run.result()["is_error"]
    assert run.end() == 0


def test_the_socket_is_the_users_alone_and_goes_with_the_session(asking: tuple[Place, Driven, dict[str, Any]]) -> None:
    place, run, _ = asking
    door = Path(lease(place)["socket"])
    assert door.is_relative_to(place.clew_home / "run")
    assert (door.stat().st_mode & 0o777, door.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    place.run("answer", SESSION, "deny")
    run.result()
    run.end()
    assert not door.exists()


def test_where_there_is_a_runtime_directory_the_socket_lies_there(tmp_path: Path) -> None:
    runtime = tmp_path / "rt"
    runtime.mkdir(mode=0o700)
    with ModelServer([write_call(str(tmp_path / "o.txt")), {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        with Driven(place, *STDIO, env={"XDG_RUNTIME_DIR": str(runtime)}) as run:
            run.say("go")
            run.until(is_asked("can_use_tool"))
            until(lambda: lease(place).get("socket"), run.process)
            assert Path(lease(place)["socket"]).parent == runtime / "clew"
            assert place.run("answer", SESSION, "allow").code == 0
            run.result()


def test_a_path_that_is_too_long_leaves_the_session_working_and_says_why(tmp_path: Path) -> None:
    with ModelServer([write_call(str(tmp_path / "o.txt")), {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        long = place.home / ("x" * 100)
        with Driven(place, *STDIO, env={"CLEW_HOME": str(long)}) as run:
            run.say("go")
            run.until(is_asked("can_use_tool"))
            place.env["CLEW_HOME"] = str(long)
            place.clew_home = long
            until(lambda: lease(place).get("no_socket"), run.process)
            refused = place.run("answer", SESSION)
            assert refused.code == 1
            assert "longer than" in refused.err
            run.ask("stop", "interrupt")
            run.result()
            assert run.end() in (0, 1)


def test_one_who_attaches_answers_on_the_screen_and_leaves_it_running(
    asking: tuple[Place, Driven, dict[str, Any]],
) -> None:
    place, run, _ = asking
    person = ScreenPerson(place, "attach", SESSION, trust=False)
    try:
        person.sees("Allow Write?")
        person.sees("+ a")
        person.sees("Esc denies")  # its quiet time is over
        person.type("y")
        assert not run.result()["is_error"]
        person.sees("done")
        person.type(b"\x04")
        assert person.until_ended() == 0
    finally:
        person.leave()
    assert run.process.poll() is None
    assert run.end() == 0
    resolved = [entry for entry in place.entries() if entry["type"] == "approval" and entry["decision"] != "pending"]
    assert [entry["via"][:11] for entry in resolved] == ["clew attach"]
