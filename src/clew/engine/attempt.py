"""One try at a reply: the stream and the tools it asks for, side by side, as one sequence of events."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable

from clew.engine.abort import Abort, Aborted, settle
from clew.engine.channel import EventChannel
from clew.engine.dispatch import Dispatcher, describe
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.llm.reply import PartDone, ReasoningChunk, ReplyDone, ReplyEvent, ReplyStarted, Retrying, TextChunk
from clew.llm.request import ModelRequest
from clew.protocol.events import Event, PartCompleted, ReasoningDelta, RetryScheduled, TextDelta
from clew.protocol.ids import AgentId, EntryId, MessageId, new_uuid
from clew.protocol.messages import AssistantMessage, Part, TextPart, ToolCallPart
from clew.protocol.usage import Usage


class Attempt:
    """What one try produced. Exactly one of `done`, `error` and `aborted` is set when `run` has ended."""

    def __init__(
        self,
        *,
        agent: AgentId,
        model: Model,
        abort: Abort,
        make_dispatcher: Callable[[EventChannel], Dispatcher],
    ) -> None:
        self._agent = agent
        self._model = model
        self._abort = abort
        self._channel = EventChannel()
        self.dispatcher = make_dispatcher(self._channel)
        self.message_id = MessageId(f"msg_{new_uuid()}")
        self.parts: list[Part] = []
        self.entry_ids: list[EntryId] = []
        self.done: ReplyDone | None = None
        self.error: LLMError | None = None
        self.aborted = False
        self.shown = False
        """Words of this try were streamed to front ends."""
        self.api_ms = 0
        self._request_id = ""
        self._partial: list[str] = []
        self._held: Part | None = None

    async def run(self, request: ModelRequest, *, streaming: bool) -> AsyncGenerator[Event]:
        """Events until the reply is whole and every call has its result, or the try has failed."""
        work = asyncio.create_task(self._supervise(request, streaming=streaming))
        try:
            async for event in self._channel.drain():
                yield event
            await work
        finally:
            await settle(work, *(slot.task for slot in self.dispatcher.slots if slot.task is not None))

    def message(self) -> AssistantMessage:
        """The reply as history holds it."""
        return AssistantMessage(
            id=self.message_id,
            model=self._model.name,
            content=tuple(self.parts),
            stop_reason=self.done.stop_reason if self.done else None,
            usage=self.done.usage if self.done else None,
        )

    def entries(self) -> tuple[EntryId, ...]:
        """Every entry this try wrote: parts and results."""
        results = [slot.result_entry for slot in self.dispatcher.slots if slot.result_entry is not None]
        return (*self.entry_ids, *results)

    async def _supervise(self, request: ModelRequest, *, streaming: bool) -> None:
        try:
            try:
                await self._abort.guard(self._receive(request, streaming=streaming))
                await self._abort.guard(self.dispatcher.drain())
            except LLMError as error:
                self.error = error
                await self.dispatcher.cancel("streaming_fallback", answer=False)
            except Aborted:
                self.aborted = True
                await self._keep_partial()
                await self.dispatcher.cancel("user_interrupted", answer=True)
            except Exception as error:  # task boundary: a bug ends the turn with its real words
                self.error = LLMError(f"internal error: {describe(error)}")
                await self.dispatcher.cancel("streaming_fallback", answer=False)
        finally:
            self._channel.close()

    async def _receive(self, request: ModelRequest, *, streaming: bool) -> None:
        started = time.monotonic()
        try:
            await self._reply(request, streaming=streaming)
        finally:
            self.api_ms = int((time.monotonic() - started) * 1000)

    async def _reply(self, request: ModelRequest, *, streaming: bool) -> None:
        stream = self._model.stream(request, whole=not streaming)
        try:
            async for event in stream:
                await self._take(event)
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def _take(self, event: ReplyEvent) -> None:
        match event:
            case TextChunk(text=text):
                self._partial.append(text)
                self.shown = True
                self._channel.post(TextDelta(agent=self._agent, message_id=self.message_id, text=text))
            case ReasoningChunk(text=text):
                self._channel.post(ReasoningDelta(agent=self._agent, message_id=self.message_id, text=text))
            case PartDone(part=part):
                await self._release()
                if isinstance(part, ToolCallPart):
                    await self._complete(part)
                else:
                    self._held = part
            case ReplyStarted():
                self.message_id = MessageId(event.message_id) if event.message_id else self.message_id
                self._request_id = event.request_id
            case Retrying():
                self._channel.post(
                    RetryScheduled(
                        agent=self._agent,
                        attempt=event.attempt,
                        max_attempts=event.max_attempts,
                        delay_s=event.delay_s,
                        reason=event.reason,
                    )
                )
            case ReplyDone():
                self.done = event
                await self._release(event.usage)
            case _:
                pass

    async def _release(self, usage: Usage | None = None) -> None:
        """A part that is not a call waits for what follows it, so that the reply's last part carries its usage."""
        part, self._held = self._held, None
        if part is not None:
            await self._complete(part, usage)

    async def _complete(self, part: Part, usage: Usage | None = None) -> None:
        """Record a part; a call starts once its announcement is on disk."""
        entry_id = EntryId(new_uuid())
        self.parts.append(part)
        self.entry_ids.append(entry_id)
        if isinstance(part, TextPart):
            self._partial.clear()
        await self._channel.emit(
            PartCompleted(
                agent=self._agent,
                entry_id=entry_id,
                message_id=self.message_id,
                model=self._model.name,
                part=part,
                usage=usage,
                request_id=self._request_id,
            )
        )
        if isinstance(part, ToolCallPart):
            self.dispatcher.start(part, entry_id)

    async def _keep_partial(self) -> None:
        """What the user saw of an unfinished answer stays in the log."""
        await self._release()
        text = "".join(self._partial)
        if text.strip():
            await self._complete(TextPart(text=text))
