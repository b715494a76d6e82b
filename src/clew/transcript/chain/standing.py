"""How a session stands by the lines of its log: what lists, recaps and a resume go by. `protocol/standing` decides."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, cast

from msgspec import Struct

from clew.protocol.entries import (
    ApprovalEntry,
    AssistantEntry,
    ChainEntry,
    Entry,
    EventEntry,
    LastPromptEntry,
    SessionStateEntry,
    SystemEntry,
    SystemPromptEntry,
    TombstoneEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    Answered,
    Ask,
    CompactionEnded,
    Durable,
    ElicitationRequested,
    Rewound,
)
from clew.protocol.ids import AgentId, EntryId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.protocol.standing import STOPPED_BY, Actor, Standing, is_quota, standing_after, standing_of
from clew.protocol.state import AgentState
from clew.transcript.mapping.typed_text import is_interruption, is_prompt

QUESTION_TOOLS = frozenset({"AskUserQuestion", "AskUser"})
UNANSWERED = "unanswered"
"""Detail of a state: the last request has no reply at all."""
TAKEN_BACK = "taken back"
"""Detail of a state: something was undone since, or brought back."""
IN_TURN = frozenset({"predictive", "reactive"})
"""Kinds of compaction that only a turn brings about."""
MAX_CHARS = 300
Mark = Literal["", "prompt", "call", "result", "text", "ended"]


class OpenWork(NamedTuple):
    """An ask or a child agent that is open, and where in the file it was opened."""

    standing: Standing
    at: int


class StandingFold(Struct, kw_only=True, omit_defaults=True):
    """Small and pure: it can be put away as JSON and gone on with. Feed the entries of the conversation only.

    Our own log tells when a turn ends, what is asked and which child agents run. Of another program's it is inferred:
    who said something last has ended its turn.
    """

    mark: Mark = ""
    """What came last in the conversation; `ended`: `rest` tells how."""
    rest: Standing = Standing.IDLE
    """How the session stands when nothing is open."""
    by: Actor | Literal[""] = ""
    """Who stopped it; empty unless it rests stopped."""
    detail: str = ""
    source: EntryId = EntryId("")
    question: str = ""
    """What the agent asked in its last words or by a tool, unanswered."""
    asked_in: EntryId = EntryId("")
    asked_by: str = ""
    """The call or ask of that question; empty: it stands in plain words."""
    asks: dict[str, OpenWork] = {}
    """What waits for a person, oldest first."""
    agents: dict[AgentId, OpenWork] = {}
    """Child agents that have not ended."""
    at: int = 0
    """Where in the file the entry begins that is fed."""
    worked_at: int = 0
    """Where the last one begins that belongs to a turn."""
    turn_over: bool = False
    """The last entry but its figures ended a turn."""
    is_ours: bool = False
    """Our own log: words before the end of a turn may not be the last."""
    in_turn: bool = False

    def standing(self, *, held: bool, found_bytes: int = 0) -> Standing:
        """How the session stands. `held`: a live process has the right to write it, so what is open goes on; but for
        what was open in the first `found_bytes` already, when that process opened it."""
        asks = [ask.standing for ask in self.asks.values() if ask.at >= found_bytes]
        agents = [child.standing for child in self.agents.values() if child.at >= found_bytes]
        in_turn = self._at_work and self.worked_at >= found_bytes
        lost = not (asks or agents or in_turn)
        asked = next((standing for standing in (*asks, *agents) if standing is not Standing.WORKING), None)
        return standing_of(
            asked=asked,
            at_work=self._at_work or bool(self.asks or self.agents),
            rest=self.rest,
            held=held and not lost,
        )

    @property
    def _at_work(self) -> bool:
        return self.in_turn if self.is_ours else self.mark in ("prompt", "call", "result")

    def left_behind(self) -> None:
        """The process that wrote all this is gone: what was open then was interrupted."""
        rest = self.standing(held=False)
        self.asks, self.agents, self.in_turn = {}, {}, False
        if rest is not self.rest:
            self._rest(rest, self.detail, self.source)

    def feed(self, entry: Entry | ChainEntry, at: int = 0) -> None:
        """Take one more entry, which begins at this byte of the file."""
        self.at = at
        if isinstance(entry, UserEntry):
            self._user(entry)
        elif isinstance(entry, AssistantEntry):
            self._assistant(entry)
        elif isinstance(entry, SystemEntry):
            self._system(entry)
        elif isinstance(entry, ApprovalEntry):
            self._approval(entry)
        elif isinstance(entry, EventEntry):
            self._event(entry.event)
        elif isinstance(entry, SystemPromptEntry):
            self.in_turn = self.in_turn and (self.is_ours or self.mark in ("", "prompt", "call", "result"))
            self.is_ours = True
        elif isinstance(entry, TurnResultEntry):
            self._ended(entry)
        elif isinstance(entry, SessionStateEntry):
            self._figures(entry.state)
        elif isinstance(entry, TombstoneEntry) and self.asked_in in entry.targets:
            self.ask("", EntryId(""))

        if not isinstance(entry, SessionStateEntry | LastPromptEntry):
            self.turn_over = isinstance(entry, TurnResultEntry)

    def _figures(self, state: AgentState) -> None:
        """The figures of a session list its child agents. One that is missing there, and did not end, was lost with its
        process; a turn that ended since is the newer news."""
        known = self.agents
        self.agents = {
            AgentId(row.task_id): OpenWork(row.standing, self.at)
            for row in state.tasks
            if row.kind == "agent" and row.open
        }
        if known.keys() - self.agents.keys() and not (self.turn_over or self.in_turn):
            self._rest(Standing.INTERRUPTED, self.detail, self.source)

    def _approval(self, entry: ApprovalEntry) -> None:
        if entry.decision == "pending":
            self._waits(entry.request_id, Standing.WAITING)
        else:
            self._settled(entry.request_id)

    def _event(self, event: Durable) -> None:
        match event:
            case Ask():
                self._waits(event.request_id, event.standing)
                if isinstance(event, ElicitationRequested):
                    self.ask(event.message[:MAX_CHARS], self.source, event.request_id)
            case Answered():
                self._settled(event.request_id)
            case AgentStarted(child=child):
                self.agents = {**self.agents, child: OpenWork(Standing.WORKING, self.at)}
            case AgentChanged(child=child, standing=standing):
                self.agents = {**self.agents, child: OpenWork(standing, self.at)}
            case AgentEnded(child=child):
                self.agents = {agent: work for agent, work in self.agents.items() if agent != child}
            case CompactionEnded() if event.kind in IN_TURN:
                self._works()
            case Rewound():
                self.in_turn, self.asks, self.agents = False, {}, {}
                self.ask("", EntryId(""))
                self.note("text", TAKEN_BACK, self.source)
            case _:
                pass

    def _works(self) -> None:
        self.in_turn = True
        self.worked_at = self.at

    def _waits(self, request_id: str, standing: Standing) -> None:
        self.asks = {**self.asks, request_id: self.asks.get(request_id, OpenWork(standing, self.at))}

    def _settled(self, request_id: str) -> None:
        self.asks = {known: work for known, work in self.asks.items() if known != request_id}
        if self.asked_by == request_id:
            self.ask("", EntryId(""))

    def _user(self, entry: UserEntry) -> None:
        content = entry.message.content
        words = content if isinstance(content, str) else "\n".join(p.text for p in content if isinstance(p, TextPart))
        results = (
            () if isinstance(content, str) else tuple(part for part in content if isinstance(part, ToolResultPart))
        )
        for part in results:
            self._settled(part.call_id)
            self._works()
            if not (self.mark == "ended" and self.rest in (Standing.STOPPED, Standing.INTERRUPTED)):
                self.note("result", "", entry.uuid)
        if is_interruption(words):
            self._rest(Standing.STOPPED, "", entry.uuid, "user")
        elif entry.is_meta and not entry.is_compact_summary and not results:
            self.asks = {}  # of a process that is gone: nothing joins while somebody is asked
        elif not (entry.is_compact_summary or results or entry.origin == "shell"):
            self._prompt(words, entry.uuid)

    def _prompt(self, words: str, source: EntryId) -> None:
        """In our own log every prompt begins or joins a turn; in others' some lines in its place are no prompts."""
        self._works()
        self.asks = {}
        if words.strip() and is_prompt(words):
            self.ask("", EntryId(""))
            self.note("prompt", UNANSWERED, source)

    def _assistant(self, entry: AssistantEntry) -> None:
        words = "\n".join(part.text for part in entry.message.content if isinstance(part, TextPart))
        if entry.is_api_error_message:
            self._fail(words or entry.error or "API error", entry.uuid, is_limit="rate_limit" in entry.error)
            return
        for part in entry.message.content:
            self._works()
            if isinstance(part, TextPart) and part.text.strip():
                self.said(part.text, entry.uuid)
            elif isinstance(part, ToolCallPart):
                self._call(part, entry.uuid)

    def said(self, text: str, source: EntryId) -> None:
        """Words of the agent's own. `closing_words` also reads what they ask."""
        self.ask("", source)
        self.note("text", "", source)

    def _call(self, part: ToolCallPart, source: EntryId) -> None:
        call = meant_call(part)
        asked = question_of(call.arguments) if call.name in QUESTION_TOOLS else ""
        if asked or self.mark != "call":
            self.ask(asked, source, part.id if asked else "")
        if asked and not self.is_ours:
            self._waits(part.id, Standing.ASKING)
        self.note("call", "", source)

    def _system(self, entry: SystemEntry) -> None:
        if entry.subtype == "interrupted":
            cut_off = bool(entry.data) and (entry.data or {}).get("kind") == "cut_off"
            if not cut_off:
                self._rest(Standing.STOPPED, "", entry.uuid, "user" if "user" in entry.content else "")
            elif self.mark != "text":
                self._rest(Standing.INTERRUPTED, "", entry.uuid)
        elif entry.subtype == "api_error" and entry.content:
            self._fail(entry.content, entry.uuid)
        elif entry.subtype == "informational" and entry.content.startswith("Tokens: ") and self.mark == "result":
            self.note("text", "", entry.uuid)  # Aider has no turns of its own: this line ends a reply

    def _ended(self, entry: TurnResultEntry) -> None:
        self.asks = {}
        self.in_turn = False
        rest = standing_after(entry.reason, entry.error)
        if rest is Standing.IDLE:
            if self.mark != "ended" or self.is_ours:
                self.note("text", self.detail if self.mark == "text" else "", self.source)
        elif rest is Standing.STOPPED:
            self._rest(
                rest, entry.reason, self.source, "session" if entry.by == "session" else STOPPED_BY[entry.reason]
            )
        else:
            self._rest(rest, entry.error[:MAX_CHARS] or entry.reason, self.source)

    def _fail(self, text: str, source: EntryId, *, is_limit: bool = False) -> None:
        rest = Standing.SUSPENDED if is_limit or is_quota(text) else Standing.FAILED
        self._rest(rest, text[:MAX_CHARS], source)

    def ask(self, question: str, source: EntryId, by: str = "") -> None:
        """The agent's open question is this one now."""
        self.question, self.asked_in, self.asked_by = question, source, by

    def _rest(self, rest: Standing, detail: str, source: EntryId, by: Actor | Literal[""] = "") -> None:
        self.note("ended", detail, source)
        self.rest, self.by = rest, by

    def note(self, mark: Mark, detail: str, source: EntryId) -> None:
        """This came last; nothing tells of an ending."""
        self.mark, self.detail, self.source = mark, detail, source
        self.rest, self.by = Standing.IDLE, ""


def question_of(arguments: dict[str, Any]) -> str:
    """The first question of an AskUserQuestion call."""
    listed = arguments.get("questions")
    first = cast("list[object]", listed)[0] if isinstance(listed, list) and listed else arguments
    asked = cast("dict[str, object]", first).get("question") if isinstance(first, dict) else None
    return asked[:MAX_CHARS] if isinstance(asked, str) else ""


def left_in(entries: Sequence[Entry]) -> StandingFold:
    """How a log was left by the process that wrote it. Of ours only what came after the last turn is read."""
    ends = (at for at in range(len(entries) - 1, -1, -1) if isinstance(entries[at], TurnResultEntry))
    fold = StandingFold()
    start = next(ends, 0)
    if start and any(isinstance(entry, SystemPromptEntry) for entry in entries):
        fold.is_ours = True
        entries = entries[start:]
    for entry in entries:
        if not (isinstance(entry, ChainEntry) and entry.is_sidechain):
            fold.feed(entry)
    fold.left_behind()
    return fold
