"""A session whose agents all come from its factory: a project on disk, real tools and permissions, scripted models."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from clew.agents.budget import TreeBudget
from clew.agents.children import Children
from clew.agents.factory import AgentFactory, GivenKinds, TreeRules
from clew.agents.log import AgentLog
from clew.agents.runner import MAIN, AgentBody, AgentSpec
from clew.agents.toolbox import SessionTools, open_tools
from clew.config.schema import Compaction
from clew.engine.agent import Agent
from clew.engine.gate import PendingAnswers
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.reminders import Steering
from clew.engine.ports import Limits
from clew.host.door import Door, OpenSession
from clew.host.session import Journal, Session
from clew.host.slash_names import SlashNames
from clew.host.workspace import open_workspace, remember_trust
from clew.llm.scripted import ScriptedModel
from clew.parts.agents.part import AgentPart
from clew.parts.undo.part import UndoPart
from clew.permissions.access import Access, ToolAccess
from clew.protocol.events import SessionStarted
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.ops import Close
from clew.protocol.standing import Standing
from clew.tools.base import ChildOrder, Effect, Tool, ToolContext, ToolResult
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.past.reader import load
from engine.harness import SESSION
from unit.host.plugs import plug
from unit.host.room import STARTED, Front


class Wish(Struct, kw_only=True):
    """What a child shall do."""

    prompt: str
    kind: str = ""
    wait: bool = True


class StartAgent(Tool[Wish]):
    """The test's own way to a child: it starts one through the port of its call, and waits for the result."""

    name = "StartAgent"
    params: ClassVar[type[Struct]] = Wish
    effect: ClassVar[Effect] = "session"

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description="test", schema={"type": "object"})

    def accesses(self, params: Wish, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: Wish, context: ToolContext) -> ToolResult:
        assert context.agents is not None
        try:
            order = ChildOrder(kind=params.kind, background=not params.wait)
            child = await context.agents.start(params.prompt, order)
        except ValueError as error:
            return ToolResult(text=str(error), is_error=True)
        if not params.wait:
            return ToolResult(text=f"started {child.agent}")
        ended = await child.outcome()
        assert ended is not None
        return ToolResult(text=child.text(), is_error=ended.standing is not Standing.COMPLETED)


class House:
    """The session, its factory, and a front end at its door. `models`: by name; `main` is the main agent's."""

    def __init__(
        self,
        base: Path,
        models: dict[str, ScriptedModel],
        *,
        kinds: Sequence[AgentSpec] = (),
        limits: Limits | None = None,
        mode: str = "default",
        kept: bool = True,
        rules: TreeRules | None = None,
    ) -> None:
        self.project = base / "project"
        self.project.mkdir(exist_ok=True)
        home = base / "home"
        env = {"HOME": str(base), "CLEW_HOME": str(home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
        remember_trust(home, self.project)
        workspace = open_workspace(self.project, env, flags={"sandbox.mode": "off", "permissionMode": mode})
        self.path = home / "projects" / "p" / f"{SESSION}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.shared = SessionTools(workspace, None, self.path if kept else None)
        tools = open_tools(self.shared, more=(StartAgent(),))
        past = load(self.path, session_id=SESSION).entries if self.path.exists() else ()
        sink = TranscriptWriter(self.path, SESSION)
        conversation = Conversation(sink, session_id=SESSION, entries=past)
        log = AgentLog(conversation, sink, Stamp(session_id=SESSION, cwd=str(self.project)))
        self.door = Door()
        parts = (AgentPart(), UndoPart())
        self.session = Session(
            started=STARTED,
            journal=Journal(log, on_lost=lambda why: self.session.lose(why)),
            pending=PendingAnswers(),
            deliver=self.door.deliver,
            parts=parts,
        )
        bounds, budget = limits or Limits(), TreeBudget()
        self.factory = AgentFactory(
            self.session,
            self.shared,
            budget,
            make_children=Children,
            connect=lambda name: models[name],
            transcript=self.path,
            limits=bounds,
            compaction=Compaction(),
            kinds=lambda: GivenKinds(kinds),
            rules=rules,
        )
        agent = Agent(conversation=conversation, model=models["main"], system=("test",), tools=tools.tools)
        middlewares = [Steering(), LimitCheck(bounds, purse=budget.of(MAIN_AGENT))]
        self.factory.make(MAIN, body=AgentBody(agent=agent, log=log, tools=tools, middlewares=middlewares))
        plug(self.session, parts, toolbox=tools, agents=self.factory)
        self.tools = tools
        names = SlashNames(parts)
        names.start(self.session)
        self.door.enter(OpenSession(session=self.session, permits=self.shared.permits, names=names))
        self.front = Front(self.door)


@asynccontextmanager
async def house(base: Path, **more: Any) -> AsyncIterator[House]:
    """Closed in the end, with everything that still runs."""
    place = House(base, **more)
    await place.front.until(SessionStarted)
    try:
        yield place
    finally:
        await place.front.submit(Close())
        await place.front.task
        await place.shared.close()
