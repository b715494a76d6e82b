"""The webhook of notices: one small document each, sent behind the session's back, and its answer means nothing."""

import asyncio
import ipaddress
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

import h11
import msgspec
from msgspec import Struct

from clew import __version__
from clew.config.errors import SettingsError
from clew.host.workspace import Workspace
from clew.llm.http.connection import Address, BadAddress, HttpConnection, NoAnswer, ProxyRefused, proxy_for, split_url
from clew.protocol.events import Notified
from clew.text.redact import redact
from clew.transcript.log.stamp import utc_now

ATTEMPT_S = 10.0
"""Connecting, sending and the first line of the answer together."""
PAUSES_S = (1.0, 4.0)
"""Between attempts; one more attempt than pauses."""
LEAVE_S = 2.0
"""The moment that what is under way gets at the end of a session."""
MAX_QUEUED = 50
TRY_AGAIN = frozenset({408, 425, 429})
NETWORK = (OSError, ValueError, NoAnswer, ProxyRefused, h11.ProtocolError, asyncio.IncompleteReadError)

__all__ = ["BadAddress", "Webhook", "WebhookDocument", "checked_address", "webhook_of"]


class WebhookDocument(Struct, frozen=True, kw_only=True):
    """What is sent. Nothing in it answers anything."""

    id: str
    """The same when a document is sent again."""
    kind: str
    text: str
    title: str
    session_id: str
    cwd: str
    at: str


class Undelivered(Exception):
    """An attempt that failed; the words say why."""

    def __init__(self, why: str, *, final: bool) -> None:
        super().__init__(why)
        self.final = final
        """Another attempt would fail as well."""


def checked_address(url: str) -> tuple[Address, str]:
    """Where documents go. Raises BadAddress unless they are encrypted on the way, or never leave this machine."""
    address, path = split_url(url.strip())
    if not address.secure and not on_this_machine(address.host):
        raise BadAddress("it must start with https://; http:// is for this machine only")
    return address, path


def on_this_machine(host: str) -> bool:
    """A loopback address, or the name that always means one."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Webhook:
    """Sends one after the other in a task of its own, and tells at most once that it cannot."""

    def __init__(
        self,
        address: Address,
        path: str,
        *,
        env: Mapping[str, str],
        tell: Callable[[str], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._address = address
        self._path = path
        self._env = env
        self._tell = tell
        self._sleep = sleep
        self._queue: deque[bytes] = deque()
        self._task: asyncio.Task[None] | None = None
        self._told = False

    def send(self, notice: Notified, *, session_id: str, cwd: str) -> None:
        """Take a notice; nobody waits for what becomes of it."""
        if len(self._queue) >= MAX_QUEUED:
            self._failed("it does not keep up")
            return
        document = WebhookDocument(
            id=notice.notice_id,
            kind=notice.kind,
            text=notice.text,
            title=notice.title,
            session_id=session_id,
            cwd=redact(cwd),
            at=utc_now(),
        )
        self._queue.append(msgspec.json.encode(document))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work(), name="webhook")

    async def close(self) -> None:
        """What is under way gets a moment, no more."""
        if self._task is None:
            return
        _, late = await asyncio.wait({self._task}, timeout=LEAVE_S)
        if late:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._failed("it did not answer before the session ended")

    async def _work(self) -> None:
        while self._queue:
            try:
                await self._deliver(self._queue[0])
            except Undelivered as error:
                self._failed(str(error))
            except Exception as error:  # task boundary: the next one is tried
                self._failed(type(error).__name__)
            self._queue.popleft()

    async def _deliver(self, body: bytes) -> None:
        for pause_s in PAUSES_S:
            try:
                await self._attempt(body)
                return
            except Undelivered as error:
                if error.final:
                    raise
            await self._sleep(pause_s)
        await self._attempt(body)

    async def _attempt(self, body: bytes) -> None:
        try:
            async with asyncio.timeout(ATTEMPT_S):
                status = await self._post(body)
        except TimeoutError as error:
            raise Undelivered(f"no answer within {ATTEMPT_S:g} s", final=False) from error
        except NETWORK as error:
            raise Undelivered(why(error), final=isinstance(error, ssl.SSLError)) from error
        if not 200 <= status < 300:
            # A redirect is not followed: documents go where the user said, and nowhere else.
            raise Undelivered(f"it answered {status}", final=status < 500 and status not in TRY_AGAIN)

    async def _post(self, body: bytes) -> int:
        """The status; not a byte of what follows is read."""
        connection = await HttpConnection.open(self._address, proxy_for(self._address, self._env))
        try:
            headers = [
                ("host", self._address.netloc),
                ("user-agent", f"clew/{__version__}"),
                ("content-type", "application/json"),
                ("connection", "close"),
            ]
            await connection.send("POST", self._path, headers, body)
            return (await connection.head(idle_s=ATTEMPT_S)).status_code
        finally:
            await connection.close()

    def _failed(self, reason: str) -> None:
        """Named by its host only: the path of such an address is often its secret."""
        if not self._told:
            self._told = True
            self._tell(f"notifications do not reach {self._address.host}: {reason}; the session goes on without them")


def why(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, NoAnswer):
        return "it closed the connection without an answer"
    words = (str(error).splitlines() or [""])[0]
    return words[:200] or type(error).__name__


def webhook_of(workspace: Workspace) -> Callable[[Callable[[str], None]], Webhook]:
    """How the configured webhook is opened, given how to tell that it does not work. Raises SettingsError for an
    address it cannot be."""
    try:
        address, path = checked_address(workspace.settings.notifications.webhook)
    except BadAddress as error:
        sources = workspace.loaded.sources.get("notifications.webhook", ())
        where = sources[-1].place if sources else "settings"
        raise SettingsError(f'{where}: "notifications.webhook": {error}') from error
    return lambda tell: Webhook(address, path, env=workspace.env, tell=tell)
