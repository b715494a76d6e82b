"""What a place is asked about its settings: the values in force, where they come from, and a change of one."""

from typing import Any, ClassVar, Literal

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.lookups.base import Answer, Lookup

SettingScope = Literal["user", "project", "local"]


class SettingSource(Struct, frozen=True, kw_only=True):
    """What set a value."""

    layer: str
    place: str = ""
    """The file, the variable, or the flag."""


class SettingRow(Struct, frozen=True, kw_only=True):
    """One key and its value in force."""

    key: str
    value: Any
    sources: tuple[SettingSource, ...] = ()
    hidden: bool = False
    """The value is more often than not a credential; it is not told here."""


class SettingsListed(Answer, frozen=True, kw_only=True, tag="settings.listed"):
    """Values in force."""

    rows: tuple[SettingRow, ...]
    unread: tuple[str, ...] = ()
    """Files of a project that was not trusted."""
    warnings: tuple[str, ...] = ()
    refused: int = 0
    """How many values of project files have no effect, because they would not narrow; told among the warnings."""


class ListSettings(Lookup[SettingsListed], frozen=True, kw_only=True, tag="settings.list"):
    """Ask for the settings in force at a place, with where each comes from."""

    key: str = ""
    """One key, or a section as a whole; empty: every key."""
    trust: bool = False
    """Read the project's files this once, also where it is not trusted."""


class SettingsFileNamed(Answer, frozen=True, kw_only=True, tag="settings.file_named"):
    """A settings file, whether it exists or not."""

    path: str


class NameSettingsFile(Lookup[SettingsFileNamed], frozen=True, kw_only=True, tag="settings.name_file"):
    """Ask for the settings file of a scope."""

    scope: SettingScope = "user"


class SettingChanged(Answer, frozen=True, kw_only=True, tag="setting.changed"):
    """A settings file was written."""

    key: str
    path: str


class ChangeSetting(Lookup[SettingChanged], frozen=True, kw_only=True, tag="setting.change"):
    """Set one value in a settings file, or take it out. Refused for a key or a value that no session could use."""

    needs: ClassVar[Rights] = Rights.DRIVE

    key: str
    value: str | None
    """A word, a number, or JSON; None: take the key out."""
    scope: SettingScope = "user"
