"""Running the installed command as a person or a script would: a real process, its own home, a loopback model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from e2e.zygote import zygote
from fakes.effort import HANG_S
from fakes.model_server import ModelServer

CLEW = str(Path(sys.executable).parent / "clew")
LIMIT_S = HANG_S
POLL_S = 0.005


class Done(NamedTuple):
    """A finished run."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """The one JSON document of `--output-format json`."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The documents of stream-json."""
        return [json.loads(line) for line in self.out.splitlines()]


def with_a_terminal() -> None:
    """In the child: a hang-up and Ctrl-C count, also when the tests run in the background, which clew rightly
    respects."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def until(there: Callable[[], object], process: "subprocess.Popen[bytes]") -> None:
    """Waits for what a run brings about before it ends, and leaves the machine to the run."""
    while not there():
        assert process.poll() is None
        time.sleep(POLL_S)


class Place:
    """A home and a project of their own; runs `clew` there."""

    def __init__(self, tmp_path: Path, server_url: str = "http://127.0.0.1:9") -> None:
        self.home = tmp_path / "home"
        self.project = tmp_path / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.clew_home = self.home / ".clew"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CLEW_HOME": str(self.clew_home),
            "CLEW_MODEL": "anthropic/claude-sonnet-4-5",
            "ANTHROPIC_API_KEY": "sk-ant-test-canary-000000000000",
            "ANTHROPIC_BASE_URL": server_url,
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYDANTIC_DISABLE_PLUGINS": "1",  # there are none, and every run with an MCP server would look for them
        }

    def run(self, *args: str, stdin: str | bytes | None = None, env: dict[str, str] | None = None) -> Done:
        """To the end, within a bound: a fork of a process that has loaded clew, or, with settings for an interpreter
        that starts, the installed command."""
        if env is not None and any(name.startswith("PYTHON") for name in env):
            return self.run_anew(*args, stdin=stdin, env=env)
        data = stdin.encode() if isinstance(stdin, str) else stdin
        whole = {**self.env, **(env or {})}
        code, out, err = zygote().run([CLEW, *args], env=whole, cwd=str(self.project), stdin=data, within_s=LIMIT_S)
        return Done(code, out.decode(), err.decode())

    def run_anew(
        self, *args: str, stdin: str | bytes | None = None, env: dict[str, str] | None = None, command: str = CLEW
    ) -> Done:
        """To the end, within a bound: the installed command, or another one, from its first byte."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        process = subprocess.run(
            [command, *args],
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            cwd=self.project,
            env={**self.env, **(env or {})},
            timeout=LIMIT_S,
            check=False,
        )
        return Done(process.returncode, process.stdout.decode(), process.stderr.decode())

    def start(self, *args: str) -> "subprocess.Popen[bytes]":
        """A run that is still going."""
        return subprocess.Popen(
            [CLEW, *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.project,
            env=self.env,
            preexec_fn=with_a_terminal,
        )

    def transcripts(self) -> list[Path]:
        """All main transcripts on disk."""
        return sorted(self.clew_home.glob("projects/*/*.jsonl"))

    def entries(self) -> list[dict[str, Any]]:
        """The lines of the only transcript."""
        (path,) = self.transcripts()
        return [json.loads(line) for line in path.read_text().splitlines()]


Serve = Callable[[Any], tuple[Place, ModelServer]]
"""Makes a place whose model plays a script: the fixture `serve`."""
