"""Driving the installed command as a program does: lines in, lines out, every one of them kept."""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2e.command import CLEW, Place
from fakes.effort import HANG_S
from fakes.json_schema import violations

Json = dict[str, Any]
SCHEMA: Json = json.loads((Path(__file__).parents[2] / "docs" / "stream-json.schema.json").read_text())
FLAGS = ("--output-format", "stream-json", "--input-format", "stream-json")


def is_result(line: Json) -> bool:
    return line["type"] == "result"


def is_response(request_id: str) -> Callable[[Json], bool]:
    return lambda line: line["type"] == "control_response" and line["response"]["request_id"] == request_id


def is_asked(subtype: str) -> Callable[[Json], bool]:
    return lambda line: line["type"] == "control_request" and line["request"]["subtype"] == subtype


class Driven:
    """A run with its pipes in the test's hands. `lines`: all that came so far; each was JSON, or the test fails."""

    def __init__(self, place: Place, *flags: str, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [CLEW, *FLAGS, *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=place.project,
            env={**place.env, **(env or {})},
        )
        self.lines: list[Json] = []
        self.errors: list[str] = []
        self._arrived: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        assert self.process.stdout is not None
        self._out = os.dup(self.process.stdout.fileno())
        self.process.stdout.close()
        self._part = b""
        self._deaf = threading.Event()
        self._readers = [
            threading.Thread(target=self._follow_out, daemon=True),
            threading.Thread(target=self._follow_err, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "Driven":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(HANG_S)

    def _follow_out(self) -> None:
        out = self._out
        while chunk := os.read(out, 1 << 16) if not self._deaf.is_set() else b"":
            self._part += chunk
            *whole, self._part = self._part.split(b"\n")
            for line in whole:
                self._arrived.put(line + b"\n")
        os.close(out)
        self._arrived.put(b"")

    def _follow_err(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line.decode().rstrip("\n"))

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *documents: Json) -> None:
        self.write(b"".join(json.dumps(document).encode() + b"\n" for document in documents))

    def say(self, text: Any, **more: Any) -> None:
        """A prompt."""
        self.send({"type": "user", "message": {"role": "user", "content": text}, **more})

    def ask(self, request_id: str, subtype: str, **more: Any) -> None:
        """A control request."""
        self.send({"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **more}})

    def answered(self, request_id: str, subtype: str, **more: Any) -> Json:
        """Ask, and what came back."""
        self.ask(request_id, subtype, **more)
        return self.until(is_response(request_id))["response"]

    def answer(self, asked: Json, response: Json) -> None:
        """To a request of clew."""
        inner = {"subtype": "success", "request_id": asked["request_id"], "response": response}
        self.send({"type": "control_response", "response": inner})

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        """The next line of this kind; all lines up to it are in `lines`."""
        while True:
            line = self._arrived.get(timeout=HANG_S)
            if not line:
                raise AssertionError(f"it ended; lines: {self.lines[-5:]}; stderr: {self.errors[-5:]}")
            self.lines.append(json.loads(line))
            if wanted(self.lines[-1]):
                return self.lines[-1]

    def until_end(self, heard: Callable[[Json], None]) -> None:
        """Every line, to the last."""
        while line := self._arrived.get(timeout=HANG_S):
            self.lines.append(json.loads(line))
            heard(self.lines[-1])

    def result(self) -> Json:
        return self.until(is_result)

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> int:
        """Close stdin, read to the end, and how it ended."""
        self.hang_up()
        return self.ended()

    def ended(self) -> int:
        while line := self._arrived.get(timeout=HANG_S):
            self.lines.append(json.loads(line))
        code = self.process.wait(HANG_S)
        for reader in self._readers:
            reader.join(HANG_S)
        wrong = [(line, what) for line in self.lines for what in violations(line, SCHEMA, SCHEMA)]
        assert wrong == [], f"not as published: {wrong[:3]}"
        return code

    def stop_reading(self) -> None:
        """Close stdout, once what is on its way has come: what follows finds nobody."""
        self._deaf.set()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    @property
    def kinds(self) -> list[str]:
        return [line["type"] for line in self.lines]

    def of(self, kind: str, subtype: str | None = None) -> list[Json]:
        return [line for line in self.lines if line["type"] == kind and subtype in (None, line.get("subtype"))]
