"""Who we are to servers that want to know: tokens and registrations, in one private file that no tool may read."""

import hashlib
import os
import stat
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from clew.config.edit import locked
from clew.mcp.definitions import ServerDefinition
from clew.system.private_files import replace_private
from clew.text.redact import register_secrets

FILE_NAME = "mcp-logins.json"
MAX_BYTES = 2_000_000
MAX_LOGIN_BYTES = 64_000
"""Of one login."""
MAX_LOGINS = 30
Json = dict[str, Any]


class Login(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One login: for this address and this definition, and no other. `repr` tells no token."""

    server: str
    url: str
    tokens: Json = field(default_factory=Json)
    """As the authorization server gave them."""
    expires_at_s: float | None = None
    client: Json = field(default_factory=Json)
    """How we are registered there."""
    metadata: Json = field(default_factory=Json)
    """Where tokens are asked for."""

    def __repr__(self) -> str:
        return f"Login({self.server}, {self.url})"


class _Kept(Struct, kw_only=True):
    version: int = 1
    logins: dict[str, Login] = field(default_factory=dict[str, Login])


class LoginFailed(Exception):
    """Nobody is signed in; the words are for a person."""


class UnkeepableLogin(OSError):
    """What a server gave is too long to be kept beside the logins of others."""


class UnreadableLogins(OSError):
    """The file is there and cannot be used; it is left as it is."""


class LoginStore:
    """The file. Every change reads it again under a lock, so that two sessions do not undo each other's."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE_NAME

    def get(self, server: ServerDefinition) -> Login | None:
        """The login for exactly this server. Raises UnreadableLogins."""
        found = self._read().logins.get(key_of(server))
        if found is not None:
            register_secrets(_secrets(found))
        return found

    def keep(self, server: ServerDefinition, **changed: Any) -> Login:
        """Write down what is new of it. Raises OSError, UnkeepableLogin among them; then nothing was changed."""
        with locked(self.path, private=True):
            kept = self._read()
            key = key_of(server)
            login = replace(kept.logins.get(key) or Login(server=server.name, url=server.url), **changed)
            register_secrets(_secrets(login))
            if len(msgspec.json.encode(login)) > MAX_LOGIN_BYTES:
                raise UnkeepableLogin(f"what {server.name} gave is too long to be kept")
            kept.logins.pop(key, None)
            kept.logins[key] = login
            for oldest in list(kept.logins)[:-MAX_LOGINS]:
                del kept.logins[oldest]
            self._write(kept)
        return login

    def forget(self, server: ServerDefinition) -> bool:
        """Forget the login; whether there was one. Raises OSError."""
        if not self.path.exists():
            return False
        with locked(self.path, private=True):
            kept = self._read()
            found = kept.logins.pop(key_of(server), None)
            if found is not None:
                self._write(kept)
        return found is not None

    def _read(self) -> _Kept:
        try:
            with open(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
                    raise UnreadableLogins(f"{self.path} is not a private file of yours, so it is not used")
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return _Kept()
        try:
            return msgspec.json.decode(data, type=_Kept)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # its own words could quote a token
            raise UnreadableLogins(f"{self.path} is damaged; remove it and sign in again") from None

    def _write(self, kept: _Kept) -> None:
        replace_private(self.path, msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def key_of(server: ServerDefinition) -> str:
    """Tokens belong to an address and to what was written about it; a project's definition, to what was approved."""
    about = [server.url, server.oauth, server.digest if server.needs_approval else ""]
    return hashlib.sha256(msgspec.json.encode(about, order="sorted")).hexdigest()


def expiry_of(tokens: Json) -> float | None:
    """When an access token ends that was given now."""
    lasts_s = tokens.get("expires_in")
    return time.time() + float(lasts_s) if isinstance(lasts_s, int | float) else None


def _secrets(login: Login) -> list[str]:
    given = [login.tokens.get("access_token"), login.tokens.get("refresh_token"), login.client.get("client_secret")]
    return [value for value in given if isinstance(value, str) and len(value) >= 8]
