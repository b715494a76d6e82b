"""The hooks of a place, for who asks without a session."""

from clew.agents.definitions.kinds import Kinds
from clew.host.workspace import Workspace
from clew.parts.hooks.registry import HookRegistry, hooks_listed
from clew.protocol.lookups.hooks import ApproveHooks, HooksListed, ListHooks


async def answer(lookup: ListHooks | ApproveHooks, workspace: Workspace) -> HooksListed:
    """The hooks that a session would have here, before or after a decision. Raises LookupRefused or OSError."""
    return hooks_listed(lookup, HookRegistry(workspace, lambda: Kinds(workspace)))
