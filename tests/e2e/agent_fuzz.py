"""Trees of child agents through the real command, killed with -9 at random moments, and read back without our code.

`play(seed, folder)` gives what is wrong, as a list of sentences; none means that every run of every child has exactly
one end in its parent's log, that every end of a background child was told of exactly once, and that each report that
says completed holds the words that the child said last. In `play_hard` a third of the runs that are killed have no room
on their disk (a bound on the size of files, which is what a full disk is to a process), a third a clock that jumps by
hours, back and forth, and the trees are wider. `children` counts those that were started.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fakes.effort import HANG_S
from fakes.model_server import Answer, ModelServer, Recorded

Json = dict[str, Any]
CLEW = str(Path(sys.executable).parent / "clew")
NODE = re.compile(r"NODE ([0-9.]+)")
MAX_KILLS = 4
MAX_DELAY_S = 0.03
JUMPING = """
import random, sys, time
real, chance = time.time, random.Random(int(sys.argv.pop(1)))
def jumping():
    jumps = [chance.choice((0, 0, 0, -86400, -3600, 3600, 86400 * 400))] if chance.random() < 0.02 else ()
    jumping.off = jumps[0] if jumps else jumping.off
    return real() + jumping.off
jumping.off = chance.choice((-3600, 0, 3600))
time.time = jumping
from clew.cli.entry import main
sys.exit(main())
"""
"""The command with a wall clock that jumps: everything else is as installed."""
children: Counter[str] = Counter()
"""How many children were started, over all plays of this process."""


class TreeServer(ModelServer):
    """Plays every agent of the tree: what a node does follows from the seed and its path alone."""

    def __init__(self, seed: int, depth: int, width: int = 3) -> None:
        super().__init__([])
        self._width = width
        self._seed = seed
        self._depth = depth

    def _answer(self, connection: Any, request: Recorded) -> bool:
        body = request.body
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        time.sleep(random.random() * MAX_DELAY_S)
        return Answer(self, connection, request, number, self.reply(body)).send()

    def reply(self, body: Json) -> Json:
        """First the calls of the node, then its report."""
        said = json.dumps(body["messages"][0])
        found = NODE.search(said)
        path = found.group(1) if found else "?"
        spoken = sum(message["role"] == "assistant" for message in body["messages"])
        if spoken == 0:
            calls = self.calls(path)
            return {"calls": calls} if calls else {"text": f"REPORT {path}."}
        return {"text": f"REPORT {path}."}

    def calls(self, path: str) -> list[Json]:
        chance = random.Random(f"{self._seed} {path}")
        depth = path.count(".")
        calls: list[Json] = []
        if depth < self._depth:
            for number in range(chance.choice((0, 1, 2, 3)) if depth else self._width):
                arguments: Json = {"description": f"node {number}", "prompt": f"NODE {path}.{number}"}
                if chance.random() < 0.5:
                    arguments["run_in_background"] = True
                calls.append({"call": "Agent", "arguments": arguments})
        if chance.random() < 0.4:
            calls.append({"call": "Bash", "arguments": {"command": "echo here"}})
        return calls


def play_hard(seed: int, folder: Path) -> list[str]:
    """The same with full disks, jumping clocks and wider trees."""
    return play(seed, folder, hard=True)


def play(seed: int, folder: Path, *, kills: int = MAX_KILLS, hard: bool = False) -> list[str]:
    """One tree, to its end."""
    chance, fate = random.Random(seed), random.Random(f"{seed} trouble")
    home, project = folder / "home", folder / "project"
    home.mkdir(parents=True)
    project.mkdir()
    with TreeServer(seed, depth=chance.choice((1, 2, 3)), width=fate.choice((3, 8, 16)) if hard else 3) as server:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "CLEW_HOME": str(home / ".clew"),
            "CLEW_MODEL": "anthropic/claude-sonnet-4-5",
            "ANTHROPIC_API_KEY": "sk-ant-test-canary-000000000000",
            "ANTHROPIC_BASE_URL": server.url,
            "LANG": "C.UTF-8",
        }
        argv = [CLEW, "-p", "NODE 0", "--permission-mode", "bypassPermissions"]
        full = False
        for number in range(chance.randrange(kills + 1)):
            again = [CLEW, "-c", "-p", f"go on {number}", "--permission-mode", "bypassPermissions"]
            begun = bool(list(home.glob(".clew/projects/*/*.jsonl")))
            trouble = fate.choice(("none", "disk", "clock")) if hard else "none"
            hurt = troubled(again if begun else argv, trouble, home, fate)
            killed(hurt, project, env, after_requests=server, chance=chance)
            full = full or trouble == "disk"
        begun = bool(list(home.glob(".clew/projects/*/*.jsonl")))
        last = [CLEW, "-c", "-p", "the end", "--permission-mode", "bypassPermissions"] if begun else argv
        done = subprocess.run(last, cwd=project, env=env, capture_output=True, timeout=HANG_S, check=False)
    problems = (
        [] if done.returncode == 0 else [f"the last run ended with {done.returncode}: {done.stderr.decode()[-500:]}"]
    )
    return [*problems, *wrong_in(home, full=full)]


def troubled(argv: list[str], trouble: str, home: Path, chance: random.Random) -> list[str]:
    """The same command with a disk that takes little more, or with a clock that jumps."""
    if trouble == "clock":
        return [sys.executable, "-c", JUMPING, str(chance.randrange(1_000_000)), *argv[1:]]
    if trouble == "disk":
        size = max((path.stat().st_size for path in home.glob(".clew/projects/*/*.jsonl")), default=0)
        blocks = (size + chance.choice((2_000, 10_000, 30_000, 60_000))) // 512 + 1
        # Python itself keeps half a file of byte code where it cannot write all of it, and fails on it ever after.
        return ["/bin/sh", "-c", f'ulimit -f {blocks}; PYTHONDONTWRITEBYTECODE=1 exec "$@"', "sh", *argv]
    return argv


def killed(
    argv: list[str], project: Path, env: dict[str, str], *, after_requests: ModelServer, chance: random.Random
) -> None:
    """A run that is killed after so many requests, at once or a moment later; or comes to its end before."""
    wanted = len(after_requests.requests) + chance.randrange(1, 14)
    process = subprocess.Popen(argv, cwd=project, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + HANG_S
    while process.poll() is None and len(after_requests.requests) < wanted and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(chance.random() * MAX_DELAY_S)
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()


def wrong_in(home: Path, *, full: bool = False) -> list[str]:
    """What the logs of a session that has settled must not hold, or must and do not. `full`: its disk was full at
    times, so the log of a child may lack what its parent's has."""
    found = list(home.glob(".clew/projects/*/*.jsonl"))
    if len(found) != 1:
        return [f"there are {len(found)} logs of conversations"]
    (main,) = found
    logs = {"main": lines_of(main)}
    for path in main.with_suffix("").glob("subagents/agent-*.jsonl"):
        logs[path.stem.removeprefix("agent-")] = lines_of(path)
    problems: list[str] = []
    for agent, lines in logs.items():
        events = [line["event"] for line in lines if line.get("type") == "event"]
        started = Counter(event["child"] for event in events if event.get("event") == "agent.started")
        ends = [event for event in events if event.get("event") == "agent.ended"]
        ended = Counter(event["child"] for event in ends)
        told = Counter(task for line in lines for task in line.get("notices", []))
        owed = Counter(event["child"] for event in ends if event.get("background"))
        settled = agent == "main" or any(
            event.get("event") == "agent.ended" and event["child"] == agent and event["standing"] == "completed"
            for other in logs.values()
            for event in (line["event"] for line in other if line.get("type") == "event")
        )
        if settled and started != ended:
            problems.append(f"{agent}: started {dict(started - ended)} have no end, {dict(ended - started)} no start")
        if (ended - started) or (settled and told != owed) or (told - owed):
            problems.append(f"{agent}: owed {dict(owed)}, told {dict(told)}")
        for event in ends:
            if full and not last_words(logs.get(event["child"], [])):
                continue
            if event["child"] not in logs:
                problems.append(f"{event['child']} has no transcript")
            elif event["standing"] == "completed" and event["result"] != last_words(logs[event["child"]]):
                problems.append(f"{event['child']} is said to have reported {event['result']!r}")
        children[home.parent.parent.name] += len(started)
    return problems


def lines_of(path: Path) -> list[Json]:
    """The lines of a log; a torn one, that a kill left, is no line."""
    found: list[Json] = []
    for line in path.read_text(errors="replace").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def last_words(lines: list[Json]) -> str:
    """What an agent said last."""
    said = [
        part["text"]
        for line in lines
        if line.get("type") == "assistant"
        for part in line["message"]["content"]
        if part.get("type") == "text"
    ]
    return said[-1] if said else ""
