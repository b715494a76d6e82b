"""AWS Signature Version 4: headers that prove a request comes from the owner of a key, for one region and service."""

import hashlib
import hmac
import time
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

from clew.llm.http.address import split_url
from clew.llm.models.target import Secret

ALGORITHM = "AWS4-HMAC-SHA256"
UNRESERVED = "-_.~"


class AwsKeys(Struct, frozen=True, kw_only=True):
    """Who signs."""

    access_key_id: str
    secret_key: Secret
    session_token: Secret = Secret("")


def signed_headers(
    *,
    method: str,
    url: str,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    keys: AwsKeys,
    region: str,
    service: str,
    now_s: float,
) -> list[tuple[str, str]]:
    """The headers to add. `headers` are those of the request that are signed too; the host always is."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_s))
    added = [("x-amz-date", moment)]
    if keys.session_token:
        added.append(("x-amz-security-token", keys.session_token.reveal()))
    address, _ = split_url(url)
    signed = canonical_headers([("host", address.netloc), *headers, *added])
    names = ";".join(name for name, _ in signed)
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    hashed = hashlib.sha256(canonical_request(method, url, signed, body).encode()).hexdigest()
    to_sign = "\n".join((ALGORITHM, moment, scope, hashed))
    signature = hmac.new(signing_key(keys.secret_key, scope), to_sign.encode(), hashlib.sha256).hexdigest()
    proof = f"{ALGORITHM} Credential={keys.access_key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return [*added, ("authorization", proof)]


def canonical_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names in lower case and in order, blanks of values folded, values of one name joined."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name.lower().strip(), []).append(" ".join(value.split()))
    return [(name, ",".join(found[name])) for name in sorted(found)]


def canonical_request(method: str, url: str, headers: list[tuple[str, str]], body: bytes) -> str:
    """What is signed, as both sides write it."""
    parts = urlsplit(url)
    lines = [method.upper(), canonical_path(parts.path), canonical_query(parts.query)]
    lines += [f"{name}:{value}" for name, value in headers]
    return "\n".join((*lines, "", ";".join(name for name, _ in headers), hashlib.sha256(body).hexdigest()))


def canonical_path(path: str) -> str:
    """Dot segments resolved, and every segment escaped once more than it travels: S3 alone does not."""
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            kept = kept[:-1]
        elif part not in ("", "."):
            kept.append(part)
    tail = "/" if kept and path.endswith("/") else ""
    return quote("/" + "/".join(kept) + tail, safe="/" + UNRESERVED)


def canonical_query(query: str) -> str:
    """Pairs in order, escaped."""
    pairs = [
        (quote(k, safe=UNRESERVED), quote(v, safe=UNRESERVED)) for k, v in parse_qsl(query, keep_blank_values=True)
    ]
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def signing_key(secret: Secret, scope: str) -> bytes:
    """The key of one day, region and service, derived from the secret."""
    key = f"AWS4{secret.reveal()}".encode()
    for word in scope.split("/"):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return key
