"""Child agents: made from their parents, run on a prompt, ended with an outcome that is read from their own log."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew.agents.checkouts import Checkouts, Receipt, Settled
from clew.agents.child_body import child_body
from clew.agents.child_files import AgentMeta, ChildFiles, last_words
from clew.agents.child_run import ChildRun, Errand
from clew.agents.forking import DIRECTIVE, FORK
from clew.agents.leftovers import cleaned, end_of_lost, leftover_rows, leftover_words
from clew.agents.outbox import Outbox
from clew.agents.runner import COORDINATOR, AgentRunner, AgentSpec
from clew.agents.slots import Slots
from clew.agents.talking import Talking, asked
from clew.engine.turn import Notices, Prompt
from clew.llm.errors import LLMError
from clew.protocol.events import AgentChanged, AgentStarted, Envelope, PromptAccepted, TaskRow, TurnEnded
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId
from clew.protocol.standing import Standing
from clew.tools.base import Isolation
from clew.transcript.log.stamp import utc_now

if TYPE_CHECKING:
    from clew.agents.factory import AgentFactory

MAX_TITLE_CHARS = 200
NAME = re.compile(r"(?!(?:main|parent)$)[^\W_][\w.-]{0,63}")
MAX_OPEN = 200
"""Children that work or wait for a place; asking for more is refused."""


class Children:
    """One per session: its child agents, from their making to their end."""

    def __init__(self, factory: "AgentFactory") -> None:
        self._factory = factory
        self.session = factory.session
        self.rules = factory.rules
        self.slots = Slots(factory.rules.max_at_once)
        self.refusal = ""
        """Why nothing new is started: an error that every agent would meet. A person's next prompt takes it away."""
        self.outbox = Outbox(lambda: self.session.journal, factory.find_runner, wake=factory.rules.wake_parent)
        self.files = ChildFiles(
            factory.transcript,
            factory.session.started.session_id,
            lambda words: self.session.notice("warning", words, code="log"),
        )
        self._runs: dict[AgentId, ChildRun] = {}
        self.talk = Talking(self, factory)
        """Who talks to a child that is being opened waits for that."""
        self._closed = False
        self._session_id = factory.session.started.session_id
        self.checkouts = Checkouts(factory.shared.place.home, search_path=factory.shared.place.env.get("PATH", ""))
        factory.session.subscribe_to_all(self._hear)

    # Starting.

    def start(
        self,
        spec: AgentSpec,
        prompt: str,
        *,
        parent: AgentId,
        call: CallId | None = None,
        title: str = "",
        background: bool = False,
        name: str = "",
        model: str = "",
        checkout: Receipt | None = None,
        team: str = "",
    ) -> ChildRun:
        """A child at work on the prompt, or in line for a place. That it began is on disk, in its parent's log, before
        it says anything. `checkout`: where it works, and whose id it has. `team`: it is a member of it. Raises
        ValueError, in words for the model, and then nothing was started."""
        errand = Errand(
            parent=parent,
            title=" ".join((title or prompt).split())[:MAX_TITLE_CHARS],
            call=call,
            name=name,
            background=background,
            team=team,
        )
        with ExitStack() as unless_started:
            if checkout is not None:
                unless_started.callback(self.checkouts.settle, checkout)
            run = self._start(spec, prompt, errand, model, checkout)
            unless_started.pop_all()
        return run

    def _start(self, spec: AgentSpec, prompt: str, errand: Errand, model: str, checkout: Receipt | None) -> ChildRun:
        parent = errand.parent
        if spec.kind == COORDINATOR:
            raise ValueError("a coordinator is a way to run the conversation, no agent to start; start workers")
        self._check(parent, errand.name)
        self._factory.check(spec)
        above = self._factory.body(parent)
        if spec.kind == FORK.kind:
            own = self._runs.get(parent)
            if own is not None and own.spec.kind == FORK.kind:
                raise ValueError("a fork does not fork again: do the work yourself")
            prompt, model = f"{DIRECTIVE}{prompt}", ""
        try:
            own = checkout.agent if checkout is not None else None
            body = child_body(
                self._factory, self.files, spec, above, model=model, agent=own, checkout=checkout, team=errand.team
            )
        except LLMError as error:
            raise ValueError(f"the agent was not started: {error}") from error
        runner = self._factory.make(spec, body=body, call=errand.call)
        meta = AgentMeta(
            agent_type=spec.kind,
            description=errand.title,
            parent=parent,
            call_id=errand.call,
            model=runner.agent.model.name,
            background=errand.background,
            started_at=utc_now(),
            name=errand.name,
            prompt=prompt,
            isolated=checkout is not None,
            team=errand.team,
        )
        self.files.keep(runner.agent.id, meta)
        return self._begin(runner, spec, errand, asked(prompt), checkout)

    async def checkout(self, parent: AgentId, isolation: Isolation = "worktree", *, fork: bool = False) -> Receipt:
        """A checkout for a child that is about to be started. Raises ValueError."""
        if fork:
            raise ValueError("a fork works in its parent's directory: start another agent for work in a checkout")
        if self._factory.body(parent).tools.session.checkout:
            raise ValueError("you work in a checkout of your own already, and agents that you start work there too")
        if not self._factory.shared.place.trusted:
            raise ValueError("a checkout of its own cannot be had: the user does not trust this project")
        self._check(parent, "")
        agent = AgentId(os.urandom(8).hex())
        shared, changes = self._factory.shared, isolation == "worktree+changes"
        return await asyncio.to_thread(
            self.checkouts.make,
            agent,
            self._session_id,
            shared.place.root,
            changes=changes,
            withheld=lambda path: not shared.may_read(path),
        )

    async def reopen(
        self,
        agent: AgentId,
        prompt: str,
        *,
        parent: AgentId,
        background: bool = True,
        notices: "Callable[[], Notices] | None" = None,
    ) -> ChildRun:
        """One more run of a child that has ended, from its log. `notices`: what it is told instead of the prompt.
        Raises ValueError where that cannot be."""
        meta = self.files.meta(agent)
        if meta is None:
            raise ValueError(f"the agent {agent} cannot go on: nothing in this session says what it is")
        past = self.files.past(agent)
        self._check(parent, "")
        spec = self.spec(meta.agent_type)
        if meta.team and self._factory.team is not None:
            spec = self._factory.team.member_spec(spec, meta.name)
        self._factory.check(spec)
        above = self._factory.body(parent)
        root = self._factory.shared.place.root
        checkout = None
        if meta.isolated:
            checkout = await asyncio.to_thread(self.checkouts.again, agent, self._session_id, root)
        try:
            factory, files, model = self._factory, self.files, meta.model
            body = child_body(
                factory, files, spec, above, model=model, past=past, agent=agent, checkout=checkout, team=meta.team
            )
        except LLMError as error:
            if checkout is not None:
                await asyncio.to_thread(self.checkouts.settle, checkout)
            raise ValueError(f"the agent {agent} cannot go on: {error}") from error
        runner = self._factory.make(spec, body=body)
        path = self.files.transcript(agent)
        self.files.keep(agent, replace(meta, run_from=path.stat().st_size if path is not None else 0))
        self.settle_lost(agent)
        if not past.messages:
            prompt = f"{meta.prompt}\n\n{prompt}"  # it was interrupted before it began
        errand = Errand(
            parent=parent,
            title=meta.description,
            name=meta.name,
            background=background,
            resumed=True,
            team=meta.team,
        )
        if notices is not None and past.messages:
            return self._begin(runner, spec, errand, Prompt(content="", origin="task", notices=notices), checkout)
        run = self._begin(runner, spec, errand, asked(prompt), checkout)
        if notices is not None:
            runner.submit(Prompt(content="", origin="task", notices=notices))
        return run

    def _check(self, parent: AgentId, name: str) -> None:
        rules = self._factory.rules
        if self._closed:
            raise ValueError("the agent was not started: the session ends")
        if self.refusal:
            raise ValueError(f"the agent was not started, and none is until the user says more: {self.refusal}")
        if self.depth(parent) >= rules.max_depth:
            raise ValueError(
                f"the agent was not started: agents go at most {rules.max_depth} deep here (agents.maxDepth). Do the "
                "work yourself."
            )
        if len(self._runs) >= MAX_OPEN:
            raise ValueError(f"the agent was not started: {MAX_OPEN} agents work or wait already. Wait for some.")
        if name and not NAME.fullmatch(name):
            raise ValueError(
                f"{name[:60]!r} is no name for an agent: letters, digits, - . _ and no blanks or @, at most 64; not "
                "main or parent"
            )
        if name and (taken := self.files.named(name)) is not None:
            raise ValueError(
                f"there is already an agent named {name!r} ({taken}); talk to it with SendMessage, or give another name"
            )

    def _begin(
        self, runner: AgentRunner, spec: AgentSpec, errand: Errand, prompt: Prompt, checkout: Receipt | None
    ) -> ChildRun:
        body, depth = self._factory.body(runner.agent.id), self.depth(errand.parent) + 1
        run = ChildRun(self, runner, body, spec, errand, depth=depth, checkout=checkout)
        self._runs[run.agent] = run
        started = AgentStarted(
            child=run.agent,
            kind=spec.kind,
            task=errand.title,
            background=errand.background,
            call_id=errand.call,
            name=errand.name,
            resumed=errand.resumed,
            queued=self.slots.full,
            team=errand.team,
            since=utc_now(),
        )
        run.standing = Standing.STARTING if started.queued else Standing.WORKING
        self.session.publish(started, agent=errand.parent)
        self._factory.shared.registry.add(run, errand.parent, told=False)
        run.begin(prompt)
        return run

    # What is left.

    async def leftovers(self) -> tuple[TaskRow, ...]:
        """Checkouts that nobody works in, of every session of the user."""
        return await asyncio.to_thread(leftover_rows, self.checkouts)

    async def leftover(self, name: str) -> tuple[TaskRow, str] | None:
        """One of them, with words about it; None: there is none of this id."""
        return await asyncio.to_thread(leftover_words, self.checkouts, name)

    async def clean(self, name: str) -> tuple[str, ...]:
        """Save and remove one, or `all`; what became of each. Raises ValueError."""
        return await asyncio.to_thread(cleaned, self.checkouts, name)

    # Finding.

    def spec(self, kind: str) -> AgentSpec:
        """A kind of child, or the fork. Raises ValueError."""
        return FORK if kind == FORK.kind else self._factory.spec(kind)

    def depth(self, agent: AgentId) -> int:
        """How deep an agent lies; the main one is at 0."""
        run = self._runs.get(agent)
        return run.depth if run is not None else 0

    def run(self, agent: AgentId) -> ChildRun | None:
        """A child that has not ended."""
        return self._runs.get(agent)

    def below(self, agent: AgentId) -> list[ChildRun]:
        """Its own children that have not ended."""
        return [run for run in self._runs.values() if run.parent == agent]

    def waited_for(self) -> list[ChildRun]:
        """Children that a call waits for, outermost first."""
        return [run for run in self._runs.values() if not run.background]

    def path(self, agent: AgentId) -> tuple[str, ...]:
        """Who asked whom, from the main agent down: the kinds or names of an agent and of those above it."""
        found: list[str] = []
        while (run := self._runs.get(agent)) is not None:
            found.append(run.errand.name or run.spec.kind)
            agent = run.parent
        return tuple(reversed(found))

    def words_of(self, agent: AgentId) -> str:
        """All of a child's last words, whether it works or has ended. Raises ValueError where its log is gone."""
        run = self._runs.get(agent)
        return run.text() if run is not None else last_words(self.files.past(agent).chain)

    # Ending.

    async def end(self, run: ChildRun) -> None:
        """A child is done: what it started ends with it, its parent is told, and it takes nothing more."""
        for below in self.below(run.agent):
            await below.stop("agent")
        shells = run.body.tools.session.shells_at_work()
        for shell in shells:
            await shell.stop("agent")
        left = Settled(words="")
        if run.checkout is not None:
            left = await asyncio.to_thread(self.checkouts.settle, run.checkout)
        ended = run.settle(tuple(shell.command for shell in shells), left)
        if run.is_fatal and not self.refusal:
            self.refusal = run.error
        self.session.publish(ended, agent=run.parent)
        if ended.background:
            self.outbox.send(run.parent)
        del self._runs[run.agent]  # not before: a parent that has no open child and no notice in its inbox settles
        self._factory.shared.registry.changed(run)
        self._factory.forget(run.agent)
        await self._factory.shared.release(run.body.tools.session)

    def settle_lost(self, agent: AgentId) -> None:
        """Children of an earlier process that have no end in this agent's log were interrupted: their end is written
        now, with the report of what their own logs hold, and a notice of it is owed."""
        state = self.session.journal.log(agent).state
        lost = [row for row in state.tasks if row.kind == "agent" and row.lost]
        for row in lost:
            if AgentId(row.task_id) not in self._runs:
                self.session.publish(end_of_lost(self.files, self.checkouts, row), agent=agent)

    def close(self) -> None:
        """The session is about to end: nothing new is started, nobody is woken."""
        self._closed = True
        self.outbox.close()

    async def settled(self) -> None:
        """Until every child that was stopped has been told of."""
        await asyncio.gather(*(run.stop("session") for run in list(self._runs.values())))

    @asynccontextmanager
    async def lent(self, parent: AgentId) -> AsyncGenerator[None]:
        """The parent waits for a child: its place is somebody else's meanwhile."""
        run = self._runs.get(parent)
        if run is None:
            yield
            return
        run.lend()
        try:
            yield
        finally:
            await run.take_back()

    def _hear(self, envelope: Envelope) -> None:
        """The parent tells how its child stands when that changes, so that a child that waits is seen to wait."""
        if envelope.agent == MAIN_AGENT:
            if isinstance(envelope.event, PromptAccepted) and envelope.event.origin == "user":
                self.refusal = ""
            return
        run = self._runs.get(envelope.agent)
        if run is None or run.ended is not None:
            return
        if isinstance(envelope.event, TurnEnded):
            run.heard_end(envelope.event)
        standing = run.state.standing
        if standing.open and standing != run.standing:
            run.standing = standing
            self._factory.session.publish(AgentChanged(child=run.agent, standing=standing), agent=run.parent)
