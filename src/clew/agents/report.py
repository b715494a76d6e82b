"""The report of a child agent: its words, the facts that code took from its log, and how both reach its parent."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from clew.ledger.claims.marks import against
from clew.ledger.facts import Ledger, TestResult
from clew.ledger.fold import fold
from clew.protocol.entries import AssistantEntry, Entry
from clew.protocol.event_kinds.agents import AgentEnded, AgentFacts
from clew.protocol.messages import ToolCallPart
from clew.protocol.standing import Standing
from clew.protocol.tally import Tally
from clew.text.figures import money
from clew.text.redact import redact

NOTICE_BYTES = 1_024
"""What one background child may add to its parent's window."""
RESULT_BYTES = 8_192
"""What a foreground child's words may take where no setting says otherwise."""
MAX_NAMED = 6
MAX_WORDS = 100
LEAST_WORDS = 120
STATUS: dict[Standing, str] = {
    Standing.COMPLETED: "completed",
    Standing.STOPPED: "killed",
    Standing.INTERRUPTED: "interrupted",
    Standing.SUSPENDED: "suspended",
}
"""The word of a notice; anything else failed."""


def facts_of(
    entries: Sequence[Entry], *, said: str = "", first: int = 0, left_running: Sequence[str] = ()
) -> AgentFacts:
    """What a child's log tells of the work that its entries from `first` on hold. What it said is held against all of
    the log: a child that goes on may speak of what it did before."""
    ledger = fold(entries[first:], held=True)
    whole = fold(entries, held=True) if first else ledger
    marks = against(said, whole, elsewhere=_used_servers(entries))
    return replace(from_ledger(ledger, left_running), against=tuple(map(short, marks)))


def _used_servers(entries: Iterable[Entry]) -> bool:
    """Whether it called tools of MCP servers: they may commit, test and write unseen."""
    parts = (part for entry in entries if isinstance(entry, AssistantEntry) for part in entry.message.content)
    return any(isinstance(part, ToolCallPart) and part.name.startswith("mcp__") for part in parts)


def from_ledger(ledger: Ledger, left_running: Sequence[str] = ()) -> AgentFacts:
    """The same from facts that were folded already."""
    commands = [known for known in ledger.commands if known.failed or known.exit_code]
    return AgentFacts(
        files=tuple(file_words(ledger, file.path) for file in ledger.changed_files),
        commands=ledger.command_count,
        failed=tuple(f"exit {known.exit_code}: {short(known.command)}" for known in commands if known.exit_code),
        tests=test_words(ledger.tests[-1], outdated=ledger.current_test is None) if ledger.tests else "",
        commits=tuple(short(f"{one.kind} {one.ref} {one.subject}".strip()) for one in ledger.commits),
        denied=tuple(short(f"{one.tool}: {one.subject}") for one in ledger.approvals if one.decision == "deny"),
        left_running=tuple(map(short, left_running)),
    )


def file_words(ledger: Ledger, path: str) -> str:
    """One changed file: `src/a.py +3 -1`."""
    file = next(known for known in ledger.files if known.path == path)
    base = ledger.cwd.rstrip("/") + "/"
    name = path[len(base) :] if ledger.cwd and path.startswith(base) else path
    if file.deleted:
        return f"{name} deleted"
    counted = f" +{file.added} -{file.removed}" if file.added or file.removed else ""
    return f"{name}{' new' if file.created else ''}{counted}"


def test_words(run: TestResult, *, outdated: bool) -> str:
    """How a test run ended."""
    counts = [f"{count} {word}" for count, word in ((run.passed, "passed"), (run.failed, "failed")) if count]
    told = ", ".join(counts) or {True: "green", False: "red", None: "no result told"}[run.ok]
    return f"{run.runner} {told}{', before the last change' if outdated else ''}"


def short(text: str) -> str:
    """One line of it."""
    line = " ".join(redact(text).split())
    return line if len(line) <= MAX_WORDS else f"{line[: MAX_WORDS - 1]}…"


def facts_lines(facts: AgentFacts) -> list[str]:
    """The facts as lines for a model or a person; what its words are spoken against by comes first."""
    lines = [f"NOT BORNE OUT by its log: {mark}" for mark in facts.against]
    named = (("changed", facts.files), ("made", facts.commits), ("failed", facts.failed), ("denied", facts.denied))
    for word, items in named:
        if items:
            more = f" and {len(items) - MAX_NAMED} more" if len(items) > MAX_NAMED else ""
            lines.append(f"{word}: {'; '.join(items[:MAX_NAMED])}{more}")
    if not facts.files:
        lines.append("changed: no file")
    lines.append(f"commands: {facts.commands}; tests: {facts.tests or 'none ran'}")
    if facts.left_running:
        lines.append(f"ended with it, still running: {'; '.join(facts.left_running[:MAX_NAMED])}")
    return lines


def status_of(standing: Standing) -> str:
    """The word that programs and models read."""
    return STATUS.get(standing, "failed")


def summary_of(ended: AgentEnded) -> str:
    """One line on how it ended and who brought that about."""
    who = {"user": " by the user", "agent": " by an agent", "session": " when the session was closed"}.get(ended.by, "")
    how = {
        Standing.COMPLETED: "has finished",
        Standing.STOPPED: f"was stopped{who}",
        Standing.INTERRUPTED: "was interrupted: the process that ran it died",
        Standing.SUSPENDED: f"stopped at a limit ({ended.reason or 'of the provider'})",
    }.get(ended.standing, f"failed ({ended.reason or 'it never began'})")
    why = f": {short(ended.error)}" if ended.error and ended.standing is not Standing.COMPLETED else ""
    if ended.team:
        idle = "is idle: it has done what it had to do" if ended.standing is Standing.COMPLETED else how
        return f"Teammate {ended.name} {idle}{why}"
    return f'Agent "{short(ended.task)}" {how}{why}'


def usage_words(tally: Tally) -> str:
    """Tokens, money and time of a run."""
    cost = f", {money(tally.cost_usd)}" if tally.cost_usd else ""
    return f"{tally.tokens:,} tokens{cost}, {tally.work_ms / 1000:.0f} s"


def digest(text: str, max_bytes: int) -> str:
    """A text within so many bytes: whole, or its first and its last paragraph, each cut where it must be."""
    text = text.strip()
    if len(text.encode()) <= max_bytes:
        return text
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
    first, last = paragraphs[0], paragraphs[-1]
    if len(paragraphs) == 1:
        return cut(text, max_bytes // 2) + "\n[…]\n" + cut(text, max_bytes - max_bytes // 2 - 7, end=True)
    room = max_bytes - len("\n[…]\n".encode())
    half = min(len(first.encode()), room // 2)
    rest = room - half
    return cut(first, half) + "\n[…]\n" + cut(last, rest, end=True)


def cut(text: str, max_bytes: int, *, end: bool = False) -> str:
    """So many bytes of it at most, never half a character."""
    data = text.encode()
    kept = data[max(0, len(data) - max_bytes) :] if end else data[:max_bytes]
    return kept.decode(errors="ignore")


def escaped(text: str) -> str:
    """Text of a model as data: it opens and closes no tag."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def notice_of(ended: AgentEnded) -> str:
    """What its parent's conversation is told of a background child: an envelope by the runtime, the rest is data."""
    head = [
        f"<task-id>{ended.child}</task-id>",
        *([f"<tool-use-id>{escaped(ended.call_id)}</tool-use-id>"] if ended.call_id else []),
        f"<status>{status_of(ended.standing)}</status>",
        f"<summary>{escaped(cut(summary_of(ended), 200))}</summary>",
        f"<usage>{usage_words(ended.tally)}</usage>",
        *([f"<worktree>{escaped(cut(ended.worktree, 150))}</worktree>"] if ended.worktree else []),
        *([taking(ended)] if ended.work_ref else []),
        *(["<unheld>no sandbox kept its commands in its checkout</unheld>"] if ended.unheld else []),
    ]
    tail = f"All of it: TaskOutput {ended.child}"
    lines = [escaped(line) for line in facts_lines(ended.facts)]
    room = NOTICE_BYTES - len("\n".join(head).encode()) - len(tail) - 100
    facts = cut("\n".join(lines), max(0, room - LEAST_WORDS))
    words = fitting(ended.result, max(0, room - len(facts.encode())))
    body = "\n".join((*head, f"<facts>\n{facts}\n</facts>", f"<result>\n{words}\n</result>", tail))
    return f"<task-notification>\n{body}\n</task-notification>"


def taking(ended: AgentEnded) -> str:
    """How the work of an isolated child is taken over: by a merge, or as a change of what it began with."""
    if not ended.carried:
        return f"<merge>{ended.work_ref}</merge>"
    return f"<apply>git diff --binary {ended.carried[:12]} {ended.work_ref} | git apply</apply>"


def fitting(text: str, max_bytes: int) -> str:
    """Escaped words within so many bytes; escaping makes them longer."""
    size, words = max_bytes, escaped(digest(text, max_bytes))
    while size > 20 and len(words.encode()) > max_bytes:
        size = size * 2 // 3
        words = escaped(digest(text, size))
    return words if len(words.encode()) <= max_bytes else ""


def result_of(ended: AgentEnded, text: str, max_bytes: int, place: str = "") -> str:
    """What a call that waited for the child answers: its words whole where they fit, the facts beside them. `place`:
    what became of its checkout."""
    whole = len(text.encode()) <= max_bytes
    words = text if whole else f"{cut(text, max_bytes * 2 // 3)}\n[…]\n{cut(text, max_bytes // 3, end=True)}"
    said = words.strip() or "(it said nothing)"
    more = "" if whole else f" These are {max_bytes:,} of {len(text.encode()):,} bytes; TaskOutput gives all of them."
    how = "" if ended.standing is Standing.COMPLETED else f"{summary_of(ended)}. What it did and said until then:\n\n"
    facts = "\n".join(facts_lines(ended.facts))
    handle = f"agentId: {ended.child} ({usage_words(ended.tally)}). SendMessage to this id goes on with it.{more}"
    where = f"\n[{place}]" if place else ""
    return f"{how}{said}\n\n[facts from its log]\n{facts}{where}\n[{handle}]"
