"""What servers offered the last time, kept on disk by the digest of their definition.

It lets a session know before its first request what will probably come, and notice a tool that changed its words.
"""

import contextlib
import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from clew.mcp.approvals import NOT_ABOUT_IT
from clew.mcp.definitions import ServerDefinition
from clew.mcp.ports import OfferedTool
from clew.mcp.tools import KnownTool, McpTool, UnusableTool
from clew.system.private_files import replace_private

MAX_BYTES = 2_000_000
MAX_FILES = 200
MAX_PAST = 500


class _Kept(Struct, kw_only=True):
    version: int = 1
    server: str = ""
    tools: tuple[OfferedTool, ...] = ()
    past: tuple[OfferedTool, ...] = ()
    """What it offered earlier."""


class ToolCache:
    """`$CLEW_HOME/cache/mcp/<digest>.json`."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "cache" / "mcp"

    def load(self, server: ServerDefinition) -> tuple[KnownTool, ...]:
        """What it offered the last time; nothing where that is not known."""
        found: list[KnownTool] = []
        for offered in self._read(server).tools:
            with contextlib.suppress(UnusableTool):
                found.append(KnownTool(server.name, offered))
        return tuple(found)

    def compare(self, server: ServerDefinition, tools: tuple[McpTool, ...]) -> None:
        """Mark the tools that describe themselves otherwise than when they were last let run, and keep the others'
        words; theirs are kept when somebody lets them run."""
        before = self._known(server)
        for tool in tools:
            old = before.get(tool.offered.name)
            tool.changed = old is not None and old != tool.offered
            tool.on_run = lambda tool: self._accept(server, tool.offered)
        kept = {tool.offered.name: before[tool.offered.name] if tool.changed else tool.offered for tool in tools}
        past = [offered for name, offered in before.items() if name not in kept]
        self._write(server, _Kept(server=server.name, tools=tuple(kept.values()), past=tuple(past[-MAX_PAST:])))

    def _accept(self, server: ServerDefinition, offered: OfferedTool) -> None:
        kept = self._read(server)
        kept.tools = tuple(offered if one.name == offered.name else one for one in kept.tools)
        self._write(server, kept)

    def _known(self, server: ServerDefinition) -> dict[str, OfferedTool]:
        kept = self._read(server)
        return {one.name: one for one in (*kept.past, *kept.tools)}

    def _read(self, server: ServerDefinition) -> _Kept:
        try:
            data = self._path(server).read_bytes()
            return msgspec.json.decode(data, type=_Kept) if len(data) <= MAX_BYTES else _Kept()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _Kept()

    def _write(self, server: ServerDefinition, kept: _Kept) -> None:
        """A cache that cannot be written is no reason to say anything."""
        data = msgspec.json.encode(kept)
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

    def _path(self, server: ServerDefinition) -> Path:
        about = {name: value for name, value in asdict(server).items() if name not in NOT_ABOUT_IT}
        digest = hashlib.sha256(msgspec.json.encode(about, order="sorted")).hexdigest()
        return self._folder / f"{digest[:40]}.json"
