"""Where servers and people meet in a session: what a server asks for, who we are to it, and signing in.

What servers ask a person for: an event with an id, one answer that fits, and an end with the turn in any case.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clew.host.part import Effect, OpRefused, nothing, too_late
from clew.host.session import Session
from clew.mcp import extras
from clew.mcp.definitions import BadDefinition, ServerDefinition, read_server
from clew.mcp.expansion import MissingVariables, expanded
from clew.mcp.login.logins import LoginFailed, LoginStore
from clew.mcp.login.loopback import Loopback
from clew.mcp.ports import Surroundings
from clew.mcp.servers import McpServers
from clew.mcp.transport.sdk import saved_sign_in
from clew.protocol.event_kinds.programs import McpMessageSent, McpMessageWithdrawn
from clew.protocol.events import ElicitationAnswered, ElicitationRequested, Event, Notice, Refuser, TurnEnded
from clew.protocol.form_fields import FormField, UnusableForm, fields_of, problem_with_all
from clew.protocol.ids import CallId, RequestId, new_uuid
from clew.protocol.ops import (
    AddMcpServers,
    AnswerElicitation,
    AnswerMcpMessage,
    DeliverMcpMessage,
    LogInMcp,
    LogOutMcp,
    Op,
)
from clew.text.terminal_text import sanitize

MAX_MESSAGE_CHARS = 4_000
MAX_MESSAGE_LINES = 60
MAX_SCHEMA_BYTES = 32_768
MAX_URL_CHARS = 4_096
MAX_OPEN = 20
"""More at once is a flood, not a question."""


class CannotAsk(ValueError):
    """A server's question that is not put to anybody; the words are for the server."""


class _Open(Struct, frozen=True, kw_only=True):
    asked: ElicitationRequested
    fields: tuple[FormField, ...]


class Elicitations:
    """The open questions of all servers of a session. What a person said goes to the server and nowhere else: the log
    keeps that it was answered, not the values."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._open: dict[RequestId, _Open] = {}

    def start(self, session: Session) -> None:
        """Belong to a session."""
        self._session = session

    async def ask(
        self,
        server: str,
        message: str,
        *,
        schema: dict[str, object] | None = None,
        url: str = "",
        call_id: CallId | None = None,
    ) -> AnswerElicitation:
        """Put it to whoever is there, and wait. Raises CannotAsk for what nobody can be shown."""
        session = self._session
        if session is None or session.closed:
            raise CannotAsk("there is no session to ask in")
        asked = ElicitationRequested(
            request_id=RequestId(new_uuid()),
            server=server,
            message=_bounded(message),
            schema=schema or {},
            url=_checked_url(url),
            call_id=call_id,
        )
        fields = () if url else _checked_fields(asked.schema)
        if len(self._open) >= MAX_OPEN:
            raise CannotAsk("too many questions are open")
        waiting = session.pending.open(asked.request_id, AnswerElicitation)
        self._open[asked.request_id] = _Open(asked=asked, fields=fields)
        try:
            session.publish(asked)
            answer = await waiting
            assert isinstance(answer, AnswerElicitation)
            return answer
        finally:
            session.pending.forget(asked.request_id)
            if asked.request_id in self._open:  # whoever waited does so no longer
                self._tell(asked.request_id, _withdrawn(asked.request_id), by="interrupt")

    def answered(self, op: AnswerElicitation) -> Effect:
        """What an answer means. Raises OpRefused for one that comes late or does not fit."""
        session, waits = self._session, self._open.get(op.request_id)
        if session is None or waits is None or not session.pending.waits_for(op):
            raise OpRefused(too_late(session.pending, op) if session is not None else "there is no session")
        if op.action == "accept" and (problem := problem_with_all(waits.fields, op.values)):
            raise OpRefused(f"the answer does not fit: {problem}")
        self._tell(op.request_id, op)
        session.pending.settle(op)
        return nothing

    def withdraw(self) -> None:
        """The turn, or the session itself, ends: nothing waits any more."""
        if self._session is None:
            return
        for request_id in list(self._open):
            answer = _withdrawn(request_id)
            self._tell(request_id, answer, by="interrupt")
            self._session.pending.settle(answer)

    def _tell(self, request_id: RequestId, answer: AnswerElicitation, *, by: Refuser | None = None) -> None:
        """Once for each question: recorded before the server learns of it."""
        waits = self._open.pop(request_id, None)
        if waits is not None and self._session is not None:
            told = ElicitationAnswered(
                request_id=request_id,
                server=waits.asked.server,
                action=answer.action,
                by=by or answer.by,
                via=answer.via,
            )
            self._session.publish(told)


def _withdrawn(request_id: RequestId) -> AnswerElicitation:
    return AnswerElicitation(request_id=request_id, action="cancel", by="nobody")


def _bounded(message: str) -> str:
    lines = sanitize(message).split("\n")
    text = "\n".join(lines[:MAX_MESSAGE_LINES])
    whole = len(text) <= MAX_MESSAGE_CHARS and len(lines) <= MAX_MESSAGE_LINES
    return text if whole else f"{text[:MAX_MESSAGE_CHARS]}… (cut)"


def _checked_url(url: str) -> str:
    """Only what a browser goes to with a host's name; nothing else is shown as a place to go."""
    if not url:
        return ""
    front, _, rest = url.partition("://")
    if front.lower() not in ("https", "http") or not rest or len(url) > MAX_URL_CHARS or not url.isascii():
        raise CannotAsk("this is not an address of the web")
    if any(letter <= " " or letter in "\x7f\\" for letter in url):  # a browser reads a backslash as a slash
        raise CannotAsk("the address holds blanks, backslashes or control characters")
    return url


def _checked_fields(schema: dict[str, object]) -> tuple[FormField, ...]:
    try:
        if len(msgspec.json.encode(schema)) > MAX_SCHEMA_BYTES:
            raise UnusableForm("it is too large")
        return fields_of(schema)
    except (UnusableForm, TypeError, msgspec.MsgspecError) as error:
        raise CannotAsk(f"the form cannot be shown: {error}") from error


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

    def transport(self, server: ServerDefinition) -> AbstractAsyncContextManager[Any]:
        """For `Surroundings.in_process`."""

        def listening(deliver: Callable[[Json], None] | None) -> None:
            if deliver is None:
                self._listening.pop(server.name, None)
            else:
                self._listening[server.name] = deliver

        return extras.in_process().in_process_streams(lambda message: self._send(server.name, message), listening)

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


SIGN_IN = "Sign in to this server in your browser. When you come back from there, clew goes on by itself."


class McpAsks:
    """One per session."""

    ops = (AnswerElicitation, LogInMcp, LogOutMcp, AddMcpServers, *InProcessServers.ops)

    def __init__(self, home: Path, *, driven: bool) -> None:
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

    def around(self, around: Surroundings) -> Surroundings:
        """What every server gets of this."""
        held = self._in_process.transport if self._in_process is not None else None
        return replace(around, elicit=self._elicit, sign_in=saved_sign_in(self._home), in_process=held)

    async def understood(self, op: Op, servers: McpServers) -> Effect:
        """What one of its ops means. Raises OpRefused."""
        match op:
            case AnswerElicitation():
                return self.eliciting.answered(op)
            case LogInMcp():
                server = self._named(servers, op.server)
                return lambda: self._begin(server, servers)
            case LogOutMcp():
                return await self._log_out(self._named(servers, op.server), servers)
            case AddMcpServers() if self._in_process is not None:
                await servers.add(held_by_program(op.names))
                return servers.begin
            case _ if self._in_process is not None:
                return await self._in_process.understood(op)
            case _:
                raise OpRefused("no program with servers of its own drives this session")

    async def _elicit(self, server: str, params: Any) -> Any:
        return await extras.elicitation().elicited(self.eliciting.ask, server, params)

    def _store(self) -> LoginStore:
        return LoginStore(self._home)

    def _named(self, servers: McpServers, name: str) -> ServerDefinition:
        """The server of that name as it would be connected, if it is one that people sign in to. Raises OpRefused."""
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

    def _begin(self, server: ServerDefinition, servers: McpServers) -> None:
        known = self._logins.get(server.name)
        if known is not None:
            known.cancel()
        task = self._logins[server.name] = asyncio.create_task(self._log_in(server, servers))
        task.add_done_callback(
            lambda done: self._logins.pop(server.name, None) if self._logins.get(server.name) is done else None
        )

    async def _log_in(self, server: ServerDefinition, servers: McpServers) -> None:
        try:
            await servers.sdk.opener()
            try:
                tools = await extras.oauth_login().log_in(server, servers.around, self._store(), self._show(server))
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

    def _show(self, server: ServerDefinition) -> Any:
        """A person is shown where to go; coming back from there is an answer too."""

        async def show(url: str, back: Loopback) -> bool:
            asked = asyncio.ensure_future(self.eliciting.ask(server.name, SIGN_IN, url=url))
            came = asyncio.ensure_future(back.answer())
            try:
                await asyncio.wait({asked, came}, return_when=asyncio.FIRST_COMPLETED)
                return came.done() or asked.result().action == "accept"
            finally:
                asked.cancel()
                came.cancel()

        return show

    async def _log_out(self, server: ServerDefinition, servers: McpServers) -> Effect:
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


def held_by_program(names: tuple[str, ...]) -> tuple[ServerDefinition, ...]:
    """Servers that live in the program which drives the session. Raises OpRefused for a name that cannot be one."""
    try:
        return tuple(
            read_server(name, {"type": "sdk"}, scope="sdk", source="the program that drives this session")
            for name in names
        )
    except BadDefinition as error:
        raise OpRefused(f"the MCP servers {', '.join(names)}: {error}") from error
