"""A whole session in this process: a door, a scripted model, small real tools, a real log where one is wanted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from clew.agents.log import AgentLog
from clew.agents.permits import Permits
from clew.agents.runner import AgentRunner
from clew.engine.agent import Agent
from clew.engine.gate import PendingAnswers
from clew.engine.loop import StepRunner
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.reminders import Reminders, Steering
from clew.engine.ports import Limits
from clew.host.door import Door, OpenSession
from clew.host.part import Part
from clew.host.session import Journal, Session
from clew.host.slash_names import SlashNames
from clew.llm.model import Model
from clew.parts.history.part import HistoryPart
from clew.parts.models.part import ModelPart
from clew.parts.orientation.part import OrientationPart
from clew.parts.permissions.part import PermissionPart
from clew.parts.preferences.part import PreferencePart
from clew.permissions.policy import make_policy
from clew.protocol.base import Rights
from clew.protocol.entries import Entry
from clew.protocol.events import Envelope, Event, SessionStarted
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.lookups.rules_and_models import ListModels, ModelRow, ModelsListed
from clew.protocol.ops import Close, Op
from clew.tools.base import Tool
from clew.tools.toolset import ToolSet
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import NullWriter, TranscriptSink, TranscriptWriter
from engine.harness import SESSION, Reader, Shell, TestHost
from fakes.effort import HANG_S
from unit.host.plugs import plug, setup_of

A = TypeVar("A", bound=Answer)
STARTED = SessionStarted(
    session_id=SESSION, cwd="/project", model="scripted/model", permission_mode="default", tools=(), version="0"
)


class TwoModels(ModelPart):
    """A person can name two."""

    async def _list(self, lookup: ListModels) -> ModelsListed:
        names = ("local/a", "local/b")
        return ModelsListed(models=names, rows=tuple(ModelRow(name=name, provider="local") for name in names))


class Front:
    """A front end that remembers what it saw and can wait for a kind of event."""

    def __init__(self, door: Door, rights: Rights = Rights.DRIVE, *, name: str = "", guest: bool = False) -> None:
        self.door = door
        self.client = door.connect(rights, name=name, guest=guest)
        self.seen: list[Envelope] = []
        self._arrived = asyncio.Condition()
        self._events = self.client.events()
        self.task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for envelope in self._events:
            async with self._arrived:
                self.seen.append(envelope)
                self._arrived.notify_all()

    async def submit(self, op: Op) -> None:
        await self.client.submit(op)

    async def look_up(self, lookup: Lookup[A]) -> A:
        return await self.client.look_up(lookup)

    async def until(self, kind: type[Any], count: int = 1, *, agent: AgentId = MAIN_AGENT) -> Any:
        """The count-th event of a kind, once it has come."""
        async with asyncio.timeout(HANG_S), self._arrived:
            await self._arrived.wait_for(lambda: len(self.of(kind, agent=agent)) >= count)
        return self.of(kind, agent=agent)[count - 1]

    def of(self, kind: type[Any], *, agent: AgentId = MAIN_AGENT) -> list[Any]:
        return [item.event for item in self.seen if isinstance(item.event, kind) and item.agent == agent]

    @property
    def events(self) -> list[Event]:
        return [item.event for item in self.seen]


def agent_log(sink: TranscriptSink, *, sidechain: AgentId | None = None, past: Sequence[Entry] = ()) -> AgentLog:
    """The transcript of an agent."""
    conversation = Conversation(sink, session_id=SESSION, entries=past, sidechain=sidechain is not None)
    return AgentLog(conversation, sink, Stamp(session_id=SESSION, cwd="/project", agent_id=sidechain))


def runner_for(
    session: Session,
    log: AgentLog,
    model: Model,
    *,
    agent_id: AgentId = MAIN_AGENT,
    tools: Sequence[Tool[Any]] = (),
    limits: Limits | None = None,
    host: TestHost | None = None,
    middlewares: Sequence[Middleware] = (),
) -> AgentRunner:
    """An agent of a session."""
    agent = Agent(conversation=log.conversation, model=model, system=("test",), tools=ToolSet(tools), agent_id=agent_id)
    return AgentRunner(
        agent=agent,
        steps=StepRunner(host=host or TestHost(), pending=session.pending),
        middlewares=[Steering(), LimitCheck(limits or Limits()), *middlewares],
        publish=session.publisher(agent_id),
        spent=lambda: log.state.tally,
    )


def furnished(
    model: Model,
    *,
    path: Path | None = None,
    connect: Callable[[str], Model] | None = None,
    tools: Sequence[Tool[Any]] | None = None,
    asked_for: Callable[[], str] | None = None,
    past: Sequence[Entry] = (),
    parts: Sequence[Part] = (),
    permits: Permits | None = None,
    toolbox: Any = None,
    reminders: Reminders | None = None,
    **more: Any,
) -> Door:
    """A door with a session behind it. `parts`: besides rules, models, titles and history, which every session has."""
    door = Door()
    sink: TranscriptSink = TranscriptWriter(path, SESSION) if path is not None else NullWriter()
    log = agent_log(sink, past=past)
    setup = setup_of(path=path, sink=sink, connect=connect, headless=True)
    shared = (PermissionPart(), TwoModels(setup), HistoryPart(setup), PreferencePart(setup))
    titles = (
        () if any(isinstance(part, OrientationPart) for part in parts) else (OrientationPart(setup, "", speaks=False),)
    )
    plugged = (*shared, *titles, *parts)
    session = Session(
        started=STARTED,
        journal=Journal(log, on_lost=lambda why: session.lose(why)),
        pending=PendingAnswers(),
        deliver=door.deliver,
        parts=plugged,
        asked_for=asked_for,
    )
    session.add_agent(runner_for(session, log, model, tools=tools or [Reader(), Shell()], **more))
    rules = permits or Permits(make_policy(root="/project", home="/h", clew_home="/h/.clew"), save=lambda rules: None)
    plug(session, plugged, permits=rules, toolbox=toolbox, reminders=reminders)
    names = SlashNames(plugged)
    names.start(session)
    door.enter(OpenSession(session=session, permits=rules, names=names))
    return door


@asynccontextmanager
async def session_with(model: Model, **more: Any) -> AsyncIterator[Front]:
    """A front end at a session; closed in the end."""
    front = Front(furnished(model, **more))
    await front.until(SessionStarted)
    try:
        yield front
    finally:
        await front.submit(Close())
        await front.task
