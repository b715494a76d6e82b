"""Calls that needed a person: pending, granted, denied."""

from clew.ledger.calls import Outcome
from clew.ledger.facts import ApprovalFact
from clew.protocol.entries import ApprovalEntry
from clew.protocol.ids import CallId, EntryId

KEPT = 40
_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "User rejected",
    "Rejected by user",
    "The user rejected",
    "User denied",
    "Tool execution was denied",
    "[Request interrupted by user for tool use]",
)


def is_refusal(outcome: Outcome) -> bool:
    """The result says that the user said no."""
    return outcome.is_error and outcome.text[:200].lstrip().startswith(_REFUSED)


class ApprovalsFold:
    """The last line of each request counts."""

    def __init__(self) -> None:
        self._facts: dict[str, ApprovalFact] = {}

    def feed(self, entry: ApprovalEntry, at: EntryId) -> None:
        """A request or its decision. Approval lines have no uuid of their own: the call's entry stands for them."""
        self._put(
            entry.request_id,
            ApprovalFact(
                tool=entry.tool,
                subject=entry.subject[:400],
                decision=entry.decision,
                reason=entry.reason[:300],
                request_id=entry.request_id,
                source=(at,) if at else (),
            ),
        )

    def refused(self, outcome: Outcome, subject: str, call_id: CallId) -> None:
        """Another program recorded the denial only as the call's result."""
        for fact in self._facts.values():
            if fact.decision == "deny" and fact.subject == subject[:400]:
                return
        self._put(
            str(call_id), ApprovalFact(tool=outcome.name, subject=subject[:400], decision="deny", source=outcome.source)
        )

    def _put(self, key: str, fact: ApprovalFact) -> None:
        self._facts.pop(key, None)
        self._facts[key] = fact
        if len(self._facts) > KEPT:
            del self._facts[next(iter(self._facts))]

    def close_pending(self) -> None:
        """A turn that ended left nothing to decide."""
        for key in [key for key, fact in self._facts.items() if fact.decision == "pending"]:
            del self._facts[key]

    def facts(self) -> tuple[ApprovalFact, ...]:
        """In order of the last decision; plain grants are not kept apart."""
        return tuple(self._facts.values())
