"""Where servers and people meet in a session: what a server asks for, who we are to it, and signing in."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clew.host.part import Effect, OpRefused, nothing
from clew.host.session import Session
from clew.parts.mcp.elicitation import Elicitations
from clew.protocol.event_kinds.mcp import McpMessageSent, McpMessageWithdrawn
from clew.protocol.events import Event, Notice, TurnEnded
from clew.protocol.ids import RequestId, new_uuid
from clew.protocol.ops import AnswerElicitation, AnswerMcpMessage, DeliverMcpMessage, LogInMcp, LogOutMcp, Op
from clew.text.terminal_text import sanitize

if TYPE_CHECKING:
    from clew.mcp.definitions import Definition

Json = dict[str, Any]


class InProcessServers:
    """One per session that a program drives. Ids are random and single-use."""

    ops = (AnswerMcpMessage, DeliverMcpMessage)

    def __init__(self) -> None:
        self._session: Session | None = None
        self._open: dict[RequestId, asyncio.Future[Json]] = {}
        self._listening: dict[str, Callable[[Json], None]] = {}

    def start(self, session: Session) -> None:
        """Belong to a session."""
        self._session = session

    def transport(self, server: "Definition") -> AbstractAsyncContextManager[Any]:
        """For `Surroundings.in_process`."""
        from clew.mcp.transport.in_process import in_process_streams  # a server is being connected, so the SDK is there

        def listening(deliver: Callable[[Json], None] | None) -> None:
            if deliver is None:
                self._listening.pop(server.name, None)
            else:
                self._listening[server.name] = deliver

        return in_process_streams(lambda message: self._send(server.name, message), listening)

    async def understood(self, op: Op) -> Effect:
        """What one of its ops means. Raises OpRefused."""
        match op:
            case AnswerMcpMessage():
                waiting = self._open.pop(op.request_id, None)
                if waiting is None or waiting.done():
                    raise OpRefused("nothing waits for this answer any more")
                if op.error:
                    waiting.set_exception(ValueError(op.error))
                else:
                    waiting.set_result(op.message)
            case DeliverMcpMessage():
                deliver = self._listening.get(op.server)
                if deliver is None:
                    raise OpRefused(f"there is no server {op.server!r} of this program that is connected")
                deliver(op.message)
            case _:
                raise OpRefused("this is not about servers of the program")
        return nothing

    async def _send(self, server: str, message: Json) -> Json:
        """Give the program a message. Raises ValueError where it does not answer."""
        assert self._session is not None
        request_id = RequestId(new_uuid())
        waiting = self._open[request_id] = asyncio.get_running_loop().create_future()
        try:
            self._session.publish(McpMessageSent(request_id=request_id, server=server, message=message))
            return await waiting
        finally:
            if self._open.pop(request_id, None) is not None:
                self._session.publish(McpMessageWithdrawn(request_id=request_id))


if TYPE_CHECKING:
    from pathlib import Path

    from clew.mcp.definitions import Definition
    from clew.mcp.login.logins import LoginStore
    from clew.mcp.login.loopback import Loopback
    from clew.mcp.ports import Surroundings
    from clew.mcp.servers import McpServers

SIGN_IN = "Sign in to this server in your browser. When you come back from there, clew goes on by itself."


class McpAsks:
    """One per session."""

    ops = (AnswerElicitation, LogInMcp, LogOutMcp, *InProcessServers.ops)

    def __init__(self, home: "Path", *, driven: bool) -> None:
        """`driven`: a program speaks with the session, and may bring servers that live in it."""
        self._in_process = InProcessServers() if driven else None
        self._home = home
        self._session: Session | None = None
        self._logins: dict[str, asyncio.Task[None]] = {}
        self.eliciting = Elicitations()

    def start(self, session: Session) -> None:
        """Belong to a session."""
        self._session = session
        self.eliciting.start(session)
        if self._in_process is not None:
            self._in_process.start(session)

    def hear(self, event: Event) -> None:
        """An event of the main agent: what servers asked ends with the turn."""
        if isinstance(event, TurnEnded):
            self.eliciting.withdraw()

    def around(self, around: "Surroundings") -> "Surroundings":
        """What every server gets of this."""
        from clew.mcp.transport.sdk import saved_sign_in  # where there is a server

        held = self._in_process.transport if self._in_process is not None else None
        return replace(around, elicit=self._elicit, sign_in=saved_sign_in(self._home), in_process=held)

    async def understood(self, op: Op, servers: "McpServers") -> Effect:
        """What one of its ops means. Raises OpRefused."""
        match op:
            case AnswerElicitation():
                return self.eliciting.answered(op)
            case LogInMcp():
                server = self._named(servers, op.server)
                return lambda: self._begin(server, servers)
            case LogOutMcp():
                return await self._log_out(self._named(servers, op.server), servers)
            case _ if self._in_process is not None:
                return await self._in_process.understood(op)
            case _:
                raise OpRefused("no program with servers of its own drives this session")

    async def _elicit(self, server: str, params: Any) -> Any:
        from clew.mcp.elicitation import elicited  # a server asks, so the SDK is there

        return await elicited(self.eliciting.ask, server, params)

    def _store(self) -> "LoginStore":
        from clew.mcp.login.logins import LoginStore  # where there is a server

        return LoginStore(self._home)

    def _named(self, servers: "McpServers", name: str) -> "Definition":
        """The server of that name as it would be connected, if it is one that people sign in to. Raises OpRefused."""
        from clew.mcp.expansion import MissingVariables, expanded  # where there is a server

        server = servers.servers.get(name)
        if server is None:
            raise OpRefused(f"there is no MCP server {name!r}; /mcp lists those there are")
        if server.definition.kind not in ("http", "sse"):
            raise OpRefused(f"{name} is a program on this machine; nobody signs in to it")
        if server.state in ("unapproved", "untrusted", "off"):
            raise OpRefused(f"{name} may not run ({server.state}), so nobody signs in to it")
        try:
            return expanded(server.definition, servers.around.env)
        except MissingVariables as error:
            raise OpRefused(str(error)) from error

    def _begin(self, server: "Definition", servers: "McpServers") -> None:
        known = self._logins.get(server.name)
        if known is not None:
            known.cancel()
        task = self._logins[server.name] = asyncio.create_task(self._log_in(server, servers))
        task.add_done_callback(
            lambda done: self._logins.pop(server.name, None) if self._logins.get(server.name) is done else None
        )

    async def _log_in(self, server: "Definition", servers: "McpServers") -> None:
        try:
            await servers.sdk.opener()
            from clew.mcp.login.oauth_login import LoginFailed, log_in  # loaded with the SDK

            try:
                tools = await log_in(server, servers.around, self._store(), self._show(server))
            except LoginFailed as error:
                self._say("error", f"not signed in to {server.name}: {error}")
                return
            if tools is None:
                self._say("info", f"{server.name} lets us in without a login")
            else:
                self._say("info", f"signed in to {server.name}; /mcp logout {server.name} forgets it")
            await servers.reconnect(server.name)
        except Exception as error:  # task boundary: whatever went wrong is told
            words = sanitize(str(error), one_line=True)[:300]
            self._say("error", f"not signed in to {server.name}: {type(error).__name__}: {words}")

    def _show(self, server: "Definition") -> Any:
        """A person is shown where to go; coming back from there is an answer too."""

        async def show(url: str, back: "Loopback") -> bool:
            asked = asyncio.ensure_future(self.eliciting.ask(server.name, SIGN_IN, url=url))
            came = asyncio.ensure_future(back.answer())
            try:
                await asyncio.wait({asked, came}, return_when=asyncio.FIRST_COMPLETED)
                return came.done() or asked.result().action == "accept"
            finally:
                asked.cancel()
                came.cancel()

        return show

    async def _log_out(self, server: "Definition", servers: "McpServers") -> Effect:
        try:
            there_was = await asyncio.to_thread(self._store().forget, server)
        except OSError as error:
            raise OpRefused(f"the login cannot be forgotten: {error.strerror or error}") from error
        if not there_was:
            raise OpRefused(f"nobody is signed in to {server.name}")

        async def go() -> None:
            self._say("info", f"the login of {server.name} is forgotten")
            await servers.reconnect(server.name)

        return go

    def _say(self, level: Any, text: str) -> None:
        if self._session is not None:
            self._session.publish(Notice(level=level, text=text, code="mcp"))

    async def stop(self) -> None:
        """Nobody is asked any more, and nobody signs in."""
        self.eliciting.withdraw()
        tasks = list(self._logins.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
