"""Which network addresses a fetch may reach: public ones, judged after resolution."""

import ipaddress

EMBEDDING = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
    (ipaddress.IPv6Network("::/96"), 0),
)
"""IPv6 ranges that carry an IPv4 address, and how many bits follow it."""
NEVER = tuple(
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "64:ff9b:1::/48", "2001::/32", "fec0::/10", "192.88.99.0/24", "100::/64")
)


def is_public(text: str) -> bool:
    """False for loopback, link-local, private, shared, metadata, multicast and reserved ones, however disguised."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(str(address.ipv4_mapped))
        for network, shift in EMBEDDING:
            if address in network:
                return is_public(str(ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF)))
    if any(address.version == network.version and address in network for network in NEVER):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
