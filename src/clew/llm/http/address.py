"""Where a request goes: the address in a URL, and the proxy the environment names for it."""

import base64
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

LOOPBACK = ("127.", "localhost", "[::1]", "::1")


class BadAddress(ValueError):
    """Not a URL that requests can go to; the words say why."""


class Address(Struct, frozen=True, kw_only=True):
    """The origin of a URL."""

    host: str
    port: int
    secure: bool

    @property
    def netloc(self) -> str:
        """Host and port as the Host header writes them; a default port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


class Proxy(Struct, frozen=True, kw_only=True):
    """An HTTP proxy. `repr` must not tell its password."""

    host: str
    port: int
    authorization: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.host}:{self.port})"


def split_url(url: str) -> tuple[Address, str]:
    """The origin, and the path with its query."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadAddress(str(error)) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadAddress("it must start with http:// or https:// and name a host")
    if parts.username or parts.password:
        raise BadAddress("it must not hold a user or a password")
    secure = parts.scheme == "https"
    path = parts.path or "/"
    target = f"{path}?{parts.query}" if parts.query else path
    if not target.isascii() or any(letter <= " " or letter == "\x7f" for letter in target):
        raise BadAddress("its path holds characters that must be escaped")
    host = parts.hostname.encode("idna").decode() if not parts.hostname.isascii() else parts.hostname
    return Address(host=host, port=port or (443 if secure else 80), secure=secure), target


def proxy_for(address: Address, env: Mapping[str, str]) -> Proxy | None:
    """The proxy of the usual variables, None when the host is exempt. Raises BadAddress for one we cannot use."""
    if address.host.startswith(LOOPBACK) or exempt(address.host, _value(env, "NO_PROXY")):
        return None
    url = _value(env, "HTTPS_PROXY" if address.secure else "HTTP_PROXY") or _value(env, "ALL_PROXY")
    if not url:
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname:
        raise BadAddress(f"proxies of the kind {parts.scheme}:// are not supported; use an http:// proxy")
    authorization = ""
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return Proxy(host=parts.hostname, port=parts.port or 8080, authorization=authorization)


def is_loopback(url: str) -> bool:
    """Whether the URL names this machine."""
    return url.partition("://")[2].partition("/")[0].startswith(LOOPBACK)


def exempt(host: str, rule: str) -> bool:
    """Whether NO_PROXY names the host: `*`, a name, or a domain with everything below it."""
    for item in rule.split(","):
        name = item.strip().lower().lstrip(".").partition(":")[0]
        if name == "*" or (name and (host.lower() == name or host.lower().endswith(f".{name}"))):
            return True
    return False


def _value(env: Mapping[str, str], name: str) -> str:
    return (env.get(name.lower()) or env.get(name) or "").strip()
