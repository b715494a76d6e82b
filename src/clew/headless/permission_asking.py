"""Calls and questions that wait for a person, put to the program that stands for one; and what its answers mean."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from clew.headless.control_channel import ControlChannel, NotAnswered
from clew.headless.op_answers import OpAnswers, OpFailed
from clew.headless.permission_rules import offered_updates, rules_wanted
from clew.headless.run import NOBODY, answer_for_nobody
from clew.protocol.client import Client
from clew.protocol.events import (
    Answered,
    ApprovalRequested,
    Ask,
    CallChanged,
    ElicitationRequested,
    Envelope,
    PartCompleted,
    PlanProposed,
    Question,
    QuestionAsked,
    TurnEnded,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, RequestId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, AnswerElicitation, AnswerOp, AnswerPlan, AnswerQuestion
from clew.streaming.shapes.control import (
    AllowAnswer,
    DenyAnswer,
    ElicitationReply,
    ElicitationRequest,
    Json,
    PermissionAnswer,
    PermissionRequest,
    PermissionUpdate,
)

QUESTION_TOOL = "AskUserQuestion"
"""The name under which programs expect questions with choices."""
PLAN_TOOL = "ExitPlanMode"
PATHS = ("file_path", "notebook_path", "path")
TITLE_CHARS = 200


class PermissionAsking:
    """Fed with every envelope. Each question is open until it is answered here, elsewhere, or for too long."""

    def __init__(
        self,
        client: Client,
        channel: ControlChannel,
        ops: OpAnswers,
        *,
        ask: bool,
        tool_answers: bool = False,
        timeout_s: float | None,
        complain: Callable[[str], None],
    ) -> None:
        self._client = client
        self._channel = channel
        self._ops = ops
        self._wants = ask
        self._tool_answers = tool_answers
        self.ask = ask or tool_answers
        """Whether anybody is asked now; never a program that did not want it."""
        self._timeout_s = timeout_s
        self._complain = complain
        self._calls: dict[tuple[AgentId, CallId], Json] = {}
        """What each agent's calls would run with: two agents may use one id for two calls."""
        self._open: dict[RequestId, asyncio.Task[None]] = {}

    async def take(self, envelope: Envelope) -> None:
        """Follow the calls; ask, or take a question back that was settled otherwise."""
        event, agent = envelope.event, envelope.agent
        match event:
            case PartCompleted(part=ToolCallPart() as call):
                self._calls[agent, call.id] = meant_call(call).arguments
            case CallChanged():
                self._calls[agent, event.call_id] = event.arguments  # what is judged, and would run
            case Ask():
                if isinstance(event, ApprovalRequested) and self._tool_answers and self.ask:
                    return  # the host asks the tool
                await self._put(event, agent)
            case Answered():
                self._withdraw(event.request_id)
            case TurnEnded():
                self._calls = {key: given for key, given in self._calls.items() if key[0] != agent}
            case _:
                pass

    async def _put(self, ask: Ask, agent: AgentId) -> None:
        """Ask the program, or answer for nobody: also what this channel has no words for."""
        asking: Coroutine[Any, Any, None] | None = None
        if self._wants and self.ask and self._channel.open:
            match ask:
                case ApprovalRequested():
                    given = self._calls.get((agent, ask.call_id)) or ask.input()
                    asking = self._approve(ask, given, agent)
                case PlanProposed():
                    asking = self._plan(ask, agent)
                case QuestionAsked():
                    asking = self._question(ask, agent)
                case ElicitationRequested():
                    asking = self._elicit(ask, agent)
                case _:
                    pass
        if asking is None:
            await answer_for_nobody(self._client, ask, agent)
        else:
            self._start(ask.request_id, asking)

    def close(self) -> None:
        """The session is over."""
        for request_id in list(self._open):
            self._withdraw(request_id)

    def _start(self, request_id: RequestId, asking: Coroutine[Any, Any, None]) -> None:
        task = self._open[request_id] = asyncio.create_task(asking)
        task.add_done_callback(lambda _: self._open.pop(request_id, None))

    def _withdraw(self, request_id: RequestId) -> None:
        task = self._open.pop(request_id, None)
        if task is not None:
            task.cancel()

    async def _approve(self, event: ApprovalRequested, given: Json, agent: AgentId) -> None:
        try:
            answer: PermissionAnswer = await self._answer(
                permission_request(event, given, named(agent)), PermissionAnswer
            )
        except NotAnswered as none:
            reason = f"{none}. {NOBODY}"
            op = AnswerApproval(request_id=event.request_id, decision="deny", reason=reason, by="nobody")
        else:
            op = approval_of(event, answer, given, self._complain)
        await self._submit(replace(op, agent=agent))

    async def _question(self, event: QuestionAsked, agent: AgentId) -> None:
        asked = PermissionRequest(
            tool_name=QUESTION_TOOL,
            input={"questions": [question_data(question) for question in event.questions]},
            tool_use_id=event.call_id,
            display_name="Question",
            agent_id=named(agent) or None,
        )
        op = AnswerQuestion(request_id=event.request_id, answers=(), declined=True)
        try:
            answer: PermissionAnswer = await self._answer(asked, PermissionAnswer)
        except NotAnswered as none:
            self._complain(f"a question was not answered: {none}")
            op = replace(op, by="nobody")
        else:
            if isinstance(answer, AllowAnswer) and (answers := answers_of(event.questions, answer.updated_input or {})):
                op = replace(op, answers=answers, declined=False)
        await self._submit(replace(op, agent=agent))

    async def _plan(self, event: PlanProposed, agent: AgentId) -> None:
        asked = PermissionRequest(
            tool_name=PLAN_TOOL,
            input={"plan": event.plan, "planFilePath": event.path},
            tool_use_id=event.call_id,
            title="clew has a plan to accept",
            display_name="Plan",
            agent_id=named(agent) or None,
        )
        op = AnswerPlan(request_id=event.request_id, decision="keep_planning", by="nobody")
        try:
            answer: PermissionAnswer = await self._answer(asked, PermissionAnswer)
        except NotAnswered as none:
            self._complain(f"a plan was not answered: {none}")
        else:
            op = plan_answer(event, answer, self._complain)
        await self._submit(replace(op, agent=agent))

    async def _elicit(self, event: ElicitationRequested, agent: AgentId) -> None:
        """A server's question; what does not fit is a no, so that the server does not wait for ever."""
        op = AnswerElicitation(request_id=event.request_id, action="decline")
        try:
            answer: ElicitationReply = await self._answer(elicitation_request(event), ElicitationReply)
        except NotAnswered as none:
            self._complain(f"{event.server} asked, and was not answered: {none}")
            op = replace(op, by="nobody")
        else:
            values = (answer.content or {}) if answer.action == "accept" else {}
            op = replace(op, action=answer.action, values=values)
        await self._submit(replace(op, agent=agent))

    async def _answer(self, request: PermissionRequest | ElicitationRequest, kind: Any) -> Any:
        """What the program said. Raises NotAnswered."""
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await self._channel.ask(request)
        except TimeoutError:
            raise NotAnswered(f"the program did not answer within {self._timeout_s:g} s") from None
        try:
            return msgspec.convert(answer, type=kind)
        except msgspec.ValidationError as error:
            raise NotAnswered(f"the program's answer was not understood: {error}") from error

    async def _submit(self, op: AnswerOp) -> None:
        """A mode there is not, or values that do not fit, must not keep anybody waiting."""
        try:
            await (await self._ops.ask(op))
        except OpFailed as refused:
            self._complain(f"an answer was not taken: {refused}")
            if isinstance(op, AnswerApproval | AnswerPlan) and op.mode:
                await self._submit(replace(op, mode=""))
            elif isinstance(op, AnswerElicitation) and op.action == "accept":
                await self._submit(replace(op, action="decline", values={}))


def named(agent: AgentId) -> str:
    """How a program knows an agent: the main one by no name."""
    return "" if agent == MAIN_AGENT else agent


def elicitation_request(event: ElicitationRequested) -> ElicitationRequest:
    """A server's question as the program is asked."""
    return ElicitationRequest(
        mcp_server_name=event.server,
        message=event.message,
        mode="url" if event.url else "form",
        url=event.url or None,
        requested_schema=None if event.url else event.schema,
    )


def permission_request(event: ApprovalRequested, given: Json, agent: str) -> PermissionRequest:
    """A waiting call as the program is asked about it."""
    path = next((given[name] for name in PATHS if isinstance(given.get(name), str)), None)
    subject = " ".join(event.subject.split())
    return PermissionRequest(
        tool_name=event.tool,
        input=given,
        tool_use_id=event.call_id,
        permission_suggestions=offered_updates(event.offers),
        blocked_path=path,
        decision_reason=event.why,
        title=f"clew wants to use {event.tool}: {subject[:TITLE_CHARS]}",
        display_name=event.tool,
        description="; ".join((event.subject, *event.warnings)),
        agent_id=agent or None,
    )


def approval_of(
    event: ApprovalRequested, answer: PermissionAnswer, given: Json, complain: Callable[[str], None]
) -> AnswerApproval:
    """What an answer means for a call. Only rules that were offered are kept."""
    if isinstance(answer, DenyAnswer):
        return AnswerApproval(
            request_id=event.request_id, decision="deny", reason=answer.message.strip(), stop=answer.interrupt
        )
    updates: Sequence[PermissionUpdate] = answer.updated_permissions or ()
    wanted = rules_wanted(event.offers, updates)
    for problem in wanted.problems:
        complain(problem)
    changed = answer.updated_input is not None and answer.updated_input != given
    return AnswerApproval(
        request_id=event.request_id,
        decision="allow_always" if wanted.rules else "allow",
        rules=wanted.rules,
        scope="session" if wanted.session_only else "",
        mode=wanted.mode,
        arguments=answer.updated_input if changed else None,
    )


def plan_answer(event: PlanProposed, answer: PermissionAnswer, complain: Callable[[str], None]) -> AnswerPlan:
    """What an answer means for a plan: a text of its own counts, and a mode that is set with it."""
    if isinstance(answer, DenyAnswer):
        return AnswerPlan(
            request_id=event.request_id,
            decision="keep_planning",
            comment=answer.message.strip(),
            stop=answer.interrupt,
        )
    wanted = rules_wanted((), answer.updated_permissions or ())
    for problem in wanted.problems:
        complain(problem)
    given = (answer.updated_input or {}).get("plan")
    return AnswerPlan(
        request_id=event.request_id,
        decision="accept_edits" if wanted.mode == "acceptEdits" else "accept",
        plan=given if isinstance(given, str) and given != event.plan else "",
        mode="" if wanted.mode == "acceptEdits" else wanted.mode,
    )


def question_data(question: Question) -> Json:
    """A question with its choices."""
    return {
        "question": question.question,
        "header": question.header,
        "options": [{"label": choice.label, "description": choice.description} for choice in question.choices],
        "multiSelect": question.multiple,
    }


def answers_of(questions: Sequence[Question], given: Json) -> tuple[tuple[str, ...], ...]:
    """`answers` by the words of each question: a label, several (a list, or joined by commas), or free text. Empty when
    nothing was answered."""
    answers = given.get("answers")
    if not isinstance(answers, dict):
        return ()
    found = tuple(chosen(question, answers.get(question.question)) for question in questions)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] (a program's JSON; each value is looked at)
    return found if any(found) else ()


def chosen(question: Question, answer: object) -> tuple[str, ...]:
    """One answer as labels or words."""
    if isinstance(answer, list):
        return tuple(item for item in answer if isinstance(item, str) and item)  # pyright: ignore[reportUnknownVariableType] (as above)
    if not isinstance(answer, str) or not answer.strip():
        return ()
    labels = [choice.label for choice in question.choices]
    if question.multiple and answer not in labels:
        parts = [part.strip() for part in answer.split(",")]
        if all(part in labels for part in parts):
            return tuple(parts)
    return (answer,)
