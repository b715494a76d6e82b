"""Diagnostics after an edit: what a server newly says about the file joins the result, or comes a little later."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clew.engine.ports import CallChange, CallHook
from clew.host.part import Part, PartSession, PartSetup
from clew.lsp.connection import ServerGone
from clew.lsp.diagnostics import new_ones, told
from clew.lsp.server import LanguageServerSession
from clew.lsp.servers import LanguageServerKind, program_of, root_of, server_for, servers_of
from clew.protocol.display import TextBlock
from clew.protocol.ids import AgentId, CallId
from clew.protocol.lookups.place import CheckRow
from clew.protocol.messages import ToolCallPart
from clew.system.descendants import resident_bytes
from clew.system.environment import tool_environment
from clew.system.files import read_regular
from clew.system.process import ProcessSpec
from clew.text.terminal_text import sanitize
from clew.tools.base import Tool, ToolResult

PATH_ARGUMENTS = {"Edit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
WAIT_S = 1.5
"""So long a result waits for what a server says; what comes later is told before the next request."""
MAX_FILE_BYTES = 1_000_000
MAX_SERVERS = 4
LATE = "[{server} says this about {path}, which you changed:\n{lines}]"


class PendingEdit(Struct, frozen=True):
    """A file that is about to be changed, and who may look at it."""

    path: str
    server: LanguageServerKind
    before: str | None


class LanguageServerPart(Part):
    """One per session. Nothing is started before an edit of a file that a server knows."""

    def __init__(self, setup: PartSetup) -> None:
        self._workspace = setup.workspace
        self._servers = servers_of(setup.workspace.settings.lsp.servers)
        self._sessions: dict[tuple[str, str], asyncio.Task[LanguageServerSession | None]] = {}
        self._off: set[str] = set()
        """Servers that are not there, or failed: not tried again in this session."""
        self._newest: dict[str, asyncio.Task[str]] = {}
        """The last look at each file; an older one is of no interest any more."""
        self._late: set[asyncio.Task[None]] = set()

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own

    def call_hook(self, agent: AgentId) -> CallHook:
        """Stands around every agent's edits."""
        return EditHook(self)

    def checks(self) -> tuple[CheckRow, ...]:
        """What runs, and how much memory it holds."""
        rows = [
            f"{server.name} in {server.root}: {resident_bytes(server.connection.pid) // 1_000_000} MB"
            for server in self._running
            if not server.problem
        ]
        rows += [f"{name} is off for this session" for name in sorted(self._off)]
        if not rows:
            return ()
        return (CheckRow(name="lsp now", state="info", summary="; ".join(rows)),)

    async def findings(self, edit: PendingEdit) -> str:
        """What a server newly says about a file that was changed, if it says so within a moment."""
        if (text := _text_of(edit.path)) is None:
            return ""
        looking = asyncio.create_task(self._look(edit, text))
        self._newest[edit.path] = looking
        done, _ = await asyncio.wait({looking}, timeout=WAIT_S)
        if not done:
            waiting = asyncio.create_task(self._tell_late(edit, looking))
            self._late.add(waiting)
            waiting.add_done_callback(self._late.discard)
            return ""
        return looking.result() if not looking.cancelled() else ""

    async def stop(self) -> None:
        """Nothing of it outlives the session."""
        starting = list(self._sessions.values())
        for task in [*self._late, *self._newest.values(), *starting]:
            task.cancel()
        found = await asyncio.gather(*starting, return_exceptions=True)
        self._sessions.clear()
        for server in [*found, *self._running]:
            if server is not None and not isinstance(server, BaseException):
                await server.close()

    @property
    def _running(self) -> list[LanguageServerSession]:
        done = [task for task in self._sessions.values() if task.done() and not task.cancelled()]
        return [server for task in done if task.exception() is None and (server := task.result()) is not None]

    def edit_of(self, call: ToolCallPart) -> PendingEdit | None:
        """What a call is about to change, if a server knows such files."""
        named = call.arguments.get(PATH_ARGUMENTS.get(call.name, ""))
        if not isinstance(named, str):
            return None
        tools = self._own.toolbox.session
        path = os.path.realpath(tools.locate(named, tools.cwd))
        server = server_for(path, self._servers)
        inside = Path(path).is_relative_to(os.path.realpath(self._workspace.root))
        if server is None or not inside or server.name in self._off:
            return None
        return PendingEdit(path, server, _text_of(path))

    async def _tell_late(self, edit: PendingEdit, looking: "asyncio.Task[str]") -> None:
        lines = await looking
        if lines and self._newest.get(edit.path) is looking:
            path = sanitize(os.path.relpath(edit.path, self._workspace.root), one_line=True)
            self._own.reminders.add(LATE.format(server=edit.server.name, path=path, lines=lines))

    async def _look(self, edit: PendingEdit, text: str) -> str:
        """The lines of new findings. Whatever goes wrong is told once and ends with the server."""
        server: LanguageServerSession | None = None
        try:
            server = await self._server(edit)
            if server is None:
                return ""
            language = edit.server.languages[os.path.splitext(edit.path)[1].lower()]
            before, after = await server.changed(edit.path, language, edit.before, text)
        except ServerGone:
            await self._give_up(edit.server.name, server)
            return ""
        except Exception as error:  # task boundary: an edit that was made never fails for what is said about it
            await self._give_up(edit.server.name, server, f"{type(error).__name__}: {error}")
            return ""
        return told(new_ones(before, after))

    async def _server(self, edit: PendingEdit) -> LanguageServerSession | None:
        key = (edit.server.name, root_of(edit.path, edit.server, os.path.realpath(self._workspace.root)))
        if edit.server.name in self._off:
            return None
        if key not in self._sessions:
            if len(self._sessions) >= MAX_SERVERS:
                return None
            self._sessions[key] = asyncio.create_task(self._start(edit.server, key[1]))
        return await asyncio.shield(self._sessions[key])

    async def _start(self, row: LanguageServerKind, root: str) -> LanguageServerSession | None:
        tools = self._own.toolbox.session
        program = program_of(row, self._workspace.env, tools.roots)
        if not program:
            self._off.add(row.name)  # nobody has it here, which is no news
            return None
        env = tool_environment(tools.env, key_variables=tools.key_variables, keep=tools.keep_variables)
        sandbox = tools.sandbox
        plan = None
        if sandbox is not None and sandbox.enforced:
            needs = [program, *(word for word in row.command[1:] if os.path.isabs(word))]
            plan = sandbox.plan(tools.roots, background=True, needs=needs)
            env["TMPDIR"] = plan["tmp"]
        server = LanguageServerSession(row.name, root)
        try:
            await server.start(ProcessSpec([program, *row.command[1:]], root, env, plan))
        except ServerGone:
            await self._give_up(row.name, server)
            return None
        except asyncio.CancelledError:
            await server.close()
            raise
        return server

    async def _give_up(self, name: str, server: LanguageServerSession | None, why: str = "") -> None:
        if name in self._off or self._own.session.closed:
            return
        self._off.add(name)
        why = sanitize(why or (server.problem if server is not None else ""), one_line=True)
        self._own.session.notice("info", f"no more diagnostics from {name} in this session: {why}", code="lsp")
        if server is not None:
            await server.close()


class EditHook:
    """Stands around one agent's edits."""

    def __init__(self, servers: LanguageServerPart) -> None:
        self._servers = servers
        self._edits: dict[CallId, PendingEdit] = {}

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        """Nothing is changed."""
        return None

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        """The text from before is what tells new findings from old ones."""
        edit = self._servers.edit_of(call)
        if edit is not None:
            self._edits[call.id] = edit
        try:
            yield
        except BaseException:
            self._edits.pop(call.id, None)
            raise

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        """Wait a moment for what is said; a server that takes longer holds up nothing."""
        edit = self._edits.pop(call.id, None)
        lines = await self._servers.findings(edit) if edit is not None and not result.is_error else ""
        if edit is None or not lines:
            return result
        words = f"New diagnostics ({edit.server.name}):\n{lines}"
        return replace(result, text=f"{result.text}\n\n{words}", display=(*result.display, TextBlock(text=words)))

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        """Nothing is added."""
        return result


def _text_of(path: str) -> str | None:
    """The file as it is; None: there is none, or none that a server would be asked about."""
    try:
        return read_regular(path, max_bytes=MAX_FILE_BYTES).data.decode()
    except (OSError, UnicodeDecodeError):
        return None
