"""Where a browser comes back to after a login: one address on 127.0.0.1, for one answer with the right state."""

import asyncio
import hmac
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

HOST = "127.0.0.1"
PATH = "/callback"
MAX_REQUEST_BYTES = 16_384
READ_S = 10.0
MAX_AT_ONCE = 8
MAX_FIELDS = 50
HEADERS = (
    "Content-Type: text/plain; charset=utf-8",
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options: nosniff",
    "Referrer-Policy: no-referrer",
    "Cache-Control: no-store",
    "Connection: close",
)
DONE = "You are signed in. You can close this window and go back to clew."
REFUSED = "The login was refused. You can close this window and go back to clew."


class ComeBack(Struct, frozen=True, kw_only=True):
    """What the browser brought. `repr` tells no code."""

    code: str = ""
    state: str = ""
    iss: str | None = None
    error: str = ""

    def __repr__(self) -> str:
        return f"ComeBack(error={self.error!r})"


class Loopback:
    """Open from `async with` to its end. Whoever does not know the state is sent away, and nothing changes."""

    def __init__(self, port: int = 0) -> None:
        self._wanted_port = port
        self._server: asyncio.Server | None = None
        self._state = ""
        self._answer: asyncio.Future[ComeBack] = asyncio.get_running_loop().create_future()
        self._busy = 0
        self.port = 0

    async def __aenter__(self) -> "Loopback":
        """Raises OSError where the port is taken."""
        self._server = await asyncio.start_server(self._serve, HOST, self._wanted_port, limit=MAX_REQUEST_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self._answer.cancel()

    @property
    def address(self) -> str:
        """The redirect address of this login."""
        return f"http://{HOST}:{self.port}{PATH}"

    def expect(self, state: str) -> None:
        """The state that the login was begun with."""
        self._state = state

    async def answer(self) -> ComeBack:
        """Wait for the browser."""
        return await asyncio.shield(self._answer)

    def offer(self, target: str) -> bool:
        """An address that the browser was sent to; whether it is the end of this login. Any web page may send one."""
        try:
            parts = urlsplit(target)
            found = parse_qs(parts.query, keep_blank_values=True, max_num_fields=MAX_FIELDS)
        except ValueError:
            return False
        given = {name: values[0] for name, values in found.items()}
        state = given.get("state", "")
        if parts.path != PATH or not self._state or not hmac.compare_digest(state.encode(), self._state.encode()):
            return False
        if not (given.get("code") or given.get("error")) or self._answer.done():
            return False
        back = ComeBack(
            code=given.get("code", ""), state=state, iss=given.get("iss"), error=given.get("error", "")[:200]
        )
        self._answer.set_result(back)
        return True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._busy += 1
        try:
            if self._busy <= MAX_AT_ONCE:
                async with asyncio.timeout(READ_S):
                    status, words = self._respond(await reader.readuntil(b"\r\n\r\n"))
                    body = words.encode()
                    head = [f"HTTP/1.1 {status}", *HEADERS, f"Content-Length: {len(body)}", "", ""]
                    writer.write("\r\n".join(head).encode() + body)
                    await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever it was did not say what a browser says
        finally:
            self._busy -= 1
            writer.close()

    def _respond(self, request: bytes) -> tuple[str, str]:
        first, *rest = request.decode("latin-1").split("\r\n")
        method, _, target = first.rpartition(" ")[0].partition(" ")
        headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in rest)]
        hosts = [value for name, value in headers if name == "host"]
        if hosts != [f"{HOST}:{self.port}"]:
            return "403 Forbidden", "This is not the address of this login."
        if method != "GET" or not target.startswith("/"):
            return "405 Method Not Allowed", "Nothing can be sent here."
        if not self.offer(target):
            return "400 Bad Request", "This does not belong to a login that is under way."
        return "200 OK", REFUSED if self._answer.result().error else DONE
