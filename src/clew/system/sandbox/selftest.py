"""Does the kernel really enforce it here? Each kind of sandbox holds a script that tries to break out.

Run as a process of its own (`python -I -S`), standard library only: prints JSON. Nothing but a private temporary
directory is touched, and a loopback listener of its own.
"""

import json
import os
import shutil
import socket
import sys
import tempfile
from typing import Any

from clew.system.sandbox import landlock
from clew.system.sandbox.confine import confine_and_run
from clew.system.sandbox.plan import Plan

SCRIPT = """
echo in > "$WS/inside" || exit 9
echo out > "$TOP/outside/file"
echo out > "$TOP/outside/old"
echo x > "$WS/.git/config"
mv "$WS/.git" "$WS/moved"
cat "$TOP/hidden/secret"
( exec 3<>"/dev/tcp/127.0.0.1/$PORT" )
( exec 3<>"/dev/udp/127.0.0.1/$PORT" && echo UDP-OPEN )
exit 7
"""


def attempt(kind: str, *, namespaces: bool, bwrap: str, bash: str) -> dict[str, bool]:
    """Run the script in one kind of sandbox; what held."""
    top = os.path.realpath(tempfile.mkdtemp(prefix="clew-selftest-"))
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    try:
        for name in ("ws/.git", "ws/src", "outside", "hidden", "tmp"):
            os.makedirs(os.path.join(top, name))
        write(f"{top}/outside/old", "old")
        write(f"{top}/ws/.git/config", "[core]")
        write(f"{top}/hidden/secret", "CANARY")
        write(f"{top}/ws/inside", "")
        env = {"TOP": top, "WS": f"{top}/ws", "PORT": str(listener.getsockname()[1]), "PATH": "/usr/bin:/bin"}
        code, output = run(
            [bash, "--noprofile", "--norc", "-c", SCRIPT],
            env,
            f"{top}/ws",
            plan_for(top, kind, namespaces=namespaces, bwrap=bwrap),
        )
        return {
            "starts": code == 7,
            "writes_inside": read(f"{top}/ws/inside") == "in\n",
            "no_new_file_outside": not os.path.exists(f"{top}/outside/file"),
            "no_change_outside": read(f"{top}/outside/old") == "old",
            "protected_names": read(f"{top}/ws/.git/config") == "[core]",
            "credentials_hidden": "CANARY" not in output,
            "no_tcp": not connected(listener),
            "no_udp": "UDP-OPEN" not in output,
        }
    finally:
        listener.close()
        shutil.rmtree(top, ignore_errors=True)


def plan_for(top: str, kind: str, *, namespaces: bool, bwrap: str) -> Plan:
    """The plan of a small workspace; Landlock alone gets no right on `.git` and on new names."""
    alone = kind == "landlock" and not namespaces
    return {
        "kind": kind,
        "namespaces": namespaces,
        "writable": [f"{top}/ws/src", f"{top}/ws/inside"] if alone else [f"{top}/ws"],
        "pinned": [f"{top}/ws/.git"],
        "protected": [f"{top}/ws/.git/config"],
        "missing": [],
        "files": [],
        "hidden": [f"{top}/hidden"],
        "tmp": f"{top}/tmp",
        "network": False,
        "bwrap": bwrap,
    }


def run(argv: list[str], env: dict[str, str], cwd: str, plan: Plan) -> tuple[int, str]:
    """Exit code and output of a confined command."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            os.closerange(3, 4096)
            confine_and_run(argv, env, cwd, plan)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(126)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        output = pipe.read(100_000).decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), output


def connected(listener: socket.socket) -> bool:
    """Whether anyone came."""
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def write(path: str, text: str) -> None:
    """A small file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path: str) -> str:
    """Its text; empty when it is gone."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def main() -> None:
    """`selftest BWRAP BASH`: the kinds in order of preference, up to the first that holds."""
    bwrap, bash = sys.argv[-2:]
    tried: list[dict[str, Any]] = []
    kinds = [("bwrap", False)] if bwrap else []
    if landlock.abi():
        kinds += [("landlock", True), ("landlock", False)]
    for kind, namespaces in kinds:
        checks = attempt(kind, namespaces=namespaces, bwrap=bwrap, bash=bash)
        tried.append({"kind": kind, "namespaces": namespaces, "checks": checks})
        if all(checks.values()):
            break
    sys.stdout.write(json.dumps({"abi": landlock.abi(), "tried": tried}))


if __name__ == "__main__":
    main()
