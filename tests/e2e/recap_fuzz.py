"""Random work through the real command, killed or ended, and the recap of it against the disk, git and a log of runs.

`play(seed, folder)` gives what is wrong, as a list of sentences. What the recap says is told by code from the session's
log; what is true is read from the files, the commits and what the tests wrote down themselves.
"""

import json
import random
import subprocess
import time
from collections.abc import Set
from pathlib import Path
from typing import Any, NamedTuple

from e2e.command import CLEW, Place, with_a_terminal
from fakes.effort import HANG_S
from fakes.fault_script import FaultServer
from fakes.fault_script import Place as Point
from fakes.model_server import Recorded

Json = dict[str, Any]
POLL_S = 0.01
RUNS = ".runs"
"""What each run of the tests wrote down, and whether it was good."""
FIRST = {"alpha.py": "a = 1\n", "beta.py": "b = 1\n", "notes.txt": "first\n"}
MAKEFILE = f"test:\n\t@if [ -f good ]; then echo pass >> {RUNS}; else echo fail >> {RUNS}; exit 1; fi\n"
DENIED = ["--disallowedTools", "Write(secret/**)", "Bash(git push:*)"]


class Truth(NamedTuple):
    """How the folder stands."""

    changed: set[str]
    deleted: set[str]
    commits: list[str]
    tests: list[str]


def calls_of(chance: random.Random) -> list[Json]:
    """What the agent does in one step."""
    seen = [{"call": "Read", "arguments": {"file_path": name}} for name in FIRST if chance.random() < 0.4]
    return [*seen, *(_call(chance) for _ in range(chance.randrange(1, 4)))]


def _call(chance: random.Random) -> Json:
    name = chance.choice(["alpha.py", "beta.py", "notes.txt", "gamma.py", "delta.py", "good"])
    text = f"{name} {chance.randrange(10_000)}\n"
    tracked = chance.choice([*FIRST])
    match chance.randrange(18):
        case 0 | 1 | 2 | 3:
            return {"call": "Write", "arguments": {"file_path": name, "content": text}}
        case 4:
            return _bash(f"rm -f {name}")
        case 5 | 6 | 7:
            return _bash("make test")
        case 8 | 9:
            return _bash(f"git add -A && git commit -qm 'Change {name} {chance.randrange(1000)}'")
        case 10:
            return _bash(f"git checkout -- {tracked}")
        case 11:
            return {"call": "Write", "arguments": {"file_path": "secret/key.py", "content": text}}
        case 12:
            return _bash("git push origin main")
        case 13:
            return _bash(
                chance.choice(["git stash", "git stash pop", "git reset -q --hard", "git reset -q --hard HEAD~1"])
            )
        case 14:
            return _bash(f"echo {chance.randrange(1000)} > {name}")
        case 15:
            return _bash(f"mv {tracked} moved_{tracked}")
        case 16:
            return _bash(f"sed -i 1s/^/{chance.randrange(9)}/ {tracked}")
        case _:
            return _bash(f"rm {tracked}")


def _bash(command: str) -> Json:
    return {"call": "Bash", "arguments": {"command": command}}


def play(seed: int, folder: Path) -> list[str]:
    """Some turns, each a run of its own that goes on with the session; the last may be killed. What is wrong then."""
    chance = random.Random(seed)
    turns = [[calls_of(chance) for _ in range(chance.randrange(1, 4))] for _ in range(chance.randrange(1, 4))]
    killed = chance.choice(["", "", "held", "any"])
    wait_s = chance.uniform(0.0, 1.0)
    replies: list[Json] = []

    def choose(sender: str, request: Recorded) -> Json:
        return replies.pop(0) if replies else {"parts": [{"text": "I did what you asked for."}]}

    folder.mkdir(parents=True)
    with FaultServer(choose) as server:
        assert isinstance(server, FaultServer)
        place = Place(folder, f"{server.url}/run")
        place.env |= {"CLEW_FOREIGN_SESSIONS": "0", "CLEW_SANDBOX": "off", "GIT_CONFIG_GLOBAL": "/dev/null"}
        _begin(place)
        ended = True
        for number, steps in enumerate(turns):
            replies[:] = [{"parts": [{"text": "Now. "}, *step]} for step in steps]
            last = number == len(turns) - 1
            if last and killed == "held":
                replies.append({"parts": [{"text": "Nearly there"}], "hold": Point("in-text", 0, "held")})
            ended = _turn(place, server, number, kill=killed if last else "", wait_s=wait_s)
        if not (session := _session(place)):
            return []  # it was killed before it had a word
        recap: Json = json.loads(place.run("recap", session, "--json").out)
        truth = _truth(place)
    forced = {call["arguments"]["command"].removeprefix("rm -f ") for call in _shells(turns)}
    wrong = wrong_in(recap, truth, ended=ended, whole=killed != "any", unsure=forced)
    return [f"seed {seed}: {line}" for line in wrong]


def _shells(turns: list[list[list[Json]]]) -> list[Json]:
    return [call for steps in turns for calls in steps for call in calls if call["call"] == "Bash"]


def _begin(place: Place) -> None:
    for name, text in {**FIRST, "Makefile": MAKEFILE, ".gitignore": f"{RUNS}\n"}.items():
        (place.project / name).write_text(text)
    named = [["config", f"user.{what}", "a@b.c"] for what in ("name", "email")]
    for args in (["init", "-qb", "main"], *named, ["add", "-A"], ["commit", "-qm", "First"]):
        subprocess.run(["git", *args], cwd=place.project, env=place.env, check=True)


def _turn(place: Place, server: FaultServer, number: int, *, kill: str, wait_s: float) -> bool:
    """Whether the turn came to its end."""
    going_on = ["--continue"] if number else []
    process = subprocess.Popen(
        [CLEW, "-p", f"Do the part {number}", *going_on, "--permission-mode", "bypassPermissions", *DENIED],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=place.project,
        env=place.env,
        preexec_fn=with_a_terminal,
    )
    deadline = time.monotonic() + HANG_S
    until = time.monotonic() + wait_s if kill == "any" else deadline
    while process.poll() is None and time.monotonic() < until and not (kill == "held" and "held" in server.reached):
        time.sleep(POLL_S)
    ended = process.poll() is not None
    process.kill()
    process.communicate()
    if kill == "held":
        server.release("held")
    return ended


def _session(place: Place) -> str:
    return next(map(str, place.clew_home.glob("projects/*/*.jsonl")), "")


def _truth(place: Place) -> Truth:
    skipped = (".git", RUNS, "Makefile", ".gitignore")
    here = {
        str(path.relative_to(place.project)): path.read_text()
        for path in place.project.rglob("*")
        if path.is_file() and path.relative_to(place.project).parts[0] not in skipped
    }
    log = subprocess.run(
        ["git", "log", "--format=%h %s"], cwd=place.project, env=place.env, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    runs = place.project / RUNS
    return Truth(
        changed={name for name, text in here.items() if FIRST.get(name) != text},
        deleted=set(FIRST) - set(here),
        commits=[line for line in log if not line.endswith(" First")],
        tests=runs.read_text().split() if runs.exists() else [],
    )


def wrong_in(recap: Json, truth: Truth, *, ended: bool, whole: bool, unsure: Set[str] = frozenset()) -> list[str]:
    """What the recap says that is not so. `whole`: nothing was on its way when it ended, so all must be told too, but
    for what is `unsure`: nobody knows whether a file was there that `rm -f` removed."""
    told = [fact["text"] for fact in recap["facts"] if fact["field"] == "changed"]
    state, wrong = recap["state"], list[str]()
    if ended and state not in ("idle", "asking"):
        wrong.append(f"it ended and is told as {state}")
    if not ended and state != "interrupted" and whole:
        wrong.append(f"it was killed and is told as {state}")
    if not ended and state not in ("interrupted", "idle"):  # the last words may have been said before it died
        wrong.append(f"it was killed, perhaps at the end, and is told as {state}")
    tests = [text.removeprefix("make test: ") for text in told if text.startswith("make test")]
    commits = [text.removeprefix("commit ") for text in told if text.startswith("commit ")]
    files = [text for text in told if not text.startswith(("make test", "commit ", "push "))]
    gone = {name for text in files if text.endswith(" deleted") for name in _names(text.removesuffix(" deleted"))}
    there = {name for text in files if not text.endswith(" deleted") for name in _names(text)}
    changed = {Path(name).name for name in truth.changed}
    wrong += [f"{name} is told as changed and is as it was" for name in sorted(there - changed)]
    wrong += [f"{name} is told as deleted and is there" for name in sorted(gone - truth.deleted)]
    if whole and len(changed) <= 3:
        wrong += [f"{name} was changed and is not told" for name in sorted(changed - there - unsure)]
    wrong += [f"the push that was refused is told: {text}" for text in told if text.startswith("push ")]
    wrong += [f"commit {one} is told and not in the log" for one in commits if not _is_logged(one, truth.commits)]
    if tests and truth.tests and ("fail" in tests[-1]) is not (truth.tests[-1] == "fail"):
        wrong.append(f"the last run was a {truth.tests[-1]} and is told as {tests[-1]}")
    if tests and not truth.tests:
        wrong.append("tests are told that never ran")
    said = next((fact["text"] for fact in recap["facts"] if fact["field"] == "state"), "")
    if said == "finished" and truth.tests[-1:] == ["fail"]:
        wrong.append("it is told as finished and the last test run failed")
    return wrong


def _is_logged(commit: str, log: list[str]) -> bool:
    """By its hash and subject, or by its subject where git was told to be quiet."""
    return any(commit in (line, line.partition(" ")[2]) or line.startswith(commit[:7]) for line in log)


def _names(text: str) -> list[str]:
    return [name.partition(" +")[0].strip() for name in text.split(",")]
