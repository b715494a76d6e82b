"""Choosing the way to a model: what is written for it, and what is taken back of the way that was in use before."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from clew.config.edit import remove_value, write_value
from clew.config.load import load_settings, settings_path
from clew.config.schema import Provider, ProviderAuth, Settings
from clew.config.walk import KeyPath, dotted
from clew.llm.keys.saved_keys import KeyedEnvironment, SavedConnection, read_saved, remember_connection, save_key
from clew.llm.models.connect import SAVED
from clew.protocol.lookups.auth import ProviderWay


def tried(
    way: ProviderWay, settings: Settings, env: Mapping[str, str]
) -> tuple[dict[str, Provider], Mapping[str, str]]:
    """Providers and environment as they would be, for a request that tries the way before anything is written."""
    override = settings.providers.get(way.provider, Provider())
    if way.base_url:
        override = replace(override, base_url=way.base_url)
    if way.command:
        override = replace(override, auth=replace(override.auth, command=way.command))
    elif way.key:  # this very key, whatever the variables hold
        override = replace(override, auth=ProviderAuth(), key_env=SAVED.format(way.provider))
    providers = {**settings.providers, way.provider: override}
    return providers, KeyedEnvironment(env, {way.provider: way.key}) if way.key else env


def take(way: ProviderWay, home: Path) -> list[str]:
    """Write what the way needs. With a model it is the way in use from now on, and what an earlier call wrote for
    another is taken back. Tells what changed; raises SettingsError and OSError."""
    before = read_saved(home)
    told: list[str] = []
    entries: dict[KeyPath, object] = {}
    if way.base_url:
        entries["providers", way.provider, "baseUrl"] = way.base_url
    if way.command:
        entries["providers", way.provider, "auth", "command"] = list(way.command)
    if way.model:
        entries[("model",)] = f"{way.provider}/{way.model}"
    for path, value in entries.items():
        write_value(_file(home), path, value)
    if way.key:
        if _remove(home, ("providers", way.provider, "auth")):
            told.append(f"removed the command of {way.provider}: the saved key is used now")
        save_key(home, way.provider, way.key)
        told.append(f"saved the key of {way.provider}")
    elif way.command and save_key(home, way.provider, None):
        told.append(f"removed the saved key of {way.provider}: its command is asked now")
    if way.model:
        told.append(f"the model is {way.provider}/{way.model}")
        told += _taken_back(before.connection, way.provider, frozenset(entries), home)
        remember_connection(home, SavedConnection(provider=way.provider, entries=tuple(entries)))
    return told


def forget(provider: str, home: Path) -> list[str]:
    """Take back whatever was saved and written for a provider. Tells what changed; nothing, when there was nothing."""
    saved = read_saved(home)
    told: list[str] = []
    if save_key(home, provider, None):
        told.append(f"removed the saved key of {provider}")
    if saved.connection is not None and saved.connection.provider == provider:
        told += _entries_removed(saved.connection, frozenset(), home)
        remember_connection(home, None)
    return told + (_models_removed(provider, home) if told else [])


def _taken_back(old: SavedConnection | None, provider: str, entries: frozenset[KeyPath], home: Path) -> list[str]:
    """What the way in use before leaves behind: its key, and its entries that are not written anew."""
    if old is None:
        return []
    told = _entries_removed(old, entries, home)
    if old.provider != provider:
        if save_key(home, old.provider, None):
            told.append(f"removed the saved key of {old.provider}")
        told += _models_removed(old.provider, home)
    return told


def _entries_removed(old: SavedConnection, kept: frozenset[KeyPath], home: Path) -> list[str]:
    gone = [path for path in old.entries if path not in kept and _remove(home, path)]
    return [f"removed {dotted(path)} from the settings" for path in gone]


def _models_removed(provider: str, home: Path) -> list[str]:
    """Other settings that still name a model of a provider which was given up."""
    settings = load_settings(home=home, project_root=None, trusted=False, env={}).settings
    named = (("fastModel", settings.fast_model), ("fallbackModel", settings.fallback_model))
    stale = [key for key, model in named if model.startswith(f"{provider}/")]
    return [f"removed {key} from the settings: it named {provider}" for key in stale if _remove(home, (key,))]


def _remove(home: Path, path: KeyPath) -> bool:
    return os.path.exists(_file(home)) and remove_value(_file(home), path)


def _file(home: Path) -> Path:
    return settings_path("user", home=home, project_root=None)
