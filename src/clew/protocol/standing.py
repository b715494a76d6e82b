"""How a session, an agent or a task stands: one set of words for every view."""

from enum import StrEnum


class Standing(StrEnum):
    """After its last event. All but the endings need a live owner; without one such work was interrupted.

    Sessions are never `starting` or `completed`: a session that rests is idle, and people read "finished" where nothing
    is open. `docs/glossary.md` has the table of the words that other wires use for these.
    """

    STARTING = "starting"
    WORKING = "working"
    WAITING = "waiting"
    """For an approval."""
    ASKING = "asking"
    """For the answer to a question, a plan or a form."""
    SUSPENDED = "suspended"
    """A limit was reached: of money, steps, tokens, or the provider's."""
    IDLE = "idle"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    """Somebody ended it, who is named beside."""
    INTERRUPTED = "interrupted"
    """It was cut off: by a person in the middle of a turn, or because the process that ran it died."""

    @property
    def open(self) -> bool:
        """Whether it goes on by itself or with an answer."""
        return self in (Standing.STARTING, Standing.WORKING, Standing.WAITING, Standing.ASKING)


LIMITS = frozenset({"max_turns", "max_budget", "max_tokens", "max_minutes", "output_limit", "prompt_too_long"})
STOPS = frozenset({"interrupted", "stopped_by_denial"})


def standing_after(reason: str) -> Standing:
    """How an agent stands after a turn that ended for this reason (`TurnEndReason`), with nothing asked."""
    if reason in STOPS:
        return Standing.INTERRUPTED
    if reason in LIMITS:
        return Standing.SUSPENDED
    return Standing.FAILED if reason == "model_error" else Standing.IDLE
