"""A quick look for model servers on this machine. Only an interactive start and `doctor` do this."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from clew.config.schema import Provider
from clew.llm.http.connection import LOOPBACK
from clew.llm.models.connect import all_rows, base_url_of
from clew.llm.models.providers import ProviderRow

PROBE_S = 0.3
MAX_BYTES = 256 * 1024


class LocalServer(Struct, frozen=True, kw_only=True):
    """A server that answered."""

    provider: str
    base_url: str
    models: tuple[str, ...]
    """Names it offers; the first is as good a default as any."""


async def local_servers(
    env: Mapping[str, str], providers: Mapping[str, Provider], *, timeout_s: float = PROBE_S
) -> list[LocalServer]:
    """Servers of local providers that answer on loopback within the time, all asked at once. Never fails."""
    table = all_rows(providers)
    asked: dict[str, ProviderRow] = {}
    for row in table.values():
        url = base_url_of(row, providers.get(row.name, Provider()), env) if row.local else ""
        if url.startswith("http://") and url.removeprefix("http://").startswith(LOOPBACK):
            asked.setdefault(url, row)
    found = await asyncio.gather(*(_ask(row.name, url, timeout_s) for url, row in asked.items()))
    return [server for server in found if server is not None]


async def _ask(provider: str, base_url: str, timeout_s: float) -> LocalServer | None:
    """Ask for the model list. A bare socket: no proxy, no key, no client to import."""
    host_port, _, path = base_url.removeprefix("http://").partition("/")
    host, _, port = host_port.rpartition(":") if ":" in host_port.rpartition("]")[2] else (host_port, "", "80")
    if not port.isdigit():
        return None
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), limit=MAX_BYTES)
            try:
                lines = (f"GET /{path.rstrip('/')}/models HTTP/1.0", f"host: {host_port}", "connection: close", "", "")
                writer.write("\r\n".join(lines).encode())
                head = await reader.readuntil(b"\r\n\r\n")
                body = await _body(reader, head)
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    return _parse(provider, base_url, head, body)


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    """As many bytes as announced, or all until the end; never more than the bound."""
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return await reader.readexactly(min(MAX_BYTES, int(line.partition(b":")[2])))
    body = b""
    while len(body) < MAX_BYTES and (data := await reader.read(MAX_BYTES)):
        body += data
    return body


def _parse(provider: str, base_url: str, head: bytes, body: bytes) -> LocalServer | None:
    if b" 200" not in head.partition(b"\r\n")[0]:
        return None
    names = names_in(body)
    return LocalServer(provider=provider, base_url=base_url, models=names) if names is not None else None


def names_in(body: bytes) -> tuple[str, ...] | None:
    """The models in a listing, as all servers that have one write it; None: it is no listing."""
    start, end = body.find(b"{"), body.rfind(b"}")
    try:
        listing = msgspec.json.decode(body[start : end + 1], type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    data = listing.get("data") or listing.get("models")
    if not isinstance(data, list):
        return None
    entries = [cast(dict[str, Any], item) for item in cast(list[Any], data) if isinstance(item, dict)]
    names = [str(entry.get("id") or entry.get("name") or "") for entry in entries]
    return tuple(name for name in names if name)
