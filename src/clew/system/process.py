"""The agent's side of the process starter: start a command, take its output as it comes, end it and all it started."""

import asyncio
import contextlib
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from clew.system.process_pipes import PIPE_BYTES, Inlet, Outlet
from clew.system.sandbox.plan import SandboxPlan, has_mounts

LENGTH = struct.Struct("!Q")
F_SETPIPE_SZ = 1031
DRAIN_S = 0.5
END_LIMIT_S = 10.0
SOURCE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from clew.system.process_starter import main; main()"


class ProcessError(Exception):
    """The command could not be started; nothing ran."""

    def __init__(self, reason: str, *, unconfined: bool = False) -> None:
        super().__init__(reason)
        self.unconfined = unconfined
        """It could not be confined as planned; anything else may have gone well the next time."""


class ProcessEnd(NamedTuple):
    """How a command ended."""

    code: int
    """128 + n after signal n."""
    cwd: str
    """The directory it ended in; empty when unknown."""
    taken: tuple[tuple[str, str], ...] = ()
    """Protected names it made, and where each is kept now; empty when it could not be kept."""
    refused: tuple[str, ...] = ()
    """Protected names it tried to make."""
    judged: tuple[tuple[str, str, str], ...] = ()
    """What git would have obeyed of what it left: path, where it is kept now, and why it was taken away."""
    unclear: tuple[tuple[str, str], ...] = ()
    """What of it could not be judged, and why."""


class ProcessSpec(NamedTuple):
    """What to run."""

    argv: list[str]
    cwd: str
    env: Mapping[str, str]
    plan: SandboxPlan | None = None
    grace_s: float = 1.0
    """Between SIGTERM and SIGKILL."""
    stdin: bytes | None = None
    """What it reads; None: nothing. It lies in a file of memory, so that nobody has to hand it over."""
    on_errors: Callable[[bytes], None] | None = None
    """Takes what it writes to stderr; None: that is output like any other."""
    piped: bool = False
    """It reads what is written to `Running.input`, in place of `stdin`."""


class RunningCommand:
    """One command on its way. Output goes to the callback in the event loop's thread, piece by piece."""

    def __init__(
        self, control: socket.socket, outlets: list[tuple[int, Callable[[bytes], None]]], write_end: int = -1
    ) -> None:
        self._control = control
        self._outlets = [Outlet(descriptor, take) for descriptor, take in outlets]
        self.input = Inlet(write_end)
        """What a command reads that was started with `piped`."""
        self._loop = asyncio.get_running_loop()
        self._messages = b""
        self.started: asyncio.Future[int] = self._loop.create_future()
        self.ended: asyncio.Future[ProcessEnd] = self._loop.create_future()
        self._ending = False
        self._loop.add_reader(control, self._on_control)

    async def wait(self) -> ProcessEnd:
        """Until it ended and its output is complete. Cancelled: everything it started is gone before this returns."""
        try:
            ended = await asyncio.shield(self.ended)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_S):
                    for outlet in self._outlets:
                        await asyncio.shield(outlet.drained)
            return ended
        except asyncio.CancelledError:
            await self.end()
            raise
        finally:
            if self.ended.done():
                self.close()

    async def end(self) -> None:
        """SIGTERM, then SIGKILL, for the command and all its descendants; returns when they are gone.

        A process that hangs in the kernel cannot be ended by anyone: after a while the keeper is left alone with it.
        """
        if not self._ending and not self.ended.done():
            self._ending = True
            with contextlib.suppress(OSError):
                self._control.send(b"x")
        deadline = self._loop.time() + END_LIMIT_S
        cancelled: asyncio.CancelledError | None = None
        while not self.ended.done() and (left := deadline - self._loop.time()) > 0:
            try:
                await asyncio.wait({self.ended}, timeout=left)
            except asyncio.CancelledError as error:
                cancelled = error
        self.close()
        if cancelled is not None:
            raise cancelled

    def hold(self) -> None:
        """Take no more of its output until `release`; its errors still come."""
        self._outlets[0].hold()

    def release(self) -> None:
        """Take its output again."""
        self._outlets[0].release()

    def close(self) -> None:
        """Let go of the descriptors; the process starter ends what still runs."""
        self.input.close()
        for outlet in self._outlets:
            outlet.close()
        if self._control.fileno() >= 0:
            self._loop.remove_reader(self._control)
            self._control.close()
        self._settle(ProcessEnd(137, ""))

    def _on_control(self) -> None:
        try:
            data = self._control.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._control)
            self._settle(ProcessEnd(137, ""))
            return
        *lines, self._messages = (self._messages + data).split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        if "error" in message:
            problem = ProcessError(str(message["error"]), unconfined=bool(message.get("unconfined")))
            self._settle(ProcessEnd(126, ""), problem=problem)
        elif "pid" in message and not self.started.done():
            self.started.set_result(message["pid"])
        elif "code" in message:
            taken = tuple((path, kept) for path, kept in message["taken"])
            refused = tuple(dict.fromkeys(message["refused"]))
            judged = tuple((path, kept, why) for path, kept, why in message["judged"])
            unclear = tuple((path, why) for path, _, why in message["unclear"])
            self._settle(ProcessEnd(message["code"], message["cwd"], taken, refused, judged, unclear))

    def _settle(self, ended: ProcessEnd, *, problem: ProcessError | None = None) -> None:
        """Only what the keeper reports counts as "not started": one that was killed may have started the command."""
        if not self.started.done():
            if problem is not None:
                self.started.set_exception(problem)
                self.started.exception()
            else:
                self.started.set_result(0)
        if not self.ended.done():
            self.ended.set_result(ended)


def input_file(data: bytes) -> int:
    """A descriptor that reads these bytes from the beginning and has no name."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("stdin")
    else:
        name = os.path.join(os.environ.get("TMPDIR", "/tmp"), f".clew-{os.urandom(12).hex()}")
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.unlink(name)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class ProcessStarter:
    """Starts the process starter when it is first needed, and again should it be gone."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._door: socket.socket | None = None

    def warm(self) -> None:
        """Start the process starter, so that the first command need not wait for it."""
        if self._process is not None and self._process.poll() is None:
            return
        if self._door is not None:
            self._door.close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", BOOT, SOURCE_ROOT],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                start_new_session=True,
            )
        self._door = ours

    async def start(self, command: ProcessSpec, on_output: Callable[[bytes], None]) -> RunningCommand:
        """Start a command; `ProcessError` when it cannot be started as asked."""
        try:
            plan = command.plan
            own_network = plan is not None and has_mounts(plan) and not plan["network"]
            ours, read_ends, write_end = self._knock(b"n" if own_network else b"r", command)
        except OSError as error:
            raise ProcessError(f"the process starter does not answer: {error}") from error
        takers = (on_output, command.on_errors or on_output)
        running = RunningCommand(ours, list(zip(read_ends, takers, strict=False)), write_end)
        request = {
            "argv": command.argv,
            "cwd": command.cwd,
            "env": dict(command.env),
            "plan": command.plan,
            "grace_s": command.grace_s,
            "errors": command.on_errors is not None,
        }
        body = json.dumps(request).encode()
        try:
            await asyncio.get_running_loop().sock_sendall(ours, LENGTH.pack(len(body)) + body)
            await asyncio.shield(running.started)
        except asyncio.CancelledError:
            await running.end()
            raise
        except OSError as error:  # its keeper has gone; it may have said why
            await running.end()
            running.started.result()
            raise ProcessError(str(error)) from error
        except ProcessError:
            running.close()
            raise
        return running

    def _knock(self, kind: bytes, command: ProcessSpec) -> tuple[socket.socket, list[int], int]:
        """Ask for a keeper: our ends of its control socket, of the pipes its command writes to, and of the one it
        reads, if any."""
        self.warm()
        assert self._door is not None
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as theirs:
            ours, socket_of_keeper = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            undo.callback(ours.close)
            theirs.callback(socket_of_keeper.close)
            handed = [socket_of_keeper.fileno()]
            read_ends: list[int] = []
            for _ in range(1 if command.on_errors is None else 2):
                read_end, write_end = os.pipe()
                undo.callback(os.close, read_end)
                theirs.callback(os.close, write_end)
                with contextlib.suppress(OSError):
                    fcntl.fcntl(read_end, F_SETPIPE_SZ, PIPE_BYTES)
                os.set_blocking(read_end, False)
                read_ends.append(read_end)
                handed.append(write_end)
            input_end = -1
            if command.piped:
                theirs_end, input_end = os.pipe()
                undo.callback(os.close, input_end)
                theirs.callback(os.close, theirs_end)
                os.set_blocking(input_end, False)
                handed.append(theirs_end)
            elif command.stdin is not None:
                handed.append(input_file(command.stdin))
                theirs.callback(os.close, handed[-1])
            socket.send_fds(self._door, [kind], handed)
            ours.setblocking(False)
            undo.pop_all()
        return ours, read_ends, input_end

    def close(self) -> None:
        """End everything; the process starter sees the closed door."""
        if self._door is not None:
            self._door.close()
            self._door = None
        if self._process is not None:
            process, self._process = self._process, None
            try:
                process.wait(timeout=6)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
