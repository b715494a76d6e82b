"""The sandbox breaks in the middle of a session: nothing runs unheld, it is told, and commands ask from then on."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from clew.system.sandbox.status import probe_now
from e2e.command import CLEW, Done, Place
from fakes.model_server import ModelServer

WITHOUT_NAMESPACES = f"""
import ctypes, os, struct, sys
from clew.system.sandbox import kernel, seccomp
special = seccomp.SPECIAL[kernel.MACHINE]
rules = [
    (seccomp.BPF_LOAD, 0, 0, seccomp.NR),
    (seccomp.BPF_JEQ, 1, 0, special["unshare"]), (seccomp.BPF_JEQ, 0, 3, special["clone"]),
    (seccomp.BPF_LOAD, 0, 0, seccomp.ARGUMENT0), (seccomp.BPF_JSET, 0, 1, kernel.CLONE_NEWUSER),
    (seccomp.BPF_RETURN, 0, 0, seccomp.ERRNO | 28), (seccomp.BPF_RETURN, 0, 0, seccomp.ALLOW),
]
memory, wrapped = seccomp.as_program(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
kernel.prctl(kernel.PR_SET_SECCOMP, seccomp.SECCOMP_MODE_FILTER, ctypes.byref(wrapped))
os.execv({CLEW!r}, [{CLEW!r}, *sys.argv[1:]])
"""
"""The machine as it is when an administrator has just switched user namespaces off: unshare says ENOSPC."""


@pytest.fixture(autouse=True)
def needs_namespaces() -> None:
    if not probe_now().namespaces:
        pytest.skip("no namespaces here that could go away")


def calls(*commands: str) -> list[Any]:
    each = [{"calls": [{"call": "Bash", "arguments": {"command": command}}]} for command in commands]
    return [*each, {"text": "ok"}]


def wrapper(tmp_path: Path) -> str:
    path = tmp_path / "clew-without-namespaces"
    script = path.with_suffix(".py")
    script.write_text(WITHOUT_NAMESPACES)
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n')
    path.chmod(0o755)
    return str(path)


def remembered(place: Place, **changes: object) -> None:
    """The self-test of this boot, as the first session left it."""
    file = place.clew_home / "cache" / "sandbox.json"
    saved = json.loads(file.read_bytes())
    assert saved["status"]["kind"], "the first session tested the machine"
    saved["status"] |= changes
    file.write_text(json.dumps(saved))


def broken_session(place: Place, server: ModelServer, command: str) -> tuple[Done, list[str]]:
    done = place.run_anew("-p", "go", "--trust", "--output-format", "json", command=command)
    return done, [json.dumps(request.body["messages"][-1]) for request in server.requests[-2:]]


@pytest.mark.parametrize("fault", ["namespaces switched off", "bubblewrap removed"])
def test_nothing_runs_unheld(tmp_path: Path, fault: str) -> None:
    with ModelServer([*calls("true"), *calls("touch first", "touch second")]) as server:
        place = Place(tmp_path, server.url)
        place.run("-p", "go", "--trust")
        if fault == "bubblewrap removed":
            remembered(place, kind="bwrap", namespaces=False, guards=False, bwrap="/usr/bin/bwrap-that-was-removed")
        done, (first, second) = broken_session(
            place, server, CLEW if fault == "bubblewrap removed" else wrapper(tmp_path)
        )
    assert "The sandbox could not be set up, so nothing was run" in first
    assert not (place.project / "first").exists()
    assert not (place.project / "second").exists()
    (denial,) = done.result["permission_denials"]
    assert "touch second" in json.dumps(denial)
    assert "could not be set up" not in second, "the second one was not even tried"
    kept = place.transcripts()[-1].read_text() + place.transcripts()[0].read_text()
    assert "the sandbox stopped working" in kept, "the person is told too"


def test_without_namespaces_from_the_start_landlock_alone_holds(tmp_path: Path) -> None:
    with ModelServer(calls("echo x > there/new; echo x > top.txt; cat .env; echo done")) as server:
        place = Place(tmp_path, server.url)
        (place.project / "there").mkdir()
        (place.project / ".env").write_text("TOKEN=CANARY-77")
        done = place.run_anew("-p", "go", "--trust", "--output-format", "json", command=wrapper(tmp_path))
        told = json.dumps(server.requests[1].body["messages"][-1])
    assert done.result["permission_denials"] == []
    assert (place.project / "there" / "new").exists()
    assert not (place.project / "top.txt").exists()
    assert "CANARY" not in told
    assert "done" in told
