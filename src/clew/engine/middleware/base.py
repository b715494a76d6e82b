"""What a middleware is: it stands before a step, after it, or before the end, and may add events or stop the turn."""

from collections.abc import AsyncGenerator
from typing import ClassVar, Literal

from clew.engine.turn import Turn
from clew.protocol.events import Event

Moment = Literal["before_step", "after_step", "before_end"]


class Middleware:
    """Subclasses override the moments they care for, as async generators: what they yield is recorded before they go
    on, and they are stopped with the turn. Raising `TurnStopped` ends the turn."""

    stage: ClassVar[int] = 0
    """Where it stands among the others: those of a lower stage come first."""

    def before_step(self, turn: Turn) -> AsyncGenerator[Event] | None:
        """Before every request, the first included; again with `turn.full` set when one did not fit."""

    def after_step(self, turn: Turn) -> AsyncGenerator[Event] | None:
        """When the step's calls all have results; `turn.last` tells of it."""

    def before_end(self, turn: Turn) -> AsyncGenerator[Event] | None:
        """When the model asks for nothing more. To send it on, add input and set `turn.unanswered`."""

    def at(self, moment: Moment, turn: Turn) -> AsyncGenerator[Event] | None:
        """What it does at a moment; None when nothing."""
        match moment:
            case "before_step":
                return self.before_step(turn)
            case "after_step":
                return self.after_step(turn)
            case "before_end":
                return self.before_end(turn)
