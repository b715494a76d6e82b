"""A turn played with a scripted model and small real tools; what comes back is the whole list of events."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from clew.agents.log import AgentLog
from clew.engine.abort import Abort
from clew.engine.agent import Agent
from clew.engine.gate import PendingAnswers
from clew.engine.loop import StepRunner, run_turn
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.reminders import Steering
from clew.engine.ports import Ask, CallHook, Limits
from clew.engine.turn import Look, Prompt, Turn, let_in
from clew.llm.scripted import ScriptedModel
from clew.permissions.access import Access, ShellAccess, ToolAccess, Verdict
from clew.protocol.entries import Entry
from clew.protocol.event_kinds.asks import RuleScope
from clew.protocol.events import Event, PartCompleted, PromptAccepted, ReplyWithdrawn, ToolEnded, TurnEnded
from clew.protocol.history import valid_history
from clew.protocol.ids import CallId, SessionId
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import Message, ToolCallPart, ToolResultPart, UserMessage
from clew.tools.base import Effect, Tool, ToolContext, ToolResult
from clew.tools.toolset import ToolSet
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import NullWriter, TranscriptSink


class Params(Struct, kw_only=True):
    """What every test tool takes."""

    name: str = ""


class TestTool(Tool[Params]):
    """Base of the tools below: remembers who ran when."""

    __test__ = False
    params = Params
    safe = False

    def __init__(self, log: list[str] | None = None) -> None:
        self.log: list[str] = [] if log is None else log

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description="test", schema={"type": "object"})

    def is_concurrency_safe(self, params: Params) -> bool:
        return self.safe

    async def run(self, params: Params, context: ToolContext) -> ToolResult:
        self.log.append(f"start {params.name}")
        try:
            return await self.work(params)
        finally:
            self.log.append(f"end {params.name}")

    async def work(self, params: Params) -> ToolResult:
        return ToolResult(text=f"content of {params.name}")


class Reader(TestTool):
    """A safe tool; `gates` hold a named call until they are opened, names starting with `bad` fail."""

    name = "Reader"
    safe = True
    effect: ClassVar[Effect] = "none"

    def __init__(self, log: list[str] | None = None, gates: dict[str, asyncio.Event] | None = None) -> None:
        super().__init__(log)
        self.gates = gates or {}

    async def work(self, params: Params) -> ToolResult:
        if params.name in self.gates:
            await self.gates[params.name].wait()
        if params.name.startswith("bad"):
            return ToolResult(text="no such file", is_error=True)
        return ToolResult(text=f"content of {params.name}")


class Writer(TestTool):
    """An unsafe tool."""

    name = "Writer"


class Shell(TestTool):
    """A shell-like tool: names starting with `bad` exit non-zero, `hang` runs until cancelled."""

    name = "Shell"
    shell = True

    async def work(self, params: Params) -> ToolResult:
        if params.name.startswith("bad"):
            return ToolResult(text="exit 1", is_error=True, failed_command=True)
        if params.name.startswith("hang"):
            await asyncio.Event().wait()
        return ToolResult(text="ok")

    def accesses(self, params: Params, context: ToolContext) -> tuple[Access, ...]:
        return (ShellAccess(command=params.name, cwd=context.cwd),)


class Silent(TestTool):
    """Returns nothing at all."""

    name = "Silent"

    async def work(self, params: Params) -> ToolResult:
        return ToolResult(text="")


class Broken(TestTool):
    """A tool with bugs: its predicate raises, and so does its run."""

    name = "Broken"

    def is_concurrency_safe(self, params: Params) -> bool:
        raise RuntimeError("cannot tell")

    async def work(self, params: Params) -> ToolResult:
        raise ValueError("a bug")


class TestHost:
    """Allows everything unless told otherwise."""

    __test__ = False

    def __init__(
        self,
        *,
        verdict: Callable[[tuple[Access, ...]], Verdict] | None = None,
        results_dir: Path | None = None,
        hooks: tuple[CallHook, ...] = (),
        for_people: bool = False,
    ):
        """`for_people`: no hook may answer an ask."""
        self.verdict = verdict or (lambda accesses: Verdict(decision="allow", why="test"))
        self.saved: list[str] = []
        self.hooks = hooks
        self.for_people = for_people
        self._results_dir = results_dir

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        return ToolContext(call_id=call_id, cwd="/", progress=progress, ask=ask)

    async def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        return self.verdict(accesses)

    async def only_a_person(self, accesses: tuple[Access, ...]) -> bool:
        return self.for_people

    def remember(self, rules: tuple[str, ...], *, scope: RuleScope) -> None:
        self.saved.extend(rules)

    def saved_in(self, scope: RuleScope) -> str:
        return "" if scope == "session" else "/h/permissions.json"

    @property
    def results_dir(self) -> Path | None:
        return self._results_dir


SESSION = SessionId("11111111-2222-4333-8444-555555555555")


class Stage:
    """One agent ready to play turns, recorded as the host does it. `events` collects everything; `on` reacts to events
    as they are yielded."""

    def __init__(
        self,
        model: ScriptedModel,
        tools: Sequence[Tool[Any]] = (),
        *,
        fallback: ScriptedModel | None = None,
        limits: Limits | None = None,
        host: TestHost | None = None,
        middlewares: Sequence[Middleware] = (),
        max_output_tokens: int | None = None,
        sink: TranscriptSink | None = None,
        past: Sequence[Entry] = (),
    ) -> None:
        self.model = model
        sink = sink or NullWriter()
        self.log = AgentLog(
            Conversation(sink, session_id=SESSION, entries=past), sink, Stamp(session_id=SESSION, cwd="/project")
        )
        self.agent = Agent(
            conversation=self.log.conversation,
            model=model,
            system=("You are a test.",),
            tools=ToolSet(tools),
            fallback=fallback,
            max_output_tokens=max_output_tokens,
        )
        self.host = host or TestHost()
        self.pending = PendingAnswers()
        self.steps = StepRunner(host=self.host, pending=self.pending)
        self.middlewares: list[Middleware] = [Steering(), LimitCheck(limits or Limits()), *middlewares]
        self.inbox: deque[Prompt] = deque()
        self.look: Look = let_in
        self.abort = Abort()
        self.events: list[Event] = []

    async def play(self, prompt: str = "go", on: Callable[[Event], Any] | None = None) -> TurnEnded:
        """Run one turn to its end."""
        self.abort = Abort()
        turn = Turn(
            number=self.log.state.turns + 1,
            agent=self.agent,
            abort=self.abort,
            spent=lambda: self.log.state.tally,
            waited_s=lambda: self.pending.waited_s(self.agent.id),
            inbox=self.inbox,
            look=self.look,
        )
        events = run_turn(turn, Prompt(content=prompt), steps=self.steps, middlewares=self.middlewares)
        async for event in events:
            self.log.take(event)
            self.events.append(event)
            if on is not None:
                on(event)
        last = self.events[-1]
        assert isinstance(last, TurnEnded)
        return last

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the next request would hold."""
        return valid_history(self.log.conversation.messages())

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def results(self) -> dict[str, ToolResultPart]:
        """Results by call id; asserts that no call got two."""
        ended: list[ToolEnded] = self.of(ToolEnded)
        found = {str(event.result.call_id): event.result for event in ended}
        assert len(found) == len(ended)
        return found

    def assert_settled(self) -> None:
        """Every call that stands has exactly one result, in the events and in the conversation."""
        gone = {entry for event in self.of(ReplyWithdrawn) for entry in event.entry_ids}
        parts: list[PartCompleted] = [event for event in self.of(PartCompleted) if event.entry_id not in gone]
        calls = [event.part.id for event in parts if isinstance(event.part, ToolCallPart)]
        results = [event.result.call_id for event in self.of(ToolEnded) if event.entry_id not in gone]
        assert sorted(calls) == sorted(results)
        sent = [part.call_id for message in self.messages for part in result_parts(message)]
        assert sent == calls

    def prompts(self) -> list[PromptAccepted]:
        """All input that joined the conversation."""
        return self.of(PromptAccepted)


def result_parts(message: object) -> list[ToolResultPart]:
    """The tool results of a message."""
    if not isinstance(message, UserMessage) or isinstance(message.content, str):
        return []
    return [part for part in message.content if isinstance(part, ToolResultPart)]


def asks(*tools: str) -> Callable[[tuple[Access, ...]], Verdict]:
    """A judge that asks for some tools (or for shell access) and allows the rest."""

    def judge(accesses: tuple[Access, ...]) -> Verdict:
        for access in accesses:
            name = access.tool if isinstance(access, ToolAccess) else type(access).__name__
            if name in tools:
                return Verdict(decision="ask", why="no rule allows it")
        return Verdict(decision="allow", why="test")

    return judge
