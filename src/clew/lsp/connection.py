"""One running server: its process, its frames, what it asks of us. One that misbehaves is ended for good."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from typing import Any, cast

from clew.lsp.frames import BadLspFrame, FrameReader, Json, framed
from clew.system.process import ProcessError, ProcessSpec, ProcessStarter, RunningCommand

MAX_UNSENT_BYTES = 16_000_000
MAX_UNASKED_BYTES = 64_000_000
"""What a server may send between two edits."""
NICENESS = 10
PIECE_BYTES = 65_536
NO_METHOD = -32601
GRANTED = frozenset({"client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create"})


class ServerGone(Exception):
    """The server ended, or was ended; says why."""


class LspConnection:
    """Starts it, and speaks with it until it ends. `tell` takes every notification."""

    def __init__(self, tell: Callable[[str, Json], None]) -> None:
        self._tell = tell
        self._starter = ProcessStarter()
        self._reader = FrameReader()
        self._running: RunningCommand | None = None
        self._unsent = bytearray()
        self._writing: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0
        self._received = 0
        self.problem = ""
        """Why there is no server any more; empty while there is one."""
        self.pid = 0

    async def start(self, command: ProcessSpec) -> None:
        """Raises ServerGone."""
        try:
            self._running = await self._starter.start(
                command._replace(piped=True, on_errors=_nobody), self._received_bytes
            )
        except (ProcessError, OSError) as error:
            self._lost(f"it could not be started: {error}")
            raise ServerGone(self.problem) from error
        self.pid = self._running.started.result()
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self.pid, NICENESS)
        self._running.ended.add_done_callback(lambda ended: self._lost(f"it ended with code {ended.result().code}"))

    async def request(self, method: str, params: Json) -> Any:
        """What it answers. Raises ServerGone; whoever calls bounds the time."""
        self._asked += 1
        number = self._asked
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = future
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await future
        finally:
            self._answers.pop(number, None)

    def notify(self, method: str, params: Json) -> None:
        """Raises ServerGone."""
        self._received = 0
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def give_up(self, why: str) -> None:
        """It is of no use any more."""
        self._lost(why)

    async def close(self) -> None:
        """End it and all that it started."""
        self._lost("the session ended")
        if self._running is not None:
            await self._running.end()
        await asyncio.to_thread(self._starter.close)

    def _received_bytes(self, data: bytes) -> None:
        if self.problem:
            return
        self._received += len(data)
        if self._received > MAX_UNASKED_BYTES:
            self._lost("it floods")
            return
        try:
            for message in self._reader.feed(data):
                self._take(message)
        except BadLspFrame as error:
            self._lost(str(error))

    def _take(self, message: Json) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and number is None:
            params: Any = message.get("params")
            self._tell(method, cast("Json", params) if isinstance(params, dict) else {})
        elif isinstance(method, str):
            self._answer(number, method, message.get("params"))
        elif isinstance(number, int) and (future := self._answers.get(number)) is not None and not future.done():
            future.set_result(message.get("result"))

    def _answer(self, number: object, method: str, params: Any) -> None:
        """Servers ask for settings, which we have none of, and for leave to do what we ignore."""
        answer: Json = {"jsonrpc": "2.0", "id": number}
        if method == "workspace/configuration":
            items: Any = cast("Json", params).get("items") if isinstance(params, dict) else ()
            answer["result"] = [None] * min(len(cast("list[object]", items)) if isinstance(items, list) else 0, 100)
        elif method in GRANTED:
            answer["result"] = None
        else:
            answer["error"] = {"code": NO_METHOD, "message": "not supported"}
        with contextlib.suppress(ServerGone):
            self._send(answer)

    def _send(self, message: Json) -> None:
        if self.problem:
            raise ServerGone(self.problem)
        self._unsent += framed(message)
        if len(self._unsent) > MAX_UNSENT_BYTES:
            self._lost("it does not read")
            raise ServerGone(self.problem)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        """In pieces, in order; a server that does not read holds up nobody but itself."""
        try:
            while self._unsent and self._running is not None:
                piece = bytes(self._unsent[:PIECE_BYTES])
                del self._unsent[:PIECE_BYTES]
                await self._running.input.write(piece)
        except OSError:
            self._lost("it does not listen any more")
        finally:
            self._writing = None

    def _lost(self, why: str) -> None:
        """Nothing more is said to it or heard of it; whoever waits is told."""
        if self.problem:
            return
        self.problem = why
        for future in self._answers.values():
            if not future.done():
                future.set_exception(ServerGone(why))
        if self._writing is not None:
            self._writing.cancel()
        self._tell("", {})


def _nobody(data: bytes) -> None:
    """What it writes to stderr concerns nobody."""
