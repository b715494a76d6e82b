"""Tool calls of a chat stream: told as soon as they are whole, whatever the order of their pieces."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from clew.llm.errors import StreamBroken
from clew.llm.reply import ArgumentsChunk, PartDone, ReplyEvent
from clew.llm.wires.chat_calls import ObjectEnd
from clew.llm.wires.registry import wire_for
from clew.protocol.messages import TextPart, ToolCallPart
from wires.support import decoded, sse, target

CHAT = target("openai-chat")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(alphabet='ab{}[]"\\:, é\n', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='k"{}', max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(alphabet='k"{}\\', max_size=4), VALUES, max_size=3)


def chunk(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def opening(index: int, name: str, arguments: str = "") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": f"id{index}", "type": "function", "function": function}


def more(index: int, arguments: str) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[str], list[dict[str, Any]]]:
    """The arguments of some calls, and their pieces in some order that keeps each call's own order."""
    texts = [json.dumps(draw(OBJECTS), ensure_ascii=draw(st.booleans())) for _ in range(draw(st.integers(1, 4)))]
    queues: list[list[dict[str, Any]]] = []
    for index, text in enumerate(texts):
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        if draw(st.booleans()):
            pieces = ["", *pieces]
        queues.append([opening(index, f"T{index}", pieces[0]), *(more(index, piece) for piece in pieces[1:])])
    chunks: list[dict[str, Any]] = []
    begun = 0
    while any(queues):
        ready = [n for n, queue in enumerate(queues) if queue and n <= begun]
        index = draw(st.sampled_from(ready or [begun + 1]))
        begun = max(begun, index + 1)
        together = draw(st.integers(1, 2))
        picked, queues[index] = queues[index][:together], queues[index][together:]
        chunks.append(chunk(tool_calls=picked))
    return texts, [*chunks, chunk("tool_calls")]


def theirs(chunks: list[dict[str, Any]]) -> list[tuple[str, str, dict[str, Any]]]:
    """What the vendor's SDK makes of the same chunks."""
    state = ChatCompletionStreamState()
    for one in chunks:
        state.handle_chunk(ChatCompletionChunk.model_validate(one))
    message = state.get_final_completion().choices[0].message
    calls: list[Any] = list(message.tool_calls or [])
    return [(call.id, call.function.name, json.loads(call.function.arguments)) for call in calls]


def calls(events: list[ReplyEvent]) -> Iterator[tuple[int, ToolCallPart]]:
    for event in events:
        if isinstance(event, PartDone) and isinstance(event.part, ToolCallPart):
            yield event.index, event.part


@settings(max_examples=120, deadline=None)
@given(streams())
def test_any_order_of_pieces_gives_what_the_vendor_reads(stream: tuple[list[str], list[dict[str, Any]]]):
    _, chunks = stream
    found = sorted(calls(decoded(CHAT, sse(*chunks, "[DONE]"))), key=lambda one: one[0])
    assert [(part.id, part.name, part.arguments) for _, part in found] == theirs(chunks)
    assert [index for index, _ in found] == list(range(len(found)))
    assert all(part.raw_arguments is None for _, part in found)


@settings(max_examples=120, deadline=None)
@given(streams())
def test_a_call_is_told_once_as_soon_as_the_rule_says(stream: tuple[list[str], list[dict[str, Any]]]):
    """Beside another index a call is told with its last piece, or when that other index opens; alone, at the end."""
    texts, chunks = stream
    reader = wire_for("openai-chat").decoder(CHAT)
    written = ["" for _ in texts]
    opened: set[int] = set()
    told: set[int] = set()
    for one in chunks:
        pieces: list[dict[str, Any]] = one["choices"][0]["delta"].get("tool_calls", [])
        due: set[int] = set()
        for piece in pieces:
            opened.add(piece["index"])
            written[piece["index"]] += piece["function"]["arguments"]
        if len(opened) > 1:
            due = {n for n in opened if written[n] == texts[n]}
        if one["choices"][0]["finish_reason"]:
            due = opened
        now = [index for index, _ in calls(reader.feed(sse(one)[0]))]
        assert len(now) == len(set(now))
        assert not told & set(now)
        told |= set(now)
        assert told == due
    assert told == opened


@settings(deadline=None)
@given(streams())
def test_arguments_are_told_as_they_come(stream: tuple[list[str], list[dict[str, Any]]]):
    texts, chunks = stream
    events = decoded(CHAT, sse(*chunks, "[DONE]"))
    for index, text in enumerate(texts):
        told = [event for event in events if isinstance(event, ArgumentsChunk) and event.part == index]
        assert "".join(event.text for event in told) == text
        assert {event.name for event in told} == {f"T{index}"}
        place = next(n for n, event in enumerate(events) if isinstance(event, PartDone) and event.index == index)
        assert all(events.index(event) < place for event in told)


@given(OBJECTS, st.data())
def test_the_end_of_an_object_is_seen_with_its_last_brace(value: dict[str, Any], data: st.DataObject):
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    end = ObjectEnd()
    end.feed(text[:cut])
    assert not end.seen
    end.feed(text[cut:])
    assert end.seen


def test_interleaved_calls_with_the_classic_order():
    stream = [
        chunk(content="I look."),
        chunk(tool_calls=[opening(0, "A")]),
        chunk(tool_calls=[opening(1, "B", '{"b"')]),
        chunk(tool_calls=[more(0, '{"a": ')]),
        chunk(tool_calls=[more(1, ': "}"')]),
        chunk(tool_calls=[more(0, "1}")]),
        chunk(tool_calls=[more(1, "}")]),
        chunk("tool_calls"),
    ]
    reader = wire_for("openai-chat").decoder(CHAT)
    seen = [[(i, p.name, p.arguments) for i, p in calls(reader.feed(event))] for event in sse(*stream)]
    assert seen == [[], [], [], [], [], [(1, "A", {"a": 1})], [(2, "B", {"b": "}"})], []]


def test_a_call_alone_waits_for_the_end_of_the_stream():
    """Until then nobody knows whether a complete object was all of it."""
    reader = wire_for("openai-chat").decoder(CHAT)
    assert not list(calls(reader.feed(sse(chunk(tool_calls=[opening(0, "A", "{}")]))[0])))
    assert not list(calls(reader.feed(sse(chunk(tool_calls=[more(0, "  ")]))[0])))
    assert [part.arguments for _, part in calls(reader.feed(sse(chunk("tool_calls"))[0]))] == [{}]


def test_an_object_that_goes_on_is_one_call_that_cannot_be_read():
    stream = [chunk(tool_calls=[opening(0, "A", "{}")]), chunk(tool_calls=[more(0, '{"x": 1}')]), chunk("tool_calls")]
    assert [(p.arguments, p.raw_arguments) for _, p in calls(decoded(CHAT, sse(*stream)))] == [({}, '{}{"x": 1}')]


def test_a_call_without_arguments_and_a_broken_one_wait_too():
    stream = [
        chunk(tool_calls=[opening(0, "Now"), opening(1, "A", "{'x': 1}"), opening(2, "B", "{}")]),
        chunk("tool_calls"),
    ]
    reader = wire_for("openai-chat").decoder(CHAT)
    first, last = ([(p.name, p.raw_arguments) for _, p in calls(reader.feed(event))] for event in sse(*stream))
    assert first == [("B", None)]
    assert last == [("Now", None), ("A", "{'x': 1}")]


def test_blank_after_a_call_was_told_changes_nothing():
    stream = [chunk(tool_calls=[opening(0, "A", "{}"), opening(1, "B", "{}"), more(0, "\n")]), chunk("tool_calls")]
    assert [part.name for _, part in calls(decoded(CHAT, sse(*stream)))] == ["A", "B"]


@pytest.mark.parametrize("given_id", ["", "x"])
def test_servers_that_put_every_call_under_index_0(given_id: str):
    """One sends them whole, with an empty id or the same; another streams each of them, with ids of their own."""
    same = [{"index": 0, "id": given_id, "function": {"name": name, "arguments": '{"n": 1}'}} for name in "AAB"]
    if not given_id:
        found = list(calls(decoded(CHAT, sse(*(chunk(tool_calls=[one]) for one in same), chunk("tool_calls")))))
        assert [(part.name, part.arguments) for _, part in found] == [("A", {"n": 1}), ("A", {"n": 1}), ("B", {"n": 1})]
    streamed = [
        chunk(tool_calls=[opening(0, "A") | {"id": "one"}]),
        chunk(tool_calls=[more(0, '{"n"')]),
        chunk(tool_calls=[more(0, ": 1}")]),
        chunk(tool_calls=[opening(0, "B") | {"id": "two"}]),
        chunk(tool_calls=[more(0, '{"n"')]),
        chunk(tool_calls=[more(0, ": 2}")]),
        chunk("tool_calls"),
    ]
    found = list(calls(decoded(CHAT, sse(*streamed))))
    assert [(part.id, part.arguments) for _, part in found] == [("one", {"n": 1}), ("two", {"n": 2})]


def test_a_server_that_repeats_the_name_with_every_piece():
    stream = [
        chunk(tool_calls=[opening(0, "A", '{"n"')]),
        chunk(tool_calls=[opening(0, "A", ": 1}")]),
        chunk(tool_calls=[opening(0, "A", "")]),
        chunk("tool_calls"),
    ]
    assert [part.arguments for _, part in calls(decoded(CHAT, sse(*stream)))] == [{"n": 1}]
    without_ids = [one | {} for one in stream[:3]]
    for one in without_ids:
        one["choices"][0]["delta"]["tool_calls"][0]["id"] = ""
    assert [part.arguments for _, part in calls(decoded(CHAT, sse(*without_ids, stream[3])))] == [{"n": 1}]


def test_words_between_and_after_calls_keep_their_place():
    stream = [
        chunk(content="first"),
        chunk(tool_calls=[opening(0, "A", "{}")]),
        chunk(content="then"),
        chunk("tool_calls", content=" more"),
    ]
    done = [event for event in decoded(CHAT, sse(*stream)) if isinstance(event, PartDone)]
    assert [event.part for event in sorted(done, key=lambda event: event.index)][::2] == [
        TextPart(text="first"),
        TextPart(text="then more"),
    ]


def test_a_cut_stream_tells_no_call_that_was_not_whole():
    stream = [chunk(tool_calls=[opening(0, "A", '{"a": 1}')]), chunk(tool_calls=[opening(1, "B", '{"b": ')])]
    reader = wire_for("openai-chat").decoder(CHAT)
    seen = [part.name for event in sse(*stream) for _, part in calls(reader.feed(event))]
    assert seen == ["A"]
    with pytest.raises(StreamBroken):
        reader.finish()
