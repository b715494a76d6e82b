"""Where a request goes: one model of one provider at one address, with its key."""

from typing import Literal

from msgspec import Struct

from clew.llm.profile import Profile
from clew.llm.providers import Auth, Dialect, Patience, Quirks

Thinks = Literal["never", "if asked", "always"]
"""Whether a model thinks, as far as is known: `always` also where nobody knows how to keep it from that."""


class Secret:
    """A key. It shows itself only when asked, so that no repr, log or error can hold it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The key itself, for the header of a request to the configured host."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret(…)" if self._value else "Secret()"


class Target(Struct, frozen=True, kw_only=True):
    """Everything a wire and the transport need to know about the other side."""

    provider: str
    model: str
    """The id the provider knows."""
    dialect: Dialect
    base_url: str
    profile: Profile
    quirks: Quirks = Quirks()
    patience: Patience = Patience()
    headers: tuple[tuple[str, str], ...] = ()
    auth: Auth = "bearer"
    key: Secret = Secret("")
    key_variable: str = ""
    """Where the key came from, for messages."""
    cache_ttl: str = "5m"
    """Lifetime of prompt-cache entries: 5m, 1h, or off."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}"

    @property
    def thinks(self) -> Thinks:
        """Whether it can be told not to think, in the words this server takes."""
        if self.profile.thinking == "none":
            return "never"
        if self.dialect == "openai-chat":
            switch = self.quirks.effort_style
            if switch in ("thinking", "enable_thinking"):
                return "if asked"
            return "always" if self.profile.always_thinks or not switch else "if asked"
        return "always" if self.profile.always_thinks or self.profile.thinking == "level" else "if asked"

    def auth_headers(self) -> list[tuple[str, str]]:
        """The credential, for the configured host only."""
        if not self.key:
            return []
        value = self.key.reveal()
        return [("authorization", f"Bearer {value}")] if self.auth == "bearer" else [(self.auth, value)]

    def url(self, path: str) -> str:
        """An address below the base URL. A version segment in both is written once."""
        base = self.base_url.rstrip("/")
        first, _, rest = path.lstrip("/").partition("/")
        if rest and base.endswith(f"/{first}"):
            return f"{base}/{rest}"
        return f"{base}/{path.lstrip('/')}"
