"""Lookups that need no session: the capability they are about answers them for a place.

A capability has its answers in `parts/<capability>/at_place.py`, which the part of a session uses too; it is loaded by
the first question about it.
"""

from collections.abc import Coroutine, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from clew.config.skill_places import agent_folders
from clew.host.workspace import Workspace
from clew.protocol.lookups.agents import ListAgentKinds, ShowAgentKind
from clew.protocol.lookups.auth import ForgetProvider, OfferModels, ShowAuth, TryModel, UseProvider
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.lookups.catalog import (
    ChooseAgents,
    ListCatalog,
    ListRecent,
    MeasureSessions,
    MoveSession,
    NameSession,
    RecapSession,
    WriteRecap,
)
from clew.protocol.lookups.hooks import ApproveHooks, ListHooks
from clew.protocol.lookups.mcp import (
    ApproveMcp,
    AwaitMcpLogin,
    BeginMcpLogin,
    DefineMcp,
    ForgetMcpLogin,
    ListMcp,
    OfferMcpAddress,
)
from clew.protocol.lookups.place import ListSessions, PreviewSession, RunChecks, SearchSessions
from clew.protocol.lookups.rewind import FindMoment, ListMoments, PreviewRestore, RestoreFiles
from clew.protocol.lookups.rules_and_models import AllowRule, ForgetTrust, ListModels, ListRules, RemoveRule
from clew.protocol.lookups.settings import ChangeSetting, ListSettings, NameSettingsFile
from clew.protocol.lookups.teams import DeleteTeam, ListTeams, ShowTeamFiles

if TYPE_CHECKING:
    from clew.agents.definitions.kinds import Kinds

A = TypeVar("A", bound=Answer)

CAPABILITIES: Mapping[type[Lookup[Any]], str] = {
    ListRules: "permissions",
    AllowRule: "permissions",
    RemoveRule: "permissions",
    ForgetTrust: "permissions",
    ListAgentKinds: "agents",
    ShowAgentKind: "agents",
    ListTeams: "teams",
    ShowTeamFiles: "teams",
    DeleteTeam: "teams",
    ListHooks: "hooks",
    ApproveHooks: "hooks",
    RunChecks: "doctor",
    ListMcp: "mcp",
    ApproveMcp: "mcp",
    DefineMcp: "mcp",
    BeginMcpLogin: "mcp",
    OfferMcpAddress: "mcp",
    AwaitMcpLogin: "mcp",
    ForgetMcpLogin: "mcp",
    ListSessions: "sessions",
    SearchSessions: "sessions",
    PreviewSession: "sessions",
    ChooseAgents: "catalog",
    NameSession: "catalog",
    ListCatalog: "catalog",
    MoveSession: "catalog",
    MeasureSessions: "catalog",
    ListRecent: "catalog",
    RecapSession: "orientation",
    WriteRecap: "orientation",
    ListMoments: "undo",
    FindMoment: "undo",
    PreviewRestore: "undo",
    RestoreFiles: "undo",
    ListModels: "models",
    ShowAuth: "models",
    UseProvider: "models",
    ForgetProvider: "models",
    TryModel: "models",
    OfferModels: "models",
    ListSettings: "preferences",
    NameSettingsFile: "preferences",
    ChangeSetting: "preferences",
}
"""The folder in `parts/` that answers each lookup. What is not here needs a session."""


OF_AGENTS = frozenset({"hooks", "mcp"})
"""Capabilities of which definitions of agents bring some too."""


class AtPlaceWithAgents(Protocol):
    """A module of one of those."""

    def answer(self, lookup: Lookup[Any], workspace: Workspace, kinds: "Kinds") -> Coroutine[Any, Any, Answer]:
        """Answer one of its lookups."""
        ...


class AtPlace(Protocol):
    """A module `parts/<capability>/at_place.py`."""

    def answer(self, lookup: Lookup[Any], workspace: Workspace) -> Coroutine[Any, Any, Answer]:
        """Answer one of its lookups."""
        ...


async def answer_at(workspace: Workspace, lookup: Lookup[A]) -> A:
    """The answer to a lookup at a place. Raises LookupRefused, SettingsError for settings that cannot be relied on, or
    OSError for a file that cannot be changed."""
    capability = CAPABILITIES.get(type(lookup))
    if capability is None:
        raise LookupRefused(f"{type(lookup).__name__} is answered by a session only")
    if capability in OF_AGENTS and (kinds := kinds_at(workspace)) is not None:
        brought = cast(AtPlaceWithAgents, import_module(f"clew.parts.{capability}.at_place"))
        return cast(A, await brought.answer(lookup, workspace, kinds))
    module = cast(AtPlace, import_module(f"clew.parts.{capability}.at_place"))
    return cast(A, await module.answer(lookup, workspace))


def kinds_at(workspace: Workspace) -> "Kinds | None":
    """The kinds of agents of a place; None, with nothing loaded, where nobody defines any."""
    place = workspace
    if not agent_folders(place.env, home=place.home, root=place.root, cwd=place.cwd, sources=place.sources):
        return None
    from clew.agents.definitions.kinds import Kinds  # where there is a definition

    return Kinds(workspace)
