"""Hooks that live in the program that drives the session: asked by an event with an id, answered by an op with it."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from clew.hooks.answers import HookAnswer, Outcome
from clew.hooks.matching import matches
from clew.hooks.reading import answer_of_json
from clew.protocol.events import Event, HookCalled, HookCallWithdrawn
from clew.protocol.ids import CallId, RequestId, new_uuid
from clew.protocol.ops import AnswerHookCall, CallbackHook

MAX_TIMEOUT_S = 3_600.0


class HookCallbacks:
    """Ids are random and single-use, so nothing but an op of a front end can answer. Nobody waits for ever."""

    def __init__(self, publish: Callable[[Event], None], hooks: tuple[CallbackHook, ...]) -> None:
        self._publish = publish
        self.hooks = hooks
        self._open: dict[RequestId, asyncio.Future[AnswerHookCall]] = {}

    def due(self, moment: str, subject: str) -> list[CallbackHook]:
        """The callbacks of a moment whose matcher fits."""
        return [hook for hook in self.hooks if hook.moment == moment and matches(hook.matcher, subject)]

    def settle(self, answer: AnswerHookCall) -> bool:
        """Deliver an answer; False when nothing waits for it."""
        future = self._open.pop(answer.request_id, None)
        if future is None or future.done():
            return False
        future.set_result(answer)
        return True

    async def call(self, hook: CallbackHook, document: dict[str, Any], call_id: CallId | None) -> HookAnswer:
        """What it says. A callback that fails, or does not answer in time, counts as silent, or as a no where it wants
        that."""
        request_id, started_s = RequestId(new_uuid()), time.monotonic()
        future: asyncio.Future[AnswerHookCall] = asyncio.get_running_loop().create_future()
        self._open[request_id] = future
        called = HookCalled(request_id=request_id, callback_id=hook.callback_id, input=document, call_id=call_id)
        timeout_s = min(max(hook.timeout_s, 0.0), MAX_TIMEOUT_S)
        try:
            self._publish(called)
            async with asyncio.timeout(timeout_s):
                answer = await future
        except TimeoutError:
            return _failed(hook, "timed_out", f"it did not answer within {timeout_s:g} s", started_s)
        finally:
            if self._open.pop(request_id, None) is not None:
                self._publish(HookCallWithdrawn(request_id=request_id))
        if answer.error:
            return _failed(hook, "failed", answer.error, started_s)
        said = answer_of_json(hook.moment, hook.callback_id, answer.output, may_allow=True)
        if said.outcome == "failed":
            return _failed(hook, "failed", said.detail, started_s)
        return _timed(said, started_s)


def _failed(hook: CallbackHook, outcome: Outcome, detail: str, started_s: float) -> HookAnswer:
    refused = hook.blocks_on_failure
    answer = HookAnswer(
        hook=hook.callback_id,
        outcome=outcome,
        detail=detail,
        leaning="deny" if refused else "",
        reason=f"the hook {hook.callback_id} gave no answer that counts: {detail}" if refused else "",
    )
    return _timed(answer, started_s)


def _timed(answer: HookAnswer, started_s: float) -> HookAnswer:
    return replace(answer, duration_ms=int((time.monotonic() - started_s) * 1000))
