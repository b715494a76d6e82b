"""An answer of the shape that was asked for, or a turn that says it has none."""

from collections.abc import AsyncGenerator
from typing import Any

from clew.engine.middleware.base import Middleware
from clew.engine.turn import ENDINGS, Turn, TurnStopped
from clew.protocol.events import Event, StructuredOutputReady
from clew.protocol.meant_calls import STRUCTURED_OUTPUT
from clew.tools.schemas.answer_schema import AnswerSchema, NoJson, json_in

MAX_TRIES = 5


class StructuredOutputCheck(Middleware):
    """The first call that has the shape ends the turn: nobody reads words after it. A final text that is such a value
    counts too, for models that make no calls. Every turn has its own tries."""

    def __init__(self, schema: AnswerSchema) -> None:
        self._schema = schema
        self._turn: Turn | None = None
        self._tries = 0

    async def after_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """What calls of the step gave; of several the last counts."""
        self._enter(turn)
        calls = [settled for settled in turn.last.calls if settled.call.name == STRUCTURED_OUTPUT]
        taken = [settled.call for settled in calls if not settled.result.is_error]
        if taken:
            turn.unanswered = False
            yield self._ready(turn, self._schema.value_in(taken[-1].arguments))
        elif calls:
            self._failed(str(calls[-1].result.content))

    async def before_end(self, turn: Turn) -> AsyncGenerator[Event]:
        """What the final words are; if they are nothing of the kind, the model is asked again."""
        self._enter(turn)
        if turn.unanswered or turn.gave_output or turn.last.stop_reason in ENDINGS:
            return
        try:
            value = json_in(turn.last.text)
        except NoJson:
            problems = f"there was no call of {STRUCTURED_OUTPUT}"
        else:
            problems = self._schema.problems(value)
            if not problems:
                yield self._ready(turn, value)
                return
        self._failed(problems)
        turn.unanswered = True
        yield turn.accept(
            f"[That is not the output which was asked for: {problems}. Call {STRUCTURED_OUTPUT} with the whole result.]"
        )

    def _enter(self, turn: Turn) -> None:
        if turn is not self._turn:
            self._turn, self._tries = turn, 0

    def _ready(self, turn: Turn, value: Any) -> StructuredOutputReady:
        turn.gave_output = True
        return StructuredOutputReady(value=value)

    def _failed(self, problems: str) -> None:
        self._tries += 1
        if self._tries >= MAX_TRIES:
            words = f"no answer had the shape that was asked for in {MAX_TRIES} tries; of the last one: {problems}"
            raise TurnStopped("no_structured_output", words)
