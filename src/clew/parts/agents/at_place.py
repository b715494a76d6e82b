"""The kinds of agents of a place: which there are, what one is, and what is wrong with others."""

import os
from typing import Any

from msgspec.structs import replace

from clew.agents.definitions.definition import AgentDefinition
from clew.agents.definitions.kinds import Kinds
from clew.agents.definitions.reading import FOLDER_NAME
from clew.host.workspace import Workspace, with_saved_keys
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
    return kinds_listed(kinds, workspace) if isinstance(lookup, ListAgentKinds) else kind_shown(kinds, lookup.name)


def kinds_listed(kinds: Kinds, workspace: Workspace) -> AgentKindsListed:
    """All of them, and what keeps others from being among them."""
    rows = tuple(kind_row(one.definition, one.hidden) for one in kinds.known())
    return AgentKindsListed(kinds=rows, problems=kinds.problems(), unread=unread_folders(workspace))


def kind_shown(kinds: Kinds, name: str) -> AgentKindShown:
    """One of them. Raises NothingFits."""
    try:
        found = kinds.definition(name)
    except ValueError as error:
        raise NothingFits(str(error)) from error
    return AgentKindShown(kind=kind_row(found), prompt=found.prompt, initial_prompt=found.initial_prompt)


def kind_row(one: AgentDefinition, hidden: str = "") -> AgentKindRow:
    """As front ends list it."""
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
        skills=one.skills,
        notes=one.notes,
        hidden=hidden,
    )


def unread_folders(workspace: Workspace) -> tuple[str, ...]:
    """What the project has and nobody reads before it is trusted; only whether they are there is looked at."""
    if workspace.trusted or "project" not in workspace.sources:
        return ()
    homes = [base / name for base in dict.fromkeys((workspace.cwd, workspace.root)) for name in (".clew", ".claude")]
    own = os.path.realpath(workspace.home)
    folders = [str(home / FOLDER_NAME) for home in homes if os.path.realpath(home) != own]
    return tuple(folder for folder in folders if os.path.isdir(folder))
