"""Plays a random session through the real command, then goes on with it in every way there is.

`play(make_plan(seed), folder)` gives what is wrong, as a list of sentences; none means that the live process, a new one
that resumes, a fork, and what was exported and read back all go on with the conversation that the script knows of.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

from e2e.conversation_check import Going, check, on_disk
from e2e.conversation_person import POLL_S, WAIT_S, Person, Stuck
from e2e.conversation_plan import Plan, Turn, make_sweep
from fakes.fault_script import Delivery, FaultServer, TurnReplies
from fakes.model_server import Recorded

Json = dict[str, Any]
CLEW = str(Path(sys.executable).parent / "clew")
LAST = "ask999 and what now"
EFFECT_WAIT_S = 3.0
"""How long a cut waits for the commands before it. Their trace tells whether they ran, so either way is right."""
SAID = re.compile(r"say\d{3}")
PROMPT = re.compile(rb"ask\d{3}")
RECORD = b"You keep the record of a coding session"
CHANGES = (
    b'"subtype":"compact_boundary"',
    b'"subtype":"snip_boundary"',
    b'"event":"context.trimmed"',
    b'"event":"compaction.undone"',
    b'"event":"rewound"',
)
ANTHROPIC = ("anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5")
CHAT = ("ollama/fake-model", "ollama/other-model")


class Play:
    """One session, its home, its project and its server."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.home = folder / "clew"
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        self.trace = self.project / "trace.txt"
        self.replies = TurnReplies(self.one_more)
        self.more = 0
        self.server = FaultServer(self.choose)
        self.server.before_cut = self.await_effects
        self.person: Person | None = None
        self.going: Going | None = None
        """What the session came to, when it did not get stuck."""
        self.starts: list[int] = []
        """How many requests had been made when each live process began."""
        self.asked: list[tuple[str, bool]] = []
        self.interrupted: list[tuple[str, int]] = []
        """Prompts whose turn was interrupted, and how many replies were asked for until it was over."""
        """The prompts in their order, and whether each must be in the conversation."""
        self.changes: list[int] = []
        """How many changes of view the log told of when each of these requests came."""
        self.lines = 0
        """The lines of the transcript when the turn began."""
        self.began = date.today()
        prepare(plan, self.project)
        if plan.window:
            facts = {"window": plan.window, "maxOutputTokens": 1_024}
            models = {name.partition("/")[2]: facts for name in CHAT}
            self.home.mkdir()
            (self.home / "settings.json").write_text(json.dumps({"providers": {"ollama": {"models": models}}}))

    def choose(self, sender: str, request: Recorded) -> Json:
        """What is asked after the session is not part of it."""
        if is_summary(request):
            return record_of(request)
        if sender == "live":
            self.changes.append(view_changes(self.home))
            if LAST.encode() not in request.raw:
                return self.replies.take()
        return {"parts": [{"text": "the end"}]}

    def one_more(self) -> Json:
        """A turn may ask more often than its script foresees."""
        self.more += 1
        word = f"say{900 + self.more:03d}"
        return {"parts": [{"text": f"{word} that is all", "word": word}]}

    def ran(self) -> list[str]:
        """The commands that left their trace, in order."""
        return self.trace.read_text().split() if self.trace.exists() else []

    def await_effects(self, delivery: Delivery) -> None:
        """Commands before a cut get the time to run."""
        wanted = effects_of(delivery, self.plan)
        deadline = time.monotonic() + EFFECT_WAIT_S
        while not wanted <= set(self.ran()) and time.monotonic() < deadline:
            time.sleep(POLL_S)

    def command(self, *more: str) -> list[str]:
        """The command line that is the same for all ways to go on."""
        models = ANTHROPIC if self.plan.dialect == "anthropic" else CHAT
        mode = "default" if self.plan.asks else "bypassPermissions"
        flags = ["--plain", "--trust", "--model", models[0], "--permission-mode", mode]
        flags += ["--disallowed-tools", "Bash(touch *)"]
        flags += ["--fallback-model", models[1]] if self.plan.fallback else []
        return [CLEW, *flags, *more]

    def env(self, sender: str, home: Path) -> dict[str, str]:
        """A process that speaks to our server under its own name."""
        url = f"{self.server.url}/{sender}"
        more = {"CLEW_MAX_OUTPUT_TOKENS": "4000"} if self.plan.output_cap else {}
        if sender != "live":  # ended at its first request, long before anybody could read where things stand
            more["CLEW_RECAP"] = "0"
        return more | {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CLEW_HOME": str(home),
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": url,
            "OLLAMA_BASE_URL": f"{url}/v1",
            "CLEW_SANDBOX": "off",
            "CLEW_FAST_MODEL": "none",
            "CLEW_FOREIGN_SESSIONS": "0",
            "TERM": "xterm",
            "NO_COLOR": "1",
            "LANG": "C.UTF-8",
        }

    def start(self, *more: str) -> Person:
        """The live process, the first or the next."""
        self.starts.append(len(self.live()))
        self.person = Person(
            self.command(*more),
            self.project,
            self.env("live", self.home),
            terminal=self.plan.terminal,
            answers=self.plan.answers,
        )
        return self.person

    def live(self) -> list[Delivery]:
        """What the live processes asked, but for summaries."""
        return [one for one in self.server.of("live") if not is_summary(one.request)]

    def run(self) -> list[str]:
        """All of it. The words of a `Stuck` are one of the faults found."""
        try:
            with self.server:
                try:
                    self.turns()
                    return self.compare()
                except Stuck as stuck:
                    return [f"stuck: {stuck}"]
        finally:
            if self.person is not None:
                self.person.kill()
            release_all(self.project)

    def turns(self) -> None:
        """Every turn of the plan."""
        person = self.start()
        for turn in self.plan.turns:
            if not self.plan.terminal and person.interrupted and turn.action:
                person = self.restart(person)  # a second signal soon after the first would end the command
            person = self.turn(person, turn)
            if turn.restart and person.open:
                person = self.restart(person)

    def restart(self, person: Person) -> Person:
        """Left in order, and opened again."""
        person.leave()
        return self.start("--continue")

    def turn(self, person: Person, turn: Turn) -> Person:
        """One turn and what the person does in it."""
        self.replies.load(turn.replies)
        before, interrupts = len(self.live()), person.interrupts
        self.lines = line_count(self.home)
        for line in turn.commands:
            person.order(line)
        person.say(turn.prompt)
        self.asked.append((turn.prompt, True))
        if turn.action == "interrupt-at-once":
            person.wait(lambda: turn.prompt in person.text, "the prompt is shown")
            person.interrupt()
        elif turn.action and self.comes(person, turn):
            for line in turn.queued:
                person.queue(line)
                self.asked.append((line, True))
            if turn.action.endswith("kill"):
                return self.kill(person, turn, before)
            if turn.action.endswith("interrupt"):
                before = self.disturb(before)
                person.interrupt()
            self.release(person, turn)
        typed = turn.queued if self.asked[-1][0] in turn.queued else []
        person.wait(lambda: person.idle(typed), "the turn is over")
        if person.interrupts > interrupts and not turn.queued:
            for delivery in self.live()[before:]:
                delivery.disturbed = True
            self.interrupted.append((turn.prompt, len(self.live())))
        person.forget_interrupt()
        return person

    def comes(self, person: Person, turn: Turn) -> bool:
        """Whether the moment of the action comes; the turn may end before."""
        running = turn.at.startswith("fx")

        def there() -> bool:
            return turn.at in (self.ran() if running else self.server.reached)

        if turn.at.startswith("line"):
            # Looked at without a pause: what is between two lines of the transcript takes less than one.
            wanted = self.lines + int(turn.at[4:])
            person.watch(lambda: line_count(self.home) >= wanted)
            return True
        person.wait(lambda: there() or person.idle(), f"{turn.at} or the end of the turn")
        if not there():
            return False
        newest = self.live()[-1]
        if not running and turn.wait_for_effects:
            words = SAID.findall(newest.shown)
            person.wait(lambda: all(word in person.text for word in words), f"{words} on the screen")
            wanted = effects_of(newest, self.plan)
            deadline = time.monotonic() + EFFECT_WAIT_S
            person.wait(lambda: wanted <= set(self.ran()) or time.monotonic() > deadline, "commands run")
        return True

    def disturb(self, before: int) -> int:
        """From here on the newest reply of the turn may be taken in part; its number."""
        newest = max(before, len(self.live()) - 1)
        for delivery in self.live()[newest:]:
            delivery.disturbed = True
        return newest

    def disturb_late(self) -> None:
        """On a busy machine a request is met by the server only when the turn that sent it was interrupted and is over:
        nobody was there to take the reply."""
        for prompt, since in self.interrupted:
            for delivery in self.live()[since:]:
                if PROMPT.findall(delivery.request.raw)[-1:] == [prompt.split()[0].encode()]:
                    delivery.disturbed = True

    def kill(self, person: Person, turn: Turn, before: int) -> Person:
        """SIGKILL; what was typed and had not joined was only in memory."""
        self.disturb(before)
        person.kill()
        self.server.release(turn.at)
        sent = b"".join(delivery.request.raw for delivery in self.live())
        self.asked = [(line, must and (line not in turn.queued or line.encode() in sent)) for line, must in self.asked]
        return self.start("--continue")

    def release(self, person: Person, turn: Turn) -> None:
        """Let the held reply go on. A running command stays: only an interrupt or its fifo ends it."""
        if turn.at.startswith("fx"):
            if not turn.action.endswith("interrupt"):
                fifo = self.project / f"{turn.at}.fifo"
                person.wait(lambda: feed(fifo), f"a reader of {fifo.name}")
        else:
            self.server.release(turn.at)

    def compare(self) -> list[str]:
        """The same prompt to the live process and to every other way to go on."""
        assert self.person is not None
        self.person.ready()
        paths = list(self.home.glob("projects/*/*.jsonl"))
        if len(paths) != 1:
            return [f"home: {len(paths)} transcripts instead of one"]
        for name in ("resumed", "forked", "export"):
            shutil.copytree(self.home, self.folder / name, ignore=shutil.ignore_patterns("*.sock"))
        ways, wrong = self.ways(paths[0].stem)
        wrong += self.go_on(ways)
        before = len(self.live())
        self.person.say(LAST)
        self.person.wait(lambda: len(self.live()) > before, "a request of the live process")
        last = {"live": self.live()[before], **{name: self.server.of(name)[0] for name in ways if self.server.of(name)}}
        self.disturb_late()
        self.going = Going(
            dialect=self.plan.dialect,
            last={name: delivery.request.body for name, delivery in last.items()},
            deliveries=self.live()[: before + 1],
            starts=self.starts,
            asked=[*self.asked, (LAST, True)],
            ran=self.ran(),
            answers=self.plan.answers,
            dates=(self.began.isoformat(), date.today().isoformat()),
            changes=self.changes,
            keeps_all=not self.plan.changes_view,
        )
        return wrong + check(self.going)

    def ways(self, session: str) -> tuple[dict[str, list[str]], list[str]]:
        """The flags with which each way goes on, and what is wrong with the exports."""
        chosen = ["--resume", session] if self.plan.resume_by_id else ["--continue"]
        ways = {"resumed": chosen, "forked": [*chosen, "--fork-session"]}
        env = self.env("export", self.folder / "export")
        wrong: list[str] = []
        for kind in ("jsonl", "claude-code"):
            file = self.folder / f"{kind}.jsonl"
            line = [CLEW, "export", session, "--to", kind, "-o", str(file)]
            made = subprocess.run(
                line, env=env, cwd=self.project, capture_output=True, text=True, timeout=WAIT_S, check=False
            )
            if made.returncode:
                wrong.append(f"{kind}: the export failed: {made.stderr}")
            else:
                ways[kind] = ["--resume", str(file)]
        return ways, wrong

    def go_on(self, ways: dict[str, list[str]]) -> list[str]:
        """A process for each way, until its first request is there."""
        wrong: list[str] = []
        people: dict[str, Person] = {}
        try:
            for name, flags in ways.items():
                env = self.env(name, self.folder / name)
                people[name] = Person(self.command(*flags), self.project, env, terminal=False, answers={})
                people[name].say(LAST)
            for name, person in people.items():
                try:
                    person.wait(lambda name=name: bool(self.server.of(name)), f"a request of {name}")
                except Stuck as stuck:
                    wrong.append(f"{name}: {stuck}")
        finally:
            for person in people.values():
                person.kill()
        return wrong


def record_of(request: Recorded) -> Json:
    """What a good summariser answers: lines about what the stretch holds."""
    said = list(dict.fromkeys(SAID.findall(request.raw.decode())))[:6] or ["more words"]
    return {
        "parts": [
            {"text": "# Some words\n## Done\n" + "\n".join(f"- Answered with {word} and more words" for word in said)}
        ]
    }


def is_summary(request: Recorded) -> bool:
    """Whether a request asks for a section of a summary."""
    return RECORD in request.raw


def view_changes(home: Path) -> int:
    """How many lines of the transcript change what is sent."""
    return sum(sum(path.read_bytes().count(mark) for mark in CHANGES) for path in home.glob("projects/*/*.jsonl"))


def effects_of(delivery: Delivery, plan: Plan) -> set[str]:
    """The commands of a reply that were sent whole and may run."""
    whole = delivery.reply["parts"][: delivery.whole_parts]
    return {part["word"] for part in whole if part.get("kind") == "effect" and part["word"] not in plan.answers}


def line_count(home: Path) -> int:
    """How many lines the transcript has."""
    return sum(path.read_bytes().count(b"\n") for path in home.glob("projects/*/*.jsonl"))


def prepare(plan: Plan, project: Path) -> None:
    """The files that the script's calls read, and the fifos its commands wait at."""
    if plan.git:  # what git tells of the project changes with the first command that runs
        begin = "git init -q && touch trace.txt && git add . && git -c user.name=a -c user.email=a@b commit -qm first"
        subprocess.run(["sh", "-c", begin], cwd=project, check=True)
    for part in (part for turn in plan.turns for reply in turn.replies for part in reply["parts"]):
        if part.get("kind") == "read":
            (project / f"{part['word']}.txt").write_text(f"inside-{part['word']}\n")
        if part.get("hangs"):
            os.mkfifo(project / f"{part['word']}.fifo")


def feed(fifo: Path) -> bool:
    """A line for whoever waits at the fifo; False when nobody does."""
    try:
        descriptor = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    os.write(descriptor, b"go\n")
    os.close(descriptor)
    return True


def release_all(project: Path) -> None:
    """Commands that a killed process left waiting end."""
    for path in project.glob("*.fifo"):
        if stat.S_ISFIFO(path.stat().st_mode):
            feed(path)


def sweep(dialect: str, folder: Path) -> list[str]:
    """What is wrong with a session that is interrupted everywhere."""
    played = Play(make_sweep(dialect), folder)
    wrong = played.run()
    if played.going is not None:
        (transcript,) = played.home.glob("projects/*/*.jsonl")
        wrong += on_disk(played.going, transcript.read_text())
    return wrong


def play(plan: Plan, folder: Path) -> list[str]:
    """What is wrong with the session of this plan; it is played in `folder`, which must not exist."""
    return Play(plan, folder).run()
