"""The files that define servers: the user's, the user's for one project, the project's own; read and changed.

Files of a project are read only when it is trusted, and never through a link that leads out of it. Of two servers of
one name the first in `NEAREST` counts, and that is told.
"""

import json
import os
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clew.mcp.approvals import digest_of
from clew.mcp.definitions import SERVERS, ServerDefinition, read_servers
from clew.protocol.event_kinds.programs import McpScope
from clew.system.private_files import replace_private

USER_FILE = "mcp.json"
PROJECT_FILE = ".mcp.json"
DISABLED = "disabledServers"
MAX_BYTES = 1_000_000
NEAREST: tuple[McpScope, ...] = ("sdk", "given", "local", "user", "project")
"""A project's comes last: it could otherwise take the place of a server that the user's rules allow."""
PLACES: dict[McpScope, str] = {
    "sdk": "the program that drives this session",
    "given": "--mcp-config",
    "local": "your file for this project",
    "project": "the project's .mcp.json",
    "user": "your file for all projects",
}


class FoundServers(Struct, frozen=True, kw_only=True):
    """All servers that are defined, and what could not be understood."""

    servers: tuple[ServerDefinition, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What is no mistake and should be known: a server that another one stands in place of."""


class ServerPlaces(Struct, frozen=True, kw_only=True):
    """Where definitions may be."""

    home: Path
    root: Path
    kept: Path
    """The folder of the user's home that is this project's."""
    trusted: bool
    sources: frozenset[str] = frozenset({"user", "project", "local"})
    given: tuple[str, ...] = ()
    """`--mcp-config`: files, or JSON."""
    strict: bool = False
    """Only what was given."""

    def file_of(self, scope: McpScope) -> Path:
        """The file of a scope that has one."""
        return {"user": self.home / USER_FILE, "local": self.kept / USER_FILE, "project": self.root / PROJECT_FILE}[
            scope
        ]

    def read_scopes(self) -> tuple[McpScope, ...]:
        """The scopes whose files count here. The user's file for a project lies in the user's home."""
        if self.strict:
            return ()
        wanted: tuple[tuple[McpScope, bool], ...] = (("local", True), ("project", self.trusted), ("user", True))
        return tuple(scope for scope, may in wanted if may and scope in self.sources)


def may_have_servers(places: ServerPlaces) -> bool:
    """Whether it is worth looking: a few names on disk."""
    return bool(places.given) or any(os.path.lexists(places.file_of(scope)) for scope in places.read_scopes())


def find_servers(places: ServerPlaces, more: Collection[ServerDefinition] = ()) -> FoundServers:
    """All servers, the nearest of each name, with digests where they are approved by."""
    problems: list[str] = []
    notes: list[str] = []
    found: list[ServerDefinition] = [*more]
    for text in places.given:
        found += _given(text, problems.append)
    off: set[str] = set()
    for scope in places.read_scopes():
        path = places.file_of(scope)
        document = read_document(path, within=places.root if scope == "project" else None, problem=problems.append)
        if document is None:
            continue
        found += read_servers(document, scope=scope, source=str(path), problem=problems.append)
        if scope != "project":
            off |= _names(document.get(DISABLED))
    chosen = _nearest(found, notes)
    return FoundServers(
        servers=tuple(
            replace(
                server,
                digest=digest_of(server, places.root) if server.needs_approval else "",
                disabled=server.disabled or server.name in off,
            )
            for server in chosen
        ),
        problems=tuple(problems),
        notes=tuple(notes),
    )


def read_document(path: Path, *, within: Path | None = None, problem: Callable[[str], None]) -> dict[str, Any] | None:
    """The object in a file; None where there is none. `within`: a link may not lead out of there."""
    try:
        if within is not None and not os.path.realpath(path).startswith(os.path.realpath(within).rstrip("/") + "/"):
            problem(f"{path}: it leads out of the project, so it is not read")
            return None
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                problem(f"{path}: it is not a file")
                return None
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        problem(f"{path}: {error.strerror}")
        return None
    if len(data) > MAX_BYTES:
        problem(f"{path}: it is larger than {MAX_BYTES // 1_000_000} MB, so it is not read")
        return None
    return parsed(data, str(path), problem)


def parsed(data: bytes | str, source: str, problem: Callable[[str], None]) -> dict[str, Any] | None:
    """The object that a text is."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        problem(f"{source}: it is not JSON ({str(error)[:200]}); none of its servers is there")
        return None
    if not isinstance(document, dict):
        problem(f"{source}: it is not a JSON object; none of its servers is there")
        return None
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        problem(f"{source}: it holds half a character (a lone surrogate); none of its servers is there")
        return None
    return cast(dict[str, Any], document)


def change_servers(path: Path, change: Callable[[dict[str, Any]], None], *, private: bool) -> None:
    """Read the file, let its servers be changed, write it whole. A file that is no JSON is refused. Raises ValueError
    or OSError."""
    wrong: list[str] = []
    document = read_document(path, problem=wrong.append)
    if wrong:
        raise ValueError(wrong[0])
    whole = document or {}
    servers = whole.setdefault(SERVERS, {})
    if not isinstance(servers, dict):
        raise ValueError(f"{path}: {SERVERS} is not an object of servers")
    change(cast(dict[str, Any], servers))
    write_document(path, whole, private=private)


def set_disabled(path: Path, name: str, *, disabled: bool) -> None:
    """Switch a server off or on in the user's file for a project. Raises ValueError or OSError."""
    wrong: list[str] = []
    whole = read_document(path, problem=wrong.append) or {}
    if wrong:
        raise ValueError(wrong[0])
    names = _names(whole.get(DISABLED))
    names = names | {name} if disabled else names - {name}
    if names:
        whole[DISABLED] = sorted(names)
    else:
        whole.pop(DISABLED, None)
    write_document(path, whole, private=True)


def write_document(path: Path, document: dict[str, Any], *, private: bool) -> None:
    """Whole or not at all."""
    data = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    replace_private(path, data, mode=0o600 if private else 0o644)


def _given(text: str, problem: Callable[[str], None]) -> tuple[ServerDefinition, ...]:
    if text.lstrip().startswith("{"):
        source, document = "--mcp-config", parsed(text, "--mcp-config", problem)
    else:
        source, document = text, read_document(Path(text), problem=problem)
        if document is None and not os.path.lexists(text):
            problem(f"--mcp-config {text}: there is no such file")
    if document is None:
        return ()
    return read_servers(document, scope="given", source=source, problem=problem)


def _names(value: Any) -> set[str]:
    return {name for name in cast(list[Any], value) if isinstance(name, str)} if isinstance(value, list) else set()


def _nearest(found: list[ServerDefinition], notes: list[str]) -> list[ServerDefinition]:
    chosen: dict[str, ServerDefinition] = {}
    for server in sorted(found, key=lambda one: NEAREST.index(one.scope)):
        near = chosen.setdefault(server.name, server)
        if near is not server:
            where = f"{PLACES[near.scope]} counts, not the one in {PLACES[server.scope]}"
            notes.append(f"there are two MCP servers named {server.name}: the one in {where}")
    return list(chosen.values())
