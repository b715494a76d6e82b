"""The one cost counter: every request of the conversation and beside it, folded from events. All others show it."""

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.base import EventBase
from clew.protocol.event_kinds.turns import AttemptEnded, ReplyBegan, TurnEnded
from clew.protocol.event_kinds.words import SideQueryBooked
from clew.protocol.usage import Usage


class ModelUse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one model was asked for so far."""

    model: str
    requests: int = 0
    """Every try that left, also those that failed and were made again."""
    usage: Usage = Usage()
    cost_usd: float = 0.0
    """What is known to be spent."""
    unpriced: int = 0
    """Requests whose cost nobody knows: no price, or no usage reported."""
    estimated: int = 0
    """Requests whose usage was estimated because the provider never told."""


class SideUse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Model calls outside the conversation, by purpose."""

    purpose: str
    requests: int = 0
    usage: Usage = Usage()
    cost_usd: float = 0.0
    unpriced: int = 0


class Tally(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sums over a session, resumes included. Limits, results, `/stats` and lists all read these."""

    models: tuple[ModelUse, ...] = ()
    side: tuple[SideUse, ...] = ()
    api_ms: int = 0
    work_ms: int = 0
    """Time the agent worked, without waiting for people."""
    begun: int = 0
    """Tokens of the request under way, as its provider counted them when the reply began; booked when it has ended."""

    def after(self, event: EventBase) -> "Tally":
        """The sums after this event."""
        match event:
            case AttemptEnded():
                models = _with_attempt(self.models, event)
                return replace(self, models=models, api_ms=self.api_ms + event.api_ms, begun=0)
            case ReplyBegan() if event.usage is not None:
                return replace(self, begun=event.usage.prompt_tokens + event.usage.output_tokens)
            case SideQueryBooked():
                return replace(self, side=_with_side_query(self.side, event))
            case TurnEnded():
                return replace(self, work_ms=self.work_ms + event.duration_ms, begun=0)
            case _:
                return self

    def __add__(self, other: "Tally") -> "Tally":
        """The sums of two agents, model by model and purpose by purpose."""
        return Tally(
            models=_summed(self.models, other.models, lambda use: use.model),
            side=_summed(self.side, other.side, lambda use: use.purpose),
            api_ms=self.api_ms + other.api_ms,
            work_ms=self.work_ms + other.work_ms,
            begun=self.begun + other.begun,
        )

    @property
    def usage(self) -> Usage:
        """All tokens of the conversation."""
        return sum((use.usage for use in self.models), Usage())

    @property
    def tokens(self) -> int:
        """All tokens, in and out, side queries included."""
        used = sum((use.usage for use in self.side), self.usage)
        return used.prompt_tokens + used.output_tokens

    @property
    def tokens_so_far(self) -> int:
        """The same with the request under way: what people see of an agent at work."""
        return self.tokens + self.begun

    @property
    def cost_usd(self) -> float:
        """All money known to be spent, side queries included."""
        return sum(use.cost_usd for use in self.models) + sum(use.cost_usd for use in self.side)

    @property
    def unpriced(self) -> int:
        """Requests of the conversation whose cost nobody knows."""
        return sum(use.unpriced for use in self.models)


U = TypeVar("U", ModelUse, SideUse)


def _summed(one: tuple[U, ...], two: tuple[U, ...], key: Callable[[U], str]) -> tuple[U, ...]:
    rows = {key(use): use for use in one}
    for use in two:
        known = rows.get(key(use))
        rows[key(use)] = use if known is None else _added(known, use)
    return tuple(rows.values())


def _added(one: U, two: U) -> U:
    counted = {
        name: getattr(one, name) + getattr(two, name)
        for name in one.__struct_fields__
        if name not in ("model", "purpose")
    }
    return replace(one, **counted)


def _with_attempt(models: tuple[ModelUse, ...], event: AttemptEnded) -> tuple[ModelUse, ...]:
    rows = {use.model: use for use in models}
    known = rows.get(event.model, ModelUse(model=event.model))
    free = event.usage is None and event.outcome == "failed"  # a request that was refused outright costs nothing
    rows[event.model] = replace(
        known,
        requests=known.requests + 1 + event.retries,
        usage=known.usage + (event.usage or Usage()),
        cost_usd=known.cost_usd + (event.cost_usd or 0.0),
        unpriced=known.unpriced + (event.cost_usd is None and not free),
        estimated=known.estimated + event.estimated,
    )
    return tuple(rows.values())


def _with_side_query(side: tuple[SideUse, ...], event: SideQueryBooked) -> tuple[SideUse, ...]:
    rows = {use.purpose: use for use in side}
    known = rows.get(event.purpose, SideUse(purpose=event.purpose))
    rows[event.purpose] = replace(
        known,
        requests=known.requests + 1,
        usage=known.usage + (event.usage or Usage()),
        cost_usd=known.cost_usd + (event.cost_usd or 0.0),
        unpriced=known.unpriced + (event.cost_usd is None),
    )
    return tuple(rows.values())
