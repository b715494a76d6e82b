"""Keys that `clew auth` keeps: one private file, and an environment that finds them and never lists them."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, field

from clew.config.edit import locked
from clew.config.errors import SettingsFileError
from clew.llm.models.connect import SAVED
from clew.system.home import saved_keys_path
from clew.system.private_files import replace_private
from clew.text.redact import register_secrets

MAX_BYTES = 256 * 1024
VERSION = 1


class SavedConnection(Struct, frozen=True, kw_only=True):
    """The way to a model that `clew auth` made, so that it can be taken back when another is chosen."""

    provider: str
    entries: tuple[tuple[str, ...], ...] = ()
    """Keys of the user's settings that were written for it."""


class SavedKeys(Struct, frozen=True, kw_only=True):
    """What the file holds. `repr` tells no key."""

    version: int = VERSION
    keys: dict[str, str] = field(default_factory=dict[str, str])
    """By provider."""
    connection: SavedConnection | None = None

    def __repr__(self) -> str:
        return f"SavedKeys({', '.join(self.keys)})"


class KeyedEnvironment(Mapping[str, str]):
    """An environment in which saved keys are found by the name `connect` looks for, and by no other way: whoever copies
    it, prints it or hands it to a program gets the variables alone."""

    def __init__(self, env: Mapping[str, str], keys: Mapping[str, str]) -> None:
        self._env = env
        self._keys = {SAVED.format(provider): key for provider, key in keys.items()}

    def __getitem__(self, name: str) -> str:
        return self._keys[name] if name in self._keys else self._env[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._env)

    def __len__(self) -> int:
        return len(self._env)

    def __repr__(self) -> str:
        return f"KeyedEnvironment({len(self._env)} variables, {len(self._keys)} keys)"


def read_saved(home: Path) -> SavedKeys:
    """What was saved; nothing, when there is no file. Raises SettingsFileError for a file that cannot be relied on."""
    path = saved_keys_path(home)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return SavedKeys()
    except OSError as error:
        what = f"cannot be read ({error.strerror}); remove it and save the keys again"
        raise SettingsFileError(str(path), what) from error
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.getuid():
            raise SettingsFileError(str(path), "is not a file of yours; remove it and save the keys again")
        if info.st_mode & 0o077:
            raise SettingsFileError(str(path), f"others can read the keys in it; run: chmod 600 {path}")
        data = os.read(descriptor, MAX_BYTES)
    finally:
        os.close(descriptor)
    try:
        saved = msgspec.json.decode(data, type=SavedKeys)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # its own words could quote a key
        raise SettingsFileError(str(path), "is damaged; remove it and save the keys again") from None
    if saved.version != VERSION:
        raise SettingsFileError(str(path), f"was written by another clew (version {saved.version})")
    register_secrets(saved.keys.values())
    return saved


def write_saved(home: Path, saved: SavedKeys) -> None:
    """Replace the file, for this user only; nothing to keep, no file."""
    path = saved_keys_path(home)
    if saved == SavedKeys():
        path.unlink(missing_ok=True)
        return
    register_secrets(saved.keys.values())
    replace_private(path, msgspec.json.format(msgspec.json.encode(saved)) + b"\n")


def save_key(home: Path, provider: str, key: str | None) -> bool:
    """Save a key, or forget it with None. False: it was so already."""
    with locked(saved_keys_path(home), private=True):
        saved = read_saved(home)
        keys = {name: value for name, value in saved.keys.items() if name != provider}
        if key is not None:
            keys[provider] = key
        if keys == saved.keys:
            return False
        write_saved(home, msgspec.structs.replace(saved, keys=keys))
        return True


def remember_connection(home: Path, connection: SavedConnection | None) -> None:
    """Which way is in use now, as far as we made it."""
    with locked(saved_keys_path(home), private=True):
        write_saved(home, msgspec.structs.replace(read_saved(home), connection=connection))


def keyed(env: Mapping[str, str], home: Path) -> Mapping[str, str]:
    """The environment with what was saved. The keys are known to `redact` from here on."""
    saved = read_saved(home)
    return KeyedEnvironment(env, saved.keys) if saved.keys else env
