"""The MCP servers of a place: which there are and how they are, and a person's word on those of a project."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from clew.host.workspace import Workspace
from clew.llm.models.connect import key_variables
from clew.mcp.files import ServerPlaces
from clew.mcp.offers import count_offers
from clew.mcp.ports import Surroundings
from clew.mcp.servers import McpServers
from clew.mcp.transport.sdk import saved_sign_in
from clew.parts.mcp.definitions import defined
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.mcp import ApproveMcp, DefineMcp, ListMcp, McpDefined, McpServersListed
from clew.system.environment import tool_environment
from clew.system.sandbox.plan import SandboxPlan
from clew.system.sandbox.policy import Sandbox
from clew.tools.sandbox_setup import open_sandbox
from clew.transcript.log.store import SessionStore

CHANGED = "a server has changed since it was listed, so nothing was approved; look at it again"
SETTLED_WITHIN_S = 30.0
"""How long a list waits for servers, and then for what they offer."""


async def answer(lookup: ListMcp | ApproveMcp | DefineMcp, workspace: Workspace) -> McpServersListed | McpDefined:
    """The servers that a session would have here. A list connects to those that may run, and ends them; a decision or
    a definition starts nothing. Raises LookupRefused or OSError."""
    if isinstance(lookup, DefineMcp):
        return defined(lookup, places_at(workspace))
    sandbox = sandbox_at(workspace)
    try:
        return await _answer(lookup, McpServers(places_at(workspace), surroundings_at(workspace, sandbox)))
    finally:
        if sandbox is not None:
            sandbox.close()


async def _answer(lookup: ListMcp | ApproveMcp, servers: McpServers) -> McpServersListed:
    if isinstance(lookup, ApproveMcp):
        try:
            await servers.keep(lookup.digests, approved=lookup.approved)
        except KeyError as error:
            raise LookupRefused(CHANGED) from error
        return servers_listed(McpServers(servers.places, servers.around))
    if not lookup.connect:
        return servers_listed(servers, only=lookup.server)
    if lookup.server:
        servers.servers = {name: server for name, server in servers.servers.items() if name == lookup.server}
    try:
        servers.begin()
        await servers.settled(SETTLED_WITHIN_S)
        asked = asyncio.gather(*(count_offers(server) for server in servers.servers.values()))
        with suppress(TimeoutError):
            await asyncio.wait_for(asked, SETTLED_WITHIN_S)
        return servers_listed(servers)
    finally:
        await servers.close()


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


def sandbox_at(workspace: Workspace) -> Sandbox | None:
    """What holds the programs that are started for a list; made like a session's."""
    settings, env = workspace.settings, workspace.env
    return open_sandbox(
        mode=settings.sandbox.mode,
        network=settings.sandbox.network,
        writable=settings.sandbox.writable_paths,
        max_memory_mb=settings.sandbox.max_memory_mb,
        max_processes=settings.sandbox.max_processes,
        home=env.get("HOME", ""),
        search_path=env.get("PATH", ""),
        clew_home=workspace.home,
    )


def surroundings_at(workspace: Workspace, sandbox: Sandbox | None) -> Surroundings:
    """What a server gets of the place. Nobody is asked anything."""
    settings = workspace.settings

    def plan(needs: Sequence[str]) -> SandboxPlan | None:
        if sandbox is None or not sandbox.enforced:
            return None
        return sandbox.plan((str(workspace.root),), background=True, needs=needs)

    return Surroundings(
        root=workspace.root,
        env=workspace.env,
        child_env=tool_environment(
            workspace.env, key_variables=key_variables(settings.providers), keep=settings.tool_environment.keep
        ),
        roots=lambda: (str(workspace.root),),
        sign_in=saved_sign_in(workspace.home),
        plan=plan,
    )
