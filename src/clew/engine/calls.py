"""The tool calls of one reply: each goes decode, before, gate, run, after, bound, and has exactly one result."""

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from clew.engine.abort import settle
from clew.engine.channel import EventChannel
from clew.engine.gate import Gate, Permit
from clew.engine.ports import UNCHANGED, CallChange, CallHook, ToolHost
from clew.engine.result_budget import ResultBudget, result_part
from clew.engine.turnstile import Ticket, Turnstile
from clew.permissions.access import Access, ToolAccess
from clew.protocol.events import CallChanged, ToolEnded, ToolProgress, ToolStarted
from clew.protocol.ids import EntryId, new_entry_id
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import ToolCallPart, ToolResultPart
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.schema import BadArguments
from clew.tools.toolset import ToolSet

CancelReason = Literal["sibling_error", "interrupted", "withdrawn"]
CANCEL_TEXT: dict[CancelReason, str] = {
    "sibling_error": "Cancelled: another shell command of the same reply failed.",
    "interrupted": "Interrupted before it finished.",
    "withdrawn": "Discarded: the reply that asked for this was withdrawn.",
}
MAX_ERROR_CHARS = 2_000


class Slot(Struct, eq=False):
    """One call on its way to its result. It exists before the call is announced, so that none stays unanswered."""

    call: ToolCallPart
    entry_id: EntryId
    tool: Tool[Any] | None
    through: str = ""
    """The tool by which the model called it; empty: directly."""
    task: "asyncio.Task[None] | None" = None
    result: ToolResultPart | None = None
    result_entry: EntryId | None = None
    cancelled: CancelReason | None = None
    running: bool = False
    refused: bool = False
    effectful: bool = False
    """It was let through and may have changed something outside of this session."""
    ran: ToolResult | None = None
    """What its run came to; hooks may still look at it."""
    left: ToolResult | None = None
    """What its run had brought when it was stopped."""
    said: CallChange = UNCHANGED
    """What hooks think of it."""
    params: Struct | None = None
    """Its input, once it was decided about ahead of its run."""
    answered: bool = False
    """Somebody said yes to it then."""
    duration_ms: int = 0

    @contextmanager
    def stopwatch(self, gate: Gate) -> Generator[None]:
        """Measure the run, without the time that people took to answer meanwhile."""
        started_s, waited_s = time.monotonic(), gate.waited_s
        try:
            yield
        finally:
            took_s = time.monotonic() - started_s - (gate.waited_s - waited_s)
            self.duration_ms = max(0, int(took_s * 1000))


class Calls:
    """In call order. Results are shown as they finish and sent in call order."""

    def __init__(
        self, *, tools: ToolSet, host: ToolHost, gate: Gate, channel: EventChannel, budget: ResultBudget
    ) -> None:
        self._tools = tools
        self._host = host
        self._gate = gate
        self._channel = channel
        self._budget = budget
        self._turnstile = Turnstile()
        self.slots: list[Slot] = []
        self.whole = asyncio.Event()
        """The reply that asks for these calls is complete, or broke: nothing more comes of it."""
        self.committed = False
        """A call with an effect was let through: what happened can no longer be withdrawn."""

    def reserve(self, call: ToolCallPart, entry_id: EntryId) -> Slot:
        """A place for a call that is about to be announced: from here on it is the call that it stands for."""
        meant = meant_call(call)
        through = call.name if meant.name != call.name else ""
        slot = Slot(call=meant, entry_id=entry_id, tool=self._tools.find(meant.name), through=through)
        self.slots.append(slot)
        return slot

    def start(self, slot: Slot) -> None:
        """Run a call whose announcement is on disk."""
        slot.task = asyncio.create_task(self._run(slot, self._turnstile.ticket()))

    async def consider(self, slot: Slot) -> None:
        """Decide about a call ahead of its run: hooks look at it, and whoever must be asked is asked. One that is
        refused has its result then."""
        params, refusal = await self._prepare(slot)
        if slot.tool is not None and refusal is None:
            try:
                params, permit = await self._admitted(slot, slot.tool, params, self._context(slot))
                refusal = _refusal(permit)
                slot.params, slot.answered = params, permit.answered
                slot.refused = refusal is not None and permit.impossible is None
            except BadArguments as error:
                refusal = ToolResult(text=str(error), is_error=True)
            except Exception as error:  # a hook's or tool's bug is a result, never the end of the turn
                refusal = ToolResult(text=f"{slot.call.name} was not run: {describe(error)}", is_error=True)
        if slot.tool is None or refusal is not None:
            await self._finish(slot, refusal or ToolResult(text="", is_error=True))

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
                limit = slot.tool.max_result_chars if slot.tool is not None else 0
                result = slot.ran or self._left(slot, slot.cancelled or reason)
                await self._finish(slot, result, max_chars=limit)

    def _left(self, slot: Slot, reason: CancelReason) -> ToolResult:
        """The result of a call that was stopped, with what it had brought and changed until then."""
        result = cancelled(reason, slot.left)
        for hook in self._host.hooks if slot.effectful else ():
            result = hook.stopped(slot.call, result)
        return result

    async def fit(self) -> None:
        """All results together within the budget; what stands for some of them is recorded before they are sent."""
        for replaced in self._budget.fit([slot.result for slot in self.slots if slot.result is not None]):
            await self._channel.emit(replaced)

    async def _run(self, slot: Slot, ticket: Ticket) -> None:
        tool = None
        try:
            params, refusal = await self._prepare(slot) if slot.params is None else (slot.params, None)
            tool = slot.tool
            if tool is None or refusal is not None:
                await self._finish(slot, refusal or ToolResult(text="", is_error=True))
                return
            await ticket.admitted(shared=is_safe(tool, params))
            if slot.cancelled is None:
                result = await self._attempt(slot, tool, params, ticket)
            else:
                result = cancelled(slot.cancelled)
            await self._finish(slot, result, max_chars=tool.max_result_chars)
        finally:
            ticket.leave()
        if tool.shell and result.failed_command:
            self._cancel_siblings(slot)

    async def _prepare(self, slot: Slot) -> tuple[Struct, ToolResult | None]:
        """Decode, then let hooks look at it: what they change is decoded again, what they say the gate weighs."""
        tool = slot.tool = slot.tool or await self._tools.awaited(slot.call.name)
        if tool is None:
            return Struct(), ToolResult(text=self._tools.missing(slot.call.name), is_error=True)
        if slot.call.raw_arguments is not None:
            words = "The arguments were not a valid JSON object, so nothing was run. Send them again as JSON."
            return Struct(), ToolResult(text=words, is_error=True)
        try:
            params = tool.decode(slot.call.arguments)
            for hook in self._host.hooks:
                change = await hook.before(slot.call, tool)
                if change is None:
                    continue
                slot.said = stricter(slot.said, change)
                if slot.said.refused:
                    break
                if change.arguments is not None and change.arguments != slot.call.arguments:
                    params = await self._changed(slot, tool, change.arguments, hook=change.hook)
        except BadArguments as error:
            return Struct(), ToolResult(text=str(error), is_error=True)
        except Exception as error:  # a hook's or tool's bug is a result, never the end of the turn
            return Struct(), ToolResult(text=f"{slot.call.name} was not run: {describe(error)}", is_error=True)
        return params, None

    async def _changed(
        self, slot: Slot, tool: Tool[Any], arguments: dict[str, Any], *, hook: str | None = None
    ) -> Struct:
        """The call with another input, which is on disk before it is judged. Raises BadArguments. `hook`: the one that
        changed it; None: whoever answered its approval did."""
        try:
            params = tool.decode(arguments)
        except BadArguments as error:
            who = "A hook" if hook is not None else "The answer to its approval"
            raise BadArguments(f"{who} changed the input to what it cannot take. {error}") from error
        slot.call = replace(slot.call, arguments=arguments)
        changed = CallChanged(
            call_id=slot.call.id,
            tool=slot.call.name,
            arguments=arguments,
            by="user" if hook is None else "hook",
            hook=hook or "",
        )
        await self._channel.emit(changed)
        return params

    async def _attempt(self, slot: Slot, tool: Tool[Any], params: Struct, ticket: Ticket) -> ToolResult:
        context = self._context(slot)
        try:
            decoded = params
            params, permit = await self._admitted(slot, tool, params, context)
            if params is not decoded and not is_safe(tool, params):
                await ticket.alone()
            if (refusal := _refusal(permit)) is not None:
                slot.refused = permit.impossible is None
                return refusal
            if tool.effect != "none" and not permit.reads_only:
                self.committed = True
                slot.effectful = tool.effect == "world"
            await self._announce(slot)
            slot.running = True
            return await self._within(self._host.hooks, slot, tool, params, context)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if slot.cancelled == "sibling_error" and task is not None and task.uncancel() == 0:
                return slot.ran or self._left(slot, "sibling_error")
            raise
        except BadArguments as error:
            return ToolResult(text=str(error), is_error=True)
        except Exception as error:  # a hook's bug is a result, never the end of the turn
            return ToolResult(text=f"{slot.call.name} failed: {describe(error)}", is_error=True)
        finally:
            slot.running = False

    async def _admitted(
        self, slot: Slot, tool: Tool[Any], params: Struct, context: ToolContext
    ) -> tuple[Struct, Permit]:
        """Whether it may run, and with which input: whoever allowed it may have given another. Raises BadArguments."""
        accesses = touched(slot, tool, params, context)
        if slot.answered:
            return params, await self._gate.admit_answered(slot.call, accesses)
        permit = await self._gate.admit(slot.call, accesses, slot.said, lambda: tool.impossible(params, context))
        if permit.arguments is not None and permit.arguments != slot.call.arguments:
            params = await self._changed(slot, tool, permit.arguments)
            permit = await self._gate.admit_answered(slot.call, touched(slot, tool, params, context))
        return params, permit

    async def _within(
        self, hooks: tuple[CallHook, ...], slot: Slot, tool: Tool[Any], params: Struct, context: ToolContext
    ) -> ToolResult:
        """Run it, each hook around those after it: what a later one does to files afterwards, an earlier one sees."""
        if not hooks:
            return await self._ran(slot, tool, params, context)
        first, inner = hooks[0], hooks[1:]
        if slot.effectful:
            async with first.around(slot.call, tool):
                result = await self._within(inner, slot, tool, params, context)
        else:
            result = await self._within(inner, slot, tool, params, context)
        return await first.after(slot.call, tool, result)

    async def _ran(self, slot: Slot, tool: Tool[Any], params: Struct, context: ToolContext) -> ToolResult:
        try:
            with slot.stopwatch(self._gate):
                slot.ran = await tool.run(params, context)
        except Exception as error:  # a tool's bug is the tool's result, never the end of the turn
            slot.ran = ToolResult(text=f"{slot.call.name} failed: {describe(error)}", is_error=True)
        return slot.ran

    async def _announce(self, slot: Slot) -> None:
        """What has an effect runs only after the log is safe on disk: the host syncs before it takes this event."""
        started = ToolStarted(call=slot.call, effectful=slot.effectful)
        if slot.effectful:
            await self._channel.emit(started)
        else:
            self._channel.post(started)

    def _context(self, slot: Slot) -> ToolContext:
        def progress(text: str) -> None:
            self._channel.post(ToolProgress(call_id=slot.call.id, text=text))

        context = self._host.context(
            slot.call.id, progress, lambda questions: self._gate.question(slot.call, questions)
        )

        def leave(result: ToolResult) -> None:
            slot.left = result

        context.leave = leave
        context.whole = self.whole.wait
        context.propose = lambda proposed: self._gate.proposal(slot.call, proposed)
        return context

    def _cancel_siblings(self, failed: Slot) -> None:
        for slot in self.slots:
            shell = slot.tool is not None and slot.tool.shell
            if slot is not failed and shell and slot.result is None and slot.cancelled is None:
                slot.cancelled = "sibling_error"
                if slot.running and slot.task is not None:
                    slot.task.cancel()

    async def _finish(self, slot: Slot, result: ToolResult, *, max_chars: int = 0) -> None:
        text = self._budget.bound(slot.call.id, result.text, max_chars=max_chars)
        part = result_part(slot.call.id, text, result.media, is_error=result.is_error)
        slot.result_entry = new_entry_id()
        slot.result = part
        ended = ToolEnded(
            entry_id=slot.result_entry,
            parent_id=slot.entry_id,
            name=slot.call.name,
            result=part,
            display=result.display,
            duration_ms=slot.duration_ms,
            refused=slot.refused,
            stopped=result.stopped,
        )
        await self._channel.emit(ended)


def touched(slot: Slot, tool: Tool[Any], params: Struct, context: ToolContext) -> tuple[Access, ...]:
    """What a call touches. The way by which it was called counts too: a rule may forbid it, none allows anything by
    it."""
    own = tool.accesses(params, context)
    return (*own, ToolAccess(tool=slot.through, read_only=True)) if slot.through else own


def _refusal(permit: Permit) -> ToolResult | None:
    """The result of a call that does not run."""
    return None if permit.allowed else permit.impossible or ToolResult(text=permit.message, is_error=True)


def cancelled(reason: CancelReason, left: ToolResult | None = None) -> ToolResult:
    """The result of a call that was stopped, with what it had brought until then."""
    left = left or ToolResult(text="")
    text = "\n".join(part for part in (left.text.rstrip("\n"), CANCEL_TEXT[reason]) if part)
    return ToolResult(text=text, display=left.display, is_error=True, stopped=True)


def stricter(said: CallChange, more: CallChange) -> CallChange:
    """Of two hooks' words about a call the stricter one."""
    return more if _strictness(more) > _strictness(said) else said


def _strictness(said: CallChange) -> int:
    return 3 if said.refused else ("", "allow", "ask").index(said.leaning)


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
