"""Random sessions: a script of prompts, replies, faults and what a person does meanwhile, all from one seed.

Every prompt, text, thought, file and command carries a word of its own (`ask`, `say`, `muse`, `ink` or `fx` and a
number), so that what reached a request can be told from the script alone.
"""

import random
from dataclasses import dataclass, field
from typing import Any, Literal

from fakes.fault_script import Place

Json = dict[str, Any]
Action = Literal["", "interrupt", "kill", "queue", "queue-interrupt", "queue-kill", "interrupt-at-once"]
ANYWHERE: list[Action] = ["interrupt", "interrupt", "kill"]
AT_A_TERMINAL: list[Action] = ["queue", "queue", "queue-interrupt", "queue-kill", "interrupt-at-once"]
HOLD_KINDS = [
    "before",
    "start",
    "opened",
    "in-text",
    "after-text",
    "in-thinking",
    "in-call",
    "after-call",
    "before-stop",
]
CUT_KINDS = [*HOLD_KINDS, "before-end"]
LONGEST = 28
"""The events of the sweep's reply in the dialect that needs most; beyond its end an interrupt meets the next step."""
LINES_OF_A_TURN = 12
"""What a turn of the sweep writes to its transcript."""
PAYLOAD = " and more words of this answer, enough for several events"


@dataclass
class Turn:
    """One prompt and what comes of it."""

    prompt: str
    replies: list[Json]
    action: Action = ""
    at: str = ""
    """The hold, or the word of the running command, at which the action happens."""
    queued: list[str] = field(default_factory=list)
    wait_for_effects: bool = True
    restart: bool = False
    """Afterwards the command is left and started again with `--continue`."""
    commands: list[str] = field(default_factory=list)
    """What is typed before the prompt to change the view."""


@dataclass
class Plan:
    """One session."""

    seed: int
    dialect: str
    terminal: bool
    asks: bool
    fallback: bool
    git: bool
    output_cap: bool
    resume_by_id: bool
    turns: list[Turn]
    answers: dict[str, str]
    """What is answered when this command asks for permission; the others get a yes."""
    ids: str = ""
    """How the server names replies and calls, in words."""
    window: int = 0
    """Of the model, in tokens; 0: what it has by itself."""

    @property
    def changes_view(self) -> bool:
        """Whether what was said may leave the view."""
        return bool(self.window) or any(turn.commands for turn in self.turns)

    def describe(self) -> str:
        """One line per turn, for a report."""
        flags = [name for name in ("terminal", "asks", "fallback", "git", "output_cap") if getattr(self, name)]
        lines = [f"seed {self.seed}: {self.dialect} {' '.join(flags)} ({self.ids})"]
        for turn in self.turns:
            did = f" [{turn.action} at {turn.at or 'once'} {' '.join(turn.queued)}]" if turn.action else ""
            replies = "; ".join(shape(reply) for reply in turn.replies)
            lines += [f"  {line}" for line in turn.commands]
            lines.append(f"  {turn.prompt.split()[0]}{did}: {replies}{' [restart]' if turn.restart else ''}")
        return "\n".join(lines)


def shape(reply: Json) -> str:
    """A reply in a few words."""
    if "status" in reply:
        return str(reply["status"])
    parts = " ".join(word_of(part) for part in reply["parts"]) or "(empty)"
    marks = [f"{key}@{reply[key].kind}.{reply[key].nth}" for key in ("cut", "hold") if key in reply]
    marks += [key for key in ("error", "stop") if key in reply]
    return f"{parts} {' '.join(marks)}".strip()


def word_of(part: Json) -> str:
    """The word by which a part is known."""
    return part.get("word") or part.get("call", "")


def make_plan(seed: int) -> Plan:
    """The session of this seed."""
    return _Writer(seed).plan()


def make_view_plan(seed: int) -> Plan:
    """A session of this seed whose view is made smaller, and brought back, in between."""
    return _ViewWriter(seed).plan()


def make_sweep(dialect: str, *, terminal: bool = True) -> Plan:
    """One session that is interrupted again and again: at every event of a reply, and wherever else it can be."""
    writer = _Writer(0)
    writer.dialect, writer.asks, writer.message_ids, writer.call_ids = dialect, False, "fresh", "fresh"
    turns: list[Turn] = []

    def add(replies: list[Json], action: Action, at: str = "", *, synced: bool = True) -> None:
        turns.append(Turn(writer.prompt(), replies, action, at, wait_for_effects=synced))

    for number, after in enumerate(range(LONGEST)):
        reply = writer.reply([writer.text(), writer.call("read"), writer.effect(), writer.call("read")])
        reply["hold"] = Place("event", after, f"hold{number:03d}")
        add([reply], "interrupt", f"hold{number:03d}", synced=number % 3 > 0)
    for number in range(6):
        running = writer.effect(hangs=True)
        beside = [writer.call("read"), writer.effect()]
        parts = [*beside[: number % 3], running, *beside[number % 3 :]]
        add([writer.reply(parts)], "interrupt", running["word"])
    for number, kind in enumerate(["before", "start", "opened"]):
        last = writer.words() | {"hold": Place(kind, 0, f"late{number}")}
        add([writer.reply([writer.effect(), writer.call("read")]), last], "interrupt", f"late{number}")
    for lines in range(2 * LINES_OF_A_TURN):
        parts = [writer.text(), writer.effect(), writer.call("read"), writer.effect()]
        add([writer.reply(parts), writer.words()], "interrupt", f"line{lines % LINES_OF_A_TURN + 1}")
    for _ in range(3 * terminal):
        add([writer.reply([writer.effect()]), writer.words()], "interrupt-at-once")
    return Plan(
        seed=0,
        dialect=dialect,
        terminal=terminal,
        asks=False,
        fallback=False,
        git=False,
        output_cap=False,
        resume_by_id=True,
        turns=turns,
        answers={},
    )


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.serial = 0
        self.prompts = 0
        self.answers: dict[str, str] = {}
        self.dialect = self.rng.choice(["anthropic", "anthropic", "chat"])
        self.terminal = self.chance(0.7)
        self.asks = self.chance(0.2)
        self.fallback = self.chance(0.3)
        self.message_ids = self.rng.choice(["fresh", "same", "cycle", "missing"])
        self.call_ids = self.rng.choice(["fresh", "by place", "one", "missing"])
        self.payload = PAYLOAD

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def plan(self) -> Plan:
        turns = [self.turn() for _ in range(self.rng.randint(2, 4))]
        turns[-1].restart = False
        return Plan(
            seed=self.seed,
            dialect=self.dialect,
            terminal=self.terminal,
            asks=self.asks,
            fallback=self.fallback,
            git=self.chance(0.3),
            output_cap=self.chance(0.4),
            resume_by_id=self.chance(0.5),
            turns=turns,
            answers=self.answers,
            ids=f"message ids {self.message_ids}, call ids {self.call_ids}",
        )

    def turn(self) -> Turn:
        replies: list[Json] = []
        for _ in range(self.rng.choice([0, 0, 1, 1, 2])):
            replies += [*self.faults(), self.calls()]
        replies += [*self.faults(), self.empty() if self.chance(0.07) else self.words()]
        turn = Turn(prompt=self.prompt(), replies=replies, restart=self.chance(0.12))
        if self.chance(0.5):
            self.act(turn)
        return turn

    def prompt(self) -> str:
        self.prompts += 1
        return f"ask{self.prompts:03d} please go on"

    def act(self, turn: Turn) -> None:
        """What the person does in this turn, and where."""
        turn.action = self.rng.choice(ANYWHERE + AT_A_TERMINAL * self.terminal)
        turn.wait_for_effects = self.chance(0.7)
        if turn.action.startswith("queue"):
            turn.queued = [self.prompt() for _ in range(self.rng.choice([1, 1, 2]))]
        if turn.action == "interrupt-at-once":
            return
        spoken = [reply for reply in turn.replies if "status" not in reply and "cut" not in reply]
        if not self.asks and self.chance(0.3):
            running = self.effect(hangs=True)
            turn.at = running["word"]
            held = self.reply([running])
            turn.replies.insert(self.rng.randint(0, len(turn.replies)), held)
            return
        reply = self.rng.choice(spoken or [self.words()])
        if not any(reply is one for one in turn.replies):
            turn.replies.append(reply)
        turn.at = f"hold{self.serial:03d}"
        reply["hold"] = Place(self.rng.choice(HOLD_KINDS), self.rng.randint(0, 5), turn.at)

    def faults(self) -> list[Json]:
        """What goes wrong before the next good reply."""
        if not self.chance(0.45):
            return []
        kinds = ["cut"] * 9 + ["status"] * 3 + ["limit"] * 4 + ["refused", "cut twice"]
        kind = self.rng.choice(kinds + ["overload"] * 3 * self.fallback)
        match kind:
            case "cut":
                return [self.cut()]
            case "cut twice":
                return [self.cut(), self.cut()]
            case "status":
                return [self.status(self.rng.choice([500, 529, 429])) for _ in range(self.rng.choice([1, 1, 2]))]
            case "overload":
                return [self.status(529) for _ in range(3)]
            case "limit":
                return [self.limited() for _ in range(self.rng.choice([1, 2, 2, 3, 5]))]
            case _:
                return [self.status(400)]

    def status(self, status: int) -> Json:
        return {"status": status, "parts": []}

    def cut(self) -> Json:
        reply = self.calls() if self.chance(0.6) else self.words()
        reply["cut"] = Place(self.rng.choice(CUT_KINDS), self.rng.randint(0, 5))
        ending = self.rng.choice(["", "", "torn", "error"])
        return reply | ({ending: True} if ending else {})

    def limited(self) -> Json:
        reply = self.calls() if self.chance(0.2) else self.words()
        if self.chance(0.2):
            reply["parts"].append({"call": "Bash", "arguments": '{"command": "echo ', "word": "torn"})
            reply = self.reply(reply["parts"])
        return reply | {"stop": "max_tokens"}

    def empty(self) -> Json:
        return self.reply([])

    def words(self) -> Json:
        parts = [self.thought()] if self.chance(0.3) else []
        count = 2 if self.dialect == "anthropic" and self.chance(0.3) else 1
        return self.reply([*parts, *(self.text() for _ in range(count))])

    def calls(self) -> Json:
        parts = [self.thought()] if self.chance(0.3) else []
        parts += [self.text()] if self.chance(0.6) else []
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            kind = self.rng.choice(["effect"] * 5 + ["read"] * 3 + ["denied", "unknown", "malformed"])
            parts.append(self.effect() if kind == "effect" else self.call(kind))
        if self.dialect == "anthropic" and self.chance(0.15):
            parts.append(self.text())
        return self.reply(parts)

    def reply(self, parts: list[Json]) -> Json:
        self.serial += 1
        calls = sum("call" in part for part in parts)
        named = {"same": "msg_same", "cycle": f"msg_{self.serial % 2}", "missing": ""}.get(self.message_ids)
        ids = {"by place": [f"call_{at}" for at in range(calls)], "one": ["call_0"] * calls, "missing": [""] * calls}
        reply: Json = {"parts": parts}
        if named is not None:
            reply["message_id"] = named
        if self.call_ids in ids:
            reply["call_ids"] = ids[self.call_ids]
        return reply

    def word(self, kind: str) -> str:
        self.serial += 1
        return f"{kind}{self.serial:03d}"

    def text(self) -> Json:
        word = self.word("say")
        return {"text": f"{word}{self.payload}", "word": word}

    def thought(self) -> Json:
        word = self.word("muse")
        return {"thinking": f"{word}{PAYLOAD}", "signature": f"sig-{word}", "word": word}

    def effect(self, *, hangs: bool = False) -> Json:
        word = self.word("fx")
        if self.asks and self.chance(0.4):
            self.answers[word] = self.rng.choice(["n", "n another way please", "\x03" if self.terminal else "n"])
        wait = f"read -r line < {word}.fifo; " if hangs else ""
        arguments = {"command": f"echo {word} >> trace.txt; {wait}echo ok-{word}"}
        return {"call": "Bash", "arguments": arguments, "word": word, "kind": "effect", "hangs": hangs}

    def call(self, kind: str) -> Json:
        word = self.word("ink")
        match kind:
            case "read":
                named: Json = {"call": "Read", "arguments": {"file_path": f"{word}.txt"}}
            case "denied":
                named = {"call": "Bash", "arguments": {"command": f"touch {word}.denied"}}
            case "unknown":
                named = {"call": "Teleport", "arguments": {"where": word}}
            case _:
                named = {"call": "Bash", "arguments": f'{{"command": "echo {word}'}
        return named | {"word": word, "kind": kind}


class _ViewWriter(_Writer):
    """Longer answers, so that there is something to gain, and commands between the turns."""

    def plan(self) -> Plan:
        self.terminal = self.chance(0.3)  # a command's answer and a prompt are told apart there, but slowly
        self.payload = PAYLOAD * self.rng.choice([8, 20])
        plan = super().plan()
        while len(plan.turns) < 4:
            plan.turns.append(self.turn())
        for turn in plan.turns[1:]:
            turn.commands = [self.command() for _ in range(self.rng.choice([0, 1, 1, 2, 3]))]
        plan.window = self.rng.choice([0, 0, 9_000]) if plan.dialect == "chat" else 0
        plan.fallback = plan.fallback and not plan.window
        return plan

    def command(self) -> str:
        word = f"{self.rng.choice(['say', 'fx', 'ink'])}{self.rng.randint(1, max(1, self.serial)):03d}"
        kinds = ["/compact"] * 5 + ["/compact fast"] * 2 + ["/compact undo --force"] * 3 + ["/compact undo", "/clear"]
        kinds += ["/compact snip 1 1", "/compact snip 2 3", f"/rewind {self.rng.randint(1, 3)} --conversation"]
        kinds += [f"/pin keep{self.serial:03d} in mind", "/pin last", "/unpin 1", f"/recall {word}"]
        return self.rng.choice(kinds)
