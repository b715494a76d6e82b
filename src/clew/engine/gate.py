"""Between a call and its run: judged by permissions, and by a person where permissions ask."""

import asyncio
import time

from msgspec import Struct

from clew.engine.abort import Abort
from clew.engine.channel import EventChannel
from clew.engine.ports import ToolHost
from clew.permissions.access import Access, FetchAccess, FileAccess, ShellAccess, Verdict
from clew.protocol.events import (
    ApprovalDecision,
    ApprovalRequested,
    ApprovalResolved,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Refuser,
)
from clew.protocol.ids import CallId, RequestId, new_uuid
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, AnswerQuestion

Answer = AnswerApproval | AnswerQuestion
ASKS_NOBODY = "Not run: it needs a person's leave, and nobody can answer in this run."
INTERRUPTED = "Not run: the turn was stopped before anybody decided."


class PendingAnswers:
    """Open requests. Ids are random and single-use, so text in a transcript or a mailbox cannot answer one."""

    def __init__(self) -> None:
        self._open: dict[RequestId, tuple[type[Answer], asyncio.Future[Answer]]] = {}
        self._since_s = 0.0
        self._waited_s = 0.0

    def open(self, request_id: RequestId, kind: type[Answer]) -> "asyncio.Future[Answer]":
        """Start to wait for an answer of this kind, before the event that asks is shown."""
        if not self._open:
            self._since_s = time.monotonic()
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[request_id] = (kind, future)
        return future

    def settle(self, answer: Answer) -> bool:
        """Deliver an answer; False when nothing of its kind waits under that id."""
        kind, future = self._open.get(answer.request_id, (None, None))
        if kind is not type(answer) or future is None or future.done():
            return False
        self.forget(answer.request_id)
        future.set_result(answer)
        return True

    def forget(self, request_id: RequestId) -> None:
        """The call is gone; a late answer is ignored."""
        if self._open.pop(request_id, None) is not None and not self._open:
            self._waited_s += time.monotonic() - self._since_s

    @property
    def waited_s(self) -> float:
        """How long somebody was waited for, in all; overlapping waits count once."""
        return self._waited_s + (time.monotonic() - self._since_s if self._open else 0.0)


class Permit(Struct, frozen=True, kw_only=True):
    """Whether a call may run; if not, what the model is told."""

    allowed: bool
    message: str = ""
    reads_only: bool = False
    """Proven to change nothing."""


class Gate:
    """Asks at most once per call. The answer is recorded before it takes effect."""

    def __init__(self, *, host: ToolHost, pending: PendingAnswers, channel: EventChannel, abort: Abort) -> None:
        self._host = host
        self._pending = pending
        self._channel = channel
        self._abort = abort
        self._approvals: dict[RequestId, ApprovalRequested] = {}
        self._questions: dict[RequestId, CallId] = {}

    @property
    def waited_s(self) -> float:
        """How long people were waited for so far."""
        return self._pending.waited_s

    async def admit(self, call: ToolCallPart, accesses: tuple[Access, ...]) -> Permit:
        """Judge the real target with the real input."""
        verdict = await self._host.judge(accesses)
        if verdict.decision == "allow":
            return Permit(allowed=True, reads_only=verdict.reads_only)
        subject = exact_text(call, accesses)
        if verdict.decision == "deny":
            await self._resolve(call, subject, "deny", by="rule", reason=verdict.why, rule=verdict.rule)
            return Permit(allowed=False, message=f"Not allowed: {verdict.why}")
        return await self._ask(call, subject, verdict)

    async def _ask(self, call: ToolCallPart, subject: str, verdict: Verdict) -> Permit:
        asked = ApprovalRequested(
            request_id=RequestId(new_uuid()),
            call_id=call.id,
            tool=call.name,
            subject=subject,
            why=verdict.why,
            offers=verdict.offers,
        )
        waiting = self._pending.open(asked.request_id, AnswerApproval)
        self._approvals[asked.request_id] = asked
        try:
            await self._channel.emit(asked)
            answer = await waiting
        finally:
            self._pending.forget(asked.request_id)
        assert isinstance(answer, AnswerApproval)
        del self._approvals[asked.request_id]
        return await self._take(call, subject, verdict, answer)

    async def _take(self, call: ToolCallPart, subject: str, verdict: Verdict, answer: AnswerApproval) -> Permit:
        offered = {offer.rule for offer in verdict.offers}
        rules = tuple(rule for rule in answer.rules if rule in offered)
        await self._resolve(
            call,
            subject,
            answer.decision,
            by=answer.by,
            reason=answer.reason,
            rule="; ".join(rules),
            request_id=answer.request_id,
        )
        if answer.decision == "deny":
            if answer.stop:
                self._abort.throw("denial")
            return Permit(allowed=False, message=refusal(answer))
        if answer.decision == "allow_always":
            self._host.remember(rules)
        return Permit(allowed=True, reads_only=verdict.reads_only)

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
        )
        await self._channel.emit(resolved)

    async def question(self, call: ToolCallPart, questions: tuple[Question, ...]) -> tuple[tuple[str, ...], ...] | None:
        """Put questions to the user; None when they decline or nobody is there. Both sides are in the log."""
        request_id = RequestId(new_uuid())
        waiting = self._pending.open(request_id, AnswerQuestion)
        self._questions[request_id] = call.id
        try:
            await self._channel.emit(QuestionAsked(request_id=request_id, call_id=call.id, questions=questions))
            answer = await waiting
        finally:
            self._pending.forget(request_id)
        assert isinstance(answer, AnswerQuestion)
        del self._questions[request_id]
        answered = QuestionAnswered(
            request_id=request_id, call_id=call.id, answers=answer.answers, declined=answer.declined, by=answer.by
        )
        await self._channel.emit(answered)
        return None if answer.declined else answer.answers

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
        self._approvals.clear()
        self._questions.clear()


def refusal(answer: AnswerApproval) -> str:
    """What the model is told of a no, in the name of whoever really said it."""
    if answer.by == "nobody":
        return f"{ASKS_NOBODY} {answer.reason}".strip()
    if answer.stop and not answer.reason:
        return "The user did not allow this and stopped the turn."
    return f"The user did not allow this.{f' The user says: {answer.reason}' if answer.reason else ''}"


def exact_text(call: ToolCallPart, accesses: tuple[Access, ...]) -> str:
    """The exact text a person decides about."""
    lines: list[str] = []
    for access in accesses:
        match access:
            case ShellAccess(command=command):
                lines.append(command)
            case FileAccess(op=op, path=path):
                lines.append(f"{op} {path}")
            case FetchAccess(url=url):
                lines.append(url)
            case _:
                lines.append(call.name)
    return "\n".join(lines)
