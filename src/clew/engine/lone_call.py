"""A tool call that no model asked for: judged, asked about and run like every other, and told of only as far as people
decide about it. Its result goes to whoever asked."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from clew.engine.abort import Abort
from clew.engine.calls import Calls, Slot
from clew.engine.channel import EventChannel
from clew.engine.gate import Gate, PendingAnswers
from clew.engine.ports import ToolHost
from clew.engine.result_budget import ResultBudget
from clew.protocol.events import Answered, Ask, Event
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, new_entry_id, new_uuid
from clew.protocol.messages import ToolCallPart, result_text
from clew.tools.toolset import ToolSet

TOLD = (Ask, Answered)
"""Its announcement and its result are no part of the conversation; what people decided about it is in the log."""


class LoneResult(Struct, frozen=True, kw_only=True):
    """What came of it."""

    text: str
    is_error: bool = False
    refused: bool = False
    """A rule, a hook or a person did not let it run; `text` says why."""


class LoneCall:
    """One of them: decided about, then run, or left."""

    def __init__(self, calls: Calls, slot: Slot) -> None:
        self._calls = calls
        self._slot = slot

    async def consider(self) -> LoneResult | None:
        """Whether it may run; if not, why. Nothing has run then."""
        await self._calls.consider(self._slot)
        return self._result()

    async def run(self) -> LoneResult:
        """Run it to its end. Cancelled, it leaves nothing running and nobody asked."""
        try:
            self._calls.start(self._slot)
            await self._calls.drain()
        except asyncio.CancelledError:
            await self._calls.cancel("interrupted", answer=False)
            raise
        result = self._result()
        assert result is not None
        return result

    def _result(self) -> LoneResult | None:
        slot = self._slot
        if slot.result is None:
            return None
        return LoneResult(text=result_text(slot.result), is_error=slot.result.is_error, refused=slot.refused)


class LoneCalls:
    """Makes such calls for one agent."""

    def __init__(
        self,
        *,
        tools: ToolSet,
        host: ToolHost,
        pending: PendingAnswers,
        publish: Callable[[Event], None],
        agent: AgentId = MAIN_AGENT,
    ) -> None:
        """`publish` returns when the event is recorded."""
        self._tools = tools
        self._host = host
        self._pending = pending
        self._publish = publish
        self._agent = agent

    @asynccontextmanager
    async def opened(self, name: str, arguments: dict[str, Any], abort: Abort) -> AsyncGenerator[LoneCall]:
        """A call that may be made while this is open. Stopped, it leaves nobody asked."""
        channel = EventChannel()
        gate = Gate(host=self._host, pending=self._pending, channel=channel, abort=abort, agent=self._agent)
        budget = ResultBudget(self._host.results_dir)
        calls = Calls(tools=self._tools, host=self._host, gate=gate, channel=channel, budget=budget)
        calls.whole.set()
        telling = asyncio.create_task(self._tell(channel))
        slot = calls.reserve(
            ToolCallPart(id=CallId(f"own_{new_uuid()}"), name=name, arguments=arguments), new_entry_id()
        )
        try:
            yield LoneCall(calls, slot)
        except asyncio.CancelledError:
            await gate.withdraw_open()
            raise
        finally:
            channel.close()
            await telling

    async def _tell(self, channel: EventChannel) -> None:
        async for event in channel.drain():
            if isinstance(event, TOLD):
                self._publish(event)
