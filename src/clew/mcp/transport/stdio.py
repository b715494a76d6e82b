"""A server that is a program: started by the process keeper, spoken to over its pipes, ended with the session.

In place of the SDK's own transport, which reads lines of any length and starts programs that outlive a killed agent.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from clew.mcp.definitions import ServerDefinition
from clew.mcp.ports import HopelessServer, Surroundings
from clew.mcp.transport.messages import (
    MAX_BAD_LINES,
    MAX_MESSAGE_BYTES,
    MAX_WAITING_BYTES,
    LineBuffer,
    Oversized,
    answered_by,
    whole_characters,
)
from clew.mcp.transport.workspace_reach import Launch, path_outside, reaches_workspace
from clew.system.process import ProcessError, ProcessSpec, ProcessStarter, RunningCommand
from clew.system.sandbox.plan import HELD_BACK, SandboxPlan

LEAVE_S = 1.0
"""How long a server may take to end by itself once its input has ended."""
MAX_ERRORS_CHARS = 2_000
TOO_LONG = f"the answer is longer than {MAX_MESSAGE_BYTES // 1_000_000} MB, so it was not read"


class Pipes:
    """One running server: lines from it, lines to it."""

    def __init__(self, server: ServerDefinition, around: Surroundings) -> None:
        self._server = server
        self._around = around
        self._lines = LineBuffer()
        self._news = asyncio.Event()
        self._bad_lines = 0
        self.errors = ""
        """The end of what it wrote to stderr."""
        self.problem = ""
        """Why we gave it up."""
        self.running: RunningCommand | None = None
        self.held = False
        """The sandbox holds it."""

    async def start(self, starter: ProcessStarter) -> RunningCommand:
        """Raises ServerError."""
        server, around = self._server, self._around
        env = {**around.child_env, **dict(server.env)}
        cwd = os.path.join(around.root, server.cwd)
        program = program_of(server.command, env, cwd, str(around.root))
        plan = await self._plan(program, cwd, env)
        if plan is not None:
            env["TMPDIR"] = plan["tmp"]
        elif server.sandbox:
            env["PATH"] = path_outside(env.get("PATH", ""), (str(around.root), *around.roots()))
        command = ProcessSpec([program, *server.args], cwd, env, plan, piped=True, on_errors=self._hear_errors)
        try:
            self.running = await starter.start(command, self._hear)
        except ProcessError as error:
            raise HopelessServer(f"it could not be started: {error}") from error
        self.running.ended.add_done_callback(lambda _: self._news.set())
        return self.running

    async def _plan(self, program: str, cwd: str, env: Mapping[str, str]) -> SandboxPlan | None:
        """Outside the sandbox runs only what no confined command could have changed."""
        server, around = self._server, self._around
        if not server.sandbox or around.plan is None:
            return None
        launch = Launch(program, server.args, cwd, env)
        if not await asyncio.to_thread(reaches_workspace, launch, (str(around.root), *around.roots())):
            return None
        words = [program, *server.args, *(word.partition("=")[2] for word in server.args)]
        needs = [path for word in words if word and os.path.lexists(path := os.path.join(cwd, word))]
        try:
            plan = await asyncio.to_thread(around.plan, needs)
        except OSError as error:
            raise HopelessServer(f"the sandbox could not be set up: {error}") from error
        self.held = plan is not None
        return plan

    async def read(self) -> SessionMessage | None:
        """The next message; None: there will be none."""
        while True:
            self._news.clear()
            line = self._lines.next()
            if self.running is not None and self._lines.waiting_bytes < MAX_WAITING_BYTES // 2:
                self.running.release()
            if isinstance(line, bytes):
                message = self._parsed(line)
            else:
                message = self._refused(line) if line is not None else None
            if message is not None:
                return message
            if self.problem or (line is None and (self.running is None or self.running.ended.done())):
                return None
            if line is None:
                await self._news.wait()

    def _hear(self, data: bytes) -> None:
        self._lines.add(data)
        if self._lines.waiting_bytes > MAX_WAITING_BYTES and self.running is not None:
            self.running.hold()
        self._news.set()

    def _hear_errors(self, data: bytes) -> None:
        self.errors = (self.errors + data.decode(errors="replace"))[-MAX_ERRORS_CHARS:]

    def _parsed(self, line: bytes) -> SessionMessage | None:
        read = types.jsonrpc_message_adapter.validate_json
        with contextlib.suppress(ValueError):
            return SessionMessage(read(line, by_name=False))
        with contextlib.suppress(ValueError):
            return SessionMessage(read(whole_characters(line), by_name=False))
        if (answered := answered_by(line)) is not None:
            return _failed(answered, "its answer is not JSON, so it was not read")
        self._bad_lines += 1
        self._around.log(self._server.name, f"no message: {line[:200]!r}")
        if self._bad_lines > MAX_BAD_LINES:
            self.problem = "what it writes to its output is not MCP"
        return None

    def _refused(self, line: Oversized) -> SessionMessage | None:
        if line.answered is None:
            self.problem = f"it sent a message of more than {MAX_MESSAGE_BYTES // 1_000_000} MB"
            return None
        return _failed(line.answered, TOO_LONG)


def _failed(request: int, why: str) -> SessionMessage:
    """In place of an answer that is not taken: whoever waits for it need not wait on."""
    error = types.ErrorData(code=types.INTERNAL_ERROR, message=why)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request, error=error))


@asynccontextmanager
async def stdio_streams(
    server: ServerDefinition, around: Surroundings, starter: ProcessStarter
) -> AsyncGenerator[tuple[TransportStreams, Pipes]]:
    """Start the program; when this is left, it and all it started are gone."""
    pipes = Pipes(server, around)
    running = await pipes.start(starter)
    inward, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outward = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        with inward, contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while (message := await pipes.read()) is not None:
                await inward.send(message)

    async def write() -> None:
        with outward, contextlib.suppress(OSError):
            async for message in outward:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await running.input.write(text.encode() + b"\n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield (read_stream, write_stream), pipes
        finally:
            tasks.cancel_scope.cancel()
            for stream in (inward, read_stream, write_stream, outward):
                stream.close()
            with anyio.CancelScope(shield=True):
                await _leave(running)


async def _leave(running: RunningCommand) -> None:
    """As the protocol has it: the end of its input, some time, then signals."""
    running.input.close()
    running.release()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LEAVE_S):
            await asyncio.shield(running.ended)
    await running.end()


def program_of(command: str, env: Mapping[str, str], cwd: str, root: str) -> str:
    """The program that a command means: a path from where it runs, or a name on PATH outside the project, so that no
    project chooses what a name means. Raises HopelessServer."""
    if "/" in command:
        path = os.path.join(cwd, os.path.expanduser(command))
        if not os.access(path, os.X_OK) or not os.path.isfile(path):
            raise HopelessServer(f"{command} is not a program that can be run")
        return path
    for folder in path_outside(env.get("PATH", ""), (root,)).split(os.pathsep):
        path = os.path.join(folder, command)
        if os.path.isabs(folder) and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise HopelessServer(f"the program {command} was not found")


def end_words(pipes: Pipes) -> str:
    """How a server ended, with the last line it wrote about it."""
    running = pipes.running
    last = next((line.strip() for line in reversed(pipes.errors.splitlines()) if line.strip()), "")
    if pipes.problem:
        how = pipes.problem
    elif running is not None and running.ended.done():
        how = f"it ended with code {running.ended.result().code}"
    else:
        how = "it closed its output"
    words = f"{how}: {last[:300]}" if last else how
    if pipes.held and HELD_BACK.search(pipes.errors):
        words += '; the sandbox held it, "sandbox": false in its definition lets it run outside'
    return words
