"""The events of a reply: numbers, chunks, usage and waits, the same in every dialect, streamed or whole."""

from typing import Any

import pytest
from msgspec.structs import replace

from clew.llm.errors import Overloaded, StreamBroken
from clew.llm.reply import (
    ArgumentsChunk,
    PartDone,
    ReasoningChunk,
    Reply,
    ReplyDone,
    ReplyEvent,
    ReplyStarted,
    Retrying,
    StillWaiting,
    TextChunk,
    UsageSeen,
    reply_of,
)
from clew.llm.retry import RetryPolicy
from clew.llm.scripted import BreakAfter, Call, Fail, ReplyOf, Say, ScriptedModel, Think
from clew.protocol.ids import CallId, MessageId
from clew.protocol.messages import (
    AssistantMessage,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
    parts_of,
)
from clew.protocol.usage import Usage
from fakes.model_server import ModelServer
from wires.support import (
    DIALECTS,
    Sleeps,
    ask,
    call,
    collect,
    decoded,
    parts_in,
    remote,
    result,
    said,
    sse,
    target,
    usage_in,
)

RICH: dict[str, Any] = {
    "parts": [
        {"thinking": "let me see, one thing after the other", "signature": "c2ln"},
        {"text": "I look at two files and then say more."},
        {"call": "Read", "arguments": {"file_path": "a" * 40}},
        {"call": "Bash", "arguments": {"command": "ls", "why": "to see what is there"}},
    ],
    "usage": {"input": 50, "output": 20, "cache_read": 7},
}


def base(dialect: str, server: ModelServer) -> str:
    return server.url if dialect in ("anthropic", "gemini") else f"{server.url}/v1"


async def answers(dialect: str, *replies: dict[str, Any], whole: bool = False, **options: Any) -> list[ReplyEvent]:
    with ModelServer(list(replies)) as server:
        model = remote(dialect, base(dialect, server), **options)
        events = [event async for event in model.stream(ask("hi"), whole=whole)]
        await model.close()
    return events


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("whole", [False, True])
async def test_chunks_carry_the_number_of_their_part(dialect: str, whole: bool):
    events = await answers(dialect, RICH, whole=whole)
    done = [event for event in events if isinstance(event, PartDone)]
    assert [event.index for event in done] == [0, 1, 2, 3]
    assert [type(event.part) for event in done] == [ReasoningPart, TextPart, ToolCallPart, ToolCallPart]
    for event in done:
        place = events.index(event)
        for other in events[place:]:
            assert not isinstance(other, TextChunk | ReasoningChunk | ArgumentsChunk) or other.part != event.index
    texts = {n: "".join(e.text for e in events if isinstance(e, TextChunk) and e.part == n) for n in range(4)}
    thoughts = {n: "".join(e.text for e in events if isinstance(e, ReasoningChunk) and e.part == n) for n in range(4)}
    assert texts == {0: "", 1: RICH["parts"][1]["text"], 2: "", 3: ""}
    assert thoughts == {0: RICH["parts"][0]["thinking"], 1: "", 2: "", 3: ""}


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses"])
async def test_arguments_are_told_as_they_stream(dialect: str):
    events = await answers(dialect, RICH)
    for number, name in ((2, "Read"), (3, "Bash")):
        told = [event for event in events if isinstance(event, ArgumentsChunk) and event.part == number]
        assert {event.name for event in told} == {name}
        assert told[0].text == "", "that a call has begun is known before its arguments"
        assert len(told) > 2
        text = "".join(event.text for event in told)
        assert text.startswith("{")
        assert text.endswith("}")


async def test_gemini_sends_calls_whole():
    assert not any(isinstance(event, ArgumentsChunk) for event in await answers("gemini", RICH))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_whole_reply_is_the_same_reply(dialect: str):
    streamed, whole = await answers(dialect, RICH), await answers(dialect, RICH, whole=True)
    assert without_ids(reply_of(streamed)) == without_ids(reply_of(whole))
    assert reply_of(whole).request_id == "req_1"
    assert isinstance(whole[-1], ReplyDone)
    assert whole[-1] == streamed[-1]


def without_ids(reply: Reply) -> Reply:
    """Gemini's calls have no ids of their own and get random ones."""
    parts = [replace(part, id=CallId("")) if isinstance(part, ToolCallPart) else part for part in reply.parts]
    return replace(reply, parts=tuple(parts))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_whole_request_is_not_streamed_and_tells_its_waits(dialect: str):
    with ModelServer(
        [{"fault": "rate_limited", "retry_after": 2}, {"fault": "server_error"}, {"text": "ok"}]
    ) as server:
        sleeps = Sleeps()
        model = remote(dialect, base(dialect, server), sleep=sleeps)
        events = [event async for event in model.stream(ask("hi"), whole=True)]
        await model.close()
        assert not any(request.body.get("stream") for request in server.requests)
        assert not any("stream" in request.path for request in server.requests)
    waits = [event for event in events if isinstance(event, Retrying)]
    assert [event.delay_s for event in waits] == sleeps.seconds
    assert [event.attempt for event in waits] == [2, 3]
    assert events[:2] == waits
    assert parts_in(events) == [TextPart(text="ok")]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_last_usage_seen_is_the_usage_of_the_reply(dialect: str):
    events = await answers(dialect, RICH)
    seen = [event.usage for event in events if isinstance(event, UsageSeen)]
    final = usage_in(events)
    assert final == Usage(input_tokens=50, output_tokens=20, cache_read_input_tokens=7)
    if dialect != "openai-responses":  # there it comes with the end only
        assert seen[-1] == final
    assert len(seen) == len(set(map(repr, seen))), "told only when something became known"


def test_usage_is_told_when_it_becomes_known():
    start = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}}
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
    seen = [
        e.usage
        for e in decoded(target("anthropic"), sse(start, delta, {"type": "message_stop"}))
        if isinstance(e, UsageSeen)
    ]
    assert seen == [Usage(input_tokens=9, output_tokens=1), Usage(input_tokens=9, output_tokens=5)]
    counts = [{"prompt_tokens": 9, "completion_tokens": n} for n in (1, 1, 4)]
    chunks = [{"id": "c", "choices": [{"delta": {"content": "x"}}], "usage": one} for one in counts]
    seen = [e.usage for e in decoded(target("openai-chat"), sse(*chunks, "[DONE]")) if isinstance(e, UsageSeen)]
    assert seen == [Usage(input_tokens=9, output_tokens=1), Usage(input_tokens=9, output_tokens=4)]
    pieces = [
        {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": reason}], "usageMetadata": counted}
        for reason, counted in (
            (None, {"promptTokenCount": 9}),
            ("STOP", {"promptTokenCount": 9, "candidatesTokenCount": 4}),
        )
    ]
    seen = [e.usage for e in decoded(target("gemini"), sse(*pieces)) if isinstance(e, UsageSeen)]
    assert seen == [Usage(input_tokens=9), Usage(input_tokens=9, output_tokens=4)]


async def test_what_a_failed_attempt_used_is_told_before_its_retry():
    """The provider counts the prompt also when the stream is cut right after it."""
    cut = {"fault": "cut", "after": 2, "usage": {"input": 70, "output": 5}}
    events = await answers("anthropic", cut, {"text": "ok"})
    kinds = [type(event) for event in events]
    assert kinds[:2] == [UsageSeen, Retrying]
    assert kinds.count(ReplyStarted) == 1
    assert events[0] == UsageSeen(usage=Usage(input_tokens=70, output_tokens=1))


async def test_a_stream_cut_inside_the_arguments_is_broken_because_they_were_seen():
    with ModelServer([{"fault": "cut", "calls": RICH["parts"][2:], "after": 5}]) as server:
        model = remote("anthropic", server.url)
        seen: list[ReplyEvent] = []
        with pytest.raises(StreamBroken):
            await collect(model, ask("hi"), seen)
        await model.close()
    assert isinstance(seen[-1], ArgumentsChunk)
    assert not any(isinstance(event, PartDone) for event in seen)


@pytest.mark.parametrize(
    ("dialect", "events"),
    [
        ("anthropic", [{"type": "message_start", "message": {}}, {"type": "message_stop"}]),
        ("openai-chat", [{"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}]),
        ("openai-responses", [{"type": "response.completed", "response": {}}]),
        ("gemini", [{"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}]),
    ],
)
def test_a_reply_without_an_id_has_none(dialect: str, events: list[dict[str, Any]]):
    started = decoded(target(dialect), sse(*events))[0]
    assert isinstance(started, ReplyStarted)
    assert started.message_id == ""


def test_responses_items_that_grow_side_by_side_keep_their_numbers():
    def delta(kind: str, index: int, text: str) -> dict[str, Any]:
        return {"type": f"response.{kind}.delta", "output_index": index, "delta": text}

    call_item = {"type": "function_call", "call_id": "c", "name": "Read", "arguments": "{}"}
    message = {"type": "message", "content": [{"type": "output_text", "text": "ab"}]}
    stream = sse(
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}},
        {"type": "response.output_item.added", "output_index": 1, "item": call_item | {"arguments": ""}},
        delta("output_text", 0, "a"),
        delta("function_call_arguments", 1, "{}"),
        {"type": "response.output_item.done", "output_index": 1, "item": call_item},
        delta("output_text", 0, "b"),
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.completed", "response": {"id": "r"}},
    )
    events = decoded(target("openai-responses"), stream)
    assert [e.part for e in events if isinstance(e, ArgumentsChunk)] == [0, 0], "it showed itself first"
    assert [e.part for e in events if isinstance(e, TextChunk)] == [1, 1]
    assert [(e.index, type(e.part)) for e in events if isinstance(e, PartDone)] == [(0, ToolCallPart), (1, TextPart)]


async def test_somebody_who_waits_is_told_until_the_reply_begins():
    policy = RetryPolicy(told_after_s=(0.01, 0.02), told_every_s=0.01)
    with ModelServer([{"parts": [{"wait": "gate"}, {"text": "at last"}]}]) as server:
        model = remote("anthropic", server.url, policy=policy)
        seen: list[ReplyEvent] = []
        async for event in model.stream(ask("hi")):
            seen.append(event)
            if len([one for one in seen if isinstance(one, StillWaiting)]) == 4:
                server.release("gate")
        await model.close()
    waits = [event.seconds for event in seen if isinstance(event, StillWaiting)]
    assert waits[:4] == pytest.approx([0.01, 0.02, 0.03, 0.04])
    last = max(n for n, event in enumerate(seen) if isinstance(event, StillWaiting))
    first = next(n for n, event in enumerate(seen) if isinstance(event, ReplyStarted))
    assert last < first
    assert parts_in(seen) == [TextPart(text="at last")]


async def test_a_whole_request_tells_that_it_waits_too():
    policy = RetryPolicy(told_after_s=(0.01,))
    with ModelServer([{"parts": [{"wait": "gate"}, {"text": "ok"}]}]) as server:
        model = remote("openai-chat", f"{server.url}/v1", policy=policy)
        seen: list[ReplyEvent] = []
        async for event in model.stream(ask("hi"), whole=True):
            seen.append(event)
            server.release("gate")
        await model.close()
    assert seen[0] == StillWaiting(seconds=0.01)
    assert isinstance(seen[-1], ReplyDone)


async def test_leaving_while_waiting_drops_the_connection():
    policy = RetryPolicy(told_after_s=(0.01,))
    with ModelServer([{"fault": "hang"}]) as server:
        model = remote("anthropic", server.url, policy=policy)
        stream = model.stream(ask("hi"))
        assert isinstance(await anext(stream), StillWaiting)
        await stream.aclose()
        await model.close()
        assert len(server.requests) == 1


def test_the_moments_by_default():
    assert (RetryPolicy().told_after_s, RetryPolicy().told_every_s) == ((10.0, 30.0), 60.0)


async def test_the_scripted_model_tells_everything_a_wire_would():
    usage = UsageSeen(usage=Usage(input_tokens=3))
    waiting = StillWaiting(seconds=10.0)
    reply = ReplyOf(
        [waiting, usage, Think("hm"), Say("a" * 30), Call("Read", {"file_path": "x" * 30})], message_id="same"
    )
    model = ScriptedModel([reply, reply])
    events = await collect(model, ask("hi"))
    assert events[:2] == [waiting, usage]
    assert isinstance(events[2], ReplyStarted)
    assert events[2].message_id == "same"
    assert {event.part for event in events if isinstance(event, ArgumentsChunk)} == {2}
    assert [event.index for event in events if isinstance(event, PartDone)] == [0, 1, 2]
    again = [event async for event in model.stream(ask("hi"), whole=True)]
    assert [part for part in reply_of(again).parts if not isinstance(part, ToolCallPart)] == parts_in(events)[:2]
    assert len([event for event in again if isinstance(event, TextChunk)]) == 1


async def test_the_scripted_model_asked_whole_waits_and_fails_as_a_server_would():
    retry = Retrying(attempt=2, max_attempts=10, delay_s=0.5, reason="overloaded")
    model = ScriptedModel(
        [ReplyOf([retry, Say("ok")]), BreakAfter([Say("half")], StreamBroken("cut")), Fail(Overloaded(""))]
    )
    events = [event async for event in model.stream(ask("hi"), whole=True)]
    assert events[0] == retry
    assert parts_in(events) == [TextPart(text="ok")]
    for error in (StreamBroken, Overloaded):
        with pytest.raises(error):
            await model.complete(ask("hi"))


async def test_the_scripted_model_sees_a_valid_history():
    thought = ReasoningPart(text="hm", provider="scripted")
    own = AssistantMessage(id=MessageId("m"), model="scripted/model", content=(thought, call("c")))
    history = ask(
        "go", own, UserMessage(content=(result("c"), result("stray"))), said(thought, "b", model="other/model")
    )
    seen: list[int] = []

    def answer(request: Any) -> Say:
        seen.append(len(request.messages))
        return Say("ok")

    model = ScriptedModel([answer])
    await collect(model, history)
    sent = model.requests[0].messages
    assert seen == [len(sent)] == [4]
    assert parts_of(sent[1]) == own.content
    assert [part.call_id for part in parts_of(sent[2]) if isinstance(part, ToolResultPart)] == ["c"]
    assert parts_of(sent[3]) == (TextPart(text="b"),)
