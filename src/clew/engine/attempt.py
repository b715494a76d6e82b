"""One try at a reply: the stream and the tools it asks for, side by side, as one sequence of events."""

import asyncio
import time
from collections.abc import AsyncGenerator

from msgspec.structs import replace

from clew.engine.abort import Abort, Aborted, settle
from clew.engine.agent import Agent
from clew.engine.calls import Calls, describe
from clew.engine.channel import EventChannel
from clew.engine.gate import Gate, PendingAnswers
from clew.engine.ports import ToolHost
from clew.engine.result_budget import ResultBudget
from clew.llm.errors import LLMError
from clew.llm.estimate import estimate_part, estimate_request
from clew.llm.reply import (
    ArgumentsChunk,
    PartDone,
    ReasoningChunk,
    ReplyDone,
    ReplyEvent,
    ReplyStarted,
    Retrying,
    StillWaiting,
    TextChunk,
    UsageSeen,
)
from clew.llm.request import ModelRequest
from clew.protocol.events import (
    ArgumentsDelta,
    AttemptEnded,
    AttemptOutcome,
    Event,
    PartCompleted,
    ReasoningDelta,
    ReplyAwaited,
    ReplyBegan,
    ReplyReceived,
    ReplyWithdrawn,
    RetryScheduled,
    TextDelta,
)
from clew.protocol.ids import CallId, EntryId, MessageId, new_entry_id, new_uuid
from clew.protocol.messages import Part, TextPart, ToolCallPart
from clew.protocol.usage import Usage

MAX_TRACE_CHARS = 2_000
"""Of words that were shown and do not count."""


class Attempt:
    """What one try produced. Exactly one of `done`, `error` and `aborted` is set when `run` has ended."""

    def __init__(self, *, agent: Agent, host: ToolHost, pending: PendingAnswers, abort: Abort) -> None:
        self._conversation = agent.conversation
        self._abort = abort
        self._channel = EventChannel()
        gate = Gate(host=host, pending=pending, channel=self._channel, abort=abort, agent=agent.id)
        budget = ResultBudget(host.results_dir)
        self.calls = Calls(tools=agent.tools, host=host, gate=gate, channel=self._channel, budget=budget)
        self.model = agent.model
        self.reply_id = MessageId(f"msg_{new_uuid()}")
        self.parts: list[Part] = []
        self.entry_ids: list[EntryId] = []
        self.done: ReplyDone | None = None
        self.error: LLMError | None = None
        self.aborted = False
        self._request: ModelRequest | None = None
        self._begun = False
        self._usage: Usage | None = None
        self._lost = Usage()
        """What tries used that failed before anything of a reply was seen."""
        self._retries = 0
        self._api_ms = 0
        self._provider_message_id = ""
        self._request_id = ""
        self._partial: dict[int, list[str]] = {}
        """Words that were shown and are in no complete part yet, by part."""
        self._call_ids: dict[int, CallId] = {}
        """What calls that still grow will be called."""

    async def run(self, request: ModelRequest, *, whole: bool) -> AsyncGenerator[Event]:
        """Events until the reply is whole and every call has its result, or the try has failed."""
        self._request = request
        work = asyncio.create_task(self._supervise(request, whole=whole))
        try:
            async for event in self._channel.drain():
                yield event
            await work
        finally:
            await settle(work, *(slot.task for slot in self.calls.slots if slot.task is not None))

    @property
    def kept(self) -> bool:
        """The stream failed after something took effect: whole parts and results stand."""
        return self.error is not None and self.calls.committed

    @property
    def text(self) -> str:
        """The words of the reply."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    def withdrawn(self, reason: str) -> ReplyWithdrawn | None:
        """What takes this try back, as far as it can be: all of it, or only unfinished words; None when there is
        nothing to take back."""
        results = [slot.result_entry for slot in self.calls.slots if slot.result_entry is not None]
        entries = () if self.kept else (*self.entry_ids, *results)
        if not entries and not self._partial:
            return None
        whole = [] if self.kept else [part.text for part in self.parts if isinstance(part, TextPart)]
        shown = [*whole, *("".join(words) for _, words in sorted(self._partial.items()))]
        words = "\n\n".join(filter(str.strip, shown))[:MAX_TRACE_CHARS]
        return ReplyWithdrawn(reply_id=self.reply_id, entry_ids=entries, reason=reason, words=words)

    def ended(self, step: int, outcome: AttemptOutcome) -> AttemptEnded:
        """What this request used, for the books."""
        usage, estimated = self._used()
        stands = bool(self.entry_ids) and outcome in ("completed", "kept", "interrupted")
        return AttemptEnded(
            reply_id=self.reply_id,
            step=step,
            model=self.model.name,
            outcome=outcome,
            stop_reason=self.done.stop_reason if self.done else "",
            usage=usage,
            estimated=estimated,
            cost_usd=self.model.cost_usd(usage) if usage is not None else None,
            api_ms=self._api_ms,
            retries=self._retries,
            entry_id=new_entry_id() if stands and usage is not None else EntryId(""),
            parent_id=self.entry_ids[-1] if stands else None,
        )

    def _used(self) -> tuple[Usage | None, bool]:
        """What the provider told; else an estimate, if the request can have cost something."""
        told = self.done.usage if self.done is not None and self.done.usage is not None else self._usage
        if self._lost != Usage():
            told = (told or Usage()) + self._lost
        if told is not None or self._request is None:
            return told, False
        if self.done is not None or not (self._begun or self.aborted):
            return None, False  # a provider that never tells, or a request that was refused
        written = (*self.parts, *(TextPart(text="".join(words)) for words in self._partial.values()))
        output = round(sum(estimate_part(part) for part in written))
        return Usage(input_tokens=estimate_request(self._request), output_tokens=output), True

    async def _supervise(self, request: ModelRequest, *, whole: bool) -> None:
        try:
            try:
                await self._converse(request, whole=whole)
            except Aborted:
                self.aborted = True
                await self._keep_partial()
                await self.calls.cancel("interrupted", answer=True)
                await self.calls.fit()
        finally:
            self._channel.close()

    async def _converse(self, request: ModelRequest, *, whole: bool) -> None:
        """The reply, then the calls that are still under way; after a failure only those that may not be undone."""
        try:
            await self._abort.guard(self._receive(request, whole=whole))
        except Aborted:
            raise
        except LLMError as error:
            self.error = error
        except Exception as error:  # task boundary: a bug ends the turn with its real words
            self.error = LLMError(f"internal error: {describe(error)}")
        self.calls.whole.set()
        if self.error is not None and not self.calls.committed:
            await self.calls.cancel("withdrawn", answer=False)
            return
        try:
            await self._abort.guard(self.calls.drain())
        except Aborted:
            raise
        except Exception as error:  # task boundary, as above
            self.error = self.error or LLMError(f"internal error: {describe(error)}")
            await self.calls.cancel("interrupted", answer=True)
        await self.calls.fit()

    async def _receive(self, request: ModelRequest, *, whole: bool) -> None:
        started_s = time.monotonic()
        stream = self.model.stream(request, whole=whole)
        try:
            async for event in stream:
                await self._take(event)
        finally:
            self._api_ms = int((time.monotonic() - started_s) * 1000)
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def _take(self, event: ReplyEvent) -> None:
        match event:
            case TextChunk():
                self._begun = True
                self._partial.setdefault(event.part, []).append(event.text)
                self._channel.post(TextDelta(reply_id=self.reply_id, part=event.part, text=event.text))
            case ReasoningChunk():
                self._begun = True
                self._channel.post(ReasoningDelta(reply_id=self.reply_id, part=event.part, text=event.text))
            case ArgumentsChunk():
                self._begun = True
                self._grow(event)
            case PartDone():
                self._begun = True
                await self._complete(event.part, event.index)
            case ReplyStarted():
                self._begun = True
                self._provider_message_id = event.message_id
                self._request_id = event.request_id
                self._channel.post(
                    ReplyBegan(
                        reply_id=self.reply_id,
                        model=self.model.name,
                        usage=self._usage,
                        window=self.model.window,
                        max_output_tokens=self.model.max_output_tokens,
                    )
                )
            case UsageSeen():
                self._usage = event.usage
            case StillWaiting():
                self._channel.post(ReplyAwaited(seconds=event.seconds))
            case Retrying():
                self._retries += 1
                self._lost, self._usage = self._lost + (self._usage or Usage()), None
                self._channel.post(
                    RetryScheduled(
                        attempt=event.attempt,
                        max_attempts=event.max_attempts,
                        delay_s=event.delay_s,
                        reason=event.reason,
                    )
                )
            case ReplyDone():
                self.done = event
                usage = event.usage or self._usage
                self._channel.post(ReplyReceived(reply_id=self.reply_id, stop_reason=event.stop_reason, usage=usage))

    def _grow(self, chunk: ArgumentsChunk) -> None:
        """A call has its final id from the moment the provider names one, so that it is the same all along."""
        if chunk.call_id and chunk.part not in self._call_ids:
            self._call_ids[chunk.part] = self._conversation.call_ids.fresh(chunk.call_id)
        call_id = self._call_ids.get(chunk.part, CallId(""))
        self._channel.post(
            ArgumentsDelta(reply_id=self.reply_id, part=chunk.part, tool=chunk.name, text=chunk.text, call_id=call_id)
        )

    async def _complete(self, part: Part, number: int) -> None:
        """Record a part at once; a call has its place before it is announced, and starts when that is on disk."""
        entry_id = new_entry_id()
        slot = None
        if isinstance(part, ToolCallPart):
            part = replace(part, id=self._call_ids.get(number) or self._conversation.call_ids.fresh(part.id))
            slot = self.calls.reserve(part, entry_id)
        parent = self.entry_ids[-1] if self.entry_ids else self._conversation.leaf
        self.parts.append(part)
        self.entry_ids.append(entry_id)
        self._partial.pop(number, None)
        await self._channel.emit(
            PartCompleted(
                entry_id=entry_id,
                parent_id=parent,
                reply_id=self.reply_id,
                part_number=number,
                model=self.model.name,
                part=part,
                provider_message_id=self._provider_message_id,
                request_id=self._request_id,
            )
        )
        if slot is not None:
            self.calls.start(slot)

    async def _keep_partial(self) -> None:
        """What the user saw of an unfinished answer stays in the log."""
        for number, words in sorted(self._partial.items()):
            text = "".join(words)
            if text.strip():
                await self._complete(TextPart(text=text), number)
        self._partial.clear()
