"""One strict parser for everything that looks at a URL (W1)."""

from typing import NamedTuple
from urllib.parse import quote, urlsplit

from clew.text.lazy_pattern import LazyPattern

MAX_URL_CHARS = 4_000
HOST = LazyPattern(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
KEPT = "/%:@!$&'()*+,;=~?-._"
PORTS = {"http": 80, "https": 443}


class FetchRefused(Exception):
    """The URL may not or cannot be fetched; the message says why."""


class CheckedUrl(NamedTuple):
    """A checked URL."""

    url: str
    """ASCII, without a fragment."""
    scheme: str
    host: str
    """Lower case, ASCII; an address without brackets."""
    authority: str
    """Host and port as the Host header says them."""
    port: int
    path: str
    """With the query."""


def parse_url(url: str) -> CheckedUrl:
    """One strict parser for everything that looks at a URL."""
    if len(url) > MAX_URL_CHARS or any(ord(char) <= 32 or ord(char) == 127 or char == "\\" for char in url):
        raise FetchRefused("the URL is too long or holds blanks, control characters or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise FetchRefused(f"not a valid URL: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise FetchRefused(f"only http and https are fetched, not {scheme or 'a bare name'}")
    if "@" in parts.netloc:
        raise FetchRefused("a URL with a user name or password is not fetched")
    host = (parts.hostname or "").lower()
    if ":" not in host:
        try:
            host = host.encode("idna").decode("ascii") if not host.isascii() else host
        except UnicodeError:
            raise FetchRefused("the host name is not valid") from None
        if len(host) > 253 or not HOST.fullmatch(host):
            raise FetchRefused("the host name is not valid")
    host = host.rstrip(".")
    authority = f"[{host}]" if ":" in host else host
    if port is not None and port != PORTS[scheme]:
        authority += f":{port}"
    query = "?" + quote(parts.query, safe=KEPT) if parts.query else ""
    path = f"{quote(parts.path, safe=KEPT) or '/'}{query}"
    return CheckedUrl(f"{scheme}://{authority}{path}", scheme, host, authority, port or PORTS[scheme], path)
