"""Lives of checkouts through the real command, killed with -9 at random moments, and read back by git and file names.

`play(seed, folder)` gives what is wrong, as a list of sentences; none means that no work was lost that an agent was
told it had done, that every checkout on disk has a receipt and every receipt a checkout, that unchanged ones are gone,
and that the user's own checkout is as it was. `lives` counts the checkouts that were worked in.
"""

import json
import os
import random
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

from clew.host.workspace import remember_trust
from e2e.agent_fuzz import CLEW, MAX_DELAY_S, NODE, Json, killed
from fakes.effort import HANG_S
from fakes.model_server import Answer, ModelServer, Recorded

FREELY = ("--permission-mode", "bypassPermissions")
KINDS = ("nothing", "write", "commit", "both", "stash")
lives: Counter[str] = Counter()
"""How many checkouts were worked in, over all plays of this process."""


class CheckoutServer(ModelServer):
    """Plays a conversation that starts isolated agents; what each does follows from the seed and its number."""

    def __init__(self, seed: int, *, own: bool) -> None:
        super().__init__([])
        self._seed = seed
        self._own = own
        """The conversation itself works in a checkout."""
        self.done: set[str] = set()
        """Nodes whose work was told to be done: from then on it must never be lost."""
        self.seen: set[str] = set()
        """Nodes that worked."""

    def _answer(self, connection: Any, request: Recorded) -> bool:
        if "messages" not in request.body:
            return super()._answer(connection, request)  # what models there are
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            reply = self.reply(request.body)
        time.sleep(random.random() * MAX_DELAY_S)
        return Answer(self, connection, request, number, reply).send()

    def reply(self, body: Json) -> Json:
        """First the work of the node, then its report."""
        found = NODE.search(json.dumps(body["messages"][0]))
        node = found.group(1) if found else "?"
        spoken = sum(message["role"] == "assistant" for message in body["messages"])
        if node != "0" or self._own:
            self.seen.add(node)
        results = [
            part
            for message in body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part.get("type") == "tool_result"
        ]
        if spoken and (node != "0" or self._own) and self.marked(results, node):
            self.done.add(node)
        if spoken:
            return {"text": f"REPORT {node}."}
        calls = [self.work(node)] if node != "0" or self._own else []
        return {"calls": [*calls, *(self.children() if node == "0" and not self._own else [])]}

    def marked(self, results: list[Json], node: str) -> bool:
        """The command said that it came to its end."""
        return any(f"DONE {node}" in json.dumps(result.get("content")) for result in results)

    def kind(self, node: str) -> str:
        return random.Random(f"{self._seed} {node}").choice(KINDS)

    def content(self, node: str) -> str:
        return f"work of {self._seed} {node}"

    def work(self, node: str) -> Json:
        """One command, so that it is told as done as a whole."""
        kind, words = self.kind(node), self.content(node)
        lines = {
            "nothing": "cat a.txt",
            "write": f"echo '{words}' > work.txt",
            "commit": f"echo '{words}' > work.txt; git add -A; git commit -qm work",
            "both": f"echo first > other.txt; git add -A; git commit -qm one; echo '{words}' > work.txt",
            "stash": f"echo '{words}' > work.txt; git add -A; git stash -q",
        }
        return {"call": "Bash", "arguments": {"command": f"set -e; {lines[kind]}; sync; echo DONE {node}"}}

    def children(self) -> list[Json]:
        chance = random.Random(f"{self._seed} children")
        calls: list[Json] = []
        for number in range(chance.randrange(2, 6)):
            arguments: Json = {"description": f"node {number}", "prompt": f"NODE 0.{number}"}
            arguments["isolation"] = chance.choice(("worktree", "worktree", "worktree+changes"))
            if chance.random() < 0.5:
                arguments["run_in_background"] = True
            calls.append({"call": "Agent", "arguments": arguments})
        return calls


def git(project: Path, *words: str) -> str:
    """Git without any code or setting of ours; empty where it fails."""
    env = {"PATH": os.environ["PATH"], "HOME": "/proc/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    env |= {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(["git", *words], cwd=project, env=env, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def play(seed: int, folder: Path, *, kills: int = 3) -> list[str]:
    """One conversation with its checkouts, to its end, and their removal."""
    chance = random.Random(seed)
    own = chance.random() < 0.3
    home, project = folder / "home", folder / "project"
    home.mkdir(parents=True)
    project.mkdir()
    (project / "a.txt").write_text("one\n")
    for words in (("init", "-q", "-b", "trunk"), ("config", "user.name", "x"), ("config", "user.email", "x@y")):
        git(project, *words)
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    if chance.random() < 0.5:
        (project / "uncommitted.txt").write_text("mine\n")
    remember_trust(home / ".clew", project)
    before = state_of(project)
    server = CheckoutServer(seed, own=own)
    with server:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "CLEW_HOME": str(home / ".clew"),
            "CLEW_MODEL": "anthropic/claude-sonnet-4-5",
            "ANTHROPIC_API_KEY": "sk-ant-test-canary-000000000000",
            "ANTHROPIC_BASE_URL": server.url,
            "LANG": "C.UTF-8",
        }
        first = [CLEW, "-p", "NODE 0", *FREELY, *(("--worktree", "own") if own else ())]
        for number in range(chance.randrange(kills + 1)):
            argv = [CLEW, "-c", "-p", f"go on {number}", *FREELY] if begun(home) else first
            killed(argv, project, env, after_requests=server, chance=chance)
        last = [CLEW, "-c", "-p", "the end", *FREELY] if begun(home) else first
        done = run(last, project, env)
        problems = [] if done.returncode == 0 else [f"the last run ended with {done.returncode}: {done.stderr[-500:]}"]
        problems += wrong_in(home, project, server)
        cleaning = run([CLEW, "doctor", "--clean-worktrees"], project, env)
        problems += wrong_after_cleaning(home, project, server, cleaning.stdout)
    lives[folder.parent.name] += len(server.seen)
    if state_of(project) != before:
        problems.append("the user's own checkout or branches changed")
    if "error" in git(project, "fsck", "--strict"):
        problems.append("the repository is damaged")
    shutil.rmtree(folder, ignore_errors=True)
    return problems


def run(argv: list[str], project: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(argv, cwd=project, env=env, capture_output=True, timeout=HANG_S, check=False, text=True)


def begun(home: Path) -> bool:
    return bool(list(home.glob(".clew/projects/*/*.jsonl")))


def state_of(project: Path) -> tuple[str, str, str]:
    """The user's files, index and branches; refs below refs/clew are what agents give back."""
    listed = git(project, "for-each-ref", "refs/heads", "refs/tags", "refs/stash")
    return git(project, "status", "--porcelain"), listed, git(project, "rev-parse", "HEAD")


def kept_work(project: Path) -> str:
    """The content of every commit that agents gave back."""
    refs = git(project, "for-each-ref", "--format=%(refname)", "refs/clew").split()
    return "\n".join(git(project, "show", f"{ref}:work.txt") for ref in refs)


def wrong_in(home: Path, project: Path, server: CheckoutServer) -> list[str]:
    """After the last run, before anything is cleaned: by names of files and by git alone."""
    trees = {path.name for path in Path(f"{home}/.clew-worktrees").glob("*")}
    receipts = {path.stem: json.loads(path.read_text()) for path in (home / ".clew" / "worktrees").glob("*.json")}
    problems = [f"{name} has no receipt" for name in trees - set(receipts)]
    problems += [f"the receipt {name} has no checkout" for name in set(receipts) - trees]
    problems += [f"{name} is {found['state']}" for name, found in receipts.items() if found["state"] != "kept"]
    problems += [
        f"{name} was kept and is unchanged"
        for name, found in receipts.items()
        if "nothing was changed" in found.get("why", "")
    ]
    return problems + lost_work(project, server)


def lost_work(project: Path, server: CheckoutServer) -> list[str]:
    kept = kept_work(project)
    return [
        f"the work of {node} ({server.kind(node)}) is lost"
        for node in sorted(server.done)
        if server.kind(node) != "nothing" and server.content(node) not in kept
    ]


def wrong_after_cleaning(home: Path, project: Path, server: CheckoutServer, said: str) -> list[str]:
    left = [path.name for path in Path(f"{home}/.clew-worktrees").glob("*")]
    receipts = list((home / ".clew" / "worktrees").glob("*.json"))
    problems = [f"after cleaning {left} and {len(receipts)} receipts are left: {said}"] if left or receipts else []
    return problems + [f"after cleaning {line}" for line in lost_work(project, server)]
