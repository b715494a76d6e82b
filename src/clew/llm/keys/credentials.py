"""Keys that are not simply there: printed by a command, kept until they end or are refused; or a signature for each
request.

AWS Signature Version 4: headers that prove a request comes from the owner of a key, for one region and service.

Keys that a program of the user's prints: run without a shell, bounded in time and size, never shown.
"""

import asyncio
import hashlib
import hmac
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, cast
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec
from msgspec import Struct

from clew.llm.errors import MissingCredential
from clew.llm.http.connection import split_url
from clew.llm.models.target import KeyCommand, Secret, Target, key_headers
from clew.llm.wires.base import HttpRequest
from clew.system.environment import in_project_here, own_path, own_program
from clew.text.redact import redact, register_secrets

MAX_OUTPUT_BYTES = 64 * 1024
MAX_KEY_CHARS = 16 * 1024
MARGIN_S = 60.0
"""A key is replaced so long before its end, so that no request travels with one that ends on the way."""
KEY_FIELDS = ("key", "token", "access_token", "accessToken", "api_key", "apiKey")
END_FIELDS = ("expires_on", "expires_at", "expiresAt", "expiry", "expiration", "Expiration", "expiresOn")
MILLISECONDS_FROM = 1e11
"""A moment as large as this was written in milliseconds."""


class Issued(Struct, frozen=True, kw_only=True):
    """A key, and how long it is good."""

    key: Secret
    parts: tuple[Secret, ...] = ()
    """AWS's secret key and session token, where the command printed those."""
    until_s: float = float("inf")
    """Wall time."""

    def is_good(self, now_s: float) -> bool:
        return now_s < self.until_s


async def issue(command: KeyCommand, who: str, *, now_s: float) -> Issued:
    """Run the command and take the key it prints. Raises MissingCredential, which never says what was printed."""
    text = await printed(command, who)
    issued = read_key(text, who, now_s=now_s)
    if command.lifetime_s is not None:
        issued = msgspec.structs.replace(issued, until_s=_with_margin(now_s + command.lifetime_s, now_s))
    register_secrets([issued.key.reveal(), *(part.reveal() for part in issued.parts)])
    return issued


async def printed(command: KeyCommand, who: str) -> str:
    """What the command says, from a directory that no project can fill."""
    program = own_program(command.argv[0], os.environ) or os.path.expanduser(command.argv[0])
    if in_project_here(program):
        raise _failed(who, program, "is not run: it lies in the project, where commands can change it")
    env = {**os.environ, "PATH": own_path(os.environ)}
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *command.argv[1:],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=_quiet_place(),
            env=env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name or arguments cannot be passed on"
        raise _failed(who, program, f"cannot be run: {reason}") from None
    try:
        async with asyncio.timeout(command.timeout_s):
            out, err = await asyncio.gather(_bounded(process.stdout), _bounded(process.stderr))
            code = await process.wait()
    except TimeoutError:
        raise _failed(who, program, f"did not end within {command.timeout_s:g} s") from None
    finally:
        await _end(process)
    if out is None:
        raise _failed(who, program, f"printed more than {MAX_OUTPUT_BYTES:,} bytes")
    if code != 0:
        said = redact((err or b"").decode(errors="replace")).strip().splitlines()
        words = f": {' '.join(said[-1].split())[:200]}" if said else ""
        raise _failed(who, program, f"failed with exit code {code}{words}")
    return out.decode(errors="replace").strip()


def read_key(text: str, who: str, *, now_s: float) -> Issued:
    """A bare key, or JSON that also says how long it is good."""
    if not text.startswith("{"):
        return Issued(key=_checked(text, who))
    try:
        data = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        raise _no_key(who) from None
    until_s = _with_margin(_end_of(data, now_s), now_s)
    if "AccessKeyId" in data:
        parts = [_checked(data.get("SecretAccessKey"), who)]
        parts += [_checked(data["SessionToken"], who)] if data.get("SessionToken") else []
        return Issued(key=_checked(data["AccessKeyId"], who), parts=tuple(parts), until_s=until_s)
    key = next((data[name] for name in KEY_FIELDS if data.get(name)), None)
    return Issued(key=_checked(key, who), until_s=until_s)


def _end_of(data: Mapping[str, Any], now_s: float) -> float:
    """The moment the key ends, however it is written; never, when it is not."""
    for name in END_FIELDS:
        value = data.get(name)
        if isinstance(value, str) and value.replace(".", "", 1).isdigit():
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            continue
        if isinstance(value, str):
            with suppress(ValueError, OverflowError):
                return datetime.fromisoformat(value).timestamp()
            continue
        return float(value) / (1000 if value > MILLISECONDS_FROM else 1)
    left = data.get("expires_in")
    return now_s + left if isinstance(left, int | float) and not isinstance(left, bool) else float("inf")


def _with_margin(until_s: float, now_s: float) -> float:
    return until_s - min(MARGIN_S, max(0.0, until_s - now_s) / 2)


def _checked(value: Any, who: str) -> Secret:
    fits = isinstance(value, str) and 0 < len(value) <= MAX_KEY_CHARS
    if not fits or not (cast(str, value).isascii() and cast(str, value).isprintable() and " " not in value):
        raise _no_key(who)
    return Secret(value)


def _no_key(who: str) -> MissingCredential:
    return MissingCredential(
        f"the key command of {who} printed something that is no key: it must print the key on one line, or JSON with "
        f'"token" and "expires_at"; check providers.{who}.auth.command'
    )


def _failed(who: str, program: str, what: str) -> MissingCredential:
    name = os.path.basename(program)
    return MissingCredential(f"the key command of {who} ({name}) {what}; check providers.{who}.auth.command")


async def _bounded(stream: asyncio.StreamReader | None) -> bytes | None:
    """All of it; None when it is too much, which is read to its end all the same."""
    data, size = bytearray(), 0
    while stream is not None and (piece := await stream.read(MAX_OUTPUT_BYTES)):
        size += len(piece)
        data += piece[: max(0, MAX_OUTPUT_BYTES - len(data))]
    return bytes(data) if size <= MAX_OUTPUT_BYTES else None


async def _end(process: asyncio.subprocess.Process) -> None:
    """It and whatever it started, if it did not end by itself."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _quiet_place() -> str:
    home = os.path.expanduser("~")
    return home if os.path.isdir(home) else "/"


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


AWS_SERVICE = "bedrock"

_KEPT: dict[tuple[str, ...], Issued] = {}
"""What each command printed last: the main model and the fast one of a provider need not ask twice."""


class CommandCredential:
    """The key that a command prints."""

    def __init__(self, target: Target, now_s: Callable[[], float] = time.time) -> None:
        assert target.key_command is not None
        self._target = target
        self._command = target.key_command
        self._now_s = now_s
        self._used: Issued | None = None

    async def headers(self, request: HttpRequest) -> list[tuple[str, str]]:
        """With the key that is kept, as long as it is good."""
        kept = _KEPT.get(self._command.argv)
        if kept is None or not kept.is_good(self._now_s()):
            kept = await issue(self._command, self._target.provider, now_s=self._now_s())
            _KEPT[self._command.argv] = kept
        self._used = kept
        if kept.parts:
            return _signed(request, self._target, kept.key, kept.parts, self._now_s())
        return key_headers(kept.key, self._target.auth)

    def renew(self) -> bool:
        """Forget the key that was refused; one that somebody else got since is tried first."""
        if self._used is not None and _KEPT.get(self._command.argv) is self._used:
            del _KEPT[self._command.argv]
        return self._used is not None


class SignedCredential:
    """AWS's keys of the environment."""

    def __init__(self, target: Target, now_s: Callable[[], float] = time.time) -> None:
        self._target = target
        self._now_s = now_s

    async def headers(self, request: HttpRequest) -> list[tuple[str, str]]:
        """A signature of this very request."""
        return _signed(request, self._target, self._target.key, self._target.key_parts, self._now_s())

    def renew(self) -> bool:
        """The environment has no other."""
        return False


def credential_of(target: Target) -> CommandCredential | SignedCredential:
    """What authorises the requests of this target."""
    return CommandCredential(target) if target.key_command is not None else SignedCredential(target)


def _signed(
    request: HttpRequest, target: Target, key: Secret, parts: tuple[Secret, ...], now_s: float
) -> list[tuple[str, str]]:
    if not parts:
        raise MissingCredential(f"{target.key_variable} needs its secret: set AWS_SECRET_ACCESS_KEY")
    keys = AwsKeys(
        access_key_id=key.reveal(), secret_key=parts[0], session_token=parts[1] if len(parts) > 1 else Secret("")
    )
    return signed_headers(
        method=request.method,
        url=request.url,
        headers=request.headers,
        body=request.body,
        keys=keys,
        region=target.region,
        service=AWS_SERVICE,
        now_s=now_s,
    )
