"""An agent: what it is, what it is made of, and one at work with its inbox, its switch and its turn."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from clew.agents.log import AgentLog
from clew.agents.permits import PathBounds
from clew.agents.toolbox import AgentTools
from clew.engine.abort import Abort, Aborted, AbortReason
from clew.engine.agent import Agent
from clew.engine.calls import describe
from clew.engine.loop import StepRunner, ended, run_turn
from clew.engine.middleware.base import Middleware
from clew.engine.ports import Limits
from clew.engine.turn import Aside, Look, Notices, Prompt, Turn, let_in, quiet_notice
from clew.permissions.access import Mode
from clew.protocol.event_kinds.turns import INTERNAL_ERROR
from clew.protocol.events import Event, Notice, PromptQueued, PromptWithdrawn
from clew.protocol.ids import PromptId
from clew.protocol.messages import text_of
from clew.protocol.tally import Tally
from clew.tools.base import Isolation, Tool

if TYPE_CHECKING:
    from clew.agents.definitions.own_memory import OwnMemory


class Job(Struct, frozen=True, kw_only=True):
    """Work on the conversation that is no turn, such as compaction: never beside one, and stopped by the same key."""

    run: Callable[[], AsyncGenerator[Event]]
    stopped: Callable[[], Event]
    """What is told when it was interrupted; nothing of it may count then."""


class AgentSpec(Struct, frozen=True, kw_only=True):
    """What an agent is: the main one, or a kind of child. What is not said here it has from its parent."""

    kind: str
    model: str = ""
    """Its name; empty: the parent's."""
    tools: tuple[str, ...] | None = None
    """Of those that the parent is told of; None: all."""
    system: tuple[str, ...] | None = None
    """Its own words, in place of the parent's; None: the parent's. `definitions/prompts.py` makes the prompt of it."""
    more_system: tuple[str, ...] = ()
    """Blocks that follow its system prompt, so that what it shares with its parent stays first."""
    bounds: PathBounds | None = None
    """The only files that it touches; None: those of its rights."""
    own_tools: tuple[Tool[Any], ...] = ()
    """Tools that only agents of this kind have."""
    memory: "OwnMemory | None" = None
    """Where it keeps notes over its runs; None: nowhere."""
    color: str = ""
    """How a front end that has colours marks it."""
    permission_mode: Mode | None = None
    """Never makes its rights wider than the parent's."""
    limits: Limits = Limits()
    """Of this agent alone; the session's hold besides."""
    effort: str | None = None
    without: tuple[str, ...] = ()
    """Tools that it never has, whatever `tools` says."""
    description: str = ""
    """When to use it, for the model that chooses."""
    source: str = "built in"
    """Where it is defined: `built in`, `--agents`, `SDK`, or a file."""
    background: bool = False
    """It always runs in the background."""
    isolation: Isolation = ""
    """`worktree`: it works in a checkout of its own."""
    needs_servers: tuple[str, ...] = ()
    """MCP servers without which it does not start."""
    brings: frozenset[str] = frozenset()
    """What its definition has run for it, `hooks` and `servers`: it starts only where somebody sees to that."""
    initial_prompt: str = ""
    """What is said with the first prompt, where it is the main conversation."""
    sidechain: bool = True
    """It has a transcript of its own beside the session's; false only for the main agent."""


MAIN = AgentSpec(kind="main", sidechain=False)
COORDINATOR = "coordinator"
"""The kind of a main agent that gives all work to others."""
WORKER = "worker"
"""The kind that it gives work to."""
BUILTIN_KINDS = ("Explore", "general-purpose", "Plan", "statusline-setup", "verification", WORKER)
"""The kinds that can be started everywhere, as their files are called; nothing is read for their names."""
KINDS_HEADING = "# Agents of the user"
"""How the block of the system prompt begins that tells of kinds of agents that are not built in."""
GENERAL = AgentSpec(kind="general")
"""A child that is like its parent in everything."""


class AgentBody(Struct, frozen=True, kw_only=True):
    """What an agent is made of: the main one's is put together with its session, a child's comes from its parent's."""

    agent: Agent
    log: AgentLog
    tools: AgentTools
    middlewares: Sequence[Middleware]
    look: Look = let_in
    """What is said to a prompt before it joins the conversation."""


class AgentRunner:
    """One per agent. What it says goes to `publish`, which returns when it is recorded."""

    def __init__(
        self,
        *,
        agent: Agent,
        steps: StepRunner,
        middlewares: Sequence[Middleware],
        publish: Callable[[Event], None],
        spent: Callable[[], Tally],
        first_turn: int = 1,
        look: Look = let_in,
    ) -> None:
        self.agent = agent
        self._steps = steps
        self._middlewares = middlewares
        self._publish = publish
        self._spent = spent
        self._turns = first_turn - 1
        self._inbox: deque[Prompt] = deque()
        self._kept: set[PromptId] = set()
        """Prompts that were put into the log as queued."""
        self._jobs: deque[Job] = deque()
        self._asides: deque[Aside] = deque()
        self._abort: Abort | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._doing: Literal["", "turn", "job"] = ""
        self._look = look
        self.asked = ""
        """What it works on, or worked on last, in the words of whoever asked."""

    @property
    def in_turn(self) -> bool:
        """A turn runs or is about to; false while a job does, or is the next to be done."""
        return self.working and (self._doing == "turn" or (not self._doing and not self._jobs))

    @property
    def working(self) -> bool:
        """A turn runs or is about to."""
        return self._task is not None and not self._task.done()

    def submit(self, prompt: Prompt, *, kept: bool = False) -> None:
        """Starts a turn when idle; joins at the next step boundary while working. An interrupt counts from here on.
        `kept`: the log has it as queued already."""
        if self._closed:
            return
        kept = kept or (self.working and prompt.origin == "user" and bool(prompt.prompt_id))
        self._inbox.append(prompt)
        if prompt.notices is not None:
            self._wake()  # what it tells is in the log already
            return
        self._publish(PromptQueued(prompt_id=prompt.prompt_id, content=prompt.content, origin=prompt.origin, kept=kept))
        if kept:
            self._kept.add(prompt.prompt_id)
        self._wake()

    def perform(self, job: Job) -> None:
        """Do this at once when idle, after the turn while working; input that comes meanwhile waits."""
        if not self._closed:
            self._jobs.append(job)
            self._wake()

    def join(self, aside: Aside, *, now: bool = True) -> None:
        """What happened beside the agent joins the conversation: at once when idle, else at the next step boundary or
        when the work is done. It starts no turn. `now` false: not before the next turn."""
        self._asides.append(aside)
        if now and not self.working:
            self._tell_asides()

    def _tell_asides(self) -> None:
        while self._asides:
            self._publish(self._asides.popleft()(self.agent.conversation.leaf))

    def _tell_notices(self) -> None:
        """A person stopped the turn: what ended beside it joins, and starts no other one."""
        for prompt in [waiting for waiting in self._inbox if waiting.notices is not None]:
            self._inbox.remove(prompt)
            told = prompt.notices() if prompt.notices is not None else Notices()
            if told.content:
                self._publish(quiet_notice(told, self.agent.conversation.leaf))

    def _wake(self) -> None:
        if not self.working:
            self._abort = Abort()
            self._task = asyncio.create_task(self._work(self._abort))

    def withdraw(self, prompt_id: PromptId) -> bool:
        """Take input back; False when it has joined already."""
        for prompt in self._inbox:
            if prompt.prompt_id == prompt_id:
                self._inbox.remove(prompt)
                self._publish(PromptWithdrawn(prompt_id=prompt_id))
                return True
        return False

    def interrupt(self, reason: AbortReason = "interrupt") -> bool:
        """Stop the turn; False when there is none."""
        if self._abort is None or not self.working:
            return False
        self._abort.throw(reason)
        return True

    @property
    def closed(self) -> bool:
        """It takes nothing more."""
        return self._closed

    async def settled(self) -> None:
        """Until nothing is left to do."""
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    async def stop(self, reason: AbortReason = "closed") -> None:
        """Take nothing more, settle what runs, and return when that is recorded. Prompts that the log has as queued
        stay there: whoever opens the session again finds them."""
        self._closed = True
        self._jobs.clear()
        while self._inbox:
            prompt = self._inbox.popleft()
            if prompt.prompt_id not in self._kept and prompt.notices is None:
                self._publish(PromptWithdrawn(prompt_id=prompt.prompt_id))
        self.interrupt(reason)
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self, abort: Abort) -> None:
        """Jobs and turns until nothing is left to do."""
        while self._jobs or self._inbox:
            if self._jobs:
                self._doing = "job"
                await self._perform(self._jobs.popleft(), abort)
            else:
                self._doing = "turn"
                await self._turn(self._inbox.popleft(), abort)
            self._doing = ""
            if abort.thrown:
                self._tell_notices()
            self._tell_asides()
            abort = self._abort = Abort()

    async def _perform(self, job: Job, abort: Abort) -> None:
        try:
            async with aclosing(abort.guarded(job.run())) as events:
                async for event in events:
                    self._publish(event)
        except Aborted:
            self._publish(job.stopped())
        except Exception as error:  # task boundary: say what broke, stay usable
            self._publish(Notice(level="error", text=f"{INTERNAL_ERROR}{describe(error)}", code="internal"))
            self._publish(job.stopped())

    async def _turn(self, prompt: Prompt, abort: Abort) -> None:
        self._turns += 1
        self.asked = text_of(prompt.content)
        turn = Turn(
            number=self._turns,
            agent=self.agent,
            abort=abort,
            spent=self._spent,
            waited_s=lambda: self._steps.pending.waited_s(self.agent.id),
            inbox=self._inbox,
            aside=lambda: self._asides.popleft() if self._asides else None,
            look=self._look,
        )
        try:
            events = run_turn(turn, prompt, steps=self._steps, middlewares=self._middlewares)
            async with aclosing(events):
                async for event in events:
                    self._publish(event)
        except Exception as error:  # task boundary: say what broke, stay usable
            self._publish(ended(turn, "model_error", f"internal error: {describe(error)}"))


class LookAtEnd(Middleware):
    """Before a turn ends: a person who hears of its end may begin to edit, and that is no command's doing."""

    stage = 1

    def __init__(self, look: Callable[[], Awaitable[None]]) -> None:
        self._look = look

    async def before_end(self, turn: Turn) -> AsyncGenerator[Event]:
        """Adds nothing to the turn."""
        await self._look()
        for event in ():
            yield event
