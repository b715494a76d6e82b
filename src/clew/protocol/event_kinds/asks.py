"""Asks: events that wait for a person, and the events that say how each was answered.

An ask has an id and is answered by an op with that id (`AnswerOp`), once. A new kind of ask derives from `Ask`, its
outcome from `Answered`: whoever only counts, shows or clears what is open needs no change.
"""

from typing import Any, ClassVar, Literal

from msgspec import Struct

from clew.protocol.base import DurableEvent
from clew.protocol.ids import CallId, RequestId
from clew.protocol.standing import Standing

ApprovalDecision = Literal["allow", "allow_always", "deny"]
PlanDecision = Literal["accept", "accept_edits", "keep_planning"]
ElicitationAction = Literal["accept", "decline", "cancel"]
"""Given; not given; neither, because nobody decided."""
Refuser = Literal["user", "rule", "nobody", "interrupt", "hook"]
"""Who decided: a person, a rule, the absence of a person, the end of the turn, a hook."""


RuleScope = Literal["session", "project", "user"]
"""Where a rule holds: in this session only; in this project until it is removed; wherever the user's settings do."""


PlanStanding = Literal["", "draft", "proposed", "accepted", "sent_back"]
"""None; written and not shown yet; shown and not answered; accepted; sent back."""


class RuleOffer(Struct, frozen=True, kw_only=True):
    """A rule the user may save with "always": exactly this text, nothing wider."""

    rule: str
    covers: str
    """The part of the request the rule was made for."""
    scope: RuleScope = "project"
    """Where and how long it would hold."""


class Ask(DurableEvent, frozen=True, kw_only=True):
    """Something waits for a person. Exactly one `Answered` with this id follows, from the same agent."""

    standing: ClassVar[Standing] = Standing.ASKING
    """How an agent stands while this is open."""
    request_id: RequestId


class Answered(DurableEvent, frozen=True, kw_only=True):
    """An ask is settled: the answer is on disk and now takes effect. Subclasses say what was decided, and by whom."""

    request_id: RequestId
    via: str = ""
    """The front end that answered, where it is not the one the session was opened in."""


class ApprovalRequested(Ask, frozen=True, kw_only=True, tag="approval.requested"):
    """A call waits for a person. Answer with `AnswerApproval` and this id; until then the call does not run."""

    standing: ClassVar[Standing] = Standing.WAITING
    call_id: CallId
    tool: str
    subject: str
    """The exact text that will take effect (command, path, URL)."""
    why: str
    """Which rule or lack of a rule makes it ask."""
    offers: tuple[RuleOffer, ...] = ()
    warnings: tuple[str, ...] = ()

    def input(self) -> dict[str, Any]:
        """What the call would run with, as far as the subject says: for one that no reply of a model holds."""
        if self.tool == "Bash":
            return {"command": self.subject}
        verb, _, path = self.subject.partition(" ")
        return {"file_path": path} if verb == "read" and self.tool == "Read" else {}


class ApprovalResolved(Answered, frozen=True, kw_only=True, tag="approval.resolved"):
    """The answer is on disk and now takes effect. Exactly one per ApprovalRequested; alone when a rule denied or a hook
    decided."""

    call_id: CallId
    tool: str
    subject: str
    decision: ApprovalDecision
    by: Refuser = "user"
    reason: str = ""
    rule: str = ""
    """What was saved with "always", or the rule or hook that decided."""
    scope: Literal["", "session", "project", "user"] = ""
    """With `allow_always`: where and how long what was saved holds."""
    saved_in: str = ""
    """The file that keeps it; empty: none."""


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the answers a question offers."""

    label: str
    description: str = ""


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something the model asks the user. Free text is always a possible answer."""

    question: str
    choices: tuple[Choice, ...] = ()
    multiple: bool = False
    header: str = ""


class QuestionAsked(Ask, frozen=True, kw_only=True, tag="question.asked"):
    """The model asks. Answer with `AnswerQuestion` and this id."""

    call_id: CallId
    questions: tuple[Question, ...]


class QuestionAnswered(Answered, frozen=True, kw_only=True, tag="question.answered"):
    """The answer is on disk. Exactly one per QuestionAsked, also when nobody answered."""

    call_id: CallId
    answers: tuple[tuple[str, ...], ...] = ()
    declined: bool = False
    by: Refuser = "user"


class PlanProposed(Ask, frozen=True, kw_only=True, tag="plan.proposed"):
    """The model wants to leave plan mode with this plan. Answer with `AnswerPlan` and this id."""

    call_id: CallId
    plan: str
    path: str = ""
    """The file it stands in; what a person writes there before accepting counts. Empty: the session is not kept."""
    mode_after: str = ""
    """The permission mode that comes back when it is simply accepted."""


class PlanAnswered(Answered, frozen=True, kw_only=True, tag="plan.answered"):
    """What was said to the plan, on disk before it takes effect. Exactly one per PlanProposed."""

    call_id: CallId
    decision: PlanDecision
    comment: str = ""
    plan: str = ""
    """The text that was accepted, where it is not the one that was proposed."""
    mode: str = ""
    """The permission mode that was chosen with it; empty: as the decision says."""
    by: Refuser = "user"


class ElicitationRequested(Ask, frozen=True, kw_only=True, tag="elicitation.requested"):
    """A server the user brought asks for values of this shape, or to go to an address. Answer with `AnswerElicitation`
    and this id."""

    server: str
    message: str
    schema: dict[str, Any]
    """Flat (protocol/form_fields.py); empty where an address is given."""
    url: str = ""
    """Where the person is to go, for what a form must not ask: a login, a payment. Nothing opens it by itself."""
    call_id: CallId | None = None
    """The call during which it asks, where that is known."""


class ElicitationAnswered(Answered, frozen=True, kw_only=True, tag="elicitation.answered"):
    """What the server was told; the values themselves are not kept."""

    server: str
    action: ElicitationAction
    by: Refuser = "user"
