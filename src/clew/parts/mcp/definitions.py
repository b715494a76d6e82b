"""Writing down MCP servers: one more in a file of the user, the project or this place, and out of it again."""

from typing import Any

from clew.mcp.definitions import BadDefinition, document_of, read_server, shape_of
from clew.mcp.files import ServerPlaces, change_servers, parsed, read_document
from clew.protocol.event_kinds.programs import McpScope
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.mcp import DefineMcp, McpDefined

SCOPES: tuple[McpScope, ...] = ("local", "project", "user")


def defined(lookup: DefineMcp, places: ServerPlaces) -> McpDefined:
    """Add a server, or take one out. Raises LookupRefused, or OSError for a file that cannot be written."""
    if lookup.text:
        wrong: list[str] = []
        definition = parsed(lookup.text, "the JSON", wrong.append)
        if definition is None:
            raise LookupRefused(wrong[0].partition(";")[0])
        return _added(lookup, definition, places)
    return _removed(lookup, places) if lookup.definition is None else _added(lookup, lookup.definition, places)


def _added(lookup: DefineMcp, definition: dict[str, Any], places: ServerPlaces) -> McpDefined:
    notes: list[str] = []
    name, scope = lookup.server, lookup.scope or "local"
    path = places.file_of(scope)
    try:
        server = read_server(name, definition, scope=scope, source=str(path), problem=notes.append)
    except BadDefinition as error:
        raise LookupRefused(str(error)) from error
    if scope == "project" and not places.trusted:
        raise LookupRefused(f"{places.root} is not trusted; start clew there once, or use -s local")

    def change(servers: dict[str, Any]) -> None:
        if name in servers:
            raise LookupRefused(f"there is already a server {name} in {path}; remove it first")
        servers[name] = document_of(server)

    try:
        change_servers(path, change, private=scope != "project")
    except ValueError as error:
        raise LookupRefused(str(error)) from error
    return McpDefined(
        server=name,
        scope=scope,
        path=str(path),
        kind=server.kind,
        shape=shape_of(server),
        needs_approval=server.needs_approval,
        notes=tuple(notes),
    )


def _removed(lookup: DefineMcp, places: ServerPlaces) -> McpDefined:
    scopes: tuple[McpScope, ...] = (lookup.scope,) if lookup.scope else SCOPES
    found: list[McpScope] = [scope for scope in scopes if _holds(places, scope, lookup.server)]
    if not found:
        where = f" in {lookup.scope}" if lookup.scope else ""
        raise LookupRefused(f"there is no MCP server {lookup.server}{where}")
    if len(found) > 1:
        raise LookupRefused(f"{lookup.server} is in several places: say which with -s {' or -s '.join(found)}")
    path = places.file_of(found[0])
    change_servers(path, lambda servers: servers.pop(lookup.server, None), private=found[0] != "project")
    return McpDefined(server=lookup.server, scope=found[0], path=str(path), removed=True)


def _holds(places: ServerPlaces, scope: McpScope, name: str) -> bool:
    document = read_document(places.file_of(scope), problem=lambda line: None)
    servers = document.get("mcpServers") if document is not None else None
    return isinstance(servers, dict) and name in servers
