"""A quick look for model servers on this machine. Only an interactive start and `doctor` do this."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from clew.config.schema import Provider
from clew.llm.address import LOOPBACK
from clew.llm.connect import all_rows, base_url_of
from clew.llm.providers import ProviderRow

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
                target = f"/{path.rstrip('/')}/models"
                writer.write(f"GET {target} HTTP/1.0\r\nhost: {host_port}\r\naccept: application/json\r\n\r\n".encode())
                answer = await reader.read(MAX_BYTES)
                while not reader.at_eof() and len(answer) < MAX_BYTES:
                    answer += await reader.read(MAX_BYTES)
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return None
    return _parse(provider, base_url, answer)


def _parse(provider: str, base_url: str, answer: bytes) -> LocalServer | None:
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200" not in head.partition(b"\r\n")[0]:
        return None
    start, end = body.find(b"{"), body.rfind(b"}")
    try:
        listing = msgspec.json.decode(body[start : end + 1], type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    data = listing.get("data") or listing.get("models")
    if not isinstance(data, list):
        return None
    entries = [cast(dict[str, Any], item) for item in cast(list[Any], data) if isinstance(item, dict)]
    names = [str(entry.get("id") or entry.get("name") or "") for entry in entries]
    return LocalServer(provider=provider, base_url=base_url, models=tuple(name for name in names if name))
