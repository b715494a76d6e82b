"""Random headless runs of the real command with random faults: one result each, no hang, no process left behind.

`play(seed, folder)` gives what is wrong, as a list of sentences. Everything that is planned comes from the seed; when a
signal meets the run depends on the machine, and every moment must be right.
"""

import json
import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from e2e.command import CLEW, Place, with_a_terminal
from fakes.effort import HANG_S
from fakes.fault_script import FaultServer
from fakes.fault_script import Place as Point
from fakes.json_schema import violations
from fakes.model_server import Recorded
from fakes.stream_reader import problems

Json = dict[str, Any]
GONE_S = 60.0
POLL_S = 0.01
SCHEMA: Json = json.loads((Path(__file__).parents[2] / "docs" / "stream-json.schema.json").read_text())
CODES = (0, 1, 2, 130)
MODELS = {"anthropic": "anthropic/claude-sonnet-4-5", "chat": "ollama/fake-model"}
POINTS = ["before", "start", "opened", "in-text", "after-text", "in-call", "after-call", "before-stop", "before-end"]
COMMANDS = [
    "echo hello",
    "seq 1 3000",
    "sleep 1000 & echo left something behind",
    "setsid sleep 1000 & echo left a stranger behind",
    "kill -9 $$",
    "exit 3",
    "printf '\\x1b[31mred\\xff'",
]


@dataclass
class Run:
    """What one run meets."""

    seed: int
    dialect: str
    output: Literal["text", "json", "stream-json"]
    replies: list[Json]
    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    reader: Literal["reads", "leaves", "stalls"] = "reads"
    lines_read: int = 0
    """Before it leaves or stalls."""
    sent: signal.Signals | None = None
    signal_at: Literal["hold", "request", "line", "any"] = "any"
    wait_s: float = 0.0
    server: bool = True

    def describe(self) -> str:
        """In one line."""
        meets = self.sent.name + " at " + self.signal_at if self.sent else ""
        parts = [self.dialect, self.output, self.reader, meets, "" if self.server else "no server", *self.args]
        return f"run {self.seed}: {' '.join(part for part in parts if part)}; {len(self.replies)} replies"


def make_run(seed: int) -> Run:
    """The run of a seed."""
    chance = random.Random(seed)
    output = chance.choices(["stream-json", "json", "text"], [7, 2, 1])[0]
    run = Run(
        seed=seed,
        dialect=chance.choice(["anthropic", "chat"]),
        output=output,  # pyright: ignore[reportArgumentType]  (choices() forgets that they are literals)
        replies=[reply(chance) for _ in range(chance.randrange(1, 4))],
    )
    if output == "stream-json" and chance.random() < 0.6:
        run.args.append("--include-partial-messages")
    if chance.random() < 0.5:
        run.args += ["--permission-mode", "bypassPermissions"]
    if chance.random() < 0.2:
        run.args += ["--max-turns", str(chance.randrange(1, 3))]
    if chance.random() < 0.1:
        run.args += ["--max-budget-usd", "0.0004"]
    if chance.random() < 0.1:
        run.args.append("--verbose")
    match chance.randrange(20):
        case 0:
            run.args += ["--resume", "nosuch"]
        case 1:
            run.server = False
        case 2:
            run.env = {"ANTHROPIC_API_KEY": ""} if run.dialect == "anthropic" else {}
        case 3:
            run.env = {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}
        case _:
            pass
    meeting(run, chance)
    return run


def meeting(run: Run, chance: random.Random) -> None:
    """What the outside does to the run: a signal, a reader that leaves or stalls, or nothing."""
    match chance.randrange(8):
        case 0 | 1:
            run.sent = chance.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
            run.signal_at = chance.choice(["hold", "request", "line", "any"])
            run.wait_s = chance.uniform(0.0, 0.6)
            if run.signal_at == "hold":
                held = {"parts": [words(chance), call(chance)], "hold": Point(chance.choice(POINTS), 0, "held")}
                run.replies[-1] = held
        case 2 if run.output == "stream-json":
            run.reader, run.lines_read = "leaves", chance.randrange(0, 8)
        case 3:
            run.reader, run.lines_read = "stalls", chance.randrange(0, 3)
            run.replies.append({"parts": [{"text": "a long answer, said again and again\n" * 4_000}]})
        case _:
            pass


def reply(chance: random.Random) -> Json:
    """One reply, or an answer that is none."""
    if chance.random() < 0.1:
        return {"status": chance.choice([500, 529, 429, 400, 401]), "retry_after": 0}
    parts = [{"thinking": "let me see what there is"}] if chance.random() < 0.3 else []
    parts += [words(chance) for _ in range(chance.randrange(0, 2))]
    parts += [call(chance) for _ in range(chance.randrange(0, 4))]
    made: Json = {"parts": parts or [words(chance)]}
    if chance.random() < 0.3:
        made["cut"] = Point(chance.choice(POINTS), chance.randrange(3))
        made["error"] = chance.random() < 0.3
    if chance.random() < 0.2:
        made["call_ids"] = ["call_0"] * 4
    if chance.random() < 0.1:
        made["usage"] = None
    return made


def words(chance: random.Random) -> Json:
    return {"text": chance.choice(["So. ", "Let me look at all of it, one after the other. ", "Ja, gut 你好\n\nso"])}


def call(chance: random.Random) -> Json:
    match chance.randrange(6):
        case 0 | 1:
            return {"call": "Read", "arguments": {"file_path": chance.choice(["a.txt", "missing.txt", "/"])}}
        case 2:
            return {"call": "Write", "arguments": {"file_path": "new.txt", "content": "words\n"}}
        case 3:
            return {"call": chance.choice(["Nonsense", "Bash"]), "arguments": chance.choice(["{oops", "[]"])}
        case _:
            return {"call": "Bash", "arguments": {"command": chance.choice(COMMANDS)}}


def play(run: Run, folder: Path) -> list[str]:
    """Run it; what is wrong."""
    replies = list(run.replies)

    def choose(sender: str, request: Recorded) -> Json:
        return replies.pop(0) if replies else {"parts": [{"text": "the end"}]}

    with FaultServer(choose) as server:
        assert isinstance(server, FaultServer)
        folder.mkdir(parents=True)
        place = Place(folder, f"{server.url}/run" if run.server else "http://127.0.0.1:9")
        (place.project / "a.txt").write_text("alpha\n")
        place.env |= {
            "OLLAMA_BASE_URL": place.env["ANTHROPIC_BASE_URL"] + "/v1",
            "CLEW_FOREIGN_SESSIONS": "0",
            "CLEW_SANDBOX": "off",
            **run.env,
        }
        return Playing(run, place, server).play()


class Playing:
    """One run while it runs."""

    def __init__(self, run: Run, place: Place, server: FaultServer) -> None:
        self.run = run
        self.place = place
        self.server = server
        self.out: list[bytes] = []
        flags = ["--output-format", run.output, "--model", MODELS[run.dialect], *run.args]
        self.process = subprocess.Popen(
            [CLEW, "-p", "go", *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if run.output != "text" else subprocess.DEVNULL,
            cwd=place.project,
            env=place.env,
            preexec_fn=with_a_terminal,
            bufsize=0,  # some lines are read before the rest, and none may stay behind in a buffer
        )

    def play(self) -> list[str]:
        """To the end, or until it hangs."""
        assert self.process.stdout is not None
        for _ in range(self.run.lines_read):
            self.out.append(self.process.stdout.readline())
        if self.run.reader == "stalls":
            self.until(lambda: b'"turn-result"' in self.log())
        if self.run.reader == "leaves":
            self.process.stdout.close()
        if self.run.sent is not None:
            self.disturb(self.run.sent)
        try:
            rest, err = self.process.communicate(timeout=HANG_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            return [f"it hangs: {self.run.describe()}"]
        self.out += (rest or b"").splitlines(keepends=True)
        began = bool(self.out) or self.run.sent is None
        wrong = ["a traceback on stderr: " + err.decode()[-600:]] if began and b"Traceback" in (err or b"") else []
        return [*wrong, *self.left_behind(), *self.printed()]

    def disturb(self, number: signal.Signals) -> None:
        """Send it when the run is where the plan wants it, or at once when it does not come there."""
        assert self.process.stdout is not None
        match self.run.signal_at:
            case "hold":
                self.until(lambda: "held" in self.server.reached)
            case "request":
                self.until(lambda: bool(self.server.requests))
            case "line":
                self.out.append(self.process.stdout.readline())
            case "any":
                time.sleep(self.run.wait_s)
        self.process.send_signal(number)

    def until(self, there: Any) -> None:
        deadline = time.monotonic() + HANG_S / 3
        while not there() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(POLL_S)

    def log(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.place.transcripts())

    def left_behind(self) -> list[str]:
        """Processes that still work in the folder of the run."""
        deadline = time.monotonic() + GONE_S
        while (left := processes_in(self.place.project)) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return [f"processes left behind: {left}"] if left else []

    def printed(self) -> list[str]:
        """The result, the exit code, and what the log says."""
        code = self.process.returncode
        out = b"".join(self.out)
        if self.run.signal_at == "any" and self.run.sent is not None and not out:
            return []  # it was over before clew itself had begun
        if self.run.reader == "leaves":
            return [] if code in (0, 1) else [f"exit code {code} without a reader"]
        wrong = [] if code in CODES else [f"exit code {code}"]
        if self.run.output == "text":
            return wrong
        try:
            lines = [json.loads(line) for line in out.splitlines()]
        except ValueError as error:
            return [*wrong, f"a line is no JSON: {error}"]
        results = [line for line in lines if line.get("type") == "result"]
        if len(results) != 1:
            return [*wrong, f"{len(results)} results in {len(lines)} lines"]
        if self.run.output == "json" and len(lines) != 1:
            wrong.append(f"{len(lines)} documents")
        if (code == 0) == results[0]["is_error"]:
            wrong.append(f"exit code {code}, and is_error {results[0]['is_error']}")
        wrong += [what for line in lines for what in violations(line, SCHEMA, SCHEMA)]
        if self.run.output == "stream-json":
            wrong += problems(lines, self.place.entries() if self.place.transcripts() else None)
        if self.place.transcripts() and b'"turn-result"' not in self.log():
            wrong.append("the log does not tell how the turn ended")
        return wrong


def processes_in(folder: Path) -> list[int]:
    """Everything that has its working directory there."""
    found: list[int] = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            where = os.readlink(f"/proc/{entry.name}/cwd")
        except OSError:
            continue  # gone, or not ours
        if where == str(folder) or where.startswith(f"{folder}/"):
            found.append(int(entry.name))
    return found
