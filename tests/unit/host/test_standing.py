"""One standing: what the live state says, what a resume finds and what the row of a list shows are the same.

Random sessions in the order in which the engine tells things: turns that end in every way, asks of every kind, child
agents, compaction, rewinds, commands that the user typed, and processes that die and are followed by another.
"""

import os
import random
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from clew.agents.log import AgentLog
from clew.host.old_past import OldPast
from clew.ledger.fold import LedgerFold
from clew.presentation.story.story import Story
from clew.presentation.story.telling import told
from clew.protocol.base import leaves
from clew.protocol.entries import Entry, SystemPromptEntry
from clew.protocol.events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    Answered,
    ApprovalRequested,
    ApprovalResolved,
    Ask,
    CompactionEnded,
    CompactionStarted,
    ElicitationAnswered,
    ElicitationRequested,
    Event,
    PartCompleted,
    PlanAnswered,
    PlanProposed,
    PromptAccepted,
    QuestionAnswered,
    QuestionAsked,
    Rewound,
    ShellEnded,
    ShellStarted,
    TitleChanged,
    ToolEnded,
    TurnEnded,
    TurnEndReason,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, MessageId, RequestId, new_entry_id
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.protocol.standing import STOPPED_BY, WIRE_WORDS, Standing, as_read, standing_after
from clew.protocol.state import SessionState, after, session_state
from clew.streaming.states import activity_of
from clew.transcript.chain.conversation import Conversation
from clew.transcript.index.digest import Digest
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import NullWriter
from engine.harness import SESSION
from fakes.envelopes import sent

SEEDS = range(int(os.environ.get("CLEW_FUZZ_SEEDS", "60")))
REASONS: tuple[Any, ...] = get_args(TurnEndReason)
CHILD = AgentId("child-1")


def ask_of(kind: str, request_id: RequestId) -> tuple[Ask, Answered]:
    """An ask, and the event that settles it."""
    call = CallId(f"c-{request_id}")
    match kind:
        case "approval":
            about: dict[str, Any] = {"request_id": request_id, "call_id": call, "tool": "Bash", "subject": "make"}
            return ApprovalRequested(**about, why="not known"), ApprovalResolved(**about, decision="allow", by="user")
        case "question":
            return (
                QuestionAsked(request_id=request_id, call_id=call, questions=()),
                QuestionAnswered(request_id=request_id, call_id=call),
            )
        case "plan":
            return (
                PlanProposed(request_id=request_id, call_id=call, plan="1. Look"),
                PlanAnswered(request_id=request_id, call_id=call, decision="accept", by="user"),
            )
        case _:
            return (
                ElicitationRequested(request_id=request_id, server="people", message="For whom?", schema={}),
                ElicitationAnswered(request_id=request_id, server="people", action="decline"),
            )


KINDS = ("approval", "question", "plan", "form")


class Session:
    """A random session: its log, its live state, and everything that was told of it in this process."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.entries: list[Entry] = []
        self.log = self._opened(())
        self.log.keep(SystemPromptEntry(blocks=("x",), **self.log.stamp.keyed()))
        self.state = SessionState()
        self.story = Story()
        self.found = 0
        """How many entries were there when this process opened the log."""
        self.open: dict[RequestId, tuple[AgentId, Answered]] = {}
        self.in_turn = False
        self.fresh = False
        """The turn has begun and nothing of it is on disk yet."""
        self.number = 0

    def _opened(self, entries: tuple[Entry, ...]) -> AgentLog:
        conversation = Conversation(NullWriter(), session_id=SESSION, entries=entries)
        return AgentLog(conversation, NullWriter(), Stamp(session_id=SESSION, cwd="/project"))

    def tell(self, event: Event, agent: AgentId = MAIN_AGENT) -> None:
        """The event is recorded, where the main agent's log is its log, and heard."""
        envelope = sent(event, agent=agent)
        if agent == MAIN_AGENT:
            self.log.take(event)
        self.state = after(envelope, self.state)
        self.story = told(envelope, self.story)

    def move(self) -> None:
        """Something happens that may happen now."""
        self.number += 1
        always = [self.name, self.type_command, self.die]
        always += [self.answer] * 2 * bool(self.open)
        always += [self.child_asks, self.child_ends] if CHILD in self.children else []
        if self.in_turn:
            moves = [*always, self.say, self.say, self.call, self.ask, self.ask, self.compact, self.end, self.end]
            moves += [] if CHILD in self.children else [self.start_child]
        else:
            moves = [*always, self.begin, self.begin, self.begin, self.rewind, self.recall, self.compact]
        self.chance.choice(moves)()

    @property
    def children(self) -> set[str]:
        """Child agents that run in this process."""
        return {row.task_id for row in self.state.tasks if row.kind == "agent" and row.standing.open}

    def chained(self) -> dict[str, Any]:
        return {"entry_id": new_entry_id(), "parent_id": self.log.conversation.leaf}

    def begin(self) -> None:
        self.tell(TurnStarted(turn=self.state.turns + 1))
        self.in_turn = self.fresh = True
        if self.chance.random() < 0.2:
            self.tell(PromptAccepted(**self.chained(), content="go on", origin="clew", hidden=True))
        elif self.chance.random() < 0.9:
            self.tell(PromptAccepted(**self.chained(), content=self.chance.choice(["do it", "/clear", "x"])))
            self.fresh = False

    def part(self, part: Any) -> None:
        self.fresh = False
        reply = MessageId(f"m{self.number}")
        self.tell(PartCompleted(**self.chained(), reply_id=reply, part_number=0, model="m", part=part))

    def say(self) -> None:
        self.part(
            TextPart(text=self.chance.choice(["I look.", "All done.", "Shall I go on?", "429 too many requests"]))
        )

    def call(self) -> None:
        call = CallId(f"call-{self.number}")
        name = self.chance.choice(["Bash", "AskUserQuestion"])
        self.part(ToolCallPart(id=call, name=name, arguments={"question": "Which?", "command": "ls"}))
        if self.chance.random() < 0.7:
            parent = self.log.conversation.leaf or EntryId("")
            result = ToolResultPart(call_id=call, content="ok")
            self.tell(ToolEnded(entry_id=new_entry_id(), parent_id=parent, name=name, result=result))

    def ask(self, agent: AgentId = MAIN_AGENT) -> None:
        request_id = RequestId(f"r{self.number}")
        asked, settled = ask_of(self.chance.choice(KINDS), request_id)
        self.open[request_id] = (agent, settled)
        if agent == MAIN_AGENT and self.fresh:
            self.say()  # what is asked is about a call
        self.tell(asked, agent)
        self.child_changed(agent)

    def answer(self) -> None:
        agent, settled = self.open.pop(self.chance.choice(list(self.open)))
        self.tell(settled, agent)
        self.child_changed(agent)

    def start_child(self) -> None:
        if self.fresh:
            self.say()
        self.tell(AgentStarted(child=CHILD, kind="general", task="look"))
        self.tell(TurnStarted(turn=1), CHILD)

    def child_asks(self) -> None:
        if not any(agent == CHILD for agent, _ in self.open.values()):
            self.ask(CHILD)

    def child_changed(self, agent: AgentId) -> None:
        """As the parent tells it (`agents/children`)."""
        if agent != MAIN_AGENT:
            self.tell(AgentChanged(child=agent, standing=self.state.of(agent).standing))

    def child_ends(self) -> None:
        self.forget(CHILD)
        self.tell(TurnEnded(turn=1, reason="completed", steps=1, duration_ms=1), CHILD)
        self.tell(AgentEnded(child=CHILD, standing=Standing.COMPLETED))

    def forget(self, agent: AgentId) -> None:
        self.open = {known: waits for known, waits in self.open.items() if waits[0] != agent}

    def end(self) -> None:
        reason = self.chance.choice((*REASONS, "completed", "completed", "interrupted"))
        error = self.chance.choice(["", "connection refused", "429 rate limit reached"])
        if reason in ("completed", *STOPPED_BY):
            error = ""
        by = "session" if reason == "interrupted" and self.chance.random() < 0.3 else ""
        noted = self.chained() if error else {}
        if reason == "interrupted" and self.chance.random() < 0.7:
            words = "[Request interrupted by user]"
            self.tell(PromptAccepted(**self.chained(), content=words, origin="clew", hidden=True))
            noted = {}
        ended = TurnEnded(turn=1, reason=reason, by=by, steps=1, duration_ms=1, error=error, **noted)
        self.in_turn = self.fresh = False
        self.forget(MAIN_AGENT)
        self.tell(ended)

    def compact(self) -> None:
        kind: Any = self.chance.choice(["predictive", "reactive"]) if self.in_turn else "manual"
        self.tell(CompactionStarted(kind=kind))
        self.fresh = False
        ended = CompactionEnded(
            kind=kind,
            entry_id=new_entry_id(),
            logical_parent_id=self.log.conversation.leaf,
            tokens_before=9,
            tokens_after=3,
            summary_id=new_entry_id(),
            summary=(TextPart(text="so far"),),
        )
        self.tell(ended)

    def rewind(self) -> None:
        if not self.state.session_standing.open:
            self.tell(Rewound(direction="rewind", scope="files", to=None))

    def recall(self) -> None:
        self.tell(PromptAccepted(**self.chained(), content="brought back", origin="clew", hidden=True))

    def name(self) -> None:
        self.tell(TitleChanged(title=f"t{self.number}", source="facts"))

    def type_command(self) -> None:
        request_id = RequestId(f"s{self.number}")
        self.tell(ShellStarted(request_id=request_id, command="ls"))
        ended = ShellEnded(request_id=request_id, **self.chained(), command="ls", output="", exit_code=0)
        self.tell(ended)

    def die(self) -> None:
        """The process is gone, and another one opens the log."""
        if self.chance.random() < 0.5:
            return
        past = self.past()
        self.log = self._opened(past.entries)
        self.log.state = past.state()
        self.state = session_state(self.log.state)
        self.story = Story()
        self.found = len(past.entries)
        self.open, self.in_turn, self.fresh = {}, False, False

    def past(self) -> OldPast:
        return OldPast(session_id=SESSION, sink=NullWriter(), entries=tuple(self.log.conversation.entries))

    def row(self) -> Digest:
        """As the index folds the file; here an entry's number is its place."""
        digest = Digest()
        for at, entry in enumerate(self.log.conversation.entries):
            digest.feed(entry, at)
        return digest

    def check(self) -> None:
        """Every view says the same."""
        live, digest = self.state.session_standing, self.row()
        row = digest.standing
        if not self.fresh:
            assert row.standing(held=True, found_bytes=self.found) is live
            shown = digest.state(alive=True, found_bytes=self.found)
            assert shown in ("empty", as_read(live, row.question))
            assert live is not Standing.STOPPED or row.by == self.state.stopped_by
        resumed = self.past().state()
        assert resumed.standing is row.standing(held=False), "whoever opens it now reads the same"
        if not live.open:
            assert (resumed.standing, resumed.stopped_by) == (live, self.state.stopped_by)
        elif not self.fresh:
            assert resumed.standing is Standing.INTERRUPTED
        ledger = LedgerFold()
        for at, entry in enumerate(self.log.conversation.entries):
            if at == self.found:
                ledger.reopened()
            ledger.feed(entry)
        if self.found == len(self.log.conversation.entries):
            ledger.reopened()
        assert self.fresh or ledger.ledger(held=True).state is as_read(live, row.question)
        self.check_views(live)

    def check_views(self, live: Standing) -> None:
        """The words of stream-json and of the sign of life are those of the standing."""
        children_only = live is Standing.WORKING and not self.state.working and not self.state.agents
        assert activity_of(self.state) == ("idle" if children_only else WIRE_WORDS[live].stream)
        doing = self.story.activity.doing
        assert (doing == "asking") is (live in (Standing.WAITING, Standing.ASKING))
        assert (doing == "idle") is not (bool(self.state.asks) or self.state.interruptible)


@pytest.mark.parametrize("seed", SEEDS)
def test_live_is_resumed_is_the_row(seed: int) -> None:
    session = Session(seed)
    for _ in range(60):
        session.move()
        session.check()


def test_the_kinds_played_are_all_there_are() -> None:
    assert {type(ask_of(kind, RequestId("r"))[0]) for kind in KINDS} == {
        kind for kind in leaves(Ask) if kind.__module__.startswith("clew.")
    }


def test_who_stopped_is_told_with_stopped_alone() -> None:
    for reason in REASONS:
        ended = TurnEnded(turn=1, reason=reason, steps=1, duration_ms=1)
        state = after(sent(ended), SessionState())
        assert state.standing is standing_after(reason)
        assert bool(state.stopped_by) is (state.standing is Standing.STOPPED)
    closed = TurnEnded(turn=1, reason="interrupted", by="session", steps=1, duration_ms=1)
    assert after(sent(closed), SessionState()).stopped_by == "session"
    assert after(sent(replace(closed, by="")), SessionState()).stopped_by == "user"


def test_every_standing_has_its_words_on_every_wire() -> None:
    assert set(WIRE_WORDS) == set(Standing)
    assert {words.stream for standing, words in WIRE_WORDS.items() if standing.open} == {"running", "requires_action"}
    assert {words.stream for standing, words in WIRE_WORDS.items() if not standing.open} == {"idle"}
