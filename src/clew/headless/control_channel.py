"""Requests with ids in both directions: each is answered once, cancelled, or given up when the other side is gone."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec

from clew.headless.op_answers import OpFailed
from clew.protocol.ids import RequestId, new_uuid
from clew.streaming.shapes.control import (
    ClewRequest,
    ControlCancel,
    ControlLine,
    ControlRequest,
    ControlResponse,
    Failed,
    Json,
    RequestDone,
)
from clew.streaming.shapes.control_answers import AnswerBase

Begin = Callable[[Json], Awaitable[Awaitable[AnswerBase | None]]]
"""Understands a request and begins what it asks; what comes back is the answer. Both raise Refused."""
GONE = "the program closed stdin, so it cannot answer"
ANSWERED = AnswerBase()


class NotAnswered(Exception):
    """The program gave no answer that counts; the words say why."""


class ControlChannel:
    """Only lines of stdin come in here, and only our own structs go out: no text of a model ever is a control line."""

    def __init__(self, put: Callable[[ControlLine], None], complain: Callable[[str], None], begin: Begin) -> None:
        self._put = put
        self._complain = complain
        self._begin = begin
        self._asked: dict[str, asyncio.Future[Json]] = {}
        self._answering: dict[str, asyncio.Future[AnswerBase | None]] = {}
        self._open = True

    @property
    def open(self) -> bool:
        """Whether the program can still answer."""
        return self._open

    async def ask(self, request: ClewRequest) -> Json:
        """Ask the program and wait. Who stops waiting takes the question back. Raises NotAnswered."""
        if not self._open:
            raise NotAnswered(GONE)
        request_id = new_uuid()
        answer = self._asked[request_id] = asyncio.get_running_loop().create_future()
        self._put(ControlRequest(request_id=request_id, request=msgspec.to_builtins(request)))
        try:
            return await answer
        except asyncio.CancelledError:
            self._put(ControlCancel(request_id=request_id))
            raise
        finally:
            self._asked.pop(request_id, None)

    def take_response(self, line: ControlResponse) -> None:
        """An answer of the program; one that nobody waits for changes nothing."""
        response = line.response
        answer = self._asked.pop(response.request_id, None)
        if answer is None or answer.done():
            self._complain(f"an answer to a request that nobody waits for: {response.request_id!r}")
        elif isinstance(response, Failed):
            answer.set_exception(NotAnswered(response.error or "the program failed without a word"))
        else:
            answer.set_result(response.response or {})

    async def take_request(self, line: ControlRequest) -> None:
        """Do what is asked, in the order of the lines; the answer goes out when it is there."""
        if line.request_id in self._answering:
            self._complain(f"a second request with the id {line.request_id!r} while the first is not answered; ignored")
            return
        try:
            answer = asyncio.ensure_future(await self._begin(line.request))
        except Exception as error:  # task boundary: whatever went wrong is the answer
            self._put(ControlResponse(response=failed(line.request_id, error)))
            return
        if answer.done():
            self._answer(line.request_id, answer)
            return
        self._answering[line.request_id] = answer
        answer.add_done_callback(lambda answer: self._answer(line.request_id, answer))

    def take_cancel(self, line: ControlCancel) -> None:
        """The program waits no longer: no answer follows. What was begun is not undone."""
        answer = self._answering.get(line.request_id)
        if answer is None:
            self._complain(f"nothing to cancel: no request {line.request_id!r} is being answered")
        else:
            answer.cancel()

    def close(self) -> None:
        """The program can say nothing any more: whoever waits for it learns so."""
        self._open = False
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(NotAnswered(GONE))
        self._asked.clear()

    async def settle(self) -> None:
        """Wait for the answers that are still to be given."""
        await asyncio.gather(*self._answering.values(), return_exceptions=True)

    def _answer(self, request_id: str, answer: "asyncio.Future[AnswerBase | None]") -> None:
        self._answering.pop(request_id, None)
        if answer.cancelled():
            return
        error = answer.exception()
        if error is not None:
            response = failed(request_id, error)
        else:
            response = RequestDone(request_id=request_id, response=msgspec.to_builtins(answer.result() or ANSWERED))
        self._put(ControlResponse(response=response))


def failed(request_id: str, error: BaseException) -> Failed:
    """Why a request was not done."""
    words = str(error) if isinstance(error, OpFailed) else f"internal error: {type(error).__name__}: {error}"
    return Failed(request_id=request_id, error=words)


class OpenAsks:
    """What the program is being asked for somebody in the session, by id: answered there, or taken back in time."""

    def __init__(self) -> None:
        self._open: dict[RequestId, asyncio.Task[None]] = {}

    def begin(self, request_id: RequestId, asking: Coroutine[Any, Any, None]) -> None:
        """Ask beside everything else."""
        task = self._open[request_id] = asyncio.create_task(asking)
        task.add_done_callback(lambda _: self._open.pop(request_id, None))

    def withdraw(self, request_id: RequestId) -> None:
        """Nobody waits for this answer any more."""
        task = self._open.pop(request_id, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        """The session is over."""
        for request_id in list(self._open):
            self.withdraw(request_id)
