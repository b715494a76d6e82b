"""Both ends of a control channel in one process: a session that is only written down, and a program that answers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from clew.headless.control_channel import Begin, ControlChannel
from clew.protocol.events import Envelope, Event, OpAccepted, OpRejected
from clew.protocol.ids import AgentId, SessionId
from clew.protocol.ops import Op
from clew.streaming.shapes.control import (
    ControlCancel,
    ControlLine,
    ControlRequest,
    ControlResponse,
    Failed,
    Json,
    RequestDone,
)
from clew.streaming.shapes.control_answers import AnswerBase
from fakes.no_lookups import NoLookups


class WrittenSession(NoLookups):
    """A Client that writes ops down. `answer` says what each is answered by."""

    def __init__(self, answer: Callable[[Op], list[Event]] | None = None) -> None:
        self.ops: list[Op] = []
        self.heard: Callable[[Event], None] = lambda event: None
        self._answer = answer or (lambda op: [OpAccepted(op_id=op.op_id)])

    async def submit(self, op: Op) -> None:
        self.ops.append(op)
        for event in self._answer(op):
            asyncio.get_running_loop().call_soon(self.heard, event)

    def events(self) -> AsyncIterator[Envelope]:
        raise AssertionError("nobody listens in these tests")

    def asked(self, kind: type[Any]) -> list[Any]:
        return [op for op in self.ops if isinstance(op, kind)]


def rejected(reason: str) -> Callable[[Op], list[Event]]:
    """A session that says no."""
    return lambda op: [OpRejected(op_id=op.op_id, op="", reason=reason)]


def told(event: Event, agent: str = "main") -> Envelope:
    """An event in its envelope."""
    return Envelope(seq=1, at="2026-01-01T00:00:00Z", session_id=SessionId("s"), event=event, agent=AgentId(agent))


class Program:
    """What drives the session: sees every control line as JSON, and answers when a test says so."""

    def __init__(self, begin: Begin | None = None) -> None:
        self.lines: list[Json] = []
        self.complaints: list[str] = []
        self.channel = ControlChannel(self._put, self.complaints.append, begin or nothing)

    def _put(self, line: ControlLine) -> None:
        self.lines.append(msgspec.json.decode(msgspec.json.encode(line)))

    @property
    def requests(self) -> list[Json]:
        """What was asked of it."""
        return [line for line in self.lines if line["type"] == "control_request"]

    @property
    def responses(self) -> list[Json]:
        """What it was answered."""
        return [line["response"] for line in self.lines if line["type"] == "control_response"]

    @property
    def cancelled(self) -> list[str]:
        """Questions that were taken back."""
        return [line["request_id"] for line in self.lines if line["type"] == "control_cancel_request"]

    def succeed(self, response: Json, at: int = -1) -> None:
        request_id = self.requests[at]["request_id"]
        self.channel.take_response(ControlResponse(response=RequestDone(request_id=request_id, response=response)))

    def fail(self, error: str, at: int = -1) -> None:
        request_id = self.requests[at]["request_id"]
        self.channel.take_response(ControlResponse(response=Failed(request_id=request_id, error=error)))

    async def ask(self, request_id: str, **request: Any) -> None:
        await self.channel.take_request(ControlRequest(request_id=request_id, request=request))

    def cancel(self, request_id: str) -> None:
        self.channel.take_cancel(ControlCancel(request_id=request_id))


async def nothing(request: Json) -> "asyncio.Future[AnswerBase | None]":
    """Every request is done at once, without a word."""
    done: asyncio.Future[AnswerBase | None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


async def soon(done: Callable[[], Any]) -> None:
    """Let tasks run until something is so; a test that waits in vain fails."""
    for _ in range(1000):
        if done():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never happened")
