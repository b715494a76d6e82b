"""A conversation with clew in this process: prompts in, lines of the stream out.

Options become a session of the host. The machine room is loaded by the first one.
"""

import asyncio
from collections.abc import AsyncGenerator
from types import TracebackType

from msgspec.structs import replace

from clew.protocol.client import Client
from clew.protocol.events import Envelope, OpAccepted, OpRejected, SessionStarted, TurnEnded
from clew.protocol.ids import MAIN_AGENT, OpId, PromptId, new_uuid
from clew.protocol.invocables import InvocableRow, InvocablesChanged
from clew.protocol.messages import Part
from clew.protocol.op_kinds.slash_names import use_or_refusal, words_said
from clew.protocol.ops import Close, Interrupt, Op, RegisterHooks, SetModel, SetPermissionMode, SubmitPrompt
from clew.protocol.outcome import TurnOutcome
from clew.sdk.callbacks import Callbacks
from clew.sdk.errors import NotOpen, NotOpened, Refused
from clew.sdk.options import Options, PermissionMode
from clew.streaming.lines import StreamLines
from clew.streaming.results import result_of
from clew.streaming.shapes.stream import ResultLine, StreamLine
from clew.streaming.states import ActivityFold


def open_client(options: Options) -> Client:
    """A client for the session that is asked for. Takes files and time, so it is called beside the loop. Raises
    NotOpened."""
    from clew.sdk import opening  # the machine room is loaded by the first session

    return opening.open_client(options)


Prompt = str | tuple[Part, ...]


class Session:
    """An async context manager. One task reads it; any task may send, interrupt and change what is in force.

    Leaving it, also by an error or by cancellation, stops what runs, writes the log to its end and lets the session go.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self.id = ""
        """Of the session, once it is open."""
        self._client: Client | None = None
        self._reading: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._lines: asyncio.Queue[StreamLine | None] = asyncio.Queue()
        self._stream = StreamLines(partial=self.options.partial_messages, hooks=self.options.hook_events)
        self._outcome = TurnOutcome()
        self._activity = ActivityFold()
        self._idle = True
        self._ended = False
        self._failure: Exception | None = None
        self._waiting: dict[OpId, asyncio.Future[None]] = {}
        self._started = asyncio.Event()
        self._invocables: tuple[InvocableRow, ...] = ()
        self._callbacks: Callbacks | None = None

    @classmethod
    def resume(cls, session: str, options: Options | None = None) -> "Session":
        """Go on with a session: an id, a title, words that were said, or a file."""
        return cls(replace(options or Options(), resume=session, continue_newest=False, fork=False, session_id=""))

    def fork(self, options: Options | None = None) -> "Session":
        """A copy of this session as it is on disk now, not entered yet; this one goes on untouched."""
        if not self.id:
            raise NotOpen("the session is not open")
        given = options or self.options
        return Session(replace(given, resume=self.id, continue_newest=False, fork=True, session_id="", resume_at=""))

    async def __aenter__(self) -> "Session":
        if self._client is not None or self._ended:
            raise NotOpen("a session is entered once")
        client = self._client = await self._opened()
        self._callbacks = Callbacks(self.options, client)
        self._reading = asyncio.create_task(self._read(client))
        try:
            await self._started.wait()
            if self._callbacks.registered:
                await self._do(RegisterHooks(hooks=self._callbacks.registered))
        except Refused as refused:
            await self.close()
            raise NotOpened(f"the hooks were not taken: {refused}") from refused
        except BaseException:
            await self.close()
            raise
        return self

    async def _opened(self) -> Client:
        opening = asyncio.ensure_future(asyncio.to_thread(open_client, self.options))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:  # the thread goes on: what it opens must not stay open
            opened = (await asyncio.gather(opening, return_exceptions=True))[0]
            if not isinstance(opened, BaseException):
                await opened.submit(Close())
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def send(self, prompt: Prompt) -> None:
        """Ask. While a turn runs the words join it at its next step; then both have one result. Raises Refused."""
        used = use_or_refusal(prompt, self._invocables) if isinstance(prompt, str) else None
        prompt_id = PromptId(new_uuid())
        await self._do(
            replace(used, prompt_id=prompt_id)
            if used is not None
            else SubmitPrompt(content=words_said(prompt) if isinstance(prompt, str) else prompt, prompt_id=prompt_id)
        )

    async def messages(self) -> AsyncGenerator[StreamLine]:
        """Every line, turn after turn, until the session is closed."""
        while (line := await self._next()) is not None:
            yield line

    async def receive(self) -> AsyncGenerator[StreamLine]:
        """Every line up to the next result, which is the last one. Raises NotOpen when nothing was asked."""
        while True:
            if self._idle and self._lines.empty():
                raise NotOpen("nothing was asked, so nothing will be answered: send a prompt first")
            if (line := await self._next()) is None:
                return
            yield line
            if isinstance(line, ResultLine):
                return

    async def _next(self) -> StreamLine | None:
        """The next line; None when there are no more."""
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)  # whoever asks again hears the same
            if self._failure is not None:
                raise NotOpen(
                    f"the session broke off: {type(self._failure).__name__}: {self._failure}"
                ) from self._failure
        return line

    async def ask(self, prompt: Prompt) -> ResultLine:
        """Send and wait for the result; the lines before it are dropped. Raises NotOpen when it is closed meanwhile."""
        await self.send(prompt)
        async for line in self.receive():
            if isinstance(line, ResultLine):
                return line
        raise NotOpen("the session was closed before there was a result")

    async def interrupt(self) -> None:
        """Stop the turn: calls settle, the result follows with `stop_reason` interrupted. When idle, nothing."""
        await self._do(Interrupt())

    async def set_model(self, model: str) -> None:
        """From the next request on. Raises Refused."""
        await self._do(SetModel(model=model))

    async def set_permission_mode(self, mode: PermissionMode) -> None:
        """From the next call on. Raises Refused."""
        await self._do(SetPermissionMode(mode=mode))

    async def close(self) -> None:
        """Stop what runs and let go; returns when the log is complete. Safe to call twice."""
        if self._client is None:
            self._ended = True
            return
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(self._client))
        await asyncio.shield(self._closing)

    async def _close(self, client: Client) -> None:
        await client.submit(Close())
        if self._reading is not None:
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._callbacks is not None:
            await self._callbacks.close()

    async def _do(self, op: Op) -> None:
        """Hand over an op and wait until it was taken."""
        if self._client is None or self._ended or self._closing is not None:
            raise NotOpen("the session is not open")
        op_id = OpId(new_uuid())
        taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[op_id] = taken
        try:
            await self._client.submit(replace(op, op_id=op_id))
            await taken
        finally:
            self._waiting.pop(op_id, None)

    async def _read(self, client: Client) -> None:
        """Everything the session says, until it ends."""
        try:
            async for envelope in client.events():
                self._hear(envelope)
        except Exception as error:  # task boundary: whoever reads is told, and the session is let go
            self._failure = error
        finally:
            self._ended = True
            self._started.set()
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(NotOpen("the session is over"))
            self._lines.put_nowait(None)

    def _hear(self, envelope: Envelope) -> None:
        event = envelope.event
        for line in self._stream.lines(envelope):
            self._lines.put_nowait(line)
        if self._callbacks is not None:
            self._callbacks.hear(envelope)
        if (state := self._activity.after(envelope)) is not None:
            self._idle = state == "idle"
        if envelope.agent != MAIN_AGENT:
            return
        self._outcome.feed(event)
        match event:
            case SessionStarted():
                self.id = event.session_id
                self._invocables = event.invocables
                self._started.set()
            case InvocablesChanged():
                self._invocables = event.invocables
            case OpAccepted() | OpRejected():
                self._answered(event)
            case TurnEnded():
                self._lines.put_nowait(result_of(self._outcome))
            case _:
                pass

    def _answered(self, event: OpAccepted | OpRejected) -> None:
        waiting = self._waiting.pop(event.op_id, None)
        if waiting is None or waiting.done():
            return
        if isinstance(event, OpAccepted):
            waiting.set_result(None)
        else:
            waiting.set_exception(Refused(event.reason))
