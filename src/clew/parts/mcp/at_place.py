"""The MCP servers of a place: which there are and how they are, and a person's word on those of a project."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from clew.host.workspace import Workspace
from clew.llm.models.connect import key_variables
from clew.mcp.approvals import McpApprovals
from clew.mcp.definitions import ServerDefinition
from clew.mcp.expansion import MissingVariables, expanded
from clew.mcp.files import find_servers
from clew.mcp.login.logins import LoginStore
from clew.mcp.offers import count_offers
from clew.mcp.ports import Surroundings
from clew.mcp.servers import McpServers
from clew.mcp.transport.sdk import saved_sign_in
from clew.parts.mcp import login
from clew.parts.mcp.definitions import defined
from clew.parts.mcp.listing import CHANGED, places_at, servers_listed
from clew.protocol.lookups.base import Answer, Lookup, LookupMisused, LookupRefused
from clew.protocol.lookups.mcp import (
    ApproveMcp,
    AwaitMcpLogin,
    BeginMcpLogin,
    DefineMcp,
    ForgetMcpLogin,
    ListMcp,
    McpLoginForgotten,
    McpServersListed,
    OfferMcpAddress,
)
from clew.system.environment import tool_environment
from clew.system.sandbox.plan import SandboxPlan
from clew.system.sandbox.policy import Sandbox
from clew.tools.session import open_sandbox

if TYPE_CHECKING:
    from clew.agents.definitions.kinds import Kinds

SETTLED_WITHIN_S = 30.0
"""How long a list waits for servers, and then for what they offer."""


async def answer(lookup: Lookup[Any], workspace: Workspace, kinds: "Kinds | None" = None) -> Answer:
    """The servers that a session would have here, and the logins to them. A list connects to those that may run, and
    ends them; a decision or a definition starts nothing. `kinds`: definitions of agents, which may bring some. Raises
    LookupRefused or OSError."""
    match lookup:
        case DefineMcp():
            return defined(lookup, places_at(workspace))
        case ForgetMcpLogin():
            server = to_sign_in_to(lookup.server, workspace)
            there_was = await asyncio.to_thread(LoginStore(workspace.home).forget, server)
            return McpLoginForgotten(server=server.name, there_was=there_was)
        case BeginMcpLogin() | OfferMcpAddress() | AwaitMcpLogin():
            server = to_sign_in_to(lookup.server, workspace)
            return await (login.begin(server, workspace) if isinstance(lookup, BeginMcpLogin) else login.go_on(lookup))
        case ListMcp() | ApproveMcp():
            return await listed(lookup, workspace, kinds)
        case _:
            raise LookupRefused(f"nothing is known of {type(lookup).__name__} here")


def to_sign_in_to(name: str, workspace: Workspace) -> ServerDefinition:
    """The server of that name here, as it would be connected. Raises LookupMisused."""
    places = places_at(workspace)
    found = next((one for one in find_servers(places).servers if one.name == name), None)
    if found is None:
        raise LookupMisused(f"there is no MCP server {name!r} here; `clew mcp list` shows those there are")
    if found.kind not in ("http", "sse"):
        raise LookupMisused(f"{name} is a program on this machine; nobody signs in to it")
    if not McpApprovals(places.home).is_approved(found, places.root):
        raise LookupMisused(
            f"{name} is a server of the project that you have not approved; start clew there, then /mcp"
        )
    try:
        return expanded(found, workspace.env)
    except MissingVariables as error:
        raise LookupMisused(str(error)) from error


async def listed(lookup: ListMcp | ApproveMcp, workspace: Workspace, kinds: "Kinds | None") -> McpServersListed:
    """How the servers are, after a decision or after they were connected."""
    sandbox = sandbox_at(workspace)
    try:
        return await _listed(lookup, servers_at(workspace, sandbox, kinds))
    finally:
        if sandbox is not None:
            sandbox.close()


def servers_at(workspace: Workspace, sandbox: Sandbox | None, kinds: "Kinds | None") -> McpServers:
    """The servers of a place, those that definitions of agents bring among them."""
    of_agents = kinds.servers if kinds is not None else tuple[ServerDefinition, ...]
    return McpServers(places_at(workspace), surroundings_at(workspace, sandbox), of_agents=of_agents)


async def _listed(lookup: ListMcp | ApproveMcp, servers: McpServers) -> McpServersListed:
    if isinstance(lookup, ApproveMcp):
        try:
            await servers.keep(lookup.digests, approved=lookup.approved)
        except KeyError as error:
            raise LookupRefused(CHANGED) from error
        return servers_listed(McpServers(servers.places, servers.around, of_agents=lambda: servers.brought))
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
