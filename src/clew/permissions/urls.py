"""URLs before they are fetched (W1): one parser, exact hosts, no addresses of this machine or its network."""

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp")
_NUMERIC = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+))*", re.IGNORECASE)


def refuse_url(url: str) -> tuple[str, str]:
    """Why this URL must not be fetched (or an empty string), and its host. The address is checked again at connect."""
    if any(char <= " " or char == "\x7f" or char == "\\" for char in url):
        return "the URL holds blanks or control characters", ""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return "the URL cannot be read", ""
    if refused := _refuse_parts(parts):
        return refused, host
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return "the host name cannot be read", ""
    if ":" in host or _NUMERIC.fullmatch(host):
        return _refuse_address(host), f"[{host}]" if ":" in host else host
    if not _HOST.fullmatch(host) or len(host) > 253:
        return "the host name cannot be read", host
    if host == "localhost" or host.endswith(_LOCAL_ENDINGS) or "." not in host:
        return "the host is this machine or its own network", host
    return "", host


def _refuse_parts(parts: SplitResult) -> str:
    if parts.scheme not in ("http", "https"):
        return "only http and https are fetched"
    if parts.username is not None or parts.password is not None:
        return "the URL carries a name or password"
    try:
        _ = parts.port
    except ValueError:
        return "the port cannot be read"
    return "" if parts.hostname else "the URL names no host"


def _refuse_address(host: str) -> str:
    try:
        address = ip_address(host)
    except ValueError:
        return "the host is an address in an unusual spelling"
    mapped = getattr(address, "ipv4_mapped", None) or address
    return "" if mapped.is_global and not mapped.is_multicast else "the address is this machine or its own network"
