"""What a tool call would touch, as permissions judge it, and what they say."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.events import RuleOffer

Decision = Literal["allow", "ask", "deny"]
Mode = Literal["default", "plan", "acceptEdits", "bypassPermissions"]
FileOp = Literal["read", "list", "write", "delete"]


class ShellAccess(Struct, frozen=True, kw_only=True):
    """Run this text with `bash --noprofile --norc -c` in this directory."""

    command: str
    cwd: str
    sandboxed: bool = False
    """An enforcing sandbox will hold it: what would only ask may run without asking. Deny rules still hold."""
    leaves_sandbox: bool = False
    """The model wants out of the sandbox that would hold it: always asks, and says so."""
    unkept: tuple[str, ...] | None = None
    """Why what it destroys could not be brought back, a line each; empty: it could. None: that is not known."""


class FileAccess(Struct, frozen=True, kw_only=True):
    """Touch this path. Relative paths count from `cwd`."""

    op: FileOp
    path: str
    cwd: str
    unkept: tuple[str, ...] | None = None
    """As for a command."""


class FetchAccess(Struct, frozen=True, kw_only=True):
    """Send a request to this URL."""

    url: str


class ToolAccess(Struct, frozen=True, kw_only=True):
    """Use a tool that has no narrower subject. `read_only` tools are allowed unless a rule says otherwise."""

    tool: str
    read_only: bool = False
    changed: bool = False
    """It describes itself otherwise than when it was last let run: no rule that allows it counts before a person has
    looked again."""
    subject: str = ""
    """Which of several things of one kind it uses, as a skill: a rule may name it."""
    about: str = ""
    """What it means, for the person who is asked; empty: that it is not known to only read."""


class MemoryAccess(Struct, frozen=True, kw_only=True):
    """Keep this very line in this file, for later sessions. A person decides, whatever the mode and the rules allow."""

    tool: str
    line: str
    path: str
    why: str = "every later session would read this line"


class AgentAccess(Struct, frozen=True, kw_only=True):
    """Start a child agent of this kind. It never has more rights than whoever starts it, so that is allowed unless a
    rule says otherwise."""

    kind: str
    """As its definition calls it."""
    model: str
    """The model that it would really use, as `provider/model`: its own, or its parent's."""


Access = ShellAccess | FileAccess | FetchAccess | ToolAccess | MemoryAccess | AgentAccess


def exact_text(accesses: tuple[Access, ...], called: str) -> str:
    """The exact text that a person decides about. `called`: the tool that the model named; it is not said again where
    another one stands for it."""
    lines: list[str] = []
    for access in accesses:
        match access:
            case ShellAccess(command=command):
                lines.append(command)
            case FileAccess(op=op, path=path):
                lines.append(f"{op} {path}")
            case FetchAccess(url=url):
                lines.append(url)
            case MemoryAccess(line=line, path=path):
                lines.append(f"{path}\n{line}")
            case AgentAccess(kind=kind, model=model):
                lines.append(f"{kind} ({model})" if model else kind)
            case ToolAccess(tool=name):
                lines += [name] if name == called else []  # the way by which it was called is no part of it
    return "\n".join(lines)


class Verdict(Struct, frozen=True, kw_only=True):
    """What permissions say about one access, or about a call as a whole (the strictest of its parts)."""

    decision: Decision
    why: str
    """One sentence for a person."""
    rule: str = ""
    """The rule or table row that decided, if one did."""
    offers: tuple[RuleOffer, ...] = ()
    """What "always" would save, per part."""
    absolute: bool = False
    """A deny that holds in every mode."""
    reads_only: bool = False
    """An allowed shell command that was proven to only read: it has no effect."""
    at_stake: tuple[str, ...] = ()
    """Existing paths whose state would be gone. Whoever knows what is kept of them says so in `unkept`, and asks
    again."""


STRICTNESS: dict[Decision, int] = {"allow": 0, "ask": 1, "deny": 2}


def strictest(verdicts: list[Verdict]) -> Verdict:
    """The verdict of the whole is the strictest of its parts; offers of all asking parts are kept."""
    if not verdicts:
        return Verdict(decision="allow", why="touches nothing")
    worst = max(verdicts, key=lambda verdict: STRICTNESS[verdict.decision])
    stake = tuple(dict.fromkeys(path for verdict in verdicts for path in verdict.at_stake))
    if worst.decision != "ask":
        return replace(worst, at_stake=stake)
    offers = tuple(offer for verdict in verdicts if verdict.decision == "ask" for offer in verdict.offers)
    return Verdict(decision="ask", why=worst.why, rule=worst.rule, offers=offers, at_stake=stake)
