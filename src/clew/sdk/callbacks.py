"""The program's own functions, asked by events and answered by ops. One that fails is a no, never the end of a turn."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from clew.protocol.client import Client
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallChanged,
    Event,
    HookCalled,
    HookCallWithdrawn,
    PartCompleted,
    QuestionAnswered,
    QuestionAsked,
)
from clew.protocol.ids import CallId, RequestId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import ToolCallPart, arguments_of
from clew.protocol.ops import AnswerApproval, AnswerHookCall, AnswerQuestion, CallbackHook, Op
from clew.sdk.options import Allow, Decision, HookCallback, Options, ToolRequest

NOBODY = "Allow it by a rule, a permission mode, or can_use_tool."
T = TypeVar("T")


class Callbacks:
    """Every question runs as a task of its own, so that the session is heard while a function thinks. A question that
    nobody waits for any more is cancelled."""

    def __init__(self, options: Options, client: Client) -> None:
        self._options = options
        self._client = client
        self._open: dict[RequestId, asyncio.Task[None]] = {}
        self._inputs: dict[CallId, dict[str, Any]] = {}
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

    def hear(self, event: Event) -> None:
        """Ask whoever is concerned; returns at once."""
        match event:
            case PartCompleted(part=ToolCallPart() as call):
                self._inputs[call.id] = arguments_of(meant_call(call))
            case CallChanged():
                self._inputs[event.call_id] = event.arguments  # what it would run with now
            case ApprovalRequested():
                self._ask(event.request_id, partial(self._decide, event))
            case QuestionAsked():
                self._ask(event.request_id, partial(self._answer, event))
            case HookCalled():
                self._ask(event.request_id, partial(self._hook, event))
            case ApprovalResolved() | QuestionAnswered() | HookCallWithdrawn():
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

    def _ask(self, request: RequestId, answering: Callable[[], Awaitable[Op]]) -> None:
        async def run() -> None:
            op = await answering()
            self._open.pop(request, None)  # from here on it is no longer ours to cancel
            await self._client.submit(op)

        self._open[request] = asyncio.create_task(run())

    async def _decide(self, event: ApprovalRequested) -> Op:
        asked = ToolRequest(
            tool=event.tool,
            arguments=dict(self._inputs.get(event.call_id, {})),
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
