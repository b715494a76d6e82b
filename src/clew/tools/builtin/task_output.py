"""TaskOutput and TaskStop: look at work in the background, and end it."""

import asyncio
import re
from contextlib import suppress
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import TerminalBlock, TextBlock
from clew.protocol.ids import AgentId
from clew.tools.base import Effect, TaskWork, ToolContext, ToolResult
from clew.tools.extras import search_worker
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool

MAX_CHARS = 30_000
MAX_WAIT_S = 600.0
DEFAULT_WAIT_MS = 30_000.0
FILTER_TIMEOUT_S = 3.0


class TaskOutputParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which task."""

    task_id: str
    filter: Annotated[str, Meta(description="Only lines that match this")] | None = None
    block: bool = False
    timeout: Annotated[float, Meta(description="Milliseconds, with block")] | None = None


class TaskOutput(BuiltinTool[TaskOutputParams]):
    """Look at a command or an agent."""

    name = "TaskOutput"
    params: ClassVar[type[Struct]] = TaskOutputParams
    effect: ClassVar[Effect] = "session"
    waits: ClassVar[bool] = True

    def is_concurrency_safe(self, params: TaskOutputParams) -> bool:
        return True

    def accesses(self, params: TaskOutputParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: TaskOutputParams, context: ToolContext) -> ToolResult:
        try:
            re.compile(params.filter or "")
        except re.error as error:
            return problem(f"filter is no valid regular expression: {error}.")
        shell = self.session.all_shells().get(params.task_id)
        work = shell or found_task(params.task_id, context)
        if work is not None and work.standing.open:
            await until_ended(work, wait_s(params))
        if shell is None:
            return await self._words(params, work, context)
        new, skipped = shell.take_new()
        if params.filter and new:
            matching = await search_worker().ask_filter(new.splitlines(), params.filter, FILTER_TIMEOUT_S)
            if matching is None:
                shell.give_back(new)
                return problem("The filter took too long; use a simpler one. No output was lost.")
            new = "\n".join(matching)
        notes = [f"{shell.id} {'is running' if shell.ended is None else shell.state}."]
        cut = max(len(new) - MAX_CHARS, 0)
        if cut or skipped:
            where = f"; all of it is in {shell.output.path}" if shell.output.path else ""
            notes.append(f"{cut + skipped:,} earlier characters are left out{where}.")
        code = shell.ended.code if shell.ended is not None and not shell.killed else None
        block = TerminalBlock(command=shell.command, output=new[cut:], exit_code=code, background_id=shell.id)
        body = new[cut:].rstrip("\n") or "(no new output)"
        return ToolResult(text=body + "\n" + " ".join(notes), display=(block,))

    async def _words(self, params: TaskOutputParams, work: TaskWork | None, context: ToolContext) -> ToolResult:
        """Of an agent, or of another agent's command: all that it said or printed."""
        try:
            if work is not None and work.kind != "agent":
                words = work.text()
            elif context.agents is not None:
                words = context.agents.words_of(AgentId(params.task_id))
            else:
                raise ValueError
        except ValueError:
            return problem(f"There is no task {params.task_id!r}; known: {known_tasks(self, context)}.")
        if params.filter:
            matching = await search_worker().ask_filter(words.splitlines(), params.filter, FILTER_TIMEOUT_S)
            words = "\n".join(matching or ())
        how = f"{params.task_id} {'is at work' if work.standing.open else work.standing}." if work is not None else ""
        cut = max(len(words) - MAX_CHARS, 0)
        left = f" {cut:,} earlier characters are left out." if cut else ""
        text = f"{words[cut:].strip() or '(it has said nothing yet)'}\n{how or params.task_id + ' has ended.'}{left}"
        return ToolResult(text=text, display=(TextBlock(text=text),))


class TaskStopParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which task."""

    task_id: str


class TaskStop(BuiltinTool[TaskStopParams]):
    """End it, and say how it stood."""

    name = "TaskStop"
    words_file: ClassVar[str] = "task_stop.md"
    params: ClassVar[type[Struct]] = TaskStopParams

    def accesses(self, params: TaskStopParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: TaskStopParams, context: ToolContext) -> ToolResult:
        shell = self.session.all_shells().get(params.task_id)
        work = shell or found_task(params.task_id, context)
        if work is None:
            return problem(f"There is no task {params.task_id!r}; known: {known_tasks(self, context)}.")
        if not work.standing.open:
            state = shell.state if shell is not None else f"{work.standing}"
            return ToolResult(text=f"{work.task_id} had already {state}.")
        await work.stop("agent")
        text = f"{work.task_id} and everything it started were ended."
        return ToolResult(text=text, display=(TextBlock(text=text),))


def found_task(task_id: str, context: ToolContext) -> TaskWork | None:
    """A task of the session by its id, whoever started it."""
    return context.tasks().find(task_id) if context.tasks is not None else None


def known_tasks(tool: BuiltinTool[TaskOutputParams] | BuiltinTool[TaskStopParams], context: ToolContext) -> str:
    """The ids of all tasks, for words to the model."""
    known = context.tasks().known() if context.tasks is not None else tuple(tool.session.all_shells())
    return ", ".join(known) or "none"


def wait_s(params: TaskOutputParams) -> float:
    """How long a call waits for the end."""
    if not params.block:
        return 0.0
    asked_ms = params.timeout if params.timeout is not None else DEFAULT_WAIT_MS
    return min(max(asked_ms / 1000, 0.0), MAX_WAIT_S)


async def until_ended(work: TaskWork, up_to_s: float) -> None:
    """Wait for its end, but not longer."""
    if up_to_s > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(work.over(), up_to_s)
