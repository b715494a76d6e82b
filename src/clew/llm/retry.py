"""The one retry layer: which failures may pass, and how long to wait for it."""

import os
from collections.abc import Callable

from msgspec import Struct

from clew.llm.errors import ConnectionFailed, LLMError, Overloaded, ProviderUnavailable
from clew.llm.reply import Retrying

JITTER = 0.25


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """How patient we are."""

    max_attempts: int = 10
    base_s: float = 0.5
    cap_s: float = 60.0
    overload_limit: int | None = None
    """Give up after so many overload replies in a row, because another model can take over; None: as other failures."""
    first_contact_attempts: int = 3
    """Attempts to reach a host that has never answered: a wrong address should be told soon."""
    longest_wait_s: float = 300.0
    """A server that asks for more than this is told to the user instead of waited for."""
    begin_timeout_s: float | None = None
    """Silence that counts as a failure while nothing of the reply has come; None: as the provider's row says."""
    idle_timeout_s: float = 90.0
    """Silence within a reply that counts as a failure. Every byte ends the silence."""
    stall_timeout_s: float = 1800.0
    """Nothing but signs of life for so long counts as a failure too: such a reply would never end."""
    told_after_s: tuple[float, ...] = (10.0, 30.0)
    """When somebody who waits for the reply to begin is told so; then every `told_every_s`."""
    told_every_s: float = 60.0


def system_random() -> float:
    """Between 0 and 1; `random` would cost its import at every start."""
    return int.from_bytes(os.urandom(4), "big") / 2**32


class Schedule:
    """The attempts of one request."""

    def __init__(self, policy: RetryPolicy, purpose: str, random: Callable[[], float] = system_random) -> None:
        self._policy = policy
        self._side_query = purpose.startswith("side-query:")
        self._random = random
        self._failed = 0
        self._overloads = 0

    def after(self, error: LLMError, *, reached: bool) -> Retrying:
        """The notice of the next attempt. Raises the error when there must be none."""
        self._failed += 1
        self._overloads = self._overloads + 1 if isinstance(error, Overloaded) else 0
        if not may_pass(error) or self._failed >= self._allowed(error, reached=reached):
            raise self._final(error) from error
        delay_s = self._delay_s(error)
        if delay_s > self._policy.longest_wait_s:
            raise self._final(error, f"; it asks to wait {round(delay_s / 60)} min") from error
        return Retrying(
            attempt=self._failed + 1,
            max_attempts=self._allowed(error, reached=reached),
            delay_s=delay_s,
            reason=_without_advice(str(error)),
        )

    def _allowed(self, error: LLMError, *, reached: bool) -> int:
        """How many attempts this kind of failure gets."""
        policy = self._policy
        if self._side_query:
            return 1
        if policy.overload_limit is not None and self._overloads >= policy.overload_limit:
            return self._failed
        if isinstance(error, ConnectionFailed) and not reached:
            return min(policy.first_contact_attempts, policy.max_attempts)
        return policy.max_attempts

    def _delay_s(self, error: LLMError) -> float:
        """Doubling, with jitter that never makes a later wait shorter; never before the server's own time."""
        policy = self._policy
        if error.retry_after_s is not None:
            return error.retry_after_s + JITTER * self._random()
        grown = min(policy.cap_s, policy.base_s * 2 ** (self._failed - 1))
        return grown * (1 - JITTER * self._random())

    def _final(self, error: LLMError, more: str = "") -> LLMError:
        """The error for a person: with the number of attempts and the provider's id of the last one."""
        notes: list[str] = []
        if self._failed > 1:
            notes.append(f"gave up after {self._failed} attempts")
        if error.request_id:
            notes.append(f"request id {error.request_id}")
        text = f"{error}{more}" + (f" ({', '.join(notes)})" if notes else "")
        return type(error)(
            text,
            status=error.status,
            request_id=error.request_id,
            retryable=error.retryable,
            retry_after_s=error.retry_after_s,
        )


def _without_advice(message: str) -> str:
    """What happened, without the last clause, which says what to do when nothing more is tried."""
    return message.rpartition("; ")[0] or message


def may_pass(error: LLMError) -> bool:
    """Whether trying again can help. What the server says wins; a refused key or request never does."""
    if error.retryable is not None:
        return error.retryable
    return isinstance(error, ProviderUnavailable)
