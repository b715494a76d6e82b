"""Driven by a program: how soon an interrupt has its result, and what a front end that listens costs a run."""

import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.processes import CLEW, Server, clew_env, model_server
from bench.report import Row
from clew.assembly.opening import open_session
from clew.headless.printer import OutputWriter
from clew.host.request import SessionRequest
from clew.protocol.client import Client
from clew.protocol.events import TurnEnded
from clew.protocol.ops import Close, SubmitPrompt
from clew.streaming.joined_deltas import joined
from clew.streaming.lines import StreamLines

ROUNDS = 9
STEPS = 50
FLAGS = ["--output-format", "stream-json", "--input-format", "stream-json", "--include-partial-messages"]
STUBBORN = "trap '' TERM INT HUP; echo began; while :; do sleep 0.1; done"


def rows() -> Iterator[Row]:
    """The figures of issue 13."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "project").mkdir()
        yield from interrupts(home)
        yield from attached(home)


def interrupts(home: str) -> Iterator[Row]:
    """From the line of the request to the line of the result."""
    streaming = {"replies": [], "last": {"parts": [{"text": "words "}, {"wait": "never"}, {"text": "late"}]}}
    call = {"calls": [{"call": "Bash", "arguments": {"command": STUBBORN}}]}
    with model_server(streaming) as server:
        opened = statistics.median(interrupt(home, server, "words") for _ in range(ROUNDS))
    with model_server({"replies": [], "last": call}) as server:
        stubborn = statistics.median(interrupt(home, server, "began") for _ in range(3))
    yield Row("interrupt to result, stream open", f"{opened * 1000:.0f} ms", "<= 200 ms", opened <= 0.2)
    yield Row("… with a command that ignores SIGTERM", f"{stubborn:.2f} s", "<= 2 s", stubborn <= 2)


def interrupt(home: str, server: Server, sign: str) -> float:
    """Seconds until the result, asked for when a line holds the sign that work is under way."""
    process = subprocess.Popen(
        [CLEW, *FLAGS, "--permission-mode", "bypassPermissions", "--no-session-persistence"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clew_env(home, server),
        cwd=f"{home}/project",
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def send(document: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(document).encode() + b"\n")
        process.stdin.flush()

    with process:
        send({"type": "user", "message": {"role": "user", "content": "go"}})
        kinds = ("stream_event", "tool_progress")
        next(line for line in map(json.loads, process.stdout) if line["type"] in kinds and sign in json.dumps(line))
        started = time.monotonic()
        send({"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}})
        next(line for line in map(json.loads, process.stdout) if line["type"] == "result")
        return time.monotonic() - started


def attached(home: str) -> Iterator[Row]:
    """Fifty steps for somebody who only waits for the end, and the same with one who reads every line as well."""
    file = Path(home) / "project" / "small.txt"
    file.write_text("line\n" * 20)
    reads = [{"call": "Read", "arguments": {"file_path": str(file), "limit": line}} for line in range(1, STEPS + 1)]
    script = {"replies": [{"calls": [read]} for read in reads], "last": {"text": "Done."}}

    cpu: dict[bool, list[float]] = {False: [], True: []}
    wall: list[float] = []
    for at in range(2 * ROUNDS):
        listening = at % 2 == 1
        with model_server(script) as server:
            cpu_s, wall_s = asyncio.run(fifty_steps(home, server, listening=listening))
        cpu[listening].append(cpu_s)
        wall.append(wall_s)
    extra_s = statistics.median(cpu[True]) - statistics.median(cpu[False])
    share = extra_s / min(wall)
    yield Row(f"{STEPS} steps, the fastest of {len(wall)} runs", f"{min(wall) * 1000:.0f} ms", "-", None)
    yield Row("CPU for a front end that reads every line", f"{share * 100:.1f} % of that run", "<= 5 %", share <= 0.05)


async def fifty_steps(home: str, server: Server, *, listening: bool) -> tuple[float, float]:
    """CPU seconds of the turn, of all threads, and seconds by the clock. What others do on this machine does not count
    in the first, nor does waiting, in which a front end could hide."""
    env = clew_env(home, server)
    client = open_session(SessionRequest(cwd=Path(home) / "project", env=env, headless=True, persist=False))
    events = client.events()
    reading = asyncio.create_task(read_all(client)) if listening else None
    await asyncio.sleep(0)
    cpu_s, wall_s = time.process_time(), time.monotonic()
    await client.submit(SubmitPrompt(content="read it fifty times"))
    async for envelope in events:
        if isinstance(envelope.event, TurnEnded):
            break
    taken = time.process_time() - cpu_s, time.monotonic() - wall_s
    await client.submit(Close())
    if reading is not None:
        await reading
    return taken


async def read_all(client: Client) -> None:
    """What a program gets, partial messages included, written to where it costs nothing."""
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: ASYNC230, SIM115 (the null device never blocks)
    writer, lines = OutputWriter(nowhere, join=joined), StreamLines(partial=True)
    async for envelope in client.events():
        for line in lines.lines(envelope):
            writer.put(line)
    await writer.finish()
    nowhere.close()
