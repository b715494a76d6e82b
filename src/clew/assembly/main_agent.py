"""`--agent`: what a kind of agent asks of the session whose conversation runs as it."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from clew.agents.definitions.kinds import Kinds
from clew.agents.runner import AgentSpec
from clew.config.errors import SettingsError
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace, workspace_of

STRICTEST_FIRST = ("plan", "default", "acceptEdits", "bypassPermissions")


def as_agent(
    request: SessionRequest, workspace: Workspace, kinds: Kinds, cwd: Path | None
) -> tuple[Workspace, AgentSpec]:
    """The place with the settings that the agent asks for, and the spec of the main agent. Options of the user beat
    its model and effort; its permission mode counts only where it is the stricter one. Raises SettingsError."""
    try:
        spec = kinds.find(request.agent)
    except ValueError as error:
        raise SettingsError(f"--agent {request.agent}: {error}") from error
    flags = {key: value for key, value in request.flags.items() if value is not None}
    wanted: dict[str, Any] = {}
    if spec.model:
        wanted["model"] = spec.model
    if spec.effort:
        wanted["effort"] = spec.effort
    wanted |= flags
    if spec.permission_mode is not None:
        modes = (spec.permission_mode, workspace.settings.permission_mode)
        wanted["permissionMode"] = min(modes, key=STRICTEST_FIRST.index)
    changed = workspace_of(replace(request, flags=wanted), cwd)
    return changed, replace(spec, sidechain=False)
