"""Layered settings, decoded strictly."""

from clew.config.errors import SettingsError
from clew.config.load import LoadedSettings, SettingOrigin, load_settings, settings_path
from clew.config.schema import Settings

__all__ = ["LoadedSettings", "SettingOrigin", "Settings", "SettingsError", "load_settings", "settings_path"]
