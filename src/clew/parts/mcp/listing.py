"""MCP servers as they are listed, where their definitions may be, and words about those that do not run."""

from clew.host.workspace import Workspace
from clew.mcp.files import ServerPlaces
from clew.mcp.servers import McpServers
from clew.protocol.event_kinds.programs import McpServerRow
from clew.protocol.lookups.mcp import McpServersListed
from clew.transcript.log.store import SessionStore

CHANGED = "a server has changed since it was listed, so nothing was approved; look at it again"


def servers_listed(servers: McpServers, *, only: str = "") -> McpServersListed:
    """How they stand now. `only`: the name of one; empty: all."""
    rows = servers.rows()
    return McpServersListed(
        servers=tuple(row for row in rows if not only or row.name == only),
        problems=servers.problems,
        notes=servers.found.notes,
        approved=servers.approved,
    )


def places_at(workspace: Workspace, *, given: tuple[str, ...] = (), strict: bool = False) -> ServerPlaces:
    """Where the definitions of servers may be. `given`: `--mcp-config`. `strict`: only what was given."""
    return ServerPlaces(
        home=workspace.home,
        root=workspace.root,
        kept=SessionStore(workspace.home).project_dir(workspace.root),
        trusted=workspace.trusted,
        sources=frozenset(workspace.sources),
        given=given,
        strict=strict,
    )


def left_out(rows: tuple[McpServerRow, ...]) -> str:
    """The servers that do not run because nobody approved them, and how to."""
    listed = "; ".join(f"{row.name}: {row.shape} ({row.source})" for row in rows)
    count = "1 MCP server is" if len(rows) == 1 else f"{len(rows)} MCP servers are"
    return f"{count} not approved and not run: {listed}. To look at them and approve them: clew mcp approve"
