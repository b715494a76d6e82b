"""The models that can be named at a place, of providers and of servers on this machine, and the ways to them."""

from collections.abc import Mapping
from typing import Any

from clew.config.schema import Provider
from clew.host.workspace import Workspace
from clew.llm.errors import LLMError, UnknownModel
from clew.llm.models.connect import all_rows, default_models, listed_models, target_of
from clew.llm.models.listing import ListedModel, aliases_of
from clew.llm.models.profiles import profile_of
from clew.llm.probe.local_servers import local_servers
from clew.llm.probe.report_card import report_cards
from clew.llm.probe.trying import offered_models, try_model
from clew.parts.models.auth_status import auth_status
from clew.parts.models.provider_ways import forget, take, tried
from clew.protocol.lookups.auth import (
    AuthChanged,
    AuthShown,
    ForgetProvider,
    ModelsOffered,
    ModelTried,
    OfferModels,
    ProviderWay,
    ShowAuth,
    TryModel,
    UseProvider,
)
from clew.protocol.lookups.base import Answer, Lookup, LookupMisused, LookupRefused
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


async def answer(lookup: Lookup[Any], workspace: Workspace) -> Answer:
    """Models and the ways to them. Raises LookupRefused for a way that does not work, LookupMisused for a model that
    nobody has, SettingsError, and OSError for a file that cannot be written."""
    try:
        match lookup:
            case ListModels():
                return await models_listed(workspace)
            case ShowAuth():
                return AuthShown(status=auth_status(workspace))
            case UseProvider():
                return AuthChanged(told=tuple(take(lookup.way, workspace.home)))
            case ForgetProvider():
                return AuthChanged(told=tuple(forget(lookup.provider, workspace.home)))
            case OfferModels():
                return ModelsOffered(models=await offered(lookup.way, workspace))
            case TryModel():
                return ModelTried(told=await model_tried(lookup, workspace))
            case _:
                raise LookupMisused(f"nothing is known of {type(lookup).__name__} here")
    except UnknownModel as error:
        raise LookupMisused(str(error)) from error
    except LLMError as error:
        raise LookupRefused(str(error)) from error


async def models_listed(workspace: Workspace) -> ModelsListed:
    """Those of providers that have a key in the place's environment, and those that servers on this machine offer."""
    rows = await model_rows(workspace.env, workspace.settings.providers)
    return ModelsListed(models=tuple(row.name for row in rows), rows=rows)


async def offered(way: ProviderWay, workspace: Workspace) -> tuple[str, ...]:
    """What the server lists; nothing, when it has no list or is a cloud's."""
    providers, env = tried(way, workspace.settings, workspace.env)
    target = target_of(f"{way.provider}/x", providers=providers, env=env)
    if target.dialect not in ("openai-chat", "openai-responses") or target.endpoint.whole:
        return ()
    return await offered_models(target)


async def model_tried(lookup: TryModel, workspace: Workspace) -> str:
    """Ask once and tell what it cost. Raises LLMError; nothing was written then."""
    name, providers, env = lookup.model, workspace.settings.providers, workspace.env
    if lookup.way is not None:
        way = lookup.way
        providers, env = tried(way, workspace.settings, workspace.env)
        model = way.model or all_rows(providers)[way.provider].default_model
        if not model:
            raise LookupMisused("a check needs a model: add --model NAME")
        name = f"{way.provider}/{model}"
    target = target_of(name, providers=providers, env=env)
    usage = await try_model(target)
    cost = f"; {usage.prompt_tokens + usage.output_tokens} tokens" if usage is not None else ""
    return f"{target.name} answered: {target.key_words if target.key or target.key_command else 'no key'} works{cost}"
