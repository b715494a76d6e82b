"""Ops that answer asks: one kind for each kind of ask, with the id of the one it settles."""

from typing import Any, ClassVar, Literal, Self

from msgspec import field
from msgspec.structs import replace

from clew.protocol.base import OpBase, Rights, leaves
from clew.protocol.event_kinds.asks import (
    ApprovalDecision,
    ApprovalRequested,
    Ask,
    ElicitationAction,
    ElicitationRequested,
    PlanDecision,
    PlanProposed,
    QuestionAsked,
)
from clew.protocol.ids import AgentId, RequestId

Answerer = Literal["user", "nobody"]
"""`nobody`: the front end answers because no person can; the model is told so, not that the user said it."""


class AnswerOp(OpBase, frozen=True, kw_only=True):
    """Answers the ask with this id. Rejected where nothing of its kind waits under the id any more."""

    needs: ClassVar[Rights] = Rights.ANSWER
    settles: ClassVar[type[Ask]] = Ask
    """The kind of ask it is for."""
    request_id: RequestId
    by: Answerer = "user"
    via: str = ""
    """The front end that answers, where it is not the one the session was opened in. Set by the host."""

    @classmethod
    def no(cls, request_id: RequestId, *, reason: str, by: Answerer) -> Self:
        """The answer that lets nothing happen."""
        return cls(request_id=request_id, by=by)


class AnswerApproval(AnswerOp, frozen=True, kw_only=True, tag="approval.answer"):
    """Decide an ApprovalRequested by its id; an unknown or settled id is rejected."""

    settles: ClassVar[type[Ask]] = ApprovalRequested
    decision: ApprovalDecision
    reason: str = ""
    """With `deny`: told to the model."""
    rules: tuple[str, ...] = ()
    """With `allow_always`: the offered rules to save, verbatim."""
    scope: Literal["", "session"] = ""
    """With `allow_always`. `session`: the rules hold until this session ends and nothing is written; empty: as each
    was offered."""
    mode: str = ""
    """With an allowing decision: the permission mode from now on, in the same moment. What else waits and is allowed
    by it is not asked again."""
    stop: bool = False
    """With `deny`: end the turn as well."""
    arguments: dict[str, Any] | None = None
    """With an allowing decision: run it with these instead. They are judged too: what is denied stays so."""

    @classmethod
    def no(cls, request_id: RequestId, *, reason: str, by: Answerer) -> Self:
        """Deny it."""
        return cls(request_id=request_id, decision="deny", reason=reason, by=by)


class AnswerQuestion(AnswerOp, frozen=True, kw_only=True, tag="question.answer"):
    """Answer a QuestionAsked: one tuple of chosen labels or free text per question."""

    settles: ClassVar[type[Ask]] = QuestionAsked
    answers: tuple[tuple[str, ...], ...]
    declined: bool = False

    @classmethod
    def no(cls, request_id: RequestId, *, reason: str, by: Answerer) -> Self:
        """Decline to answer."""
        return cls(request_id=request_id, answers=(), declined=True, by=by)


class AnswerPlan(AnswerOp, frozen=True, kw_only=True, tag="plan.answer"):
    """Say what becomes of a proposed plan."""

    settles: ClassVar[type[Ask]] = PlanProposed
    decision: PlanDecision
    comment: str = ""
    """With `keep_planning`: what is missing, in the words of whoever answers."""
    plan: str = ""
    """With an accepting decision: this text counts instead. Empty: what stands in the plan's file."""
    mode: str = ""
    """With `accept`: go on in this permission mode instead of the one from before."""
    stop: bool = False
    """With `keep_planning`: end the turn as well."""

    @classmethod
    def no(cls, request_id: RequestId, *, reason: str, by: Answerer) -> Self:
        """Keep planning."""
        return cls(request_id=request_id, decision="keep_planning", comment=reason if by == "user" else "", by=by)


class AnswerElicitation(AnswerOp, frozen=True, kw_only=True, tag="elicitation.answer"):
    """Give a server the values it asked for, or not."""

    settles: ClassVar[type[Ask]] = ElicitationRequested
    action: ElicitationAction
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    """With `accept` of a form: what fits its schema, field by field."""

    @classmethod
    def no(cls, request_id: RequestId, *, reason: str, by: Answerer) -> Self:
        """Give the server nothing."""
        return cls(request_id=request_id, action="decline", by=by)


def kind_of(ask: Ask) -> str:
    """The tag of an ask, as the log names it."""
    return str(ask.__struct_config__.tag)


def to_agent(op: OpBase, agent: AgentId) -> OpBase:
    """The op, for the agent whose ask it answers; other ops as they are."""
    return replace(op, agent=agent) if isinstance(op, AnswerOp) else op


def declined(ask: Ask, *, reason: str = "", by: Answerer = "user") -> AnswerOp:
    """The op that says no to an ask of any kind."""
    for kind in leaves(AnswerOp):
        if issubclass(kind, AnswerOp) and kind.settles is type(ask):
            return kind.no(ask.request_id, reason=reason, by=by)
    return AnswerOp(request_id=ask.request_id, by=by)
