"""What servers offered the last time, kept on disk by the digest of their definition: a cache, never the truth.

It lets a session know before its first request what will probably come.
"""

import contextlib
import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from clew.mcp.approvals import NOT_ABOUT_IT
from clew.mcp.definitions import Definition
from clew.mcp.ports import OfferedTool
from clew.mcp.tools import KnownTool, UnusableTool
from clew.system.private_files import replace_private

MAX_BYTES = 2_000_000
MAX_FILES = 200


class _Kept(Struct, kw_only=True):
    version: int = 1
    server: str = ""
    tools: tuple[OfferedTool, ...] = ()


class ToolCache:
    """`$CLEW_HOME/cache/mcp/<digest>.json`."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "cache" / "mcp"

    def load(self, server: Definition) -> tuple[KnownTool, ...]:
        """What it offered the last time; nothing where that is not known."""
        try:
            data = self._path(server).read_bytes()
            kept = msgspec.json.decode(data, type=_Kept) if len(data) <= MAX_BYTES else _Kept()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return ()
        found: list[KnownTool] = []
        for offered in kept.tools:
            with contextlib.suppress(UnusableTool):
                found.append(KnownTool(server.name, offered))
        return tuple(found)

    def keep(self, server: Definition, tools: tuple[OfferedTool, ...]) -> None:
        """Remember what it offers now. A cache that cannot be written is no reason to say anything."""
        data = msgspec.json.encode(_Kept(server=server.name, tools=tools))
        path = self._path(server)
        if len(data) > MAX_BYTES:
            return
        with contextlib.suppress(OSError):
            if path.exists() and path.read_bytes() == data:
                return
            replace_private(path, data)
            self._prune()

    def _prune(self) -> None:
        files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in files[: max(0, len(files) - MAX_FILES)]:
            file.unlink(missing_ok=True)

    def _path(self, server: Definition) -> Path:
        about = {name: value for name, value in asdict(server).items() if name not in NOT_ABOUT_IT}
        digest = hashlib.sha256(msgspec.json.encode(about, order="sorted")).hexdigest()
        return self._folder / f"{digest[:40]}.json"
