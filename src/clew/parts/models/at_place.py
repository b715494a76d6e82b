"""The models that can be named at a place."""

from clew.host.workspace import Workspace
from clew.parts.models.rows import model_rows
from clew.protocol.lookups.rules_and_models import ListModels, ModelsListed


async def answer(lookup: ListModels, workspace: Workspace) -> ModelsListed:
    """Those of providers that have a key in the place's environment, and those that servers on this machine offer."""
    rows = await model_rows(workspace.env, workspace.settings.providers)
    return ModelsListed(models=tuple(row.name for row in rows), rows=rows)
