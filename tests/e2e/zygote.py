"""A process that has loaded clew and forks for every run: the command in a process of its own, with its own streams,
environment and directory, without the start of an interpreter, which proves the same thing every time.

As a program it serves runs; as a module it is the way to it. What is about the start itself (the installed script, the
interpreter's own settings, signals while modules are loaded) starts the command (`e2e/command.py`). It is told
everything by file descriptors, and has one thread: it may fork safely.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import Any

ROOMS = ("protocol", "system", "config", "permissions", "llm", "transcript", "tools", "engine", "host", "streaming",
         "headless", "cli")  # fmt: skip
"""What every run loads most of. The rest is loaded by the runs that need it, as ever."""


def load() -> None:
    """Every module of these rooms; their objects are never collected, so that forks share them."""
    import clew

    (source,) = clew.__path__
    for room in ROOMS:
        for path in sorted(Path(source, room).glob("*.py")):
            importlib.import_module(f"clew.{room}" if path.stem == "__init__" else f"clew.{room}.{path.stem}")
    gc.collect()
    gc.freeze()


def serve() -> None:
    """Fork for each request on stdin, until nobody asks any more. Only a fork that is a run returns."""
    door = socket.socket(fileno=os.dup(0))
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        asked, descriptors, _, _ = socket.recv_fds(door, 1, 5)
        if not asked:
            os._exit(0)
        if os.fork() == 0:
            door.close()
            become_run(descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)


def become_run(descriptors: list[int]) -> None:
    """Fork once more: this process tells who the run is and how it ended; its child returns and is the run."""
    *streams, told, asked = descriptors
    run = os.fork()
    if run:
        for descriptor in (*streams, asked, 0, 1, 2):
            os.close(descriptor)
        os.write(told, f"{run} ".encode())
        _, status = os.waitpid(run, 0)
        os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    os.close(told)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    with os.fdopen(asked, "rb") as file:
        request: dict[str, Any] = json.load(file)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.argv = request["argv"]


class Zygote:
    """The way to such a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        command = [sys.executable, "-P", str(Path(__file__).resolve())]
        self._process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, env=env, cwd="/")
        theirs.close()
        atexit.register(self.end)

    def end(self) -> None:
        """It ends when nobody can ask any more."""
        self._ours.close()
        self._process.wait()

    def run(
        self, argv: list[str], *, env: dict[str, str], cwd: str, stdin: bytes | None, within_s: float
    ) -> tuple[int, bytes, bytes]:
        """Exit code, stdout and stderr of a run. Raises TimeoutExpired."""
        given, given_end = os.pipe() if stdin is not None else (os.open(os.devnull, os.O_RDONLY), -1)
        pipes = [os.pipe() for _ in range(3)]
        with tempfile.TemporaryFile() as asked, self._lock:
            asked.write(json.dumps({"argv": argv, "env": env, "cwd": cwd}).encode())
            asked.seek(0)
            socket.send_fds(self._ours, [b"r"], [given, *(theirs for _, theirs in pipes), asked.fileno()])
        for descriptor in (given, *(theirs for _, theirs in pipes)):
            os.close(descriptor)
        texts = [bytearray() for _ in pipes]
        tasks = [
            threading.Thread(target=drain, args=(ours, text)) for (ours, _), text in zip(pipes, texts, strict=True)
        ]
        if stdin is not None:
            tasks.append(threading.Thread(target=feed, args=(given_end, stdin)))
        for task in tasks:
            task.daemon = True
            task.start()
        tasks[2].join(within_s)
        out, err, told = texts
        if tasks[2].is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(told.split()[0]), signal.SIGKILL)
            raise subprocess.TimeoutExpired(argv, within_s, bytes(out), bytes(err))
        for task in tasks[:2]:
            task.join(within_s)
        return int(told.split()[1]), bytes(out), bytes(err)


def drain(descriptor: int, text: bytearray) -> None:
    """Read to the end."""
    while data := os.read(descriptor, 1 << 16):
        text += data
    os.close(descriptor)


def feed(descriptor: int, data: bytes) -> None:
    """Write it all, as far as it is taken."""
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as file:
        file.write(data)


@cache
def zygote() -> Zygote:
    """One for each process that runs tests."""
    return Zygote()


if __name__ == "__main__":
    load()
    serve()
    from clew.cli.entry import main

    sys.exit(main())
