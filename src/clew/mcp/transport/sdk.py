"""The registry that loads the SDK: in a thread and in pieces, when the first server is connected and never before."""

import asyncio
import importlib
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.mcp import extras
from clew.mcp.definitions import ServerDefinition
from clew.mcp.login.logins import LoginStore
from clew.mcp.ports import Heard, HopelessServer, Open, ServerConnection, Surroundings
from clew.tools import extras as tool_extras

if TYPE_CHECKING:
    from clew.system.process import ProcessStarter

PIECES = (
    "pydantic",
    "anyio",
    "httpx2",
    "mcp_types._v2025_11_25",
    "mcp_types._v2026_07_28",
    "mcp_types",
    "mcp",
    "clew.tools.schemas.answer_schema",
    "clew.mcp.transport.connection",
)
"""In this order: between two of them a session that ends need not wait for the rest."""


class SdkBroken(HopelessServer):
    """The SDK, which is installed with clew, cannot be loaded: part of the installation is gone."""


class Sdk:
    """One per session: loads what connects, and holds what starts programs."""

    def __init__(self) -> None:
        self._loading: asyncio.Future[None] | None = None
        self._stopped = threading.Event()
        self._starter: ProcessStarter | None = None

    async def opener(self) -> Open:
        """What connects to servers. Raises SdkBroken."""
        if self._loading is None:
            self._loading = asyncio.ensure_future(asyncio.to_thread(self._load))
        try:
            await asyncio.shield(self._loading)
        except ImportError as error:
            if error.name and error.name.startswith("clew"):
                raise
            raise SdkBroken(f"the MCP SDK cannot be loaded ({error}); install clew again") from error
        return self._open

    def _load(self) -> None:
        for name in PIECES:
            if self._stopped.is_set():
                return
            importlib.import_module(name)

    def _open(
        self, server: ServerDefinition, around: Surroundings, heard: Heard
    ) -> AbstractAsyncContextManager[ServerConnection]:
        if self._starter is None:
            self._starter = tool_extras.process().ProcessStarter()
        return extras.connection().open_connection(server, around, heard, self._starter)

    async def close(self) -> None:
        """Every connection was closed before."""
        self._stopped.set()
        if self._loading is not None:
            await asyncio.gather(self._loading, return_exceptions=True)
        if self._starter is not None:
            await asyncio.to_thread(self._starter.close)


def saved_sign_in(home: Path) -> Callable[[ServerDefinition], Any]:
    """For `Surroundings.sign_in`: logins that people made, where there are any."""

    def sign_in(server: ServerDefinition) -> Any:
        store = LoginStore(home)
        if not store.path.exists():
            return None
        return extras.oauth().signing_in(store)(server)

    return sign_in
