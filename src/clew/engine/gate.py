"""Between a call and its run: judged by permissions; where they ask, decided by a person, or by a hook that may."""

import asyncio
import time
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from clew.engine.abort import Abort
from clew.engine.channel import EventChannel
from clew.engine.ports import UNCHANGED, CallChange, Foresight, ToolHost, hopeful
from clew.permissions.access import Access, Verdict, exact_text
from clew.protocol.event_kinds.asks import RuleScope
from clew.protocol.events import (
    ApprovalDecision,
    ApprovalRequested,
    ApprovalResolved,
    PlanAnswered,
    PlanProposed,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Refuser,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, RequestId, new_uuid
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, AnswerOp, AnswerPlan, AnswerQuestion
from clew.tools.base import PlanProposal, ToolResult

ASKS_NOBODY = "Not run: it needs a person's leave, and nobody can answer in this run."
FIRST_FRONT_END = "the front end it was opened in"
MAX_SETTLED = 500
HOOK_ASKS = "a hook wants you to decide"


class _Open(NamedTuple):
    kind: type[AnswerOp]
    agent: AgentId
    answer: "asyncio.Future[AnswerOp]"


class PendingAnswers:
    """The open asks of all agents of a session. Ids are random and single-use, so text in a transcript or a mailbox
    cannot answer one; an answer must also name the agent that asks."""

    def __init__(self) -> None:
        self._open: dict[RequestId, _Open] = {}
        self._since_s: dict[AgentId, float] = {}
        """Since when an agent waits for anybody."""
        self._waited_s: dict[AgentId, float] = {}
        self._settled: dict[RequestId, str] = {}
        self._judged_anew: asyncio.Future[None] | None = None

    def open(
        self, request_id: RequestId, kind: type[AnswerOp], agent: AgentId = MAIN_AGENT
    ) -> "asyncio.Future[AnswerOp]":
        """Start to wait for an answer of this kind, before the event that asks is shown."""
        self._since_s.setdefault(agent, time.monotonic())
        answer: asyncio.Future[AnswerOp] = asyncio.get_running_loop().create_future()
        self._open[request_id] = _Open(kind, agent, answer)
        return answer

    def waits_for(self, op: AnswerOp) -> bool:
        """Whether its agent waits for something of its kind under its id."""
        known = self._open.get(op.request_id)
        return known is not None and known[:2] == (type(op), op.agent) and not known.answer.done()

    def settle(self, op: AnswerOp) -> bool:
        """Deliver an answer; False when nothing of its kind waits under that id."""
        if not self.waits_for(op):
            return False
        waiting = self._open[op.request_id].answer
        self.forget(op.request_id)
        self._settled[op.request_id] = op.via or FIRST_FRONT_END
        while len(self._settled) > MAX_SETTLED:
            self._settled.pop(next(iter(self._settled)))
        waiting.set_result(op)
        return True

    def settled_by(self, request_id: RequestId) -> str:
        """The front end that answered, for people; empty when nobody did, or long ago."""
        return self._settled.get(request_id, "")

    def changed(self) -> "asyncio.Future[None]":
        """Done as soon as the rules or the mode are no longer those of now."""
        if self._judged_anew is None or self._judged_anew.done():
            self._judged_anew = asyncio.get_running_loop().create_future()
        return self._judged_anew

    def reconsider(self) -> None:
        """Rules or mode changed: whatever waits is judged again, and asked no longer where that is settled now."""
        if self._judged_anew is not None and not self._judged_anew.done():
            self._judged_anew.set_result(None)

    def forget(self, request_id: RequestId) -> None:
        """The call is gone; a late answer is ignored."""
        known = self._open.pop(request_id, None)
        if known is not None and not any(other.agent == known.agent for other in self._open.values()):
            waited_s = time.monotonic() - self._since_s.pop(known.agent)
            self._waited_s[known.agent] = self._waited_s.get(known.agent, 0.0) + waited_s

    def waited_s(self, agent: AgentId) -> float:
        """How long this agent waited for somebody, in all; overlapping waits count once."""
        since_s = self._since_s.get(agent)
        now_s = 0.0 if since_s is None else time.monotonic() - since_s
        return self._waited_s.get(agent, 0.0) + now_s


class Permit(Struct, frozen=True, kw_only=True):
    """Whether a call may run; if not, what the model is told."""

    allowed: bool
    message: str = ""
    reads_only: bool = False
    """Proven to change nothing."""
    arguments: dict[str, Any] | None = None
    """What whoever answered wants it to run with instead."""
    answered: bool = False
    """Somebody who may said yes to exactly this: it is not asked again, whatever is changed meanwhile."""
    impossible: ToolResult | None = None
    """Nobody was asked: it cannot do its work."""


class Gate:
    """Asks at most once per call. The answer is recorded before it takes effect."""

    def __init__(
        self,
        *,
        host: ToolHost,
        pending: PendingAnswers,
        channel: EventChannel,
        abort: Abort,
        agent: AgentId = MAIN_AGENT,
    ) -> None:
        self._host = host
        self._agent = agent
        self._pending = pending
        self._channel = channel
        self._abort = abort
        self._approvals: dict[RequestId, ApprovalRequested] = {}
        self._questions: dict[RequestId, CallId] = {}
        self._plans: dict[RequestId, CallId] = {}

    @property
    def waited_s(self) -> float:
        """How long people were waited for so far."""
        return self._pending.waited_s(self._agent)

    async def admit(
        self, call: ToolCallPart, accesses: tuple[Access, ...], said: CallChange = UNCHANGED, look: Foresight = hopeful
    ) -> Permit:
        """Judge the real target with the real input. `said`: what hooks think of it. `look`: see `Tool.impossible`."""
        subject = exact_text(accesses, call.name)
        if said.refused:
            await self._resolve(call, subject, "deny", by="hook", reason=said.refused, rule=said.hook)
            return Permit(allowed=False, message=f"Not allowed by a hook: {said.refused}")
        verdict = await self._judge(accesses, said)
        if verdict.decision == "allow":
            return Permit(allowed=True, reads_only=verdict.reads_only)
        if verdict.decision == "deny":
            return await self._denied(call, subject, verdict)
        if said.leaning == "allow" and not await self._host.only_a_person(accesses):
            await self._resolve(call, subject, "allow", by="hook", reason=said.reason, rule=said.hook)
            return Permit(allowed=True, reads_only=verdict.reads_only, answered=True)
        if (hopeless := await look()) is not None:
            return Permit(allowed=False, impossible=hopeless)
        return await self._ask(call, subject, verdict, accesses, said)

    async def admit_answered(self, call: ToolCallPart, accesses: tuple[Access, ...]) -> Permit:
        """A call that somebody has said yes to, be it with an input that they gave: it is not asked again, but it may
        be denied."""
        verdict = await self._host.judge(accesses)
        if verdict.decision == "deny":
            return await self._denied(call, exact_text(accesses, call.name), verdict)
        return Permit(allowed=True, reads_only=verdict.reads_only, answered=True)

    async def _denied(self, call: ToolCallPart, subject: str, verdict: Verdict) -> Permit:
        await self._resolve(call, subject, "deny", by="rule", reason=verdict.why, rule=verdict.rule)
        return Permit(allowed=False, message=f"Not allowed: {verdict.why}")

    async def _judge(self, accesses: tuple[Access, ...], said: CallChange) -> Verdict:
        """What permissions say now; with a hook that wants a person to decide, never that it may just run."""
        verdict = await self._host.judge(accesses)
        if said.leaning != "ask" or verdict.decision == "deny":
            return verdict
        why = f"{HOOK_ASKS}: {said.reason}" if said.reason else HOOK_ASKS
        if verdict.decision == "allow":
            return replace(verdict, decision="ask", why=why, rule=said.hook, offers=())
        return replace(verdict, why=f"{verdict.why}; {why}")

    async def _ask(
        self, call: ToolCallPart, subject: str, verdict: Verdict, accesses: tuple[Access, ...], said: CallChange
    ) -> Permit:
        asked = ApprovalRequested(
            request_id=RequestId(new_uuid()),
            call_id=call.id,
            tool=call.name,
            subject=subject,
            why=verdict.why,
            offers=verdict.offers,
        )
        waiting = self._pending.open(asked.request_id, AnswerApproval, self._agent)
        self._approvals[asked.request_id] = asked
        try:
            await self._channel.emit(asked)
            settled = await self._answered(waiting, accesses, said)
        finally:
            self._pending.forget(asked.request_id)
        del self._approvals[asked.request_id]
        if isinstance(settled, AnswerApproval):
            return await self._take(call, subject, verdict, settled)
        allowed = settled.decision == "allow"
        decision: ApprovalDecision = "allow" if allowed else "deny"
        await self._resolve(
            call, subject, decision, by="rule", reason=settled.why, rule=settled.rule, request_id=asked.request_id
        )
        return Permit(
            allowed=allowed, message="" if allowed else f"Not allowed: {settled.why}", reads_only=settled.reads_only
        )

    async def _answered(
        self, waiting: "asyncio.Future[AnswerOp]", accesses: tuple[Access, ...], said: CallChange
    ) -> AnswerApproval | Verdict:
        """The answer; or the verdict, when rules that changed meanwhile settle it. An answer that is there counts."""
        while True:
            changed = self._pending.changed()
            await asyncio.wait({waiting, changed}, return_when=asyncio.FIRST_COMPLETED)
            verdict = None if waiting.done() else await self._judge(accesses, said)
            if waiting.done():
                answer = waiting.result()
                assert isinstance(answer, AnswerApproval)
                return answer
            if verdict is not None and verdict.decision != "ask":
                return verdict

    async def _take(self, call: ToolCallPart, subject: str, verdict: Verdict, answer: AnswerApproval) -> Permit:
        offered = {offer.rule for offer in verdict.offers}
        rules = tuple(rule for rule in answer.rules if rule in offered)
        saved = answer.decision == "allow_always" and bool(rules)
        offered_for: list[RuleScope] = [offer.scope for offer in verdict.offers if offer.rule in rules]
        scope: RuleScope = answer.scope or (offered_for[0] if offered_for else "project")
        await self._resolve(
            call,
            subject,
            answer.decision,
            by=answer.by,
            reason=answer.reason,
            rule="; ".join(rules),
            request_id=answer.request_id,
            scope=scope if saved else "",
            via=answer.via,
        )
        if answer.decision == "deny":
            if answer.stop:
                self._abort.throw("denial")
            return Permit(allowed=False, message=refusal(answer))
        if answer.decision == "allow_always":
            self._host.remember(rules, scope=scope)
            self._pending.reconsider()
        return Permit(allowed=True, reads_only=verdict.reads_only, arguments=answer.arguments, answered=True)

    async def _resolve(
        self,
        call: ToolCallPart,
        subject: str,
        decision: ApprovalDecision,
        *,
        by: Refuser,
        reason: str,
        rule: str = "",
        request_id: str = "",
        scope: RuleScope | Literal[""] = "",
        via: str = "",
    ) -> None:
        resolved = ApprovalResolved(
            request_id=RequestId(request_id or new_uuid()),
            call_id=call.id,
            tool=call.name,
            subject=subject,
            decision=decision,
            by=by,
            reason=reason,
            rule=rule,
            scope=scope,
            saved_in=self._host.saved_in(scope) if scope else "",
            via=via,
        )
        await self._channel.emit(resolved)

    async def question(self, call: ToolCallPart, questions: tuple[Question, ...]) -> tuple[tuple[str, ...], ...] | None:
        """Put questions to the user; None when they decline or nobody is there. Both sides are in the log."""
        request_id = RequestId(new_uuid())
        waiting = self._pending.open(request_id, AnswerQuestion, self._agent)
        self._questions[request_id] = call.id
        try:
            await self._channel.emit(QuestionAsked(request_id=request_id, call_id=call.id, questions=questions))
            answer = await waiting
        finally:
            self._pending.forget(request_id)
        assert isinstance(answer, AnswerQuestion)
        del self._questions[request_id]
        answered = QuestionAnswered(
            request_id=request_id,
            call_id=call.id,
            answers=answer.answers,
            declined=answer.declined,
            by=answer.by,
            via=answer.via,
        )
        await self._channel.emit(answered)
        return None if answer.declined else answer.answers

    async def proposal(self, call: ToolCallPart, proposed: PlanProposal) -> PlanAnswered:
        """Put a plan to the user. The answer, with the text that counts, is on disk before anybody acts on it."""
        asked = PlanProposed(
            request_id=RequestId(new_uuid()),
            call_id=call.id,
            plan=proposed.plan,
            path=proposed.path,
            mode_after=proposed.mode_after,
        )
        waiting = self._pending.open(asked.request_id, AnswerPlan, self._agent)
        self._plans[asked.request_id] = call.id
        try:
            await self._channel.emit(asked)
            answer = await waiting
        finally:
            self._pending.forget(asked.request_id)
        assert isinstance(answer, AnswerPlan)
        del self._plans[asked.request_id]
        kept = answer.decision == "keep_planning"
        counts = "" if kept else answer.plan or proposed.as_it_stands()
        answered = PlanAnswered(
            request_id=asked.request_id,
            call_id=call.id,
            decision=answer.decision,
            comment=answer.comment,
            plan=counts if counts.strip() and counts != proposed.plan else "",
            mode=answer.mode,
            by=answer.by,
            via=answer.via,
        )
        await self._channel.emit(answered)
        if kept and answer.stop:
            self._abort.throw("denial")
        return answered

    async def withdraw_open(self) -> None:
        """The turn ended while these waited: nobody's answer counts any more, and the log says so."""
        for asked in list(self._approvals.values()):
            resolved = ApprovalResolved(
                request_id=asked.request_id,
                call_id=asked.call_id,
                tool=asked.tool,
                subject=asked.subject,
                decision="deny",
                by="interrupt",
                reason="interrupted",
            )
            await self._channel.emit(resolved)
        for request_id, call_id in list(self._questions.items()):
            answered = QuestionAnswered(request_id=request_id, call_id=call_id, declined=True, by="interrupt")
            await self._channel.emit(answered)
        for request_id, call_id in list(self._plans.items()):
            unanswered = PlanAnswered(request_id=request_id, call_id=call_id, decision="keep_planning", by="interrupt")
            await self._channel.emit(unanswered)
        self._approvals.clear()
        self._questions.clear()
        self._plans.clear()


def refusal(answer: AnswerApproval) -> str:
    """What the model is told of a no, in the name of whoever really said it."""
    if answer.by == "nobody":
        return f"{ASKS_NOBODY} {answer.reason}".strip()
    if answer.stop and not answer.reason:
        return "The user did not allow this and stopped the turn."
    return f"The user did not allow this.{f' The user says: {answer.reason}' if answer.reason else ''}"
