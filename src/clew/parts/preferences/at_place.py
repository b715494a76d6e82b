"""The settings of a place: the values in force, and changes of one. The files stay what people write by hand."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from clew.config.edit import remove_value, typed_value, write_value
from clew.config.effective import rows, value_at
from clew.config.errors import SettingsKeyError
from clew.config.load import LoadedSettings, SettingOrigin, load_settings, settings_path
from clew.config.narrow import ASIDE, may_stand_in_project, narrow
from clew.config.walk import KeyPath, dotted, split_key, suggestion, type_at
from clew.host.workspace import Workspace
from clew.parts.preferences.known_values import check_value
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.settings import (
    ChangeSetting,
    ListSettings,
    NameSettingsFile,
    SettingChanged,
    SettingRow,
    SettingsFileNamed,
    SettingsListed,
    SettingSource,
)

HIDDEN = "[hidden]"


async def answer(lookup: ListSettings | NameSettingsFile | ChangeSetting, workspace: Workspace) -> Answer:
    """Read or change settings, in a thread. Raises SettingsError, or OSError for a file that cannot be written."""
    match lookup:
        case ListSettings():
            return await asyncio.to_thread(listed, lookup, workspace)
        case NameSettingsFile():
            return SettingsFileNamed(path=str(file_of(lookup, workspace)))
        case ChangeSetting():
            return await asyncio.to_thread(changed, lookup, workspace)


def file_of(lookup: NameSettingsFile | ChangeSetting, workspace: Workspace) -> Path:
    """The file that is meant."""
    return settings_path(lookup.scope, home=workspace.home, project_root=workspace.root)


def listed(lookup: ListSettings, workspace: Workspace) -> SettingsListed:
    """The values in force; a file that is broken is an error here, whatever the workspace made of it."""
    loaded = load_settings(
        home=workspace.home,
        project_root=workspace.root,
        trusted=lookup.trust or workspace.trusted,
        env=workspace.env,
    )
    return SettingsListed(
        rows=tuple(_rows(loaded)) if not lookup.key else (_one(loaded, lookup.key),),
        unread=loaded.unread,
        warnings=loaded.warnings,
        refused=len(loaded.refused),
    )


def _rows(loaded: LoadedSettings) -> list[SettingRow]:
    found = [(row.key, "headers" in row.path[:-1], row.value, row.sources) for row in rows(loaded)]
    return [
        SettingRow(key=key, value=HIDDEN if hidden else value, sources=_sources(sources), hidden=hidden)
        for key, hidden, value, sources in found
    ]


def _sources(found: tuple[SettingOrigin, ...]) -> tuple[SettingSource, ...]:
    return tuple(SettingSource(layer=source.layer, place=source.place) for source in found)


def _one(loaded: LoadedSettings, key: str) -> SettingRow:
    path = known_key(key)
    return SettingRow(key=key, value=msgspec.to_builtins(value_at(loaded.settings, path)))


def known_key(key: str) -> KeyPath:
    """The way to a key. Raises SettingsKeyError for one that does not exist."""
    path = split_key(key)
    if not path or type_at(path) is None:
        raise SettingsKeyError(f'unknown key "{key}"; {suggestion(path or ("",))}')
    return path


def changed(lookup: ChangeSetting, workspace: Workspace) -> SettingChanged:
    """Write the file. Raises SettingsError for what cannot stand there."""
    path, file = split_key(lookup.key), file_of(lookup, workspace)
    private = lookup.scope == "user"
    if lookup.value is None:
        if not path or not remove_value(file, path, private=private):
            known_key(lookup.key)
            raise SettingsKeyError(f'"{lookup.key}" is not set in {file}')
    else:
        value = typed_value(path, lookup.value)
        if not private:
            _check_narrows(path, value, file, workspace)
        check_value(path, value, workspace)
        write_value(file, path, value, private=private)
    return SettingChanged(key=lookup.key, path=str(file))


def _check_narrows(path: KeyPath, value: Any, file: Path, workspace: Workspace) -> None:
    """A value that would be ignored on reading must not be written (T2)."""
    if path[0] in ASIDE:
        return  # no setting: hooks that ask for themselves
    user = load_settings(home=workspace.home, project_root=None, trusted=False, env={}).settings
    refused = narrow({path[0]: {path[-1]: value}}, lambda key: value_at(user, key), str(file))[1]
    if len(path) != 2 or not may_stand_in_project(path):
        raise SettingsKeyError(
            f'"{dotted(path)}" cannot stand in a project file, which may only narrow; use --scope user'
        )
    if refused:
        raise SettingsKeyError(f'"{dotted(path)}": {refused[0].why}; a project file may only narrow')
