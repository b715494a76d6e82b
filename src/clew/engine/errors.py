"""How a turn can end before its time. Raised inside the engine only; front ends see TurnEnded.

TurnStopped             with the reason that TurnEnded will carry
└── TurnInterrupted     the user said stop
"""

from clew.protocol.events import TurnEndReason


class TurnStopped(Exception):
    """The turn is over; `reason` and `error` go into TurnEnded."""

    def __init__(self, reason: TurnEndReason, error: str = "") -> None:
        super().__init__(error or reason)
        self.reason: TurnEndReason = reason
        self.error = error


class TurnInterrupted(TurnStopped):
    """The user interrupted."""

    def __init__(self) -> None:
        super().__init__("interrupted")
