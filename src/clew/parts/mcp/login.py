"""Signing in to an HTTP server of a place: begun, sent to a browser by a person, and waited for.

A login is one task of this process. Whoever began it shows the address to a person, may hand in where a browser of
another machine ended, and waits for the end.
"""

import asyncio

from clew.host.workspace import Workspace
from clew.mcp import extras
from clew.mcp.definitions import ServerDefinition
from clew.mcp.login.logins import LoginFailed, LoginStore
from clew.mcp.login.loopback import Loopback
from clew.mcp.ports import Surroundings
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.mcp import AwaitMcpLogin, McpLogin, OfferMcpAddress


class McpLoginTask:
    """One login under way."""

    def __init__(self, server: ServerDefinition, workspace: Workspace) -> None:
        self._server = server
        self._back: Loopback | None = None
        self._shown: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        around = Surroundings(root=workspace.cwd, env=workspace.env, child_env={}, roots=lambda: ())
        self._task = asyncio.create_task(
            extras.oauth_login().log_in(server, around, LoginStore(workspace.home), self._show)
        )

    async def _show(self, url: str, back: Loopback) -> bool:
        self._back = back
        if not self._shown.done():
            self._shown.set_result(url)
        return True

    async def begun(self) -> McpLogin:
        """Where to go, or how it ended."""
        await asyncio.wait({self._shown, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not self._shown.done():
            return await self.ended()
        return McpLogin(server=self._server.name, url=self._server.url, open_url=self._shown.result())

    def offered(self, address: str) -> McpLogin:
        """Whether the address ends this login."""
        taken = self._back is not None and self._back.offer(address)
        return McpLogin(server=self._server.name, url=self._server.url, taken=taken)

    async def ended(self) -> McpLogin:
        """Wait for the end."""
        name, url = self._server.name, self._server.url
        try:
            return McpLogin(server=name, url=url, ended=True, tools=await self._task)
        except LoginFailed as error:
            return McpLogin(server=name, url=url, ended=True, failed=str(error))

    def cancel(self) -> None:
        """Another one takes its place."""
        self._task.cancel()


_UNDER_WAY: dict[str, McpLoginTask] = {}
"""By the name of the server."""


async def begin(server: ServerDefinition, workspace: Workspace) -> McpLogin:
    """Begin; one that is under way for the same server ends."""
    if (known := _UNDER_WAY.pop(server.name, None)) is not None:
        known.cancel()
    _UNDER_WAY[server.name] = McpLoginTask(server, workspace)
    return await _UNDER_WAY[server.name].begun()


async def go_on(lookup: OfferMcpAddress | AwaitMcpLogin) -> McpLogin:
    """With one that was begun. Raises LookupRefused."""
    task = _UNDER_WAY.get(lookup.server)
    if task is None:
        raise LookupRefused(f"no login to {lookup.server} was begun")
    if isinstance(lookup, OfferMcpAddress):
        return task.offered(lookup.address)
    try:
        return await task.ended()
    finally:
        _UNDER_WAY.pop(lookup.server, None)
