"""Where a request goes: one model of one provider at one address, with its key."""

from typing import Any, Literal

from msgspec import Struct

from clew.llm.models.profiles import Profile
from clew.llm.models.providers import Auth, Dialect, Framing, Patience, Quirks

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


class Endpoint(Struct, frozen=True, kw_only=True):
    """How a platform serves a dialect that is not its own. The defaults are the vendor's way."""

    whole: str = ""
    """Path of a request for a whole reply, with its query; empty: the dialect's own."""
    stream: str = ""
    """The same for a stream."""
    opening: tuple[tuple[str, str], ...] = ()
    """Fields the body begins with instead of the model, which then stands in the path."""
    says_stream: bool = True
    """The body of a streamed request says so."""
    framing: Framing = "sse"


class KeyCommand(Struct, frozen=True, kw_only=True):
    """A program of the user's that prints a key."""

    argv: tuple[str, ...]
    timeout_s: float
    lifetime_s: float | None = None
    """How long what it prints is good; None: as it says itself, else until it is refused."""


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
    """The variable the key came from, or the one to set; empty: it came from none."""
    key_parts: tuple[Secret, ...] = ()
    """What goes with the key where one word is not enough: AWS's secret key, and its session token if there is one."""
    key_command: KeyCommand | None = None
    """Asked for the key instead; then `key` is empty."""
    region: str = ""
    """The region requests are signed for."""
    endpoint: Endpoint = Endpoint()
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
        return key_headers(self.key, self.auth)

    @property
    def key_words(self) -> str:
        """Which key that is, for messages."""
        if self.key_command is not None:
            return "the key its command printed"
        if not self.key:
            return "the request without a key"
        return f"the key in {self.key_variable}" if self.key_variable else "the saved key"

    @property
    def key_advice(self) -> str:
        """What to do when it is refused."""
        if self.key_command is not None:
            return f"check providers.{self.provider}.auth.command"
        if self.key_variable:
            return f"set a valid {self.key_variable} and start clew again"
        return f"save another with `clew auth set {self.provider}`" if self.key else "set its key and start clew again"

    def opening(self) -> dict[str, Any]:
        """What the body of a request begins with."""
        return dict(self.endpoint.opening) or {"model": self.model}

    def address(self, path: str, *, stream: bool) -> str:
        """Where a request goes; `path` is the dialect's own."""
        return self.url((self.endpoint.stream if stream else self.endpoint.whole) or path)

    def url(self, path: str) -> str:
        """An address below the base URL. A version segment in both is written once."""
        base = self.base_url.rstrip("/")
        first, _, rest = path.lstrip("/").partition("/")
        if rest and base.endswith(f"/{first}"):
            return f"{base}/{rest}"
        return f"{base}/{path.lstrip('/')}"


def key_headers(key: Secret, auth: Auth) -> list[tuple[str, str]]:
    """The header that carries a key."""
    if not key:
        return []
    value = key.reveal()
    return [("authorization", f"Bearer {value}")] if auth == "bearer" else [(auth, value)]
