"""Between a call and its run: judged by permissions, and by a person where permissions ask."""

from msgspec import Struct

from clew.engine.abort import Abort
from clew.engine.approvals import PendingAnswers
from clew.engine.channel import EventChannel
from clew.engine.ports import ToolHost
from clew.permissions.access import Access, FetchAccess, FileAccess, ShellAccess, Verdict
from clew.protocol.events import ApprovalRequested, ApprovalResolved, Question, QuestionAsked
from clew.protocol.ids import AgentId, RequestId, new_uuid
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, AnswerQuestion


class Permit(Struct, frozen=True, kw_only=True):
    """Whether a call may run; if not, what the model is told."""

    allowed: bool
    message: str = ""


class Gate:
    """Asks at most once per call. The answer is recorded before it takes effect."""

    def __init__(
        self, *, agent: AgentId, host: ToolHost, pending: PendingAnswers, channel: EventChannel, abort: Abort
    ) -> None:
        self._agent = agent
        self._host = host
        self._pending = pending
        self._channel = channel
        self._abort = abort
        self._open: dict[RequestId, ApprovalRequested] = {}

    async def admit(self, call: ToolCallPart, accesses: tuple[Access, ...]) -> Permit:
        """Judge the real target with the real input."""
        verdict = self._host.judge(accesses)
        if verdict.decision == "allow":
            return Permit(allowed=True)
        subject = subject_of(call, accesses)
        if verdict.decision == "deny":
            await self._record(call, subject, "deny", reason=verdict.why, rule=verdict.rule)
            return Permit(allowed=False, message=f"Not allowed: {verdict.why}")
        return await self._ask(call, subject, verdict)

    async def _ask(self, call: ToolCallPart, subject: str, verdict: Verdict) -> Permit:
        request_id = RequestId(new_uuid())
        waiting = self._pending.open(request_id)
        asked = ApprovalRequested(
            agent=self._agent,
            request_id=request_id,
            call_id=call.id,
            tool=call.name,
            subject=subject,
            why=verdict.why,
            offers=verdict.offers,
        )
        self._open[request_id] = asked
        try:
            await self._channel.emit(asked)
            answer = await waiting
        finally:
            self._pending.forget(request_id)
        assert isinstance(answer, AnswerApproval)
        del self._open[request_id]
        return await self._take(call, subject, verdict, answer)

    async def _take(self, call: ToolCallPart, subject: str, verdict: Verdict, answer: AnswerApproval) -> Permit:
        offered = {offer.rule for offer in verdict.offers}
        rules = tuple(rule for rule in answer.rules if rule in offered)
        await self._record(
            call,
            subject,
            answer.decision,
            reason=answer.reason,
            rule="; ".join(rules),
            request_id=answer.request_id,
        )
        if answer.decision == "deny":
            if answer.stop:
                self._abort.throw("denial")
            reason = f" The user says: {answer.reason}" if answer.reason else ""
            return Permit(allowed=False, message=f"The user did not allow this.{reason}")
        if answer.decision == "allow_always":
            self._host.remember(rules)
        return Permit(allowed=True)

    async def _record(
        self, call: ToolCallPart, subject: str, decision: str, *, reason: str, rule: str, request_id: str = ""
    ) -> None:
        resolved = ApprovalResolved(
            agent=self._agent,
            request_id=RequestId(request_id or new_uuid()),
            call_id=call.id,
            tool=call.name,
            subject=subject,
            decision="deny" if decision == "deny" else "allow_always" if decision == "allow_always" else "allow",
            reason=reason,
            rule=rule,
        )
        await self._channel.emit(resolved)

    async def withdraw_open(self) -> None:
        """The turn ended while these waited: nobody's answer counts any more, and the log says so."""
        for asked in list(self._open.values()):
            await self._channel.emit(
                ApprovalResolved(
                    agent=self._agent,
                    request_id=asked.request_id,
                    call_id=asked.call_id,
                    tool=asked.tool,
                    subject=asked.subject,
                    decision="deny",
                    reason="interrupted",
                )
            )
        self._open.clear()

    async def question(self, call: ToolCallPart, questions: tuple[Question, ...]) -> tuple[tuple[str, ...], ...] | None:
        """Put questions to the user; None when they decline or nobody is there."""
        request_id = RequestId(new_uuid())
        waiting = self._pending.open(request_id)
        try:
            self._channel.post(
                QuestionAsked(agent=self._agent, request_id=request_id, call_id=call.id, questions=questions)
            )
            answer = await waiting
        finally:
            self._pending.forget(request_id)
        assert isinstance(answer, AnswerQuestion)
        return None if answer.declined else answer.answers


def subject_of(call: ToolCallPart, accesses: tuple[Access, ...]) -> str:
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
