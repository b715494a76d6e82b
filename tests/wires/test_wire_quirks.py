"""What servers really send: every odd stream still becomes the right parts, or one clear failure."""

import contextlib
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.llm.errors import BadResponse, LLMError, Overloaded, PromptTooLong, RateLimited, StreamBroken
from clew.llm.failures import error_words
from clew.llm.http.sse import SseEvent
from clew.llm.reply import PartDone, ReasoningChunk, ReplyDone, ReplyStarted, TextChunk
from clew.llm.wires.base import body_json, event_json, parse_arguments
from clew.llm.wires.chat_decoder import ThinkTags
from clew.llm.wires.registry import wire_for
from clew.protocol.messages import ReasoningPart, TextPart, ToolCallPart
from wires.support import DIALECTS, ask, body_of, compatible, decoded, parts_in, sse, target

CHAT = target("openai-chat")
LOCAL = compatible("ollama", "qwen3:8b")


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def piece(
    index: int | None = 0, call_id: str | None = None, name: str | None = None, args: Any = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", args)) if value is not None}
    whole = {"index": index, "id": call_id, "function": function}
    return {key: value for key, value in whole.items() if value is not None}


def calls_in(*chunks: Any, where: Any = CHAT) -> list[ToolCallPart]:
    return [part for part in parts_in(decoded(where, sse(*chunks))) if isinstance(part, ToolCallPart)]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text", "thinking"])
def test_reasoning_under_every_name(field: str):
    events = decoded(CHAT, sse(delta(**{field: "hm "}), delta(**{field: "yes"}), delta(content="ok"), delta("stop")))
    assert parts_in(events) == [ReasoningPart(text="hm yes", provider="openai"), TextPart(text="ok")]
    assert [e.text for e in events if isinstance(e, ReasoningChunk)] == ["hm ", "yes"]


def test_openrouter_details_are_joined_again():
    where = compatible("openrouter", "anthropic/claude-sonnet-5.5")
    one = {"type": "reasoning.text", "text": "a", "index": 0}
    two = {"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}
    other = {"type": "reasoning.encrypted", "data": "x", "index": 1}
    chunks = [delta(reasoning="a", reasoning_details=[one]), delta(reasoning="b", reasoning_details=[two])]
    events = decoded(where, sse(*chunks, delta(reasoning_details=[other]), delta("stop", content="ok")))
    joined = [{"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"}, other]
    assert parts_in(events)[0] == ReasoningPart(text="ab", provider="openrouter", data={"reasoning_details": joined})


def test_calls_without_ids_get_their_own():
    found = calls_in(delta(tool_calls=[piece(0, None, "A", "{}"), piece(1, None, "B", "{}")]), delta("tool_calls"))
    assert [part.name for part in found] == ["A", "B"]
    assert found[0].id
    assert found[0].id != found[1].id


def test_ids_come_as_the_server_gave_them():
    """Making them distinct is done where they join the conversation, and once more where it is sent."""
    twice = [piece(0, "same", "A", "{}"), piece(1, "same", "B", "{}")]
    assert [part.id for part in calls_in(delta(tool_calls=twice), delta("tool_calls"))] == ["same", "same"]


def test_two_calls_under_one_index_are_two_calls():
    chunks = [delta(tool_calls=[piece(0, "a", "A", '{"x":1}')]), delta(tool_calls=[piece(0, "b", "B", '{"x":2}')])]
    assert [(p.id, p.name, p.arguments) for p in calls_in(*chunks, delta("tool_calls"))] == [
        ("a", "A", {"x": 1}),
        ("b", "B", {"x": 2}),
    ]


def test_calls_without_an_index():
    chunks = [
        delta(tool_calls=[piece(None, "a", "A", '{"x"')]),
        delta(tool_calls=[piece(None, None, None, ":1}")]),
        delta(tool_calls=[piece(None, "b", "B", "{}")]),
    ]
    assert [(p.name, p.arguments) for p in calls_in(*chunks, delta("tool_calls"))] == [("A", {"x": 1}), ("B", {})]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"x": 1}, {"x": 1}),
        ('{"x": 1}', {"x": 1}),
        ('"{\\"x\\": 1}"', {"x": 1}),
        ("", {}),
        (None, {}),
    ],
)
def test_arguments_as_object_string_doubled_or_missing(args: Any, expected: dict[str, Any]):
    assert calls_in(delta(tool_calls=[piece(0, "a", "A", args)]), delta("tool_calls"))[0].arguments == expected


@pytest.mark.parametrize("raw", ["{bad", "[1]", "7", '"words"', "{'a': 1}", "\ud800"])
def test_arguments_that_are_no_object_are_kept_as_text(raw: str):
    assert parse_arguments(raw) == ({}, raw)


@pytest.mark.parametrize("depth", [101, 940, 100_000])
def test_arguments_nested_beyond_reason_are_kept_as_text(depth: int):
    """Some of them could be read here, but not written from deeper within the program."""
    raw = '{"a":' * depth + "1" + "}" * depth
    assert parse_arguments(raw) == ({}, raw)


def test_an_argument_object_nested_beyond_reason_is_told():
    value: dict[str, Any] = {}
    for _ in range(200):
        value = {"a": [value]}
    assert parse_arguments(value) == ({}, "(nested too deeply)")
    assert parse_arguments({"a": [[{"b": 1}]]}) == ({"a": [[{"b": 1}]]}, None)


def test_events_and_bodies_nested_beyond_reason_are_failures_with_words():
    deep = b'{"error":' * 100_000
    with pytest.raises(StreamBroken, match="not JSON"):
        event_json(SseEvent("", deep))
    with pytest.raises(BadResponse, match="not JSON"):
        body_json(deep)
    assert error_words(deep)[0] == ""


def test_a_call_is_done_as_soon_as_the_next_one_begins():
    reader = wire_for("openai-chat").decoder(CHAT)
    seen: list[list[str]] = []
    for event in sse(
        delta(content="I look."),
        delta(tool_calls=[piece(0, "a", "A", "{}")]),
        delta(tool_calls=[piece(1, "b", "B", "{")]),
        delta(tool_calls=[piece(1, None, None, "}")]),
        delta("tool_calls"),
    ):
        seen.append([type(e.part).__name__ for e in reader.feed(event) if isinstance(e, PartDone)])
    assert seen == [[], ["TextPart"], ["ToolCallPart"], ["ToolCallPart"], []]


def test_arguments_that_go_on_after_their_call_was_told_break_the_stream():
    pieces = [piece(0, "a", "A", "{}"), piece(1, "b", "B", "{"), piece(0, None, None, '{"x": 1}')]
    with pytest.raises(StreamBroken, match="mixed"):
        calls_in(*(delta(tool_calls=[one]) for one in pieces), delta("tool_calls"))


def test_content_as_a_list_of_parts():
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ok"}]
    events = decoded(CHAT, sse(delta(content=content), delta("stop")))
    assert parts_in(events) == [ReasoningPart(text="hm", provider="openai"), TextPart(text="ok")]


def test_a_finish_reason_without_the_done_mark_is_enough_and_the_other_way_round():
    for stream in (sse(delta("stop", content="ok")), sse(delta(content="ok"), "[DONE]")):
        assert parts_in(decoded(CHAT, stream)) == [TextPart(text="ok")]


def test_stop_reasons_are_ours():
    table = {"stop": "end_turn", "length": "max_tokens", "content_filter": "content_filter", "odd": "odd"}
    for theirs, ours in table.items():
        done = decoded(CHAT, sse(delta(theirs, content="ok")))[-1]
        assert isinstance(done, ReplyDone)
        assert done.stop_reason == ours
    called = decoded(CHAT, sse(delta("stop", tool_calls=[piece(0, "a", "A", "{}")])))[-1]
    assert isinstance(called, ReplyDone)
    assert called.stop_reason == "tool_use"


def test_think_tags_of_local_servers_become_reasoning():
    events = decoded(LOCAL, sse(delta(content="<thi"), delta(content="nk>hm</th"), delta("stop", content="ink>\n\nok")))
    assert parts_in(events) == [ReasoningPart(text="hm", provider="ollama"), TextPart(text="ok")]
    assert [e.text for e in events if isinstance(e, TextChunk)] == ["ok"]
    elsewhere = decoded(CHAT, sse(delta("stop", content="<think>as text</think>")))
    assert parts_in(elsewhere) == [TextPart(text="<think>as text</think>")]


@settings(deadline=None)
@given(
    st.sampled_from(["<think>a<b></think>c</think>", "  <think>x", "<thinking>no", "plain <think>", "<", ""]), st.data()
)
def test_think_tags_do_not_depend_on_the_cuts(text: str, data: st.DataObject):
    def split(pieces: list[str]) -> tuple[str, str]:
        tags = ThinkTags(enabled=True)
        found = [one for piece in pieces for one in tags.feed(piece)] + list(tags.flush())
        return "".join(t for thought, t in found if thought), "".join(t for thought, t in found if not thought)

    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *cuts, len(text)]
    assert split([text[a:b] for a, b in pairwise(edges)]) == split([text])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_that_ends_early_is_broken(dialect: str):
    openings = {
        "anthropic": [{"type": "message_start", "message": {"id": "m"}}],
        "openai-chat": [delta(content="half")],
        "openai-responses": [{"type": "response.created", "response": {"id": "r"}}],
        "gemini": [{"candidates": [{"content": {"parts": [{"text": "half"}]}}]}],
    }
    for events in (openings[dialect], []):
        with pytest.raises(StreamBroken, match="ended before"):
            decoded(target(dialect), sse(*events))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("junk", ["{not json", "[1]", '"word"', "\xff"])
def test_an_event_that_is_not_an_object_breaks_the_stream(dialect: str, junk: str):
    with pytest.raises(StreamBroken, match="not"):
        decoded(target(dialect), [SseEvent("", junk.encode("latin-1"))])


KEYS = [
    "type",
    "index",
    "delta",
    "choices",
    "message",
    "content",
    "content_block",
    "item",
    "response",
    "parts",
    "candidates",
    "tool_calls",
    "function",
    "usage",
    "text",
    "id",
    "error",
    "usageMetadata",
    "finish_reason",
    "finishReason",
    "functionCall",
    "args",
    "arguments",
]
WORDS = [
    "text",
    "tool_use",
    "stop",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "response.completed",
    "error",
]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=5) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), ANY_JSON, max_size=5))
def test_any_json_gives_events_or_one_of_our_errors(dialect: str, value: dict[str, Any]):
    with contextlib.suppress(LLMError):
        decoded(target(dialect), sse(value))
    with contextlib.suppress(LLMError):
        wire_for(target(dialect).dialect).decode(sse(value)[0].data, target(dialect))


def test_errors_inside_a_stream_are_told_apart():
    claude = target("anthropic")
    table: list[tuple[Any, dict[str, Any], type[LLMError]]] = [
        (claude, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, Overloaded),
        (claude, {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}, RateLimited),
        (CHAT, {"error": {"message": "maximum context length is 5", "code": "context_length_exceeded"}}, PromptTooLong),
        (CHAT, {"error": {"message": "slow down", "code": 429}}, RateLimited),
        (
            target("openai-responses"),
            {"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "x"}}},
            RateLimited,
        ),
        (
            target("gemini"),
            {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}},
            Overloaded,
        ),
    ]
    for where, event, kind in table:
        with pytest.raises(kind):
            decoded(where, sse(event))


def test_responses_reasoning_goes_back_without_what_requests_may_not_carry():
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "encrypted_content": "e",
        "status": "completed",
        "content": None,
    }
    done = {"type": "response.completed", "response": {"id": "r"}}
    events = decoded(target("openai-responses"), sse({"type": "response.output_item.done", "item": item}, done))
    echo = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
    assert parts_in(events) == [ReasoningPart(provider="openai", data=echo)]


def test_gemini_refuses_a_prompt_and_cannot_write_a_call():
    blocked = decoded(target("gemini"), sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}))
    assert isinstance(blocked[-1], ReplyDone)
    assert blocked[-1].stop_reason == "content_filter"
    with pytest.raises(StreamBroken, match="cannot be read") as caught:
        decoded(target("gemini"), sse({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}))
    assert caught.value.retryable


def test_anthropic_ignores_blocks_it_does_not_know_and_empty_text():
    stream = sse(
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use", "id": "s"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "t", "name": "A", "input": {"x": 1}},
        },
        {"type": "content_block_stop", "index": 2},
        {"type": "brand_new"},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )
    events = decoded(target("anthropic"), stream)
    assert parts_in(events) == [ToolCallPart(id=calls_id(events), name="A", arguments={"x": 1})]
    assert isinstance(events[0], ReplyStarted)


def calls_id(events: Any) -> Any:
    return next(part.id for part in parts_in(events) if isinstance(part, ToolCallPart))


def test_anthropic_delta_for_a_block_never_opened_breaks_the_stream():
    delta_event = {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}}
    with pytest.raises(StreamBroken, match="never opened"):
        decoded(target("anthropic"), sse({"type": "message_start", "message": {}}, delta_event))


@pytest.mark.parametrize(
    ("provider", "model", "effort", "fields"),
    [
        ("deepseek", "deepseek-v4-pro", "low", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("deepseek", "deepseek-v4-pro", "xhigh", {"reasoning_effort": "high"}),
        ("openrouter", "anthropic/claude-sonnet-5.5", "high", {"reasoning": {"effort": "high"}}),
        ("dashscope", "qwen3.7-max", "high", {"enable_thinking": True}),
        ("mistral", "mistral-large-latest", "high", {}),
        ("moonshot", "kimi-k3", "medium", {"reasoning_effort": "max"}),
    ],
)
def test_effort_in_each_servers_words(provider: str, model: str, effort: str, fields: dict[str, Any]):
    body = body_of(ask("hi", effort=effort), compatible(provider, model))
    assert {key: body[key] for key in fields} == fields
    if not fields:
        assert not {"reasoning_effort", "reasoning", "thinking", "enable_thinking"} & set(body)


def test_rows_differ_in_the_fields_they_want():
    assert "stream_options" not in body_of(ask("hi"), compatible("mistral", "mistral-large-latest"))
    assert "max_completion_tokens" in body_of(ask("hi"), target("openai-chat"))
    assert body_of(ask("hi"), target("openai-chat"))["messages"][0]["role"] == "developer"
    local = body_of(ask("hi", effort="high"), LOCAL)
    assert "max_tokens" not in local
    assert "reasoning_effort" not in local
    shaped = body_of(ask("hi", json_schema={"type": "object"}), compatible("deepseek", "deepseek-v4-pro"))
    assert shaped["response_format"] == {"type": "json_object"}
