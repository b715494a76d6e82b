"""From a model's name to a model: find the provider, its address and its key."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from clew.config.schema import ModelFacts, Provider
from clew.config.walk import edits
from clew.llm.errors import MissingCredential, UnknownModel
from clew.llm.http.connection import is_loopback
from clew.llm.models.listing import ALIAS_FAMILIES, ListedModel, models_of, newest
from clew.llm.models.profiles import Price, Profile, is_known, known_models, profile_of
from clew.llm.models.providers import ALIASES, CLOUD_LOGINS, SLOW, Auth, Patience, ProviderRow, Quirks, rows
from clew.llm.models.target import KeyCommand, Secret, Target
from clew.llm.remote import RemoteModel
from clew.llm.retry import RetryPolicy
from clew.llm.wires.registry import platform_for

FAMILIES = {
    "claude": "anthropic",
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "gemini": "gemini",
    "deepseek": "deepseek",
    "qwen": "dashscope",
    "kimi": "moonshot",
    "glm": "zai",
    "mistral": "mistral",
    "devstral": "mistral",
    "codestral": "mistral",
    "grok": "xai",
}
"""Whose models begin with this word: how a bare name finds its provider."""

CACHE_VARIABLE = "CLEW_PROMPT_CACHE"
SAVED = "clew auth: {}"
"""Under this name an environment holds the key that `clew auth` saved for a provider (see `llm.saved_keys`)."""

KeyMethod = Literal["variable", "saved", "command", "none", "missing"]
"""Where a provider's key comes from."""


class ProviderStatus(Struct, frozen=True, kw_only=True):
    """Whether a provider can be used, for `doctor` and the welcome screen."""

    name: str
    label: str
    base_url: str
    ready: bool
    """It has its key, or needs none, and everything else it needs."""
    variable: str = ""
    """The variable that holds the key, or the one to set."""
    method: KeyMethod = "missing"
    lacks: tuple[str, ...] = ()
    """What must be set besides the key, in words."""
    local: bool = False
    default_model: str = ""


def connect(
    name: str, *, providers: Mapping[str, Provider], env: Mapping[str, str], retry: RetryPolicy | None = None
) -> RemoteModel:
    """The model of this name. Nothing is sent yet; UnknownModel and MissingCredential say what to change."""
    return RemoteModel(target_of(name, providers=providers, env=env), retry or RetryPolicy())


def target_of(name: str, *, providers: Mapping[str, Provider], env: Mapping[str, str]) -> Target:
    """Where requests for this model go."""
    row, model = resolve(name, providers, env)
    override = providers.get(row.name, Provider())
    found = _key(row, override, env)
    if found.method == "missing":
        others = f" (or {', '.join(other for other, _ in row.keys[1:])})" if len(row.keys) > 1 else ""
        raise MissingCredential(
            f"no key for {row.label or row.name}: set {found.variable}{others}, or save one with `clew auth set "
            f"{row.name}`, or choose another model"
        )
    target = Target(
        provider=row.name,
        model=model,
        dialect=row.dialect,
        base_url="",
        profile=_profile(row, model, override),
        quirks=row.quirks,
        patience=row.patience,
        headers=_headers(row, override),
        auth=found.auth,
        key=found.key,
        key_variable=found.variable if found.method == "variable" else "",
        key_command=_command(override) if found.method == "command" else None,
        cache_ttl=_cache_ttl(override.models.get(model), env),
    )
    return _placed(target, row, override, env)


def _placed(target: Target, row: ProviderRow, override: Provider, env: Mapping[str, str]) -> Target:
    """With its address: the vendor's or the user's, or where the platform has this model."""
    platform = platform_for(row.platform)
    if platform is None:
        base_url = base_url_of(row, override, env)
        served = _as_served(row, base_url, override)
        return msgspec.structs.replace(target, base_url=base_url, dialect=served.dialect, quirks=served.quirks)
    place = platform.placed(row, target.model, override, env)
    return msgspec.structs.replace(
        target,
        base_url=place.base_url,
        dialect=place.dialect,
        endpoint=place.endpoint,
        headers=tuple((dict(place.headers) | dict(target.headers)).items()),
        region=place.region,
        key_parts=place.key_parts if target.auth == "aws-sigv4" else (),
    )


def resolve(
    name: str, providers: Mapping[str, Provider], env: Mapping[str, str] | None = None
) -> tuple[ProviderRow, str]:
    """Provider and model id behind `provider/model`, behind a bare name that some profile knows, or behind the name of
    a family (`sonnet`): its newest model of a provider that `env` has a key for, else of its own."""
    known = all_rows(providers)
    first, slash, rest = name.strip().partition("/")
    provider = first if first in providers else ALIASES.get(first.lower(), first.lower())
    if slash and rest and provider in known:
        return known[provider], rest
    if slash and rest:
        raise UnknownModel(f"no provider {first!r} (in model {name!r}){_suggest(first, [*known, *ALIASES])}")
    if not name.strip() or (slash and not rest):
        raise UnknownModel(f"{name!r} names no model; write provider/model, for example anthropic/claude-opus-5-5")
    for row_name, override in providers.items():
        if name in override.models:
            return known[row_name], name
    if name.strip().lower() in ALIAS_FAMILIES and (found := _newest(name.strip().lower(), providers, env or {})):
        return known[found.provider], found.model
    family = next((owner for word, owner in FAMILIES.items() if name.lower().startswith(word)), "")
    if family and is_known(name):
        return known[family], name
    if provider in known and known[provider].default_model:
        return known[provider], known[provider].default_model
    if provider in known:
        raise UnknownModel(f"{provider} has no default model: write {provider}/MODEL")
    raise UnknownModel(f"unknown model {name!r}{_suggest(name, [*known_models(), *known, *ALIAS_FAMILIES])}")


def listed_models(env: Mapping[str, str], providers: Mapping[str, Provider]) -> tuple[ListedModel, ...]:
    """The models of all providers that have their key or need none, in the order of the providers. No network: what a
    server on this machine offers must be asked there."""
    ready = {status.name for status in configured_providers(env, providers) if status.ready}
    return tuple(
        model for row in all_rows(providers).values() if row.name in ready for model in _models_of(row, providers)
    )


def default_models(providers: Mapping[str, Provider]) -> dict[str, str]:
    """The default of each provider that has one."""
    return {row.name: row.default_model for row in all_rows(providers).values() if row.default_model}


def _models_of(row: ProviderRow, providers: Mapping[str, Provider]) -> tuple[ListedModel, ...]:
    families = [word for word, owner in FAMILIES.items() if owner == row.name]
    return models_of(row, providers.get(row.name, Provider()), families=families)


def _newest(alias: str, providers: Mapping[str, Provider], env: Mapping[str, str]) -> ListedModel | None:
    defaults = default_models(providers)
    connected = [model for model in listed_models(env, providers) if not model.local]
    if (found := newest(alias, connected, defaults=defaults)) is not None:
        return found
    owner = all_rows(providers).get(FAMILIES.get(ALIAS_FAMILIES[alias].partition("-")[0], ""))
    return newest(alias, _models_of(owner, providers), defaults=defaults) if owner is not None else None


def all_rows(providers: Mapping[str, Provider]) -> dict[str, ProviderRow]:
    """The built-in providers and those the settings add."""
    table = dict(rows())
    for name, override in providers.items():
        if name not in table:
            here = is_loopback(override.base_url)
            table[name] = ProviderRow(
                name=name,
                dialect=override.dialect or "openai-chat",
                base_url=override.base_url,
                keys=((override.key_env, "bearer"),) if override.key_env else (),
                quirks=Quirks(think_tags=True, text_calls=here),
                patience=SLOW if here else Patience(),
            )
    return table


def base_url_of(row: ProviderRow, override: Provider, env: Mapping[str, str]) -> str:
    """Environment, then settings, then the row."""
    from_env = next((env[variable] for variable in row.url_env if env.get(variable, "").strip()), "")
    url = (from_env or override.base_url or row.base_url).strip()
    if not url:
        raise UnknownModel(f"provider {row.name!r} has no address: set its baseUrl in the settings")
    return url if "://" in url else f"http://{url}"


def default_model(env: Mapping[str, str], providers: Mapping[str, Provider]) -> str | None:
    """The model to use when none is configured: of the first provider whose key is set."""
    for row in all_rows(providers).values():
        if row.local or not (row.default_model or providers.get(row.name, Provider()).models):
            continue
        status = provider_status(row, providers, env)
        if status is not None and status.ready:
            return f"{status.name}/{status.default_model}"
    return None


def is_local(model: str, providers: Mapping[str, Provider]) -> bool:
    """Whether a model named with its provider runs on this machine."""
    row = all_rows(providers).get(model.partition("/")[0])
    return row is not None and row.local


def fast_model(model: str, providers: Mapping[str, Provider]) -> str | None:
    """The small model of the same provider, for side queries; None when it has none."""
    row, _ = resolve(model, providers)
    return f"{row.name}/{row.fast_model}" if row.fast_model else None


def configured_providers(env: Mapping[str, str], providers: Mapping[str, Provider]) -> list[ProviderStatus]:
    """Every provider and whether it can be used. No network."""
    found = [provider_status(row, providers, env) for row in all_rows(providers).values()]
    return [status for status in found if status is not None]


def provider_status(
    row: ProviderRow, providers: Mapping[str, Provider], env: Mapping[str, str]
) -> ProviderStatus | None:
    """Whether this one can be used; None: the settings began it and gave no address."""
    override = providers.get(row.name, Provider())
    platform = platform_for(row.platform)
    if platform is None and not (override.base_url or row.base_url):
        return None
    key = _key(row, override, env, checked=False)
    lacks = platform.lacks(row, override, env) if platform is not None else ()
    return ProviderStatus(
        name=row.name,
        label=row.label or row.name,
        base_url=base_url_of(row, override, env) if platform is None else "",
        ready=key.method != "missing" and not lacks,
        variable=key.variable,
        method=key.method,
        lacks=lacks,
        local=row.local,
        default_model=next(iter(override.models), "") or row.default_model,
    )


def key_variables(providers: Mapping[str, Provider]) -> frozenset[str]:
    """Every variable that may hold a key of ours: none of them goes to tools, and their values are redacted."""
    named = {variable for row in all_rows(providers).values() for variable, _ in row.keys} - CLOUD_LOGINS
    return frozenset(named | {override.key_env for override in providers.values() if override.key_env})


class _Key(Struct, frozen=True, kw_only=True):
    """A provider's key as far as it is known without asking anybody."""

    method: KeyMethod
    auth: Auth
    variable: str = ""
    """The variable that holds it, or the first that could."""
    key: Secret = Secret("")


def _key(row: ProviderRow, override: Provider, env: Mapping[str, str], *, checked: bool = True) -> _Key:
    """The user's command, then variables (the settings' own before the row's), then what `clew auth` saved."""
    style: Auth = row.keys[0][1] if row.keys else "bearer"
    sources: list[tuple[str, Auth]] = [(override.key_env, style)] if override.key_env else list(row.keys)
    first = sources[0][0] if sources else ""
    if override.auth.command:
        return _Key(method="command", auth=override.auth.send_as or row.command_auth or style, variable=first)
    sources.append((SAVED.format(row.name), style))
    for variable, auth in sources:
        value = env.get(variable, "").strip()
        if value and checked and not (value.isascii() and value.isprintable() and " " not in value):
            raise MissingCredential(f"{variable} holds characters that no key has; set it again")
        if value:
            saved = variable == SAVED.format(row.name)
            return _Key(
                method="saved" if saved else "variable",
                auth=auth,
                variable=first if saved else variable,
                key=Secret(value),
            )
    needed = bool(first) and not row.key_optional
    return _Key(method="missing" if needed else "none", auth=style, variable=first)


def _command(override: Provider) -> KeyCommand:
    auth = override.auth
    return KeyCommand(argv=auth.command, timeout_s=auth.timeout_s, lifetime_s=auth.lifetime_s)


def _as_served(row: ProviderRow, base_url: str, override: Provider) -> ProviderRow:
    """OpenAI's own API speaks Responses; a compatible server at that name's address speaks chat, in common words."""
    if override.dialect is not None:
        return msgspec.structs.replace(row, dialect=override.dialect)
    if row.name == "openai" and not _host(base_url).endswith(".openai.com"):
        return msgspec.structs.replace(row, dialect="openai-chat", quirks=Quirks(think_tags=True, files=True))
    return row


def _cache_ttl(facts: ModelFacts | None, env: Mapping[str, str]) -> str:
    """The variable holds for all models and beats what the settings say of one."""
    wanted = env.get(CACHE_VARIABLE, "")
    if wanted in ("off", "5m", "1h"):
        return wanted
    return (facts.cache if facts is not None else None) or "5m"


def _headers(row: ProviderRow, override: Provider) -> tuple[tuple[str, str], ...]:
    return tuple((dict(row.headers) | {name.lower(): value for name, value in override.headers.items()}).items())


def _profile(row: ProviderRow, model: str, override: Provider) -> Profile:
    profile = profile_of(model, local=row.local)
    facts = override.models.get(model)
    return profile if facts is None else _with_facts(profile, facts)


def _with_facts(profile: Profile, facts: ModelFacts) -> Profile:
    """What the settings say about a model beats the table."""
    changes: dict[str, Any] = {}
    if facts.window is not None:
        changes["window"] = facts.window
    if facts.max_output_tokens is not None:
        changes["max_output"] = facts.max_output_tokens
        changes["default_output"] = min(facts.max_output_tokens, profile.default_output or facts.max_output_tokens)
    if facts.images is not None:
        changes["images"] = facts.images
    if facts.cache in ("5m", "1h"):
        changes["cache"] = True
    if facts.thinking is False:
        changes |= {"thinking": "none", "efforts": ()}
    elif facts.thinking and profile.thinking == "none":
        changes |= {"thinking": "effort", "efforts": ("low", "medium", "high")}
    if facts.input_usd_per_mtok is not None or facts.output_usd_per_mtok is not None:
        paid = facts.input_usd_per_mtok or 0.0
        changes["price"] = Price(
            input=paid,
            output=facts.output_usd_per_mtok or 0.0,
            cache_read=paid if facts.cache_read_usd_per_mtok is None else facts.cache_read_usd_per_mtok,
            cache_write=facts.cache_write_usd_per_mtok or 0.0,
        )
    return msgspec.structs.replace(profile, **changes)


def _host(url: str) -> str:
    return "." + url.partition("://")[2].partition("/")[0].partition(":")[0]


def _suggest(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean a, b?`, or how names are written."""
    ranked = sorted((edits(name.lower(), candidate), candidate) for candidate in candidates)
    near = [candidate for cost, candidate in ranked if cost <= max(2, len(name) // 3)][:3]
    return f"; did you mean {', '.join(near)}?" if near else "; write provider/model, for example openai/gpt-6.1-sol"


def key_words(status: ProviderStatus, override: Provider) -> str:
    """Where a provider's key comes from."""
    match status.method:
        case "variable":
            return f"the key in {status.variable}"
        case "saved":
            return "the key that `clew auth` saved"
        case "command":
            return f"the key that {os.path.basename(override.auth.command[0])} prints"
        case "none":
            return "no key, because it needs none"
        case "missing":
            return f"no key: {status.variable} is not set and none is saved"
