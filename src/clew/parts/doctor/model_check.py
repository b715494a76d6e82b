"""The check of the model that a session here would talk to: its address and key, tried by one request that is free."""

import asyncio
from collections.abc import Mapping

from clew.config.errors import SettingsError
from clew.config.load import LoadedSettings
from clew.llm.errors import LLMError
from clew.llm.models.connect import default_model, target_of
from clew.llm.models.target import Target
from clew.llm.probe.trying import listing_of, models_path
from clew.protocol.lookups.place import CheckRow

TRY_S = 8.0
"""How long all of it may take."""
NAME = "model"


def check_model(loaded: LoadedSettings, env: Mapping[str, str], name: str = "") -> CheckRow:
    """`name`: the model that a session talks to; empty: the one that a new session would."""
    settings = loaded.settings
    name = name or settings.model or default_model(env, settings.providers) or ""
    if not name:
        advice = ("run clew auth to connect one; nothing was tried",)
        return CheckRow(name=NAME, state="warning", summary="none is connected", details=advice, data={"tried": None})
    try:
        target = target_of(name, providers=settings.providers, env=env)
    except (LLMError, SettingsError) as error:
        data = {"model": name, "tried": None}
        return CheckRow(name=NAME, state="problem", summary=f"{name}: {error}", data=data)
    return _tried(target)


def _tried(target: Target) -> CheckRow:
    path = models_path(target)
    key = target.key_words if target.key or target.key_command else "no key"
    data = {"model": target.name, "address": target.base_url, "key": key, "tried": path or None}
    if not path:
        words = "nothing was tried, this platform has no free request; `clew auth check` asks the model itself"
        return CheckRow(name=NAME, state="info", summary=f"{target.name}, {key}", details=(words,), data=data)
    asked = f"tried just now: GET {target.url(path)}"
    try:
        names = asyncio.run(_listed(target))
    except TimeoutError:
        return _problem(target, f"no answer within {TRY_S:g} s", asked, data)
    except LLMError as error:
        return _problem(target, str(error), asked, data)
    if names is None:
        words = f"{asked}: the server answers and has no such list, so the key was not tried (`clew auth check` does)"
        return CheckRow(name=NAME, state="info", summary=f"{target.name}, {key}", details=(words,), data=data)
    return CheckRow(
        name=NAME,
        state="ok",
        summary=f"{target.name}, {key}: the server answered",
        details=(f"{asked}: {len(names)} models; the model itself was not asked (`clew auth check` does)",),
        data=data | {"listed": len(names)},
    )


def _problem(target: Target, words: str, asked: str, data: dict[str, str | None]) -> CheckRow:
    return CheckRow(name=NAME, state="problem", summary=f"{target.name}: {words}", details=(asked,), data=data)


async def _listed(target: Target) -> tuple[str, ...] | None:
    async with asyncio.timeout(TRY_S):
        return await listing_of(target)
