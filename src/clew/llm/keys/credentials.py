"""Keys that are not simply there: printed by a command, kept until they end or are refused; or a signature for each
request."""

import time
from collections.abc import Callable

from clew.llm.errors import MissingCredential
from clew.llm.keys.aws_signing import AwsKeys, signed_headers
from clew.llm.keys.key_command import Issued, issue
from clew.llm.models.target import Secret, Target, key_headers
from clew.llm.wires.base import HttpRequest

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
