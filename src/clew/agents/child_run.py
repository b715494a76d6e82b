"""One run of a child agent: from the moment it is asked for until it has settled and its end is in its parent's log."""

import asyncio
import re
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from clew.agents.budget import used_by
from clew.agents.checkouts import Receipt, Settled, lacking
from clew.agents.child_files import last_words
from clew.agents.report import digest, facts_of, result_of
from clew.agents.runner import AgentBody, AgentRunner, AgentSpec
from clew.engine.turn import Prompt
from clew.protocol.events import Actor, AgentChanged, AgentEnded, TurnEnded
from clew.protocol.ids import AgentId, CallId, TaskId
from clew.protocol.standing import Standing, standing_after
from clew.protocol.state import AgentState

if TYPE_CHECKING:
    from clew.agents.children import Children

END_BYTES = 1_000
"""How much of a child's words its parent's log keeps; all of them are in its own."""
MAX_PAUSES = 8
MAX_PAUSE_S = 1_800.0
MIN_PAUSE_S = 1.0
MAX_ASKED_PAUSE_S = 86_400.0
"""As long as a provider may ask for: plans have limits of hours."""
GO_ON = "[The provider's limit had stopped you. Go on where you were.]"
REFUSED_KEY = frozenset({401, 402, 403})
UNHELD = (
    " NOT ENFORCED: there is no sandbox here, so its commands could have changed files outside its checkout; its file "
    "tools could not."
)
NO_MORE = r"credit balance|insufficient (?:credit|balance|funds|quota)|out of credits|quota|billing|payment"


class Errand(Struct, frozen=True, kw_only=True):
    """What a child is started for."""

    parent: AgentId
    title: str
    call: CallId | None = None
    name: str = ""
    background: bool = False
    resumed: bool = False
    team: str = ""
    """It is a member of this team."""


class ChildRun:
    """One child at work, as its parent's tool and the registry of tasks see it."""

    kind = "agent"
    exit_code = None

    def __init__(
        self,
        children: "Children",
        runner: AgentRunner,
        body: AgentBody,
        spec: AgentSpec,
        errand: Errand,
        *,
        depth: int,
        checkout: Receipt | None = None,
    ) -> None:
        self._children = children
        self.runner = runner
        self.body = body
        self.spec = spec
        self.errand = errand
        self.depth = depth
        self.checkout = checkout
        self._left_behind = ""
        self.background = errand.background
        self.started_s = time.monotonic()
        self.standing = Standing.STARTING
        self.by: Actor = "itself"
        self.error = ""
        self.status: int | None = None
        self._retry_after_s: float | None = None
        self._first_entry = len(body.log.conversation.entries)
        self._leaf = body.log.conversation.leaf
        self._stopped_by: Actor | None = None
        self._place: asyncio.Task[None] | None = None
        self._holds = False
        self._lent = 0
        self._left: asyncio.Event = asyncio.Event()
        self._stopping = asyncio.Event()
        self._pauses = 0
        self._until = ""
        """When it goes on, while a provider's limit suspends it."""
        self._life: asyncio.Task[None] | None = None
        self.ended: AgentEnded | None = None

    @property
    def agent(self) -> AgentId:
        """Its id."""
        return self.runner.agent.id

    @property
    def parent(self) -> AgentId:
        """Who started this run."""
        return self.errand.parent

    @property
    def task_id(self) -> TaskId:
        """The same, among tasks."""
        return TaskId(self.agent)

    @property
    def title(self) -> str:
        """What it is to do, in a few words."""
        return self.errand.title

    @property
    def state(self) -> AgentState:
        """The fold of its log."""
        return self.body.log.state

    @property
    def output_file(self) -> str:
        """Its transcript."""
        return str(self._children.files.transcript(self.agent) or "")

    @property
    def place_note(self) -> str:
        """What its parent should know of the checkout that it works in; empty: nothing."""
        return lacking(self.checkout) if self.checkout is not None else ""

    def begin(self, prompt: Prompt) -> None:
        """Go to work as soon as there is a place."""
        self._life = asyncio.create_task(self._live(prompt), name=f"agent {self.agent}")

    def more(self) -> dict[str, Any]:
        """What its row tells of an agent besides."""
        used = used_by(self.state)
        return {
            "background": self.background,
            "name": self.errand.name,
            "agent_kind": self.spec.kind,
            "tokens": used.tokens_so_far,
            "cost_usd": used.cost_usd,
            **({"standing": Standing.SUSPENDED, "until": self._until} if self._until else {}),
        }

    def text(self) -> str:
        """Its newest words, from its own log."""
        return last_words(self.body.log.conversation.chain(), since=self._leaf)

    def last(self, max_chars: int) -> str:
        """The end of them."""
        return self.text()[-max_chars:]

    async def outcome(self, *, up_to_s: float = 0.0) -> AgentEnded | None:
        """Wait for its end; None: somebody moved it to the background, or the time was over and it went there by
        itself. Whoever is cancelled while waiting stops it: nobody would hear of it."""
        leaving = asyncio.ensure_future(self._left.wait())
        assert self._life is not None
        try:
            async with self._children.lent(self.parent):
                await asyncio.wait({self._life, leaving}, timeout=up_to_s or None, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.stop("agent")
            raise
        finally:
            leaving.cancel()
        if self._life.done():
            return self.ended
        self.to_background()
        return None

    def report(self, ended: AgentEnded, max_bytes: int) -> str:
        """What a call that waited answers: its words, and the facts beside them."""
        return result_of(ended, self.text(), max_bytes, self._left_behind)

    def to_background(self) -> None:
        """Nobody waits for it any longer: its parent is told of its end by a notice."""
        if not self.background and self.standing.open:
            self.background = True
            changed = AgentChanged(child=self.agent, standing=self.standing, background=True)
            self._children.session.publish(changed, agent=self.parent)
        self._left.set()

    async def over(self) -> None:
        """Until its end was told."""
        await asyncio.wait({self.life})

    async def stop(self, by: Actor) -> None:
        """End it; what it did so far stays in its log and is its report. Returns when it has ended."""
        if self.ended is None:
            self._stopped_by = self._stopped_by or by
            self._stopping.set()
            if self._place is not None and not self._place.done():
                self._place.cancel()
            else:
                await self.runner.stop("closed" if by == "session" else "interrupt")
        if self._life is not None and self._life is not asyncio.current_task():
            await asyncio.wait({self._life})

    def heard_end(self, event: TurnEnded) -> None:
        """A turn of it is over."""
        self.error, self.status, self._retry_after_s = event.error, event.status, event.retry_after_s

    @property
    def life(self) -> "asyncio.Task[None]":
        """Done when its end was told."""
        assert self._life is not None
        return self._life

    @property
    def is_fatal(self) -> bool:
        """It failed for a reason that every other agent would fail for: the key, or money."""
        if self.standing not in (Standing.FAILED, Standing.SUSPENDED) or not self.error:
            return False
        return self.status in REFUSED_KEY or re.search(NO_MORE, self.error, re.IGNORECASE) is not None

    # Its place among those that work at once.

    def lend(self) -> None:
        """It waits for a child of its own: somebody else may work meanwhile."""
        self._lent += 1
        if self._holds and self._lent == 1:
            self._holds = False
            self._children.slots.give()

    async def take_back(self) -> None:
        """It goes on."""
        self._lent -= 1
        if not self._lent and not self._holds and self.standing.open:
            await self._children.slots.take(back=True)
            self._holds = True

    async def _live(self, prompt: Prompt) -> None:
        self._place = asyncio.create_task(self._children.slots.take())
        try:
            await asyncio.wait({self._place})
            if not self._place.cancelled():
                self._holds = True
                await self._work(prompt)
        finally:
            await self._children.end(self)
            if self._holds:
                self._holds = False
                self._children.slots.give()

    async def _work(self, prompt: Prompt) -> None:
        """Turns until nothing is left to do, its own background children included."""
        if self._children.refusal:
            self.error = self._children.refusal
            return
        if self._stopped_by is not None:
            return
        self.runner.submit(prompt)
        while True:
            await self.runner.settled()
            if self._may_go_on_later:
                await self._pause()
                if not self.runner.closed:
                    self.runner.submit(Prompt(content=GO_ON, origin="clew"))
                    continue
            below = self._children.below(self.agent)
            if not below or self.runner.closed or self.state.standing is not Standing.IDLE:
                return
            self.lend()
            try:
                await asyncio.wait({run.life for run in below}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await self.take_back()

    @property
    def _may_go_on_later(self) -> bool:
        """A provider's limit stopped it that passes with time."""
        limited = self.state.standing is Standing.SUSPENDED and self.state.last_reason == "model_error"
        fatal = self.status in REFUSED_KEY or re.search(NO_MORE, self.error, re.IGNORECASE) is not None
        patient = bool(self._children.rules.limit_pause_s) and self._pauses < MAX_PAUSES
        return limited and patient and not fatal and not self.runner.closed

    async def _pause(self) -> None:
        """Wait the limit out, or until somebody stops it; that it waits, and until when, is in its parent's log."""
        pause_s = min(self._children.rules.limit_pause_s * 2**self._pauses, MAX_PAUSE_S)
        if self._retry_after_s is not None:  # the provider knows better
            pause_s = min(max(self._retry_after_s, MIN_PAUSE_S), MAX_ASKED_PAUSE_S)
        self._pauses += 1
        self._until = (datetime.now(tz=UTC) + timedelta(seconds=pause_s)).isoformat(timespec="seconds")
        told = AgentChanged(child=self.agent, standing=Standing.SUSPENDED, until=self._until)
        self._children.session.publish(told, agent=self.parent)
        self.lend()
        try:
            await asyncio.wait({asyncio.ensure_future(self._stopping.wait())}, timeout=pause_s)
        finally:
            self._until = ""
            await self.take_back()
        self._children.session.publish(AgentChanged(child=self.agent, standing=Standing.WORKING), agent=self.parent)

    def settle(self, left_running: tuple[str, ...], left: Settled) -> AgentEnded:
        """How it ended, with what became of its checkout. A limit, a stop or a failure gives back what was done so far,
        never an empty success."""
        state, reason = self.state, self.state.last_reason
        began = state.turns > 0
        standing = (state.rests or standing_after(reason)) if began else Standing.FAILED
        cut_short = self._stopped_by is not None and (not began or standing is Standing.SUSPENDED)
        if standing is Standing.STOPPED or cut_short:
            standing = Standing.STOPPED
            self.by = self._stopped_by or state.stopped_by or "user"
        elif standing is Standing.IDLE:
            standing = Standing.COMPLETED
        self.standing = standing
        said = self.text()
        sandbox = self.body.tools.session.sandbox
        unheld = self.checkout is not None and (sandbox is None or not sandbox.enforced)
        self.ended = AgentEnded(
            child=self.agent,
            standing=standing,
            by=self.by,
            reason=reason if began else "",
            error=self.error,
            result=digest(said, END_BYTES),
            tally=used_by(state),
            task=self.title,
            name=self.errand.name,
            kind=self.spec.kind,
            call_id=self.errand.call,
            background=self.background,
            facts=facts_of(
                self.body.log.conversation.entries, said=said, first=self._first_entry, left_running=left_running
            ),
            output_file=self.output_file,
            worktree=left.path,
            work_ref=left.ref,
            carried=left.carried,
            unheld=unheld,
            team=self.errand.team,
        )
        note = f" {self.place_note}" if self.place_note else ""
        self._left_behind = f"{left.words}{note}{UNHELD if unheld else ''}"
        return self.ended
