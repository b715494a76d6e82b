"""The process starter: a small process that starts commands, knows all their descendants, and outlives no agent.

One process per command (its keeper) is the subreaper of everything the command starts, so that nothing escapes by
making its own session. When the agent's end of a socket closes, for whatever reason, the keeper ends what runs.
Standard library only, one thread: it may fork safely, unlike the agent.
"""

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from typing import Any

from clew.system.descendants import Ender, children
from clew.system.sandbox import kernel
from clew.system.sandbox.confine import confine_and_run
from clew.system.sandbox.git_aftermath import GitAftermath
from clew.system.sandbox.plan import SandboxPlan, has_mounts
from clew.system.sandbox.session_network import SessionNetwork
from clew.system.sandbox.watch import MAX_TAKEN, Taken, Watch

CWD_FD = 251
SCRIPT_FD = 250
"""Where the shell finds `shell_exit.sh`: not by its path, which the sandbox hides when clew itself lies in /tmp."""
REFUSED_FD = 253
"""Where process 1 of a sandbox tells which names it refused."""
LENGTH = struct.Struct("!Q")
ORPHAN_GRACE_S = 0.3
MAX_HANDED = 4
"""Of a command: its control socket, its output, its errors, its input. The last two need not be there."""
OWN_NETWORK = b"n"
"""What the agent knocks with when its command is to have the session's own network."""


def main() -> None:
    """Serve requests on descriptor 0 until the agent is gone."""
    gc.disable()  # a collection in a forked child would copy pages for nothing
    door = socket.socket(fileno=0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    become_subreaper()
    life = os.pipe()
    keepers: set[int] = set()
    network = SessionNetwork()
    while True:
        ready, _, _ = select.select([door], [], [], 1.0 if collect(keepers) else None)
        if not ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(door, 1, MAX_HANDED)
        if not message:
            break
        try:
            if message == OWN_NETWORK:
                network.prepare()
            keepers.add(start_keeper(door, descriptors, life, network))
        except OSError as error:  # no room for another process now; the next command may find some
            refuse(descriptors, error)
    door.close()
    os.close(life[1])
    deadline = time.monotonic() + 5
    while keepers and time.monotonic() < deadline:
        time.sleep(0.02)
        collect(keepers)
    Ender().end_all(grace_s=0)


def collect(keepers: set[int]) -> bool:
    """Bury keepers that ended; what a killed keeper left behind is ours now, and ends. False: nobody is left."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            keepers.clear()
            return False
        if pid == 0:
            break
        keepers.discard(pid)
    for pid in children(os.getpid()):
        if pid not in keepers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return True


def become_subreaper() -> None:
    """Orphans of our descendants become our children."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def start_keeper(door: socket.socket, descriptors: list[int], life: tuple[int, int], network: SessionNetwork) -> int:
    """One command; its keeper is a child of ours."""
    pid = os.fork()
    if pid:
        for descriptor in descriptors:
            os.close(descriptor)
        return pid
    code = 1
    try:
        door.close()
        os.close(life[1])
        control, *streams = descriptors
        Keeper(socket.socket(fileno=control), streams, life[0], network).run()
        code = 0
    finally:
        os._exit(code)


def refuse(descriptors: list[int], error: OSError) -> None:
    """Tell the agent why its command was not started."""
    control, *streams = descriptors
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(OSError), socket.socket(fileno=control) as door:
        door.sendall(json.dumps({"error": str(error)}).encode() + b"\n")


class Keeper:
    """Starts one command, waits for it, ends what it leaves behind."""

    def __init__(self, control: socket.socket, streams: list[int], life: int, network: SessionNetwork) -> None:
        self.control = control
        self.streams = streams
        self.life = life
        """Readable when the process starter is about to end."""
        self.network = network
        self.grace_s = 2.0

    def run(self) -> None:
        become_subreaper()
        request = self.receive()
        if request is None:
            return
        self.grace_s = float(request["grace_s"])
        plan = request["plan"]
        try:
            watch = Watch(plan["watched"], plan["aside"]) if plan and plan["watched"] else None
            aftermath = GitAftermath(plan) if plan else None
        except OSError as error:
            self.send({"error": f"the workspace cannot be watched: {error}", "unconfined": True})
            return
        self.send(self.attend(request, watch, aftermath, skip=2 if plan and has_mounts(plan) else 0))
        self.control.close()

    def attend(
        self, request: dict[str, Any], watch: Watch | None, aftermath: GitAftermath | None, *, skip: int
    ) -> dict[str, Any]:
        """From start to end of the command; what to tell the agent."""
        told, tell = os.pipe()
        refusals, refused = os.pipe2(os.O_NONBLOCK)
        failed, fail = os.pipe()
        try:
            child = os.fork()
        except OSError as error:
            return {"error": str(error)}
        if child == 0:
            become_command(request, self.streams, (tell, fail, refused), self.network)
        os.close(tell)
        os.close(refused)
        os.close(fail)
        for stream in self.streams:
            os.close(stream)
        with os.fdopen(failed, "rb") as pipe:
            problem = pipe.read().decode(errors="replace")
        if problem:
            os.waitpid(child, 0)
            return {"error": problem, "unconfined": bool(request["plan"])}
        self.send({"pid": child})
        ender = Ender(child)
        told_names = ToldNames(refusals)
        self.wait(ender, watch, told_names, skip=skip)
        ender.end_all(grace_s=ORPHAN_GRACE_S)
        told_names.take()
        if watch is not None:
            watch.sweep()
        judged = aftermath.judge(told_names.marked()) if aftermath is not None else []
        code = os.waitstatus_to_exitcode(ender.status if ender.status is not None else signal.SIGKILL)
        taken = watch.taken[:MAX_TAKEN] if watch is not None else []
        return {
            "code": code if code >= 0 else 128 - code,
            "cwd": (lines_in(told) or [""])[-1],
            "taken": taken,
            "refused": told_names.refused(),
            "judged": judged,
            "unclear": aftermath.unclear if aftermath is not None else [],
        }

    def wait(self, ender: Ender, watch: Watch | None, told: "ToldNames", *, skip: int) -> None:
        """Until the command ends, or until the agent asks or closes its end: then everything is ended."""
        ending = pidfd(ender.main)
        sources: list[Any] = [self.control, told, *(source for source in (ending, watch) if source is not None)]
        while True:
            ready, _, _ = select.select(sources, [], [], None if ending is not None else 0.02)
            if told in ready and not told.take():
                sources.remove(told)
            if watch in ready and watch is not None:
                try:
                    watch.look()
                except Taken:
                    ender.end_all(grace_s=0)
                    return
            ender.reap()
            if ender.status is not None:
                return
            if self.control in ready:
                ender.end_all(grace_s=self.grace_s, skip=skip)
                return

    def receive(self) -> dict[str, Any] | None:
        """The request: its length, then JSON."""
        head = self.exactly(LENGTH.size)
        body = self.exactly(LENGTH.unpack(head)[0]) if head else b""
        return json.loads(body) if body else None

    def exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self.control.recv(min(size - len(data), 1 << 20))
            if not piece:
                return b""
            data += piece
        return bytes(data)

    def send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self.control.sendall(json.dumps(message).encode() + b"\n")


class ToldNames:
    """What process 1 of a sandbox tells through its pipe: names it refused, directories that may be repositories."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._data = bytearray()

    def fileno(self) -> int:
        """Readable when something was told."""
        return self._descriptor

    def take(self) -> bool:
        """Read what is there; False when nothing more can come."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._descriptor, 65_536):
                self._data += piece
            return False
        return True

    def refused(self) -> list[str]:
        return [line for line in self._lines() if not line.startswith("+")]

    def marked(self) -> list[str]:
        return [line[1:] for line in self._lines() if line.startswith("+")]

    def _lines(self) -> list[str]:
        return self._data.decode(errors="surrogateescape").split("\n")[:-1]


def pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where the system has none or forbids it."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def become_command(
    request: dict[str, Any], streams: list[int], pipes: tuple[int, int, int], network: SessionNetwork
) -> None:
    """In the child: no terminal, default signals, nothing open but what it was given; then the command itself."""
    try:
        os.setsid()
        if sys.platform == "linux":
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        output, *others = streams
        errors = others.pop(0) if request["errors"] else output
        os.dup2(others[0] if others else os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(errors, 2)
        tell, fail, refused = pipes
        os.dup2(tell, CWD_FD)
        os.dup2(fail, CWD_FD + 1, inheritable=False)
        os.dup2(refused, REFUSED_FD, inheritable=False)
        plan = request["plan"]
        joined = bool(plan) and has_mounts(plan) and not plan["network"] and network.join()
        if "BASH_ENV" in request["env"] and hasattr(os, "memfd_create"):
            os.dup2(exit_script(), SCRIPT_FD)
            request["env"]["BASH_ENV"] = f"/dev/fd/{SCRIPT_FD}"
        os.closerange(3, SCRIPT_FD)
        os.closerange(REFUSED_FD + 1, 4096)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if plan:
            limit(plan)
            argv, env = request["argv"], request["env"]
            confine_and_run(argv, env, request["cwd"], plan, keep=REFUSED_FD, joined=joined)
        os.chdir(request["cwd"])
        os.execve(request["argv"][0], request["argv"], request["env"])
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(CWD_FD + 1, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(127)


def limit(plan: SandboxPlan) -> None:
    """The kernel's limits on the command. What the user has set already may only become smaller."""
    for name, most in (("RLIMIT_DATA", plan["max_memory"]), ("RLIMIT_NPROC", plan["max_processes"])):
        number = getattr(resource, name, None)
        if number is None or not most:
            continue
        _, hard = resource.getrlimit(number)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(number, (bound, bound))


def exit_script() -> int:
    """The script that tells the directory, in memory; each command gets its own."""
    descriptor = os.memfd_create("shell-exit")
    with open(os.path.join(os.path.dirname(__file__), "shell_exit.sh"), "rb") as file:
        os.write(descriptor, file.read())
    return descriptor


def lines_in(descriptor: int) -> list[str]:
    """What was told through a pipe, if anything was."""
    os.set_blocking(descriptor, False)
    try:
        return os.read(descriptor, 65_536).decode(errors="surrogateescape").splitlines()
    except BlockingIOError:
        return []
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
