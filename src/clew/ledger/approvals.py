"""Calls that needed a person: pending, granted, refused; and calls that never ran."""

import re
from typing import Literal

from msgspec.structs import replace

from clew.ledger.calls import EDIT_TOOLS, READ_TOOLS, EndedCall
from clew.ledger.commands import tells_exit_code
from clew.ledger.facts import ApprovalFact
from clew.protocol.entries import ApprovalEntry
from clew.protocol.ids import CallId, EntryId

KEPT = 40
_WHO = r"(?:user|you|human|person|operator|policy|policies|rules?|hook|(?:plan|read-only|permission|approval)\s+mode)"
_NO = r"(?:reject\w*|den(?:y|ied|ies)|declin\w+|refus\w+|disallow\w*|forbid\w*|forbade|prohibit\w*|block\w*|prevent\w*)"
_NOT = r"(?:\bnot|n't|n’t|\bnever)\s+(?:\w+\s+)?(?:allow|permit|want|grant|approv|authori)\w*"
_REFUSED = re.compile(
    "|".join(
        (
            rf"\b{_WHO}\b[^.\n]{{0,80}}?(?:\b{_NO}|{_NOT})",
            rf"(?:\b{_NO}|{_NOT}|\bcancel+ed)\s+(?:\w+\s+){{0,2}}?(?:by|in|while in)\s+(?:\w+\s+){{0,3}}?{_WHO}\b",
            r"^\W*not allowed:",
            rf"\bpermissions?\s+(?:to|for|was|were|has|have|is|request)\b[^.\n]{{0,90}}(?:\b{_NO}|{_NOT})",
            r"\brequires?\s+(?:\w+\s+)?(?:approval|permission)",
            r"^\W*(?:PreToolUse\b|permission to use\b[^\n]{0,280}\b(?:has been|was|is) denied)",
        )
    ),
    re.IGNORECASE,
)
"""A person, a rule or a mode said no. Programs that print "permission denied" did run."""
_CANCELLED = re.compile(
    r"^\W*(?:cancel+ed|interrupted|discarded|aborted|request (?:interrupted|cancel+ed)|operation cancel+ed)\b|"
    r"sibling tool call|parallel tool call\b.{0,80}\berrored|aborted by (?:the )?user",
    re.IGNORECASE,
)
_ADMITTED = re.compile(
    rf"\b{_NO}|{_NOT}|\b(?:yourself|permission|skip\w*)\b|\bleft\b.{{0,60}}\b(?:alone|out)\b", re.IGNORECASE
)
_STOPPED = re.compile(
    r"(?:cancel+ed|aborted|interrupted|stopped) by (?:the )?user (?:after \d|before it (?:could )?(?:complete|finish))",
    re.IGNORECASE,
)
"""It ran until somebody stopped it, which is no refusal."""
_NOT_ASKED = re.compile(
    r"\bgranted?\b|\bhas specified a rule\b|\brequires? \w*\s*(?:approval|permission)", re.IGNORECASE
)
"""No permission had been given, which is not the same as somebody saying no."""
_ACCESS = re.compile(r"^(?:read|list|write|delete) (?=/)", re.MULTILINE)
_DONE_WITH = re.compile(r"^(?:read|list|write|delete) (?=\S)", re.MULTILINE)
"""What is done with a path is told by the tool."""
_NAMED = re.compile(rf"\b{_WHO}\b", re.IGNORECASE)
"""Who is named first said no: "the approval policy … you should not ask" is the policy."""
_BY_PERSON = re.compile(r"user|you|human|person|operator", re.IGNORECASE)


def not_run(outcome: EndedCall) -> Literal["", "refused", "cancelled"]:
    """Why a call has an error and no effect of its own; "" when it ran. What has an exit code ran."""
    terminals = outcome.blocks("terminal")
    if any(block.get("stopped") for block in terminals):
        return "cancelled"
    if not outcome.is_error or terminals or tells_exit_code(outcome.text):
        return ""
    head = outcome.text[:400].lstrip()
    if _STOPPED.search(head):
        return "cancelled"
    if _REFUSED.search(head[:300]):
        return "refused"
    return "cancelled" if _CANCELLED.search(head) else ""


def admits_refusal(sentence: str) -> bool:
    """Whether somebody says that something was not allowed or not done."""
    return _ADMITTED.search(sentence) is not None


class ApprovalsFold:
    """The last line of each request counts."""

    def __init__(self) -> None:
        self._facts: dict[str, ApprovalFact] = {}
        self._asked: set[str] = set()
        self._denied: set[CallId] = set()

    def feed(self, entry: ApprovalEntry, at: EntryId, turn: int) -> None:
        """A request or its decision. Approval lines have no uuid of their own: the call's entry stands for them."""
        if entry.decision == "pending":
            self._asked.add(entry.request_id)
        elif entry.decision == "deny":
            self._denied.add(entry.call_id)
            if entry.reason == "interrupted":  # nobody decided: the turn ended first
                self._facts.pop(entry.request_id, None)
                return
        subject = (_DONE_WITH if entry.tool in EDIT_TOOLS | READ_TOOLS else _ACCESS).sub("", entry.subject[:400])
        if entry.decision in ("allow", "allow_always"):
            self.let_through(entry.tool, subject)
        fact = ApprovalFact(
            tool=entry.tool,
            subject=subject if subject != entry.tool else "",
            decision=entry.decision,
            reason=entry.reason[:300],
            by_rule=entry.decision == "deny" and (entry.by != "user" or entry.request_id not in self._asked),
            request_id=entry.request_id,
            source=(at,) if at else (),
            turn=turn,
        )
        self._put(entry.request_id, fact)

    def let_through(self, tool: str, subject: str) -> None:
        """What was refused before is allowed now; of plans, the last answer counts."""
        for key, fact in list(self._facts.items()):
            if fact.decision == "deny" and fact.tool == tool and (tool == "plan" or fact.subject == subject):
                del self._facts[key]

    def worked(self) -> None:
        """Something else was done."""
        for key, fact in self._facts.items():
            if fact.decision == "deny" and not fact.worked_since:
                self._facts[key] = replace(fact, worked_since=True)

    def dropped(self, request_id: str) -> None:
        """Nobody decided, and nobody is asked any more."""
        self._facts.pop(request_id, None)

    def denied(self, call_id: CallId) -> bool:
        """Whether the log says of a call that it was refused."""
        return call_id in self._denied

    def refused(self, outcome: EndedCall, subject: str, call_id: CallId, turn: int) -> None:
        """Another program recorded the refusal only as the call's result."""
        if call_id not in self._denied:
            head = outcome.text[:300]
            who = _NAMED.search(head)
            by_rule = who is None or not _BY_PERSON.match(who[0]) or _NOT_ASKED.search(head) is not None
            fact = ApprovalFact(
                tool=outcome.name,
                subject=subject[:400],
                decision="deny",
                by_rule=by_rule,
                source=outcome.source,
                turn=turn,
            )
            self._put(str(call_id), fact)

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
        """In order of the last decision."""
        return tuple(self._facts.values())
