"""Settings in force as a flat list of keys, each with its value and where it came from."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from clew.config.load import LoadedSettings, SettingOrigin
from clew.config.schema import Settings
from clew.config.walk import KeyPath, as_object, dotted, fields_of, map_value

DEFAULT = SettingOrigin(layer="default")


class EffectiveRow(Struct, frozen=True, kw_only=True):
    """One key."""

    path: KeyPath
    value: Any
    sources: tuple[SettingOrigin, ...]

    @property
    def key(self) -> str:
        return dotted(self.path)


def rows(loaded: LoadedSettings) -> Iterator[EffectiveRow]:
    """Every key that holds a value; maps are opened as far as they have entries."""
    for path, value in _leaves(msgspec.to_builtins(loaded.settings), Settings, ()):
        yield EffectiveRow(path=path, value=value, sources=loaded.sources.get(dotted(path), (DEFAULT,)))


def value_at(settings: Settings, path: KeyPath) -> Any:
    """The value of a key or a whole section, as JSON would have it; None also when a map has no such entry."""
    value: Any = msgspec.to_builtins(settings)
    for name in path:
        value = (as_object(value) or {}).get(name)
    return value


def _leaves(value: Any, kind: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    fields, values, found = fields_of(kind), map_value(kind), as_object(value)
    if found and (fields is not None or values is not None):
        for name, inner in found.items():
            yield from _leaves(inner, fields[name] if fields is not None else values, (*path, name))
    else:
        yield path, value
