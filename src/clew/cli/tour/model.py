"""The model of the tour: plays the script, and finds its place in it from the request alone, also after a resume."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from clew.cli.tour.script import ScriptExchange, ScriptReply, TourScript
from clew.llm.errors import UnknownModel
from clew.llm.estimate import estimate_request, estimate_text
from clew.llm.model import Model
from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, Pause, ReplyOf, Say, Scripted, ScriptedModel
from clew.protocol.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolResultPart,
    UserMessage,
    parts_of,
    result_text,
)
from clew.protocol.usage import Usage

PAUSE_S = 0.7
"""Between the pieces of a reply, so that a person can follow."""


def tour_connector(script: TourScript, *, python: str, pause_s: float) -> Callable[[str], Model]:
    """How a name becomes a model in the tour: there is one, and no other can be asked."""

    def connect(name: str) -> Model:
        if name != script.model:
            raise UnknownModel(f"the tour has one model, {script.model}; start clew itself to talk to {name}")
        return tour_model(script, python=python, pause_s=pause_s)

    return connect


def tour_model(script: TourScript, *, python: str, pause_s: float = 0.0) -> ScriptedModel:
    """A model that answers every request from the script, for as long as it is asked."""

    def play(request: ModelRequest) -> ReplyOf:
        model.extend([play])
        return reply_to(request, script, python=python, pause_s=pause_s)

    model = ScriptedModel([play], name=script.model, window=script.window, max_output_tokens=4_000, sleep=asyncio.sleep)
    return model


def reply_to(request: ModelRequest, script: TourScript, *, python: str, pause_s: float = 0.0) -> ReplyOf:
    """What the script says to a request."""
    if request.is_one_shot:
        return _reply(request, [Say(script.summary.text.strip())])
    exchange, since = _asked(request.messages, script)
    if exchange is None:
        return _reply(request, [Say(script.off_script.strip())])
    reply = _next(exchange, since)
    if reply is None:
        return _reply(request, [Say(exchange.otherwise)])
    parts: list[Scripted] = [Pause(pause_s)]
    if reply.say:
        parts += [Say(reply.say.strip()), Pause(pause_s)]
    parts += [Call(call.name, _filled(call.arguments, python)) for call in reply.calls]
    return _reply(request, parts)


def _asked(messages: Sequence[Message], script: TourScript) -> tuple[ScriptExchange | None, Sequence[Message]]:
    """The last prompt that the script knows, and what came after it; None when other words came last.

    Results and words that follow each other are one message, as in every request.
    """
    known = {exchange.prompt: exchange for exchange in script.exchanges}
    for index in range(len(messages) - 1, -1, -1):
        if not isinstance(messages[index], UserMessage):
            continue
        parts = parts_of(messages[index])
        texts = [part.text.strip() for part in parts if isinstance(part, TextPart)]
        found = next((known[text] for text in texts if text in known), None)
        if found is not None or not any(isinstance(part, ToolResultPart) for part in parts):
            return found, messages[index + 1 :]
    return None, ()


def _next(exchange: ScriptExchange, since: Sequence[Message]) -> ScriptReply | None:
    """The reply whose turn it is; None when the results are not those it goes on from, or when all was said."""
    given = sum(isinstance(message, AssistantMessage) for message in since)
    if given >= len(exchange.replies):
        return None
    reply = exchange.replies[given]
    results = [part for part in parts_of(since[-1]) if isinstance(part, ToolResultPart)] if since else []
    texts = [result_text(part) for part in results]
    fits = not reply.expects or any(wanted in text for wanted in reply.expects for text in texts)
    return reply if fits else None


def _filled(arguments: dict[str, Any], python: str) -> dict[str, Any]:
    return {
        name: value.replace("{python}", python) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def _reply(request: ModelRequest, parts: Sequence[Scripted]) -> ReplyOf:
    """With the tokens a provider would count, so that the window fills as it would."""
    words = sum(estimate_text(part.text) for part in parts if isinstance(part, Say))
    usage = Usage(input_tokens=estimate_request(request), output_tokens=round(words) + 40)
    return ReplyOf(parts, usage=usage, message_id="")
