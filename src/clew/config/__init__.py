"""Layered settings, decoded strictly."""

from clew.config.errors import SettingsError
from clew.config.load import Loaded, Source, load_settings, settings_path
from clew.config.schema import Settings

__all__ = ["Loaded", "Settings", "SettingsError", "Source", "load_settings", "settings_path"]
