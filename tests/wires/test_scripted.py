"""The scripted model keeps the event order of a real one and records what it was asked."""

import asyncio

import pytest

from clew.llm.errors import InvalidRequest, Overloaded, StreamBroken
from clew.llm.model import Model
from clew.llm.reply import PartDone, ReplyDone, ReplyEvent, ReplyStarted, Retrying, TextChunk
from clew.llm.request import ModelRequest
from clew.llm.scripted import BreakAfter, Call, Fail, ReplyOf, Say, ScriptedModel, Think, Wait
from clew.protocol.ids import CallId
from clew.protocol.messages import ReasoningPart, TextPart, ToolCallPart, UserMessage, text_of
from clew.protocol.usage import Usage


def ask(text: str = "hi") -> ModelRequest:
    return ModelRequest(system=("s",), messages=(UserMessage(content=text),))


async def collect(model: Model, request: ModelRequest, into: list[ReplyEvent] | None = None) -> list[ReplyEvent]:
    events: list[ReplyEvent] = [] if into is None else into
    async for event in model.stream(request):
        events.append(event)
    return events


async def test_a_turn_streams_in_order_and_stops_for_tools():
    retry = Retrying(attempt=2, max_attempts=10, delay_s=0.5, reason="overloaded")
    model = ScriptedModel([ReplyOf([retry, Think("hm"), Say("a" * 30), Call("Read", {"file_path": "x"})])])
    events = await collect(model, ask())
    assert events[0] == retry
    assert isinstance(events[1], ReplyStarted)
    assert "".join(e.text for e in events if isinstance(e, TextChunk)) == "a" * 30
    assert [e.part for e in events if isinstance(e, PartDone)] == [
        ReasoningPart(text="hm", provider="scripted"),
        TextPart(text="a" * 30),
        ToolCallPart(id=CallId("call_1"), name="Read", arguments={"file_path": "x"}),
    ]
    assert isinstance(events[-1], ReplyDone)
    assert events[-1].stop_reason == "tool_use"


async def test_requests_are_recorded_and_answered_in_order():
    model = ScriptedModel([Say("one"), lambda request: Say(f"saw {len(request.messages)}")])
    first, second = await model.complete(ask("a")), await model.complete(ask("b"))
    assert (first.parts, second.parts) == ((TextPart(text="one"),), (TextPart(text="saw 1"),))
    assert [text_of(request.messages[0].content) for request in model.requests] == ["a", "b"]
    with pytest.raises(InvalidRequest, match="no reply for request 3"):
        await model.complete(ask())


async def test_failures_come_before_or_after_parts():
    model = ScriptedModel([Fail(Overloaded("full")), BreakAfter([Say("half")], StreamBroken("cut"))])
    with pytest.raises(Overloaded):
        await collect(model, ask())
    seen: list[ReplyEvent] = []
    with pytest.raises(StreamBroken):
        await collect(model, ask(), seen)
    assert PartDone(part=TextPart(text="half")) in seen


async def test_wait_holds_the_stream_and_closing_it_is_noticed():
    gate, reached = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([ReplyOf([Say("a"), Wait(gate, reached), Say("b")])])
    task = asyncio.create_task(collect(model, ask()))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.closed_streams == 1


def test_price_is_unknown_unless_given():
    usage = Usage(input_tokens=1, output_tokens=1, cache_read_input_tokens=2)
    assert ScriptedModel().cost_usd(usage) is None
    assert ScriptedModel(usd_per_token=0.5).cost_usd(usage) == 2.0
