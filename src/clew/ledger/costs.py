"""Tokens, money and time, each reply counted once."""

from clew.ledger.facts import Costs
from clew.protocol.entries import AssistantEntry, SideQueryEntry, TurnResultEntry
from clew.protocol.usage import Usage


class CostsFold:
    """Usage of the last entry of a reply counts; turn results add money and time."""

    def __init__(self) -> None:
        self._settled = Usage()
        self._open_id = ""
        self._open: Usage | None = None
        self._usd: float | None = None
        self._side_usd: dict[str, float] = {}
        self._side_calls: dict[str, int] = {}
        self._turns = 0
        self._duration_ms = 0

    def reply(self, entry: AssistantEntry) -> None:
        """One part of a reply; parts of one reply repeat its usage."""
        usage = entry.message.usage
        if usage is None:
            return
        if entry.message.id != self._open_id and self._open is not None:
            self._settled += self._open
        self._open_id, self._open = entry.message.id, usage

    def turn(self, entry: TurnResultEntry) -> None:
        """A turn ended."""
        self._turns += 1
        self._duration_ms += entry.duration_ms
        if entry.cost_usd is not None:
            self._usd = (self._usd or 0.0) + entry.cost_usd

    def side_query(self, entry: SideQueryEntry) -> None:
        """A model call beside the conversation."""
        self._side_calls[entry.purpose] = self._side_calls.get(entry.purpose, 0) + 1
        if entry.cost_usd is not None:
            self._side_usd[entry.purpose] = self._side_usd.get(entry.purpose, 0.0) + entry.cost_usd

    def took(self, duration_ms: int) -> None:
        """Another program told how long a turn took."""
        self._turns += 1
        self._duration_ms += duration_ms

    def costs(self) -> Costs:
        """The totals."""
        usage = self._settled + self._open if self._open is not None else self._settled
        return Costs(
            usage=usage,
            usd=self._usd,
            side_usd=dict(self._side_usd),
            side_calls=dict(self._side_calls),
            turns=self._turns,
            duration_ms=self._duration_ms,
        )
