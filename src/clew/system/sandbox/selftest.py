"""Does the kernel really enforce it here? Each kind of sandbox holds a script that tries to break what it promises.

Run as a process of its own (`python -I -S`), standard library only: prints JSON. Nothing but a private temporary
directory is touched, and listeners of its own.
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
from clew.system.sandbox.plan import Guarded, SandboxPlan
from clew.system.sandbox.promises import promises
from clew.system.sandbox.watch import Watch

# Only builtins of the shell: the self-test must not depend on what is installed. Each attempt in its own subshell.
SCRIPT = """
echo in > "$WS/src/inside" || exit 9
( echo out > "$TOP/outside/file" )
( echo out > "$TOP/outside/old" )
( echo x > "$WS/.git/config" )
( echo x > "$WS/.git/info/attributes" )
( echo x > "$WS/.git/commondir" ) || echo REFUSED-IN-GIT
[ -e "$WS/.git/commondir" ] && echo SAW-PROTECTED
( echo x > "$WS/.clew/settings.json" )
( echo x > "$WS/.mcp.json" ) || echo REFUSED-AT-TOP
[ -e "$WS/.mcp.json" ] && echo SAW-PROTECTED
( echo x > "$WS/new.txt" )
( while read -r line; do echo "$line"; done < "$TOP/hidden/secret" )
( while read -r line; do echo "$line"; done < "$WS/.env" )
( while read -r line; do echo "$line"; done < "$WS/src/.env" )
( exec 3<>"/dev/tcp/127.0.0.1/$PORT" )
( exec 3<>"/dev/udp/127.0.0.1/9" && echo LOOPBACK-UP )
( echo UDP > "/dev/udp/127.0.0.1/$UDP_PORT" )
for file in /dev/*; do [ -b "$file" ] && read -r -n 1 < "$file" && echo READ-BLOCK-DEVICE; done
for file in /dev/*; do [ -b "$file" ] && echo SAW-BLOCK-DEVICE; done
[ -e "/proc/$OUTSIDE_PID/status" ] && echo SAW-PROCESS
while read -r name value; do
    case "$name" in CapEff:|NoNewPrivs:) echo "PRIVILEGE $name $value";; esac
done < /proc/self/status
exit 7
"""
# The shell has no local sockets.
LOCAL_SOCKET = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"


def attempt(kind: str, *, namespaces: bool, guards: bool, bwrap: str, bash: str) -> dict[str, bool]:
    """Try everything in one kind of sandbox; what held, for each of its promises."""
    top = os.path.realpath(tempfile.mkdtemp(prefix="clew-selftest-"))
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    local = socket.socket(socket.AF_UNIX)
    try:
        furnish(top)
        udp.bind(("127.0.0.1", 0))
        local.bind(f"{top}/sockets/s")
        local.listen()
        for listener in (tcp, udp, local):
            listener.setblocking(False)
        env = {"TOP": top, "WS": f"{top}/ws", "PATH": "/usr/bin:/bin", "OUTSIDE_PID": str(os.getpid())}
        env |= {"PORT": str(tcp.getsockname()[1]), "UDP_PORT": str(udp.getsockname()[1])}
        plan = plan_for(top, kind, namespaces=namespaces, guards=guards, bwrap=bwrap)
        code, output = run([bash, "--noprofile", "--norc", "-c", SCRIPT], env, f"{top}/ws", plan)
        run([sys.executable, "-I", "-S", "-c", LOCAL_SOCKET, f"{top}/sockets/s"], env, f"{top}/ws", plan)
        held = findings(top, code, output) | {
            "no_tcp": not came(tcp),
            "no_udp": not came(udp),
            "no_local_sockets": not came(local),
        }
        return {name: held[name] for name in promises(kind, namespaces=namespaces, guards=guards)}
    finally:
        for listener in (tcp, udp, local):
            listener.close()
        os.chmod(f"{top}/masks/directory", 0o700)
        shutil.rmtree(top, ignore_errors=True)


def furnish(top: str) -> None:
    """A small workspace, and things around it to break."""
    for name in (
        "ws/.git/info",
        "ws/.clew",
        "ws/src",
        "outside",
        "hidden",
        "tmp",
        "sockets",
        "masks/directory",
        "aside",
    ):
        os.makedirs(os.path.join(top, name))
    for name, text in {
        "outside/old": "old",
        "ws/.git/config": "[core]",
        "ws/.clew/settings.json": "{}",
        "ws/.env": "CANARY-TOP\n",
        "ws/src/.env": "CANARY-DEEP\n",
        "hidden/secret": "CANARY-HIDDEN\n",
        "ws/src/inside": "",
        "masks/file": "",
    }.items():
        write(f"{top}/{name}", text)
    os.chmod(f"{top}/masks/file", 0)
    os.chmod(f"{top}/masks/directory", 0)


def findings(top: str, code: int, output: str) -> dict[str, bool]:
    """What the outside looks like afterwards, and what the script could tell."""
    ws = f"{top}/ws"
    return {
        "starts": code == 7,
        "writes_inside": read(f"{ws}/src/inside") == "in\n",
        "no_new_file_outside": not os.path.exists(f"{top}/outside/file"),
        "no_change_outside": read(f"{top}/outside/old") == "old",
        "protected_names": read(f"{ws}/.clew/settings.json") == "{}",
        "git_redirectors": read(f"{ws}/.git/config") == "[core]" and os.listdir(f"{ws}/.git/info") == []
        and not os.path.exists(f"{ws}/.git/commondir"),
        "credentials_hidden": "CANARY-HIDDEN" not in output,
        "secrets_withheld": "CANARY-TOP" not in output and "CANARY-DEEP" not in output,
        "no_block_devices": "READ-BLOCK-DEVICE" not in output,
        "no_privileges": "PRIVILEGE CapEff: 0000000000000000" in output and "PRIVILEGE NoNewPrivs: 1" in output,
        "new_names": read(f"{ws}/new.txt") == "x\n",
        "protected_names_refused": "REFUSED-AT-TOP" in output and "REFUSED-IN-GIT" in output
        and "SAW-PROTECTED" not in output,
        "protected_names_taken_away": not os.path.exists(f"{ws}/.mcp.json")
        and not os.path.exists(f"{ws}/.git/commondir"),
        "no_new_names": not os.path.exists(f"{ws}/new.txt") and not os.path.exists(f"{ws}/.mcp.json"),
        "loopback": "LOOPBACK-UP" in output,
        "own_devices": "SAW-BLOCK-DEVICE" not in output,
        "own_processes": "SAW-PROCESS" not in output,
    }  # fmt: skip


def plan_for(top: str, kind: str, *, namespaces: bool, guards: bool, bwrap: str) -> SandboxPlan:
    """The plan of that workspace, as `policy.py` would make it."""
    ws = f"{top}/ws"
    alone = kind == "landlock" and not namespaces
    places = [] if alone else [guarded(ws, ""), guarded(f"{ws}/.git", ".git")]
    return {
        "kind": kind,
        "namespaces": namespaces,
        "writable": [f"{ws}/src"] if alone else [ws],
        "pinned": [] if alone else [f"{ws}/.git"],
        "protected": [f"{ws}/.git/config", f"{ws}/.git/info", f"{ws}/.clew"],
        "guarded": places if guards else [],
        "watched": [] if guards else places,
        "max_memory": 0,
        "max_processes": 0,
        "nested": True,
        "git_configs": [],
        "aside": f"{top}/aside",
        "hidden": [f"{top}/hidden", f"{ws}/.env", f"{ws}/src/.env", f"{top}/sockets"],
        "withheld": [],
        "shown": {},
        "mask_file": f"{top}/masks/file",
        "mask_dir": f"{top}/masks/directory",
        "tmp": f"{top}/tmp",
        "kept": [],
        "network": False,
        "bwrap": bwrap,
    }


def guarded(path: str, prefix: str) -> Guarded:
    """A directory in which protected names must not come into being."""
    return {"path": path, "prefix": prefix, "known": os.listdir(path), "names": [], "repository": True}


def run(argv: list[str], env: dict[str, str], cwd: str, plan: SandboxPlan) -> tuple[int, str]:
    """Exit code and output of a confined command."""
    watch = Watch(plan["watched"], plan["aside"])
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
    watch.sweep()
    watch.close()
    return os.waitstatus_to_exitcode(status), output


def came(listener: socket.socket) -> bool:
    """Whether anyone or anything came."""
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(100)
        else:
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
    kinds = [("landlock", True, True), ("landlock", True, False), ("landlock", False, False)]
    kinds = kinds if landlock.abi() else []
    if bwrap:
        kinds.insert(1, ("bwrap", False, False))
    for kind, namespaces, guards in kinds:
        checks = attempt(kind, namespaces=namespaces, guards=guards, bwrap=bwrap, bash=bash)
        tried.append({"kind": kind, "namespaces": namespaces, "guards": guards, "checks": checks})
        if all(checks.values()):
            break
    sys.stdout.write(json.dumps({"abi": landlock.abi(), "tried": tried}))


if __name__ == "__main__":
    main()
