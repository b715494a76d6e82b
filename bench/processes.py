"""Running the installed command beside its yardsticks, and reading what it cost."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CLEW = str(Path(sys.executable).parent / "clew")


class Run(NamedTuple):
    """One finished process."""

    wall_s: float
    rss_mb: float
    started: float
    """On the monotonic clock, which is the same in every process."""
    stdout: str


def run(command: list[str], env: dict[str, str] | None = None, cwd: str | None = None) -> Run:
    """Run to the end; a failure is an error of the bench."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            raise RuntimeError(f"{command[0]} ended with {process.returncode}: {err.read()[-500:]!r}")
        return Run(wall_s, usage.ru_maxrss / 1024, started, out.read().decode())


def interleaved(rounds: int, **runs: Callable[[], float]) -> dict[str, float]:
    """Medians of several measurements taken in turns, so that load falls on all alike."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, measure in runs.items():
            taken[name].append(measure())
    return {name: statistics.median(values) for name, values in taken.items()}


class Server(NamedTuple):
    """A model server in its own process."""

    url: str

    def requests(self) -> list[dict[str, Any]]:
        """What it was asked, oldest first."""
        with urllib.request.urlopen(f"{self.url}/_requests", timeout=10) as reply:
            return json.load(reply)


@contextlib.contextmanager
def model_server(script: dict[str, Any] | list[Any]) -> Iterator[Server]:
    """The fake server of the tests, started and stopped."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(script, file)
        file.flush()
        fake = str(ROOT / "tests" / "fakes" / "model_server.py")
        process = subprocess.Popen(
            [sys.executable, fake, "--script", file.name, "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            port = json.loads(process.stdout.readline())["port"]
            yield Server(f"http://127.0.0.1:{port}")
        finally:
            process.kill()
            process.wait()


def clew_env(home: str, server: Server) -> dict[str, str]:
    """A private environment that talks to the loopback server only."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "CLEW_HOME": f"{home}/.clew",
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": server.url,
        "CLEW_MODEL": "anthropic/claude-sonnet-4-5",
        "LANG": "C.UTF-8",
    }
