"""Child agents: made from their parents, run on a prompt, ended with an outcome that is read from their own log."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode

from clew.agents.budget import used_by
from clew.agents.log import AgentLog
from clew.agents.runner import AgentBody, AgentRunner, AgentSpec
from clew.engine.agent import Agent
from clew.engine.calls import describe
from clew.engine.compaction.compactor import Compactor
from clew.engine.compaction.live_state import NothingLive
from clew.engine.compaction.window_meter import WindowMeter
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.compaction import MakeRoom
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.reminders import Reminders
from clew.engine.middleware.repeat_brake import RepeatBrake
from clew.engine.middleware.secret_warning import SecretWarning
from clew.engine.middleware.steering import Steering
from clew.engine.turn import Prompt
from clew.protocol.entries import SystemPromptEntry
from clew.protocol.events import Actor, AgentChanged, AgentEnded, AgentStarted, Envelope
from clew.protocol.ids import AgentId, CallId, PromptId, TaskId, new_uuid
from clew.protocol.messages import AssistantMessage, text_of
from clew.protocol.standing import Standing, standing_after
from clew.system.private_files import replace_private
from clew.tools.base import ChildResult
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.stamp import Stamp, utc_now
from clew.transcript.log.store import subagent_meta_path, subagent_path
from clew.transcript.log.writer import NullWriter, TranscriptSink, TranscriptWriter

if TYPE_CHECKING:
    from clew.agents.factory import AgentFactory
    from clew.engine.compaction.compactor import Compactor

MAX_TITLE_CHARS = 200


class AgentMeta(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`agent-<id>.meta.json`: what a child is, beside its transcript."""

    agent_type: str
    description: str
    parent: AgentId
    call_id: CallId | None = None
    model: str = ""
    background: bool = False
    started_at: str = ""


class ChildRun:
    """One child at work, as its parent's tool and the registry of tasks see it."""

    kind = "agent"
    exit_code = None

    def __init__(
        self, children: "Children", runner: AgentRunner, body: AgentBody, *, parent: AgentId, title: str
    ) -> None:
        self._children = children
        self._runner = runner
        self._body = body
        self.parent = parent
        self.title = title
        self.started_s = time.monotonic()
        self.standing = Standing.STARTING
        self.by: Actor = "itself"
        self._stopped_by: Actor | None = None
        self._life: asyncio.Task[None] | None = None

    @property
    def agent(self) -> AgentId:
        """Its id."""
        return self._runner.agent.id

    @property
    def task_id(self) -> TaskId:
        """The same, among tasks."""
        return TaskId(self.agent)

    @property
    def body(self) -> AgentBody:
        """What it is made of."""
        return self._body

    @property
    def output_file(self) -> str:
        """Its transcript."""
        transcript = self._children.transcript_of(self.agent)
        return str(transcript or "")

    def begin(self, prompt: str) -> None:
        """Go to work."""
        self.standing = Standing.WORKING
        self._runner.submit(Prompt(content=prompt, prompt_id=PromptId(new_uuid()), origin="agent"))
        self._life = asyncio.create_task(self._live(), name=f"agent {self.agent}")

    def text(self) -> str:
        """Its newest words, from its own log."""
        spoken = (message for message in reversed(self._body.log.conversation.messages()))
        return next(
            (words for one in spoken if isinstance(one, AssistantMessage) and (words := text_of(one.content))), ""
        )

    def last(self, max_chars: int) -> str:
        """The end of them."""
        return self.text()[-max_chars:]

    async def result(self) -> ChildResult:
        """Wait for its end. Whoever is cancelled while waiting stops it: nobody would hear of it."""
        try:
            await self._ended()
        except asyncio.CancelledError:
            await self.stop("agent")
            raise
        return ChildResult(text=self.text(), standing=self.standing, reason=self._body.log.state.last_reason)

    async def stop(self, by: Actor) -> None:
        """End it; what it did so far stays in its log and is its result."""
        if self.standing.open:
            self._stopped_by = self._stopped_by or by
            await self._runner.stop("closed" if by == "session" else "interrupt")
        await self._ended()

    async def _ended(self) -> None:
        if self._life is not None:
            await asyncio.wait({self._life})

    async def _live(self) -> None:
        try:
            await self._runner.settled()
        finally:
            await self._children.end(self, self._outcome())

    def _outcome(self) -> AgentEnded:
        """A limit, a stop or a failure gives back what was done so far, never an empty success."""
        state = self._body.log.state
        reason = state.last_reason
        standing = state.rests or standing_after(reason)
        if standing is Standing.STOPPED:
            self.by = self._stopped_by or state.stopped_by or "user"
        elif standing is Standing.IDLE:
            standing = Standing.COMPLETED if reason else Standing.FAILED
        self.standing = standing
        return AgentEnded(
            child=self.agent, standing=standing, by=self.by, reason=reason, result=self.text(), tally=used_by(state)
        )


class Children:
    """One per session: its child agents, from their making to their end."""

    def __init__(self, factory: "AgentFactory") -> None:
        self._factory = factory
        self._runs: dict[AgentId, ChildRun] = {}
        factory.session.subscribe_to_all(self._hear)

    def start(
        self,
        spec: AgentSpec,
        prompt: str,
        *,
        parent: AgentId,
        call: CallId | None = None,
        title: str = "",
        background: bool = False,
    ) -> ChildRun:
        """A child at work on the prompt. That it began is on disk, in its parent's log, before it says anything."""
        session = self._factory.session
        runner = self._factory.make(spec, self._factory.runner(parent), call=call)
        body = self._factory.body(runner.agent.id)
        title = " ".join((title or prompt).split())[:MAX_TITLE_CHARS]
        run = ChildRun(self, runner, body, parent=parent, title=title)
        self._runs[run.agent] = run
        meta = AgentMeta(
            agent_type=spec.kind,
            description=title,
            parent=parent,
            call_id=call,
            model=runner.agent.model.name,
            background=background,
            started_at=utc_now(),
        )
        self._keep_meta(run.agent, meta)
        started = AgentStarted(child=run.agent, kind=spec.kind, task=title, background=background, call_id=call)
        session.publish(started, agent=parent)
        self._factory.shared.registry.add(run, parent, told=False)
        run.begin(prompt)
        return run

    def body_of(self, spec: AgentSpec, parent: AgentBody) -> AgentBody:
        """What a child is made of: its own log, conversation and tools, on what its session shares."""
        factory, above = self._factory, parent.agent
        agent_id = AgentId(os.urandom(8).hex())
        session_id = factory.session.started.session_id
        path = self.transcript_of(agent_id)
        sink: TranscriptSink = NullWriter()
        if path is not None:
            sink = TranscriptWriter(path, session_id, leased=False, notify=factory.session.notice)
        tools = parent.tools.child(agent_id, spec.tools, mode=spec.permission_mode)
        conversation = Conversation(sink, session_id=session_id, sidechain=True)
        stamp = Stamp(
            session_id=session_id, cwd=tools.session.cwd, git_branch=parent.log.stamp.git_branch, agent_id=agent_id
        )
        log = AgentLog(conversation, sink, stamp, place=lambda: (tools.session.cwd, parent.log.stamp.git_branch))
        agent = Agent(
            conversation=conversation,
            model=factory.connect(spec.model) if spec.model else above.own_model,
            fallback=above.fallback,
            system=above.system if spec.system is None else spec.system,
            tools=tools.tools,
            effort=spec.effort or above.own_effort,
            thinking=above.thinking,
            max_output_tokens=above.max_output_tokens,
            agent_id=agent_id,
        )
        log.keep(SystemPromptEntry(blocks=agent.system, **stamp.keyed()))
        around = [hook for hook in tools.host.hooks if isinstance(hook, Middleware)]
        middlewares = (
            Steering(),
            LimitCheck(factory.limits, purse=factory.budget.of(agent_id)),
            LimitCheck(spec.limits, spent=lambda: used_by(log.state), whose="this agent"),
            Reminders(),
            RepeatBrake(),
            SecretWarning(),
            *around,
            self._room_maker(agent, tools.session.forget_reads),
        )
        return AgentBody(agent=agent, log=log, tools=tools, middlewares=middlewares)

    def transcript_of(self, agent: AgentId) -> Path | None:
        """Where a child's transcript is; None: nothing is kept."""
        main = self._factory.transcript
        return subagent_path(main, agent) if main is not None else None

    async def end(self, run: ChildRun, ended: AgentEnded) -> None:
        """A child is done: what it started ends with it, its parent is told, and it takes nothing more."""
        for below in [one for one in self._runs.values() if one.parent == run.agent]:
            await below.stop("agent")
        for shell in run.body.tools.session.shells_at_work():
            await shell.stop("agent")
        del self._runs[run.agent]
        self._factory.session.publish(ended, agent=run.parent)
        self._factory.shared.registry.changed(run)
        self._factory.forget(run.agent)
        await self._factory.shared.release(run.body.tools.session)

    async def settled(self) -> None:
        """Until every child that was stopped has been told of."""
        await asyncio.gather(*(run.stop("session") for run in list(self._runs.values())))

    def _room_maker(self, agent: Agent, forget_reads: Callable[[tuple[str, ...] | None], None]) -> MakeRoom:
        settings = self._factory.compaction
        meter = WindowMeter(settings)
        made: list[Compactor] = []

        def compactor() -> "Compactor":
            if not made:
                made.append(
                    Compactor(agent, settings, meter=meter, live=NothingLive(), forget_reads=forget_reads, log=_nowhere)
                )
            return made[0]

        return MakeRoom(settings, meter, compactor)

    def _keep_meta(self, agent: AgentId, meta: AgentMeta) -> None:
        main = self._factory.transcript
        if main is None:
            return
        try:
            replace_private(subagent_meta_path(main, agent), encode(meta) + b"\n")
        except OSError as error:
            words = f"what the agent {agent} is could not be written down: {describe(error)}"
            self._factory.session.notice("warning", words, code="log")

    def _hear(self, envelope: Envelope) -> None:
        """The parent tells how its child stands when that changes, so that a child that waits is seen to wait."""
        run = self._runs.get(envelope.agent)
        if run is None or not run.standing.open:
            return
        standing = run.body.log.state.standing
        if standing.open and standing != run.standing:
            run.standing = standing
            self._factory.session.publish(AgentChanged(child=run.agent, standing=standing), agent=run.parent)


def _nowhere(words: str) -> None:
    """A child's compactions are in its own log."""
