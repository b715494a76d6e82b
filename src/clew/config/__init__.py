"""Layered settings, decoded strictly."""

from clew.config.errors import SettingsError
from clew.config.load import LoadedSettings, SettingSource, load_settings, settings_path
from clew.config.schema import Settings

__all__ = ["LoadedSettings", "SettingSource", "Settings", "SettingsError", "load_settings", "settings_path"]
