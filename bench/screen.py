"""The full screen through a pseudo-terminal with a screen emulator: start, keys, words, rest, what history costs."""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.log_samples import Author
from bench.processes import CLEW, Server, clew_env, interleaved, model_server, run
from bench.report import Row
from bench.screen_terminal import CLEAR, ScreenTerminal
from clew.protocol.ids import SessionId
from clew.transcript.log.store import SessionStore

QUIET = json.dumps(
    {
        "compaction": {"coldReturn": False},
        "sideQueries": {"enabled": False},
        "providers": {"anthropic": {"models": {"claude-sonnet-4-5": {"window": 9_000_000}}}},
    }
)
"""Histories made for this are old and large: what clew would rightly say of them is not measured here."""
READY = "sk for something"
"""The first letter of the words in an empty prompt stands under the cursor."""
ROUNDS = 7
KEYS = 120
ROW = 60
IDLE_S = 60.0
LONG_BYTES = 27_000_000
"""Ten thousand entries; so long a session was compacted, the last time so shortly before its end:"""
BOUNDARY_BYTES = 500_000


def rows() -> Iterator[Row]:
    """All figures of the screen."""
    with tempfile.TemporaryDirectory() as home:
        project = Path(home) / "project"
        project.mkdir()
        yield from starts(home, project)
        yield from round_trip(home, project)
        yield from at_rest(home, project)
        yield from beside_history(home, project)
        yield from attaches(home, project)


def screen_env(home: str, server: Server) -> dict[str, str]:
    """A terminal that knows colours, and a project that is trusted by flag."""
    return {**clew_env(home, server), "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def opened(home: str, project: Path, server: Server, *arguments: str) -> ScreenTerminal:
    """A screen that is being started."""
    return ScreenTerminal([CLEW, "--trust", "--settings", QUIET, *arguments], screen_env(home, server), project)


def starts(home: str, project: Path) -> Iterator[Row]:
    """From the start of the process to a prompt that can be typed into."""
    with model_server({"replies": [], "last": {"text": "Hello."}}) as server:

        def screen() -> float:
            with opened(home, project, server) as terminal:
                return terminal.shows(READY) - terminal.started_at

        screen()
        taken = interleaved(ROUNDS, bare=lambda: run([sys.executable, "-c", "pass"]).wall_s, screen=screen)
    ratio = taken["screen"] / taken["bare"]
    yield Row("start to a usable prompt", f"{ratio:.0f} x `python -c pass`", "<= 40 x", ratio <= 40)
    yield Row("the same in time", f"{taken['screen'] * 1000:.0f} ms", "-", None)


def round_trip(home: str, project: Path) -> Iterator[Row]:
    """Enter to the request on the wire, and the request to its answer on the screen, the server's own time included."""
    sent: list[float] = []
    shown: list[float] = []
    with model_server([{"text": f"Reply number {number}."} for number in range(16)]) as server:
        with opened(home, project, server) as terminal:
            terminal.shows(READY)
            for number in range(12):
                terminal.type(f"question {number}")
                terminal.shows(f"question {number}")
                pressed = time.monotonic()
                terminal.type("\r")
                seen = terminal.shows(f"Reply number {number}.")
                arrived = server.requests()[-1]["at"]
                sent.append(arrived - pressed)
                shown.append(seen - arrived)
                terminal.shows(READY)
    enter, reply = statistics.median(sent[2:]) * 1000, statistics.median(shown[2:]) * 1000
    yield Row("Enter to the request on the wire", f"{enter:.1f} ms", "<= 15 ms", enter <= 15)
    yield Row("the request at the server to its answer on the screen", f"{reply:.1f} ms", "<= 25 ms", reply <= 25)


def at_rest(home: str, project: Path) -> Iterator[Row]:
    """Memory and work of a screen that nobody touches, with the focus gone."""
    with model_server({"replies": [], "last": {"text": "Hello."}}) as server:
        with opened(home, project, server) as terminal:
            terminal.shows(READY)
            terminal.type("hi\r")
            terminal.shows("Hello.")
            terminal.type("\x1b[O")
            read_for(terminal, 3.0)
            before, switches = cpu_s(terminal.pid), voluntary_switches(terminal.pid)
            read_for(terminal, IDLE_S)
            busy = (cpu_s(terminal.pid) - before) / IDLE_S * 100
            wakes = (voluntary_switches(terminal.pid) - switches) / IDLE_S
            memory = rss_mb(terminal.pid)
    yield Row("memory at rest", f"{memory:.0f} MB", "<= 100 MB", memory <= 100)
    yield Row("work at rest, without focus, over a minute", f"{busy:.2f} %", "< 0.1 %", busy < 0.1)
    yield Row("times a second it wakes then, all threads", f"{wakes:.2f}", "<= 1", wakes <= 1)


def beside_history(home: str, project: Path) -> Iterator[Row]:
    """Keys while words stream in fast, with ten thousand entries behind; and what these cost in memory."""
    store = SessionStore(Path(home) / ".clew")
    author = Author()
    sizes = {"small": 270_000, "large": LONG_BYTES}
    for name, size in sizes.items():
        path = store.session_path(project, SessionId(f"{name}-history"))
        author.write(path, f"{name}-history", size, boundary_before_end=BOUNDARY_BYTES if name == "large" else None)
    words = "weights of parcels and their sums, told one after the other. " * 400
    slow = {"parts": [{"text": words}], "fault": "trickle", "bytes": 40, "delay_s": 0.01}
    memory: dict[str, float] = {}
    waits: list[float] = []
    clears = 0
    for name in sizes:
        with model_server({"replies": [], "last": slow}) as server:
            with opened(home, project, server, "--resume", f"{name}-history") as terminal:
                terminal.shows(READY)
                for _ in range(40):
                    terminal.type("\x1b[5~")
                    read_for(terminal, 0.05)
                terminal.type("\x1b")
                read_for(terminal, 0.5)
                memory[name] = rss_mb(terminal.pid)
                if name == "small":
                    continue
                terminal.type("go on\r")
                terminal.shows("Writing")
                written = len(terminal.output)
                for number in range(KEYS):
                    read_for(terminal, 0.03)
                    if number and number % ROW == 0:
                        terminal.type("\x15")
                        terminal.shows(READY)
                    key = chr(97 + number % 26)
                    pressed = time.monotonic()
                    terminal.type(key)
                    waits.append(terminal.until(lambda one, at=number, key=key: typed(one, at, key)) - pressed)
                clears = bytes(terminal.output[written:]).count(CLEAR)
    p95 = sorted(waits)[int(len(waits) * 0.95)] * 1000
    ratio = memory["large"] / memory["small"]
    yield Row("key to echo while words stream, 10,000 entries behind, p95", f"{p95:.1f} ms", "<= 30 ms", p95 <= 30)
    yield Row("memory with 10,000 entries, scrolled through", f"{ratio:.2f} x that with 100", "<= 1.5 x", ratio <= 1.5)
    yield Row("times the whole screen was cleared while streaming", f"{clears}", "0", clears == 0)


def typed(terminal: ScreenTerminal, at: int, key: str) -> bool:
    """Whether the key stands at its place in the prompt."""
    size = at % ROW + 3
    return any(row.startswith("▌ ") and len(row) == size and row.endswith(key) for row in terminal.rows())


def attaches(home: str, project: Path) -> Iterator[Row]:
    """Resume of a large session on the screen beside a small one."""
    store = SessionStore(Path(home) / ".clew")
    author = Author(2)
    for name, size in (("one", 1_000_000), ("many", 200_000_000)):
        path = store.session_path(project, SessionId(f"{name}-mb"))
        author.write(path, f"{name}-mb", size, boundary_before_end=500_000)
    with model_server({"replies": [], "last": {"text": "Hello."}}) as server:

        def attach(name: str) -> float:
            with opened(home, project, server, "--resume", f"{name}-mb") as terminal:
                return terminal.shows("recap:") - terminal.started_at

        attach("one")
        taken = interleaved(5, one=lambda: attach("one"), many=lambda: attach("many"))
    ratio = taken["many"] / taken["one"]
    yield Row("resume of a 200 MB session on the screen", f"{ratio:.2f} x a 1 MB one", "<= 1.5 x", ratio <= 1.5)


def read_for(terminal: ScreenTerminal, seconds: float) -> None:
    """Take what comes for a while."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        terminal.read(left)


def cpu_s(pid: int) -> float:
    """Seconds of work so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def voluntary_switches(pid: int) -> int:
    """How often its threads went to sleep so far."""
    count = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        count += int(text.partition("voluntary_ctxt_switches:")[2].split()[0])
    return count


def rss_mb(pid: int) -> float:
    """Memory it holds now."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024
