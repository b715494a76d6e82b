"""Signing in to a server: registered, sent to a browser by a person's hand, and back by way of 127.0.0.1."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
from msgspec.structs import replace
from pydantic import AnyUrl, ValidationError

from clew.mcp.definitions import ServerDefinition
from clew.mcp.login.logins import LoginFailed, LoginStore
from clew.mcp.login.loopback import Loopback
from clew.mcp.login.oauth import CLIENT_NAME, LoginStorage, is_safe_endpoint
from clew.mcp.ports import Listing, ServerError, Surroundings
from clew.mcp.transport.connection import first_of, open_connection
from clew.system.process import ProcessStarter
from clew.text.terminal_text import sanitize

LOGIN_LIMIT_S = 600.0
"""How long somebody may take in the browser."""
MAX_URL_CHARS = 8_000


Show = Callable[[str, Loopback], Awaitable[bool]]
"""Show a person where to go; False: they will not."""


async def log_in(server: ServerDefinition, around: Surroundings, store: LoginStore, show: Show) -> int | None:
    """Sign in to a server whose definition is expanded, and connect once to see that it counts. How many tools it
    offers; None: it lets us in without a login. Raises LoginFailed."""
    try:
        async with Loopback(callback_port(server)) as loopback, asyncio.timeout(LOGIN_LIMIT_S):
            return await _through(server, around, store, show, loopback)
    except TimeoutError:
        raise LoginFailed(f"nobody came back from the browser within {LOGIN_LIMIT_S / 60:g} minutes") from None
    except OSError as error:
        raise LoginFailed(f"{error.strerror or error}") from error


async def _through(
    server: ServerDefinition, around: Surroundings, store: LoginStore, show: Show, loopback: Loopback
) -> int | None:
    failed: list[LoginFailed] = []
    went: list[str] = []

    async def redirect(url: str) -> None:
        went.append(url)
        loopback.expect(parse_qs(urlsplit(url).query).get("state", [""])[-1])  # ours is behind what the server wrote
        known = provider.context.oauth_metadata
        if known is not None:
            safe(str(known.token_endpoint), server)  # before anybody goes anywhere
        if not await show(checked(url, server), loopback):
            raise LoginFailed("you did not go there")

    async def come_back() -> AuthorizationCodeResult:
        back = await loopback.answer()
        if back.error:
            raise LoginFailed(f"the login was refused ({sanitize(back.error, one_line=True)})")
        return AuthorizationCodeResult(code=back.code, state=back.state, iss=back.iss)

    async def noted(step: Callable[..., Awaitable[Any]], *given: Any) -> Any:
        """Our own words, whatever the SDK makes of them on the way up."""
        try:
            return await step(*given)
        except LoginFailed as error:
            failed.append(error)
            raise OAuthFlowError(str(error)) from error

    metadata = OAuthClientMetadata(
        client_name=CLIENT_NAME,
        redirect_uris=[AnyUrl(loopback.address)],
        scope=_text(server, "scopes") or _text(server, "scope") or None,
    )
    provider = LoginFlow(
        server,
        failed,
        metadata,
        LoginStorage(store, server, given=given_client(server, loopback.address)),
        lambda url: noted(redirect, url),
        lambda: noted(come_back),
    )

    def provided(_server: ServerDefinition) -> OAuthClientProvider:
        return provider

    starter = ProcessStarter()
    try:
        ours = replace(around, sign_in=provided)
        async with open_connection(server, ours, unheard, starter) as connection:
            tools = len(await connection.tools())
    except ServerError as error:
        if failed:
            raise failed[0] from None
        cause = first_of(error.__cause__) if error.__cause__ is not None else None
        words = str(cause) if isinstance(cause, OAuthFlowError) else str(error)
        raise LoginFailed(sanitize(words, one_line=True)[:500]) from error
    finally:
        await asyncio.to_thread(starter.close)
    if not went:
        return None
    known = provider.context.oauth_metadata
    if known is not None:
        said = known.model_dump(mode="json", exclude_none=True)
        await asyncio.to_thread(lambda: store.keep(server, metadata=said))
    return tools


def unheard(_listing: Listing) -> None:
    """One look is enough."""


class LoginFlow(OAuthClientProvider):
    """The SDK's way through a login, with every request on it looked at before it leaves."""

    def __init__(
        self,
        server: ServerDefinition,
        failed: list[LoginFailed],
        metadata: OAuthClientMetadata,
        storage: LoginStorage,
        redirect: Callable[[str], Awaitable[None]],
        come_back: Callable[[], Awaitable[AuthorizationCodeResult]],
    ) -> None:
        """`failed`: where our own words go, whatever the SDK makes of them on the way up."""
        super().__init__(server.url, metadata, storage, redirect, come_back)
        self._server = server
        self._failed = failed

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        async with aclosing(super()._auth_flow(request)) as flow:
            wanted = await anext(flow)
            while True:
                if wanted is not request:
                    self._look_at(str(wanted.url))
                response = yield wanted
                try:
                    wanted = await flow.asend(response)
                except StopAsyncIteration:
                    return

    def _look_at(self, url: str) -> None:
        try:
            safe(url, self._server)
        except LoginFailed as error:
            self._failed.append(error)
            raise OAuthFlowError(str(error)) from error


def safe(url: str, server: ServerDefinition) -> None:
    """Raises LoginFailed for an address of a login that is neither encrypted nor, with its server, on this machine."""
    if not is_safe_endpoint(url, server.url):
        shown = sanitize(url, one_line=True)[:100]
        raise LoginFailed(f"the server sends the login to an address that is not encrypted: {shown}")


def checked(url: str, server: ServerDefinition) -> str:
    """The address of the login, if it is one that a person can be sent to. Raises LoginFailed."""
    safe(url, server)
    if len(url) > MAX_URL_CHARS or not url.isascii() or any(letter <= " " or letter == "\x7f" for letter in url):
        raise LoginFailed("the server sends people to something that is no address")
    return url


def given_client(server: ServerDefinition, redirect: str) -> OAuthClientInformationFull | None:
    """How we are registered, where the definition says so (`oauth.clientId`). Raises LoginFailed."""
    client_id = _text(server, "clientId")
    if not client_id:
        return None
    try:
        secret = _text(server, "clientSecret") or None
        return OAuthClientInformationFull(
            client_id=client_id,
            client_secret=secret,
            redirect_uris=[AnyUrl(redirect)],
            token_endpoint_auth_method="client_secret_post" if secret else "none",
        )
    except ValidationError as error:
        raise LoginFailed("oauth.clientId cannot be used") from error


def callback_port(server: ServerDefinition) -> int:
    """The port of the redirect, where the registration fixes it (`oauth.callbackPort`); 0: any."""
    port = server.oauth.get("callbackPort", 0)
    return port if isinstance(port, int) and 0 <= port < 65_536 else 0


def _text(server: ServerDefinition, key: str) -> str:
    value = server.oauth.get(key, "")
    return value if isinstance(value, str) else ""
