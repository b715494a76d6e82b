"""An op that is not done."""

from clew.engine.gate import PendingAnswers
from clew.protocol.events import SessionRow
from clew.protocol.ops import AnswerOp


class OpRefused(Exception):
    """The op cannot be done; the words are for a person."""


class SeveralFit(Exception):
    """Several sessions are meant by what was given; a person chooses one."""

    def __init__(self, rows: tuple[SessionRow, ...]) -> None:
        super().__init__(f"{len(rows)} sessions fit")
        self.rows = rows


def too_late(pending: PendingAnswers, op: AnswerOp) -> str:
    """Why an answer is not taken: who was first, where that is known."""
    first = pending.settled_by(op.request_id)
    return f"it was answered already, by {first}" if first else "nothing waits for this answer any more"
