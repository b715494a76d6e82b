"""The program's own functions, asked by events and answered by ops. One that fails is a no, never the end of a turn."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace

from clew.protocol.client import Client
from clew.protocol.events import (
    Answered,
    ApprovalRequested,
    Ask,
    CallChanged,
    ElicitationRequested,
    Envelope,
    HookCalled,
    HookCallWithdrawn,
    PartCompleted,
    PlanProposed,
    QuestionAsked,
    TurnEnded,
)
from clew.protocol.form_fields import fields_of, problem_with_all
from clew.protocol.ids import AgentId, CallId, RequestId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import ToolCallPart, arguments_of
from clew.protocol.ops import (
    AnswerApproval,
    AnswerElicitation,
    Answerer,
    AnswerHookCall,
    AnswerPlan,
    AnswerQuestion,
    CallbackHook,
    Op,
    declined,
    to_agent,
)
from clew.sdk.options import Allow, Decision, Elicitation, HookCallback, Options, ToolRequest

NOBODY = "Allow it by a rule, a permission mode, or can_use_tool."
PLAN_TOOL = "ExitPlanMode"
T = TypeVar("T")


class Callbacks:
    """Every question runs as a task of its own, so that the session is heard while a function thinks. A question that
    nobody waits for any more is cancelled."""

    def __init__(self, options: Options, client: Client) -> None:
        self._options = options
        self._client = client
        self._open: dict[RequestId, asyncio.Task[None]] = {}
        self._inputs: dict[tuple[AgentId, CallId], dict[str, Any]] = {}
        self._hooks: dict[str, HookCallback] = {}
        self.registered: tuple[CallbackHook, ...] = tuple(self._register())

    def _register(self) -> list[CallbackHook]:
        found: list[CallbackHook] = []
        for moment, hooks in self._options.hooks.items():
            for hook in hooks:
                name = f"{moment}-{len(found) + 1}"
                self._hooks[name] = hook.callback
                found.append(
                    CallbackHook(
                        callback_id=name,
                        moment=moment,
                        matcher=hook.matcher,
                        timeout_s=hook.timeout_s,
                        blocks_on_failure=hook.blocks_on_failure,
                    )
                )
        return found

    def hear(self, envelope: Envelope) -> None:
        """Ask whoever is concerned; returns at once."""
        event, agent = envelope.event, envelope.agent
        match event:
            case PartCompleted(part=ToolCallPart() as call):
                self._inputs[agent, call.id] = arguments_of(meant_call(call))
            case CallChanged():
                self._inputs[agent, event.call_id] = event.arguments  # what it would run with now
            case TurnEnded():
                self._inputs = {key: given for key, given in self._inputs.items() if key[0] != agent}
            case ApprovalRequested():
                given = self._inputs.get((agent, event.call_id)) or event.input()
                self._ask(event.request_id, partial(self._decide, event, given), agent)
            case QuestionAsked():
                self._ask(event.request_id, partial(self._answer, event), agent)
            case ElicitationRequested():
                self._ask(event.request_id, partial(self._elicit, event), agent)
            case PlanProposed():
                self._ask(event.request_id, partial(self._plan, event), agent)
            case HookCalled():
                self._ask(event.request_id, partial(self._hook, event), agent)
            case Ask():  # a kind that programs have no function for
                self._ask(event.request_id, partial(self._decline, event), agent)
            case Answered() | HookCallWithdrawn():
                if (task := self._open.pop(event.request_id, None)) is not None:
                    task.cancel()
            case _:
                pass

    async def close(self) -> None:
        """Nobody waits for an answer any more."""
        tasks = [task for task in self._open.values() if task is not asyncio.current_task()]
        self._open.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ask(self, request: RequestId, answering: Callable[[], Awaitable[Op]], agent: AgentId) -> None:
        async def run() -> None:
            op = await answering()
            self._open.pop(request, None)  # from here on it is no longer ours to cancel
            await self._client.submit(to_agent(op, agent))

        self._open[request] = asyncio.create_task(run())

    async def _decline(self, ask: Ask) -> Op:
        return declined(ask, reason=NOBODY, by="nobody")

    async def _decide(self, event: ApprovalRequested, given: Mapping[str, Any]) -> Op:
        asked = ToolRequest(
            tool=event.tool,
            arguments=dict(given),
            subject=event.subject,
            why=event.why,
            call_id=event.call_id,
            warnings=event.warnings,
            rules=tuple(offer.rule for offer in event.offers),
        )
        function = self._options.can_use_tool
        if function is None:
            return AnswerApproval(request_id=event.request_id, decision="deny", reason=NOBODY, by="nobody")
        try:
            decision: Decision = await value_of(lambda: function(asked))
        except Exception as error:  # the program's own function: its failure must not let anything run
            reason = f"can_use_tool failed: {type(error).__name__}: {error}"
            return AnswerApproval(request_id=event.request_id, decision="deny", reason=reason)
        if not isinstance(decision, Allow):
            reason, stop = (
                getattr(decision, "reason", "can_use_tool gave no decision"),
                getattr(decision, "stop", False),
            )
            return AnswerApproval(request_id=event.request_id, decision="deny", reason=reason, stop=stop)
        return AnswerApproval(
            request_id=event.request_id,
            decision="allow_always" if decision.always and asked.rules else "allow",
            rules=asked.rules if decision.always else (),
            scope="session" if decision.always == "session" else "",
            arguments=decision.arguments,
        )

    async def _answer(self, event: QuestionAsked) -> Op:
        function = self._options.answer_questions
        if function is None:
            return AnswerQuestion(request_id=event.request_id, answers=(), declined=True, by="nobody")
        try:
            said = await value_of(lambda: function(event.questions))
        except Exception:  # as above: no answer is an answer the model can go on with
            said = None
        answers = tuple(tuple(map(str, one)) for one in said or ())
        return AnswerQuestion(request_id=event.request_id, answers=answers, declined=said is None)

    async def _elicit(self, event: ElicitationRequested) -> Op:
        function = self._options.answer_elicitation
        said: Mapping[str, Any] | None = None
        if function is not None:
            asked = Elicitation(server=event.server, message=event.message, schema=event.schema, url=event.url)
            try:
                said = await value_of(lambda: function(asked))
            except Exception:  # as above: the server is told no
                said = None
        problem = "" if event.url or said is None else problem_with_all(fields_of(event.schema), said)
        if said is None or problem:
            by: Answerer = "nobody" if function is None else "user"
            return AnswerElicitation(request_id=event.request_id, action="decline", by=by)
        values = {} if event.url else dict(said)
        return AnswerElicitation(request_id=event.request_id, action="accept", values=values)

    async def _plan(self, event: PlanProposed) -> Op:
        """Asked like a call that needs leave: `arguments` holds the plan, and may come back changed."""
        function = self._options.can_use_tool
        kept = AnswerPlan(request_id=event.request_id, decision="keep_planning")
        if function is None:
            return replace(kept, by="nobody")
        asked = ToolRequest(
            tool=PLAN_TOOL,
            arguments={"plan": event.plan},
            subject=event.plan,
            why="a plan waits for a person",
            call_id=event.call_id,
        )
        try:
            decision: Decision = await value_of(lambda: function(asked))
        except Exception as error:  # as above
            return replace(kept, comment=f"can_use_tool failed: {type(error).__name__}: {error}")
        if not isinstance(decision, Allow):
            return replace(kept, comment=getattr(decision, "reason", ""), stop=getattr(decision, "stop", False))
        plan = str((decision.arguments or {}).get("plan", ""))
        return replace(kept, decision="accept", plan=plan if plan != event.plan else "")

    async def _hook(self, event: HookCalled) -> Op:
        function = self._hooks.get(event.callback_id)
        if function is None:
            return AnswerHookCall(request_id=event.request_id, error=f"there is no callback {event.callback_id}")
        try:
            output = await value_of(lambda: function(dict(event.input), event.call_id))
        except Exception as error:  # as above: the session decides what a failed hook means
            return AnswerHookCall(request_id=event.request_id, error=f"{type(error).__name__}: {error}")
        return AnswerHookCall(request_id=event.request_id, output=dict(output or {}))


async def value_of(call: Callable[[], T | Awaitable[T]]) -> T:
    """What a function returns, now or when it is done."""
    found = call()
    if inspect.isawaitable(found):
        return await found
    return found
