"""Which servers of a project a person has let run: exactly this definition, with the project files that it names."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from clew.mcp.definitions import ServerDefinition, shape_of
from clew.permissions.approval_store import Approval, ApprovalStore
from clew.permissions.named_content import MAX_FILE_BYTES, MAX_TOTAL_BYTES, content_at, is_inside
from clew.permissions.trust import place_at

FILE_NAME = "mcp-approvals.json"
VERSION = "1"
NOT_ABOUT_IT = ("scope", "source", "digest", "disabled", "always_load")
"""The same server in two files of a project is one decision, and switching it off and on is none."""


def digest_of(server: ServerDefinition, root: Path | str) -> str:
    """Of the definition as it is written and of what its words name below `root` now. Another digest is another
    decision."""
    about = {name: value for name, value in asdict(server).items() if name not in NOT_ABOUT_IT}
    for name, usual in (("sandbox", True), ("agent", "")):
        if about[name] == usual:
            del about[name]  # what was approved before there was such a word stays approved
    summary = hashlib.sha256()
    parts = [VERSION.encode(), msgspec.json.encode(about, order="sorted")]
    left = MAX_TOTAL_BYTES
    for path in named_files(server, root):
        content, size = content_at(path, os.path.realpath(root), min(left, MAX_FILE_BYTES))
        left -= size
        parts += [os.fsencode(path), content]
    for part in parts:
        summary.update(len(part).to_bytes(8, "big") + part)
    return summary.hexdigest()


def named_files(server: ServerDefinition, root: Path | str) -> list[str]:
    """What stands inside the project and is named by a word of the command, also behind an `=`."""
    place = os.path.realpath(root)
    if server.kind != "stdio":
        return []
    base = os.path.join(place, server.cwd)
    words = [server.command, *server.args]
    words += [word.partition("=")[2] for word in words if "=" in word]
    paths = {os.path.normpath(os.path.join(base, word)) for word in words if word}
    return sorted(path for path in paths if path != place and is_inside(path, place) and os.path.lexists(path))


class McpApprovals:
    """Remembered decisions. Servers that the user wrote down need none."""

    def __init__(self, home: Path) -> None:
        self._store = ApprovalStore(home / FILE_NAME, what="MCP server")

    @property
    def problem(self) -> str:
        """What was wrong with the file, if it could not be read."""
        return self._store.problem

    def is_approved(self, server: ServerDefinition, root: Path | str) -> bool:
        """Exactly this server was approved for this project, which is still the same place."""
        if not server.needs_approval:
            return True
        place = place_at(os.path.realpath(root))
        return place is not None and self._store.is_approved(server.digest, place)

    def may_run(self, server: ServerDefinition, root: Path | str) -> bool:
        """As `is_approved`, and all it names is still what was looked at. Reads files."""
        same = not server.needs_approval or digest_of(server, root) == server.digest
        return same and self.is_approved(server, root)

    def approve(self, servers: Iterable[ServerDefinition], root: Path | str) -> int:
        """Let these run from now on. How many of them were not approved before. Raises OSError."""
        place = place_at(os.path.realpath(root))
        return self._store.approve(
            Approval(digest=server.digest, place=place, command=f"{server.name}: {shape_of(server)}")
            for server in servers
            if server.needs_approval and place is not None
        )

    def revoke(self, servers: Iterable[ServerDefinition], root: Path | str) -> int:
        """Take approvals back. How many there were. Raises OSError."""
        gone, here = {server.digest for server in servers}, place_at(os.path.realpath(root))
        return self._store.revoke(lambda one: one.digest in gone and one.place == here)
