"""Runs the tool calls of one reply: while the stream still runs, each with exactly one result."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from clew.engine.abort import settle
from clew.engine.bounding import ResultBounds
from clew.engine.channel import EventChannel
from clew.engine.gate import Gate
from clew.engine.ports import ToolHost
from clew.engine.turnstile import Turnstile
from clew.protocol.events import ToolEnded, ToolProgress, ToolStarted
from clew.protocol.ids import AgentId, EntryId, new_uuid
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.schema import BadArguments, decode_arguments

CancelReason = Literal["sibling_error", "user_interrupted", "streaming_fallback"]
CANCEL_TEXT: dict[CancelReason, str] = {
    "sibling_error": "Cancelled: another shell command of the same reply failed.",
    "user_interrupted": "Interrupted by the user before it finished.",
    "streaming_fallback": "Discarded: the reply that asked for this was withdrawn.",
}
MAX_ERROR_CHARS = 2_000


class Slot(Struct):
    """One call on its way to its result."""

    call: ToolCallPart
    entry_id: EntryId
    shell: bool
    task: "asyncio.Task[None] | None" = None
    result: ToolResultPart | None = None
    result_entry: EntryId | None = None
    cancelled: CancelReason | None = None
    running: bool = False


class Dispatcher:
    """The calls of one attempt, in call order. Results are shown as they finish and sent in call order."""

    def __init__(
        self,
        *,
        agent: AgentId,
        tools: Mapping[str, Tool[Any]],
        host: ToolHost,
        gate: Gate,
        channel: EventChannel,
        bounds: ResultBounds,
    ) -> None:
        self._agent = agent
        self._tools = tools
        self._host = host
        self._gate = gate
        self._channel = channel
        self._bounds = bounds
        self._turnstile = Turnstile()
        self.slots: list[Slot] = []

    def start(self, call: ToolCallPart, entry_id: EntryId) -> None:
        """Take a call whose announcement is on disk."""
        tool = self._tools.get(call.name)
        slot = Slot(call=call, entry_id=entry_id, shell=tool is not None and tool.shell)
        self.slots.append(slot)
        slot.task = asyncio.create_task(self._run(slot, tool))

    async def drain(self) -> None:
        """Until every call has its result."""
        while waiting := [slot.task for slot in self.slots if slot.task is not None and not slot.task.done()]:
            await asyncio.wait(waiting)
        for slot in self.slots:
            if slot.task is not None:
                slot.task.result()

    async def cancel(self, reason: CancelReason, *, answer: bool) -> None:
        """Stop what runs. With `answer`, each unfinished call gets its result; without, the reply is withdrawn."""
        unfinished = [slot for slot in self.slots if slot.result is None]
        for slot in unfinished:
            slot.cancelled = slot.cancelled or reason
        await settle(*(slot.task for slot in self.slots if slot.task is not None))
        await self._gate.withdraw_open()
        for slot in unfinished:
            if answer and slot.result is None:
                await self._finish(slot, ToolResult(text=CANCEL_TEXT[slot.cancelled or reason], is_error=True), 0)

    def results(self) -> tuple[ToolResultPart, ...]:
        """In call order, as the next request lists them."""
        return tuple(slot.result for slot in self.slots if slot.result is not None)

    async def _run(self, slot: Slot, tool: Tool[Any] | None) -> None:
        started = time.monotonic()
        params, problem = decode_params(slot.call, tool)
        if tool is None or problem:
            await self._finish(slot, ToolResult(text=problem, is_error=True), started)
            return
        async with self._turnstile.passage(shared=is_safe(tool, params)):
            if slot.cancelled is None:
                result = await self._attempt(slot, tool, params)
            else:
                result = ToolResult(text=CANCEL_TEXT[slot.cancelled], is_error=True)
            await self._finish(slot, result, started, max_chars=tool.max_result_chars)
        if tool.shell and result.failed_command:
            self._cancel_siblings(slot)

    async def _attempt(self, slot: Slot, tool: Tool[Any], params: Struct) -> ToolResult:
        context = self._context(slot.call)
        try:
            permit = await self._gate.admit(slot.call, tool.accesses(params, context))
            if not permit.allowed:
                return ToolResult(text=permit.message, is_error=True)
            self._channel.post(ToolStarted(agent=self._agent, call=slot.call))
            slot.running = True
            return await tool.run(params, context)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if slot.cancelled == "sibling_error" and task is not None and task.uncancel() == 0:
                return ToolResult(text=CANCEL_TEXT["sibling_error"], is_error=True)
            raise
        except Exception as error:  # a tool's bug is the tool's result, never the end of the turn
            return ToolResult(text=f"{slot.call.name} failed: {describe(error)}", is_error=True)
        finally:
            slot.running = False

    def _context(self, call: ToolCallPart) -> ToolContext:
        def progress(text: str) -> None:
            self._channel.post(ToolProgress(agent=self._agent, call_id=call.id, text=text))

        return self._host.context(call.id, progress, lambda questions: self._gate.question(call, questions))

    def _cancel_siblings(self, failed: Slot) -> None:
        for slot in self.slots:
            if slot is not failed and slot.shell and slot.result is None and slot.cancelled is None:
                slot.cancelled = "sibling_error"
                if slot.running and slot.task is not None:
                    slot.task.cancel()

    async def _finish(self, slot: Slot, result: ToolResult, started: float, *, max_chars: int = 0) -> None:
        text = self._bounds.bound(slot.call.id, result.text, max_chars=max_chars)
        content = (TextPart(text=text), *result.media) if result.media else text
        part = ToolResultPart(call_id=slot.call.id, content=content, is_error=result.is_error)
        slot.result_entry = EntryId(new_uuid())
        ended = ToolEnded(
            agent=self._agent,
            entry_id=slot.result_entry,
            parent_entry_id=slot.entry_id,
            name=slot.call.name,
            result=part,
            display=result.display,
            duration_ms=int((time.monotonic() - started) * 1000) if started else 0,
        )
        slot.result = part
        await self._channel.emit(ended)


def decode_params(call: ToolCallPart, tool: Tool[Any] | None) -> tuple[Struct, str]:
    """The typed parameters, or what the model must know to do better."""
    if tool is None:
        return Struct(), f"There is no tool named {call.name!r}."
    if call.raw_arguments is not None:
        return Struct(), "The arguments were not a valid JSON object, so nothing was run. Send them again as JSON."
    try:
        return decode_arguments(call.name, tool.params, call.arguments), ""
    except BadArguments as error:
        return Struct(), str(error)


def is_safe(tool: Tool[Any], params: Struct) -> bool:
    """Whether the call may overlap with others; a predicate that fails means no."""
    try:
        return tool.is_concurrency_safe(params)
    except Exception:  # the tool's own predicate: its failure is an answer
        return False


def describe(error: BaseException) -> str:
    """One line about an exception, bounded."""
    words = str(error).strip() or type(error).__name__
    return f"{type(error).__name__}: {words}"[:MAX_ERROR_CHARS]
