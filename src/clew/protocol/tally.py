"""The cost counter: usage and money per model, and what was denied. A pure fold over events, for any subscriber."""

from msgspec import Struct

from clew.protocol.events import ApprovalResolved, Event, SideQueryBooked, StepEnded
from clew.protocol.usage import Usage


class ModelTally(Struct):
    """What one model used in this session."""

    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    """None once a reply came whose price is unknown."""
    requests: int = 0


class SideTally(Struct):
    """What side queries of one purpose used."""

    requests: int = 0
    cost_usd: float = 0.0


class Tally:
    """Sums over the session, for limits and for the result."""

    def __init__(self) -> None:
        self.models: dict[str, ModelTally] = {}
        self.side_queries: dict[str, SideTally] = {}
        self.api_ms = 0
        self.denials: list[ApprovalResolved] = []

    def __call__(self, event: Event) -> None:
        """Count one event."""
        if isinstance(event, StepEnded):
            totals = self.models.setdefault(event.model, ModelTally())
            totals.requests += 1
            self.api_ms += event.api_ms
            if event.usage is not None:
                totals.usage = totals.usage + event.usage
            if event.cost_usd is None or totals.cost_usd is None:
                totals.cost_usd = None
            else:
                totals.cost_usd += event.cost_usd
        elif isinstance(event, SideQueryBooked):
            side = self.side_queries.setdefault(event.purpose, SideTally())
            side.requests += 1
            side.cost_usd += event.cost_usd or 0.0
        elif isinstance(event, ApprovalResolved) and event.decision == "deny":
            self.denials.append(event)

    @property
    def usage(self) -> Usage:
        """All tokens of all models."""
        return sum((totals.usage for totals in self.models.values()), Usage())

    @property
    def cost_usd(self) -> float:
        """All money known to be spent, side queries included."""
        spoken = sum(totals.cost_usd or 0.0 for totals in self.models.values())
        return spoken + sum(side.cost_usd for side in self.side_queries.values())
