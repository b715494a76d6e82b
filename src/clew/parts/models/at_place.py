"""The models that can be named at a place, as rows: of connected providers, and of servers on this machine."""

from collections.abc import Mapping

from clew.config.schema import Provider
from clew.host.workspace import Workspace
from clew.llm.models.connect import all_rows, default_models, listed_models
from clew.llm.models.listing import ListedModel, aliases_of
from clew.llm.models.profiles import profile_of
from clew.llm.probe.local_servers import local_servers
from clew.llm.probe.report_card import report_cards
from clew.protocol.lookups.rules_and_models import ListModels, ModelRow, ModelsListed
from clew.system.home import clew_home


async def model_rows(env: Mapping[str, str], providers: Mapping[str, Provider]) -> tuple[ModelRow, ...]:
    """Servers on this machine are asked, for a moment; a server that does not answer has no rows."""
    servers = await local_servers(env, providers)
    table = all_rows(providers)
    answering = {server.provider for server in servers}
    known = [model for model in listed_models(env, providers) if not model.local or model.provider in answering]
    named = {model.name for model in known}
    offered = [
        ListedModel(
            provider=server.provider,
            label=table[server.provider].label or server.provider,
            model=name,
            profile=profile_of(name, local=True),
            local=True,
        )
        for server in servers
        for name in server.models
        if f"{server.provider}/{name}" not in named
    ]
    aliases: dict[str, list[str]] = {}
    for alias, model in aliases_of(known, defaults=default_models(providers)):
        aliases.setdefault(model.name, []).append(alias)
    cards = {card.model: card.brief for card in report_cards(clew_home(env))}
    return tuple(_row(model, tuple(aliases.get(model.name, ())), cards) for model in (*known, *offered))


def _row(model: ListedModel, aliases: tuple[str, ...], cards: Mapping[str, str]) -> ModelRow:
    price = model.profile.price
    return ModelRow(
        name=model.name,
        provider=model.label,
        aliases=aliases,
        window=model.profile.window,
        input_usd=price.input if price is not None else None,
        output_usd=price.output if price is not None else None,
        local=model.local,
        probed=cards.get(model.name, ""),
    )


async def answer(lookup: ListModels, workspace: Workspace) -> ModelsListed:
    """Those of providers that have a key in the place's environment, and those that servers on this machine offer."""
    rows = await model_rows(workspace.env, workspace.settings.providers)
    return ModelsListed(models=tuple(row.name for row in rows), rows=rows)
