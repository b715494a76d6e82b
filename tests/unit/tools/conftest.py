"""A session in a fresh workspace, and a way to call tools as the dispatcher does."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from clew.protocol.events import Question
from clew.protocol.ids import CallId
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.registry import builtin_tools
from clew.tools.schema import decode_arguments
from clew.tools.session import ToolSession
from fakes.effort import HANG_S
from fakes.loop_clock import LoopClock

Answers = tuple[tuple[str, ...], ...]


class Caller(Protocol):
    """Runs one tool call."""

    async def __call__(self, name: str, **arguments: Any) -> ToolResult: ...


async def until(condition: Callable[[], object], within_s: float = HANG_S) -> bool:
    """Wait for something the outside world does; False when the time is over."""
    deadline = time.monotonic() + within_s
    while True:
        if condition():
            return True
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)


async def timed_out(call: Caller, command: str, ready: Callable[[], object]) -> ToolResult:
    """A command whose time limit runs out when it has come to where the test wants it."""
    clock = LoopClock()
    task = asyncio.create_task(call("Bash", command=command, timeout=600_000))
    assert await until(lambda: ready() and clock.runs(600))
    clock.forward(601)
    return await task


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
async def session(workspace: Path, tmp_path: Path):
    results = tmp_path / "tool-results"
    results.mkdir()
    made = ToolSession(cwd=str(workspace), roots=(str(workspace),), results_dir=results)
    yield made
    await made.close()


@pytest.fixture
def progress() -> list[str]:
    return []


@pytest.fixture
def answers() -> list[Answers | None]:
    """What the user will answer; empty: nobody is there."""
    return []


@pytest.fixture
def asked() -> list[tuple[Question, ...]]:
    return []


@pytest.fixture
def make_context(
    session: ToolSession, progress: list[str], answers: list[Answers | None], asked: list[tuple[Question, ...]]
) -> Callable[[], ToolContext]:
    counter = iter(range(1_000_000))

    async def ask(questions: tuple[Question, ...]) -> Answers | None:
        asked.append(questions)
        return answers.pop(0) if answers else None

    def make() -> ToolContext:
        return ToolContext(call_id=CallId(f"call-{next(counter)}"), cwd=session.cwd, progress=progress.append, ask=ask)

    return make


@pytest.fixture
def tools(session: ToolSession) -> dict[str, Tool[Any]]:
    return {tool.name: tool for tool in builtin_tools(session)}


@pytest.fixture
def call(tools: dict[str, Tool[Any]], make_context: Callable[[], ToolContext]) -> Caller:
    async def run(name: str, **arguments: Any) -> ToolResult:
        tool = tools[name]
        params = decode_arguments(name, tool.params, arguments)
        context = make_context()
        tool.accesses(params, context)
        return await tool.run(params, context)

    return run
