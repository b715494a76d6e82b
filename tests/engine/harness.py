"""A turn played with a scripted model and small real tools; what comes back is the whole list of events."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from clew.engine.abort import Abort
from clew.engine.agent import Agent
from clew.engine.approvals import PendingAnswers
from clew.engine.loop import run_turn
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.steering import Steering
from clew.engine.ports import Ask, Compactor, Limits
from clew.engine.recovery import Recovery
from clew.engine.step import StepRunner
from clew.engine.turn import Turn
from clew.llm.scripted import ScriptedModel
from clew.permissions.access import Access, ShellAccess, ToolAccess, Verdict
from clew.protocol.events import Event, PartCompleted, PromptAccepted, ReplyWithdrawn, ToolEnded, TurnEnded
from clew.protocol.ids import CallId
from clew.protocol.messages import ToolCallPart, ToolResultPart, UserMessage
from clew.protocol.tools import ToolSpec
from clew.tools.base import Tool, ToolContext, ToolResult


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
        self, *, verdict: Callable[[tuple[Access, ...]], Verdict] | None = None, results_dir: Path | None = None
    ):
        self.verdict = verdict or (lambda accesses: Verdict(decision="allow", why="test"))
        self.saved: list[str] = []
        self._results_dir = results_dir

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        return ToolContext(call_id=call_id, cwd="/", progress=progress, ask=ask)

    def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        return self.verdict(accesses)

    def remember(self, rules: tuple[str, ...]) -> None:
        self.saved.extend(rules)

    @property
    def results_dir(self) -> Path | None:
        return self._results_dir


class Stage:
    """One agent ready to play turns. `events` collects everything; `on` reacts to events as they are yielded."""

    def __init__(
        self,
        model: ScriptedModel,
        tools: Sequence[Tool[Any]] = (),
        *,
        fallback: ScriptedModel | None = None,
        limits: Limits | None = None,
        host: TestHost | None = None,
        compactor: Compactor | None = None,
        max_output_tokens: int | None = None,
    ) -> None:
        self.model = model
        self.agent = Agent(
            model=model,
            system=("You are a test.",),
            specs=tuple(tool.spec() for tool in tools),
            fallback=fallback,
            max_output_tokens=max_output_tokens,
        )
        self.host = host or TestHost()
        self.pending = PendingAnswers()
        self.steps = StepRunner(tools={tool.name: tool for tool in tools}, host=self.host, pending=self.pending)
        self.middlewares: list[Middleware] = [Steering(), LimitCheck(limits or Limits())]
        self.compactor = compactor
        self.abort = Abort()
        self.events: list[Event] = []
        self.spent_usd = 0.0

    async def play(self, prompt: str = "go", on: Callable[[Event], Any] | None = None) -> TurnEnded:
        """Run one turn to its end."""
        self.abort = Abort()
        turn = Turn(
            number=1,
            agent=self.agent,
            recovery=Recovery(self.agent, self.compactor),
            abort=self.abort,
            spent_usd=self.spent_usd,
        )
        async for event in run_turn(turn, prompt, steps=self.steps, middlewares=self.middlewares):
            self.events.append(event)
            if on is not None:
                on(event)
        last = self.events[-1]
        assert isinstance(last, TurnEnded)
        return last

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
        sent = [part.call_id for message in self.agent.messages for part in result_parts(message)]
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
