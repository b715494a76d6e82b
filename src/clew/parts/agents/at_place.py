"""The kinds of agents of a place: which there are, what one is, and what is wrong with others."""

import os
from typing import Any

from msgspec.structs import replace

from clew.agents.definitions.brought import hooks_now, servers_now
from clew.agents.definitions.definition import AgentDefinition
from clew.agents.definitions.kinds import Kinds
from clew.agents.definitions.reading import FOLDER_NAME
from clew.hooks.approvals import HookApprovals
from clew.host.workspace import Workspace, with_saved_keys
from clew.mcp.approvals import McpApprovals
from clew.mcp.definitions import shape_of
from clew.protocol.lookups.agents import (
    AgentKindRow,
    AgentKindShown,
    AgentKindsListed,
    ListAgentKinds,
    ShowAgentKind,
)
from clew.protocol.lookups.base import Answer, Lookup, NothingFits


async def answer(lookup: Lookup[Any], workspace: Workspace) -> Answer:
    """The kinds that a session would have here. Raises NothingFits."""
    assert isinstance(lookup, ListAgentKinds | ShowAgentKind)
    keyed = with_saved_keys(workspace.env, workspace.home, lenient=True)  # whether a model can be had is told
    kinds = Kinds(replace(workspace, env=keyed))
    return (
        kinds_listed(kinds, workspace)
        if isinstance(lookup, ListAgentKinds)
        else kind_shown(kinds, lookup.name, workspace)
    )


def kinds_listed(kinds: Kinds, workspace: Workspace) -> AgentKindsListed:
    """All of them, and what keeps others from being among them."""
    rows = tuple(kind_row(one.definition, workspace, one.hidden) for one in kinds.known())
    return AgentKindsListed(kinds=rows, problems=kinds.problems(), unread=unread_folders(workspace))


def kind_shown(kinds: Kinds, name: str, workspace: Workspace) -> AgentKindShown:
    """One of them. Raises NothingFits."""
    try:
        found = kinds.definition(name)
    except ValueError as error:
        raise NothingFits(str(error)) from error
    return AgentKindShown(kind=kind_row(found, workspace), prompt=found.prompt, initial_prompt=found.initial_prompt)


def kind_row(one: AgentDefinition, workspace: Workspace, hidden: str = "") -> AgentKindRow:
    """As front ends list it, with how the programs stand that it brings."""
    hooks, servers, notes = brought_words(one, workspace)
    return AgentKindRow(
        name=one.name,
        description=one.description,
        level=one.origin.level,
        source=one.origin.source,
        tools=one.tools,
        without=one.without,
        model=one.model,
        effort=one.effort,
        permission_mode=one.mode or "",
        background=one.background,
        isolation=one.isolation,
        max_turns=one.max_turns,
        color=one.color,
        servers=one.needs_servers,
        hooks=hooks,
        own_servers=servers,
        memory=one.memory,
        skills=one.skills,
        notes=(*one.notes, *notes),
        hidden=hidden,
    )


def brought_words(
    one: AgentDefinition, workspace: Workspace
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The hooks and the servers that a definition brings, each with how it stands, and what keeps it from starting."""
    root, notes = str(workspace.root), list[str]()
    hooks: list[str] = []
    approved = HookApprovals(workspace.home)
    for hook in hooks_now(one.brought.hooks, root, trusted=workspace.trusted):
        may = approved.is_approved(hook, root)
        hooks.append(f"{hook.moment} {hook.matcher or '*'}: {hook.command} ({'runs' if may else 'not approved'})")
        notes += [] if may else ["it does not start before its hooks are approved: clew hooks approve"]
    if len(hooks) < len(one.brought.hooks):
        notes.append("it does not start: one of its hooks runs a file of this directory, which is not trusted")
    servers = [f"{name} (of the session)" for name in one.brought.named]
    let = McpApprovals(workspace.home)
    for server in servers_now(one.brought.servers, root):
        may = let.is_approved(server, root)
        servers.append(f"{server.name}: {' '.join(shape_of(server).split())} ({'runs' if may else 'not approved'})")
        notes += [] if may else ["it does not start before its MCP servers are approved: clew mcp approve"]
    return tuple(hooks), tuple(servers), tuple(dict.fromkeys(notes))


def unread_folders(workspace: Workspace) -> tuple[str, ...]:
    """What the project has and nobody reads before it is trusted; only whether they are there is looked at."""
    if workspace.trusted or "project" not in workspace.sources:
        return ()
    homes = [base / name for base in dict.fromkeys((workspace.cwd, workspace.root)) for name in (".clew", ".claude")]
    own = os.path.realpath(workspace.home)
    folders = [str(home / FOLDER_NAME) for home in homes if os.path.realpath(home) != own]
    return tuple(folder for folder in folders if os.path.isdir(folder))
