"""Requests that say who we are: saved tokens, refreshed when they end. Nothing here ever asks a person."""

import secrets
from collections.abc import AsyncGenerator, Callable
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from clew.mcp.definitions import ServerDefinition
from clew.mcp.login.logins import Login, LoginStore, expiry_of

CLIENT_NAME = "clew"
UNAUTHORIZED = 401
HERE = ("127.0.0.1", "localhost", "::1")
UNUSED_REDIRECT = "http://127.0.0.1/callback"


def is_safe_endpoint(url: str, server_url: str) -> bool:
    """Whether a login may go to an address that a server named: encrypted, or on this machine where the server is here
    too. A server elsewhere must not make us ask what is on this machine."""
    try:
        to, of = urlsplit(url), urlsplit(server_url)
        here = to.hostname in HERE and of.hostname in HERE
    except ValueError:
        return False
    return to.scheme == "https" or (to.scheme == "http" and here)


class LoginStorage:
    """The SDK's `TokenStorage` for one server."""

    def __init__(
        self, store: LoginStore, server: ServerDefinition, *, given: OAuthClientInformationFull | None = None
    ) -> None:
        """`given`: how we are registered, where the definition says so."""
        self._store = store
        self._server = server
        self._given = given
        self._new: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """None: a login begins from nothing."""
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        said = tokens.model_dump(mode="json", exclude_none=True)
        client = self._new or self._given
        about = {} if client is None else {"client": client.model_dump(mode="json", exclude_none=True)}
        await anyio.to_thread.run_sync(
            lambda: self._store.keep(self._server, tokens=said, expires_at_s=expiry_of(said), **about)
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._given

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Kept with the tokens: a registration alone is worth nothing, its redirect is of this login only."""
        self._new = client_info


class SavedLogin(OAuthClientProvider):
    """Sends the saved token. One that ended is refreshed, once for all who wait; what is refused stays refused."""

    def __init__(self, store: LoginStore, server: ServerDefinition, login: Login) -> None:
        metadata = OAuthClientMetadata(client_name=CLIENT_NAME, redirect_uris=[AnyUrl(UNUSED_REDIRECT)])
        super().__init__(server.url, metadata, LoginStorage(store, server))
        self._store = store
        self._server = server
        self._use(login)

    def _use(self, login: Login) -> None:
        """Raises ValidationError for what the file must not hold."""
        context = self.context
        context.current_tokens = OAuthToken.model_validate(login.tokens) if login.tokens else None
        context.token_expiry_time = login.expires_at_s
        context.client_info = OAuthClientInformationFull.model_validate(login.client) if login.client else None
        context.oauth_metadata = OAuthMetadata.model_validate(login.metadata) if login.metadata else None
        self._initialized = True

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        sent = await self._sign(request)
        if not sent or not self.context.is_token_valid():
            async with self.context.lock:
                if await self._renewed(sent):
                    response = yield await self._refresh_token()
                    await self._took(response)
            sent = await self._sign(request)
        response = yield request
        if response.status_code != UNAUTHORIZED or not sent:
            return
        async with self.context.lock:
            if await self._renewed(sent):
                refreshed = yield await self._refresh_token()
                await self._took(refreshed)
        if (now := await self._sign(request)) and not secrets.compare_digest(now, sent):
            yield request

    async def _sign(self, request: httpx2.Request) -> str:
        """Put the token on a request; which one."""
        tokens = self.context.current_tokens
        if tokens is None or not tokens.access_token:
            return ""
        self._add_auth_header(request)
        return tokens.access_token

    async def _renewed(self, sent: str) -> bool:
        """Whether we must ask for a new token ourselves: not when somebody else, or another session, has done so."""
        if self._token() != sent:
            return False
        await self._read_again()
        return self._token() == sent and self.context.can_refresh_token()

    async def _took(self, response: httpx2.Response) -> None:
        """A new token is written down at once; a refusal may mean that another session was quicker."""
        if await self._handle_refresh_response(response):
            return
        await self._read_again()

    async def _read_again(self) -> None:
        try:
            login = await anyio.to_thread.run_sync(self._store.get, self._server)
            if login is not None:
                self._use(login)
        except (OSError, ValidationError):
            return  # what we have counts on

    def _token(self) -> str:
        return self.context.current_tokens.access_token if self.context.current_tokens is not None else ""


def signing_in(store: LoginStore) -> Callable[[ServerDefinition], Any]:
    """For `Surroundings.sign_in`: the saved login of a server, if there is one."""

    def sign_in(server: ServerDefinition) -> httpx2.Auth | None:
        if any(name.lower() == "authorization" for name, _ in server.headers):
            return None  # its definition says who asks
        try:
            login = store.get(server)
            return SavedLogin(store, server, login) if login is not None and login.tokens else None
        except (OSError, ValidationError):
            return None

    return sign_in
