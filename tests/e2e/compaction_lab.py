"""A session in a small window, through the real command: a server that counts tokens, and a summariser of one's choice.

What was asked for a summary is told from what the session asked by its system prompt; both are kept apart.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from e2e.conversation_person import WAIT_S, Person
from fakes.fault_script import Delivery, FaultServer
from fakes.model_server import Recorded

Json = dict[str, Any]
CLEW = str(Path(sys.executable).parent / "clew")
MODEL = "ollama/small"
FAST = "ollama/quick"
RECORD = "You keep the record of a coding session"
CHARS_PER_TOKEN = 4
SMALL_WINDOW = 16_000
BALLAST_CHARS = 6_500
"""A small window has few tools and a short prompt; the tests count on requests that are as long as with all of them."""
PROMPT_WORD = re.compile(r"\bask\d{3}\b")
LONG = "some words of a long answer "
Summariser = Callable[[Recorded], Json]


def tokens_of(request: Recorded) -> int:
    """What this server's tokenizer makes of a request: all of its words, and nothing of its frame."""
    body = request.body
    return (len(json.dumps(body["messages"])) + len(json.dumps(body.get("tools", [])))) // CHARS_PER_TOKEN


def is_summary(request: Recorded) -> bool:
    """Whether a request asks for a section."""
    return RECORD.encode() in request.raw


def good(request: Recorded) -> Json:
    """A record of what the stretch speaks of."""
    words = list(dict.fromkeys(PROMPT_WORD.findall(request.raw.decode())))
    return {
        "text": "# What was done\n## Done\n"
        + "\n".join(f"- Explained {word} with some words" for word in words[:8] or ["it"])
    }


class Lab:
    """A home, a project, a server, and one process at a time."""

    def __init__(self, folder: Path, *, window: int = 8_192, settings: Json | None = None, output: int = 1_024) -> None:
        self.folder = folder
        self.home = folder / "clew"
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        self.home.mkdir()
        self.replies: list[Json] = []
        self.last: Json = {"text": "done"}
        self.summariser: Summariser = good
        self.server = FaultServer(self._choose)
        self.people: list[Person] = []
        facts = {"window": window, "maxOutputTokens": output, "images": True}
        self.on_request: Callable[[Recorded], None] = lambda request: None
        """Told of every request of the session, before it is answered."""
        whole: Json = {"providers": {"ollama": {"models": {"small": facts, "quick": facts}}}} | (settings or {})
        (self.home / "settings.json").write_text(json.dumps(whole))
        if window < SMALL_WINDOW:
            (self.home / "AGENTS.md").write_text("Be kind and careful. " * (BALLAST_CHARS // 21))

    def __enter__(self) -> "Lab":
        self.server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for person in self.people:
            person.kill()
        self.server.__exit__(*error)

    def _choose(self, sender: str, request: Recorded) -> Json:
        if is_summary(request):
            reply = self.summariser(request)
        else:
            self.on_request(request)
            reply = self.replies.pop(0) if self.replies else self.last
        filled = {"parts": [{"text": reply["text"]}]} if "text" in reply else {"parts": reply.get("calls", [])}
        usage = {"input": tokens_of(request), "output": len(json.dumps(reply)) // CHARS_PER_TOKEN}
        return {"usage": usage} | filled | {key: value for key, value in reply.items() if key not in ("text", "calls")}

    def env(self, sender: str = "live", **more: str) -> dict[str, str]:
        """A process that speaks to our server under its own name."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CLEW_HOME": str(self.home),
            "OLLAMA_BASE_URL": f"{self.server.url}/{sender}/v1",
            "CLEW_SANDBOX": "off",
            "CLEW_FAST_MODEL": "none",
            "CLEW_FOREIGN_SESSIONS": "0",
            "CLEW_RECAP": "0",
            "TERM": "xterm",
            "NO_COLOR": "1",
            "LANG": "C.UTF-8",
            **more,
        }

    def age(self, by: timedelta) -> None:
        """The whole log, as if it had been written so long ago."""
        old = (datetime.now(UTC) - by).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        self.path.write_text(re.sub(r'"timestamp":"[^"]*"', f'"timestamp":"{old}"', self.path.read_text()))

    def start(
        self, *flags: str, terminal: bool = False, sender: str = "live", columns: int = 200, **env: str
    ) -> Person:
        """A process of its own."""
        command = [CLEW, "--plain", "--trust", "--model", MODEL, "--permission-mode", "bypassPermissions", *flags]
        person = Person(command, self.project, self.env(sender, **env), terminal=terminal, answers={}, columns=columns)
        self.people.append(person)
        return person

    def turn(self, person: Person, text: str) -> str:
        """Say it, wait for the end of the turn, and give what was shown."""
        before = len(person.text)
        person.say(text)
        person.wait(person.idle, f"the end of the turn of {text[:40]!r}")
        return person.text[before:]

    def ask(self, person: Person, line: str, until: str) -> str:
        """A command, until these words appear."""
        before = len(person.text)
        person.say(line)
        person.wait(lambda: re.search(until, person.text[before:]) is not None, f"{until!r} after {line!r}")
        return person.text[before:]

    def clew(self, *args: str, sender: str = "other", code: int = 0) -> str:
        """Another command, to its end."""
        done = subprocess.run(
            [CLEW, *args],
            cwd=self.project,
            env=self.env(sender),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=WAIT_S,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    @property
    def asked(self) -> list[Delivery]:
        """The requests of the session itself."""
        return [one for one in self.server.deliveries if not is_summary(one.request)]

    @property
    def summaries(self) -> list[Delivery]:
        """The requests for sections."""
        return [one for one in self.server.deliveries if is_summary(one.request)]

    @property
    def path(self) -> Path:
        """The only transcript."""
        (path,) = self.home.glob("projects/*/*.jsonl")
        return path

    def entries(self) -> list[Json]:
        """Its lines."""
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def boundaries(self) -> list[Json]:
        """What stands in it as a boundary."""
        return [entry for entry in self.entries() if entry.get("subtype") == "compact_boundary"]

    def events(self, kind: str) -> list[Json]:
        """The recorded events of a kind."""
        return [entry["event"] for entry in self.entries() if entry.get("event", {}).get("event") == kind]


def text_of(request: Recorded) -> str:
    """All words of a request's messages."""
    return json.dumps(request.body["messages"], ensure_ascii=False)


def words(count: int, about: str = LONG) -> str:
    """About so many tokens."""
    return (about * (count * 4 // len(about) + 1))[: count * 4]


def fill(lab: Lab, person: Person, turns: int, tokens: int = 700) -> None:
    """Turns until the window is well used; each prompt has a word of its own."""
    begin = len(lab.asked)
    for number in range(begin, begin + turns):
        lab.last = {"text": f"say{number:03d} {words(tokens)}"}
        lab.turn(person, f"ask{number:03d} please explain")
