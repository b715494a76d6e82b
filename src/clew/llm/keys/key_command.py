"""Keys that a program of the user's prints: run without a shell, bounded in time and size, never shown."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

import msgspec
from msgspec import Struct

from clew.llm.errors import MissingCredential
from clew.llm.models.target import KeyCommand, Secret
from clew.system.environment import absolute_path
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
    program = os.path.expanduser(command.argv[0])
    env = {**os.environ, "PATH": absolute_path(os.environ.get("PATH", ""))}
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
