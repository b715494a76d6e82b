"""URLs before they are fetched (W1): exact hosts, no addresses of this machine or its network."""

import re
from ipaddress import ip_address

from clew.system.urls import FetchRefused, parse_url

_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp")
_NUMERIC = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+))*", re.IGNORECASE)


def refuse_url(url: str) -> tuple[str, str]:
    """Why this URL must not be fetched (or an empty string), and its host. The address is checked again at connect."""
    try:
        host = parse_url(url).host
    except FetchRefused as refused:
        return str(refused), ""
    if ":" in host or _NUMERIC.fullmatch(host):
        return _refuse_address(host), f"[{host}]" if ":" in host else host
    if host == "localhost" or host.endswith(_LOCAL_ENDINGS) or "." not in host:
        return "the host is this machine or its own network", host
    return "", host


def _refuse_address(host: str) -> str:
    try:
        address = ip_address(host)
    except ValueError:
        return "the host is an address in an unusual spelling"
    mapped = getattr(address, "ipv4_mapped", None) or address
    return "" if mapped.is_global and not mapped.is_multicast else "the address is this machine or its own network"
