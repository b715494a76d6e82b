"""The hooks of a place, for who asks without a session."""

from typing import TYPE_CHECKING

from clew.host.workspace import Workspace
from clew.parts.hooks.registry import HookRegistry, hooks_listed
from clew.protocol.lookups.hooks import ApproveHooks, HooksListed, ListHooks

if TYPE_CHECKING:
    from clew.agents.definitions.kinds import Kinds


async def answer(lookup: ListHooks | ApproveHooks, workspace: Workspace, kinds: "Kinds | None" = None) -> HooksListed:
    """The hooks that a session would have here, before or after a decision. `kinds`: definitions of agents, which may
    bring some. Raises LookupRefused or OSError."""
    return hooks_listed(lookup, HookRegistry(workspace, (lambda: kinds) if kinds is not None else None))
