"""Usage mapping: the cases PR-1 to PR-4 and PR-7, and counts that are early, late, repeated or absent."""

from typing import Any

import pytest

from clew.llm.remote import RemoteModel
from clew.llm.retry import RetryPolicy
from clew.llm.wires.base import UsageTally
from clew.protocol.usage import Usage
from wires.support import decoded, sse, target, usage_in

CHAT = target("openai-chat")
GEMINI = target("gemini")


def chunk(content: str = "", finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]} | fields


def gemini(text: str, **fields: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]} | fields


def test_pr_1_openai_cached_tokens_are_taken_out_of_the_input():
    counts = {"prompt_tokens": 34097, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 34048}}
    usage = usage_in(decoded(CHAT, sse(chunk("hi", "stop", usage=counts), "[DONE]")))
    assert usage == Usage(
        input_tokens=49, output_tokens=30, cache_creation_input_tokens=0, cache_read_input_tokens=34048
    )


def test_pr_2_usage_after_the_finish_reason_counts():
    trailing = {"id": "c", "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3}}
    usage = usage_in(decoded(CHAT, sse(chunk("hi"), chunk("", "stop"), trailing, "[DONE]")))
    assert usage == Usage(input_tokens=12, output_tokens=3)


def test_pr_3_more_cached_than_prompt_is_never_negative():
    counts = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 25}}
    usage = usage_in(decoded(CHAT, sse(chunk("hi", "stop", usage=counts))))
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (0, 25)


def test_pr_4_gemini_cached_tokens_are_taken_out_of_the_input():
    counts = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 800,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 5,
    }
    usage = usage_in(decoded(GEMINI, sse(gemini("hi", usageMetadata=counts))))
    assert usage == Usage(input_tokens=200, output_tokens=12, cache_read_input_tokens=800)


def test_pr_7_no_usage_is_unknown_and_not_zero():
    assert usage_in(decoded(CHAT, sse(chunk("hi", "stop"), "[DONE]"))) is None
    assert usage_in(decoded(GEMINI, sse(gemini("hi")))) is None
    created = {"type": "response.created", "response": {"id": "r"}}
    completed = {"type": "response.completed", "response": {"id": "r", "usage": None}}
    assert usage_in(decoded(target("openai-responses"), sse(created, completed))) is None
    start = {"type": "message_start", "message": {"id": "m"}}
    assert usage_in(decoded(target("anthropic"), sse(start, {"type": "message_stop"}))) is None


def test_repeated_and_growing_counts_are_not_summed():
    counts = [{"prompt_tokens": 10, "completion_tokens": n} for n in (1, 5, 9)]
    stream = sse(*(chunk("x", usage=c) for c in counts), chunk("", "stop", usage=counts[-1]), "[DONE]")
    assert usage_in(decoded(CHAT, stream)) == Usage(input_tokens=10, output_tokens=9)


def test_a_later_chunk_without_a_field_does_not_erase_it():
    early = {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}}
    late = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": None}
    usage = usage_in(decoded(CHAT, sse(chunk("x", usage=early), chunk("", "stop", usage=late))))
    assert usage == Usage(input_tokens=6, output_tokens=2, cache_read_input_tokens=4)


@pytest.mark.parametrize(
    "counts",
    [
        {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6},
        {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4},
        {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
    ],
)
def test_every_name_for_cached_tokens(counts: dict[str, Any]):
    usage = usage_in(decoded(CHAT, sse(chunk("x", "stop", usage=counts))))
    assert usage == Usage(input_tokens=6, output_tokens=2, cache_read_input_tokens=4)


def test_usage_inside_a_choice_counts():
    inside = chunk("x", "stop")
    inside["choices"][0]["usage"] = {"prompt_tokens": 5, "completion_tokens": 1}
    assert usage_in(decoded(CHAT, sse(inside))) == Usage(input_tokens=5, output_tokens=1)


def test_openai_cache_writes_are_a_kind_of_their_own():
    details = {"cached_tokens": 10, "cache_write_tokens": 30}
    done = {"id": "r", "usage": {"input_tokens": 100, "output_tokens": 2, "input_tokens_details": details}}
    usage = usage_in(decoded(target("openai-responses"), sse({"type": "response.completed", "response": done})))
    assert usage == Usage(input_tokens=60, output_tokens=2, cache_creation_input_tokens=30, cache_read_input_tokens=10)


def test_anthropic_start_and_delta_join_and_nulls_are_ignored():
    counts = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 7, "output_tokens": 1}
    late = {"output_tokens": 42, "input_tokens": None}
    stream = sse(
        {"type": "message_start", "message": {"id": "m", "usage": counts}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": late},
        {"type": "message_stop"},
    )
    assert usage_in(decoded(target("anthropic"), stream)) == Usage(
        input_tokens=3, output_tokens=42, cache_creation_input_tokens=20, cache_read_input_tokens=7
    )


def test_costs_by_kind_and_by_size_of_prompt():
    sol = RemoteModel(target("openai-responses"), RetryPolicy())
    usage = Usage(
        input_tokens=1_000, output_tokens=100, cache_creation_input_tokens=200, cache_read_input_tokens=10_000
    )
    assert sol.cost_usd(usage) == pytest.approx((1_000 * 2 + 100 * 10 + 200 * 2.5 + 10_000 * 0.1) / 1e6)
    long = Usage(input_tokens=300_000, output_tokens=100)
    assert sol.cost_usd(long) == pytest.approx((300_000 * 4 + 100 * 15) / 1e6)
    hour = RemoteModel(target("anthropic", cache_ttl="1h"), RetryPolicy())
    assert hour.cost_usd(Usage(cache_creation_input_tokens=1_000_000)) == pytest.approx(8.0)


def test_an_unknown_model_has_no_price():
    assert RemoteModel(target("openai-chat", model="openai/nobody-7"), RetryPolicy()).cost_usd(Usage()) is None


def test_counts_of_a_wrong_type_are_ignored():
    tally = UsageTally()
    for read in (tally.anthropic, tally.chat, tally.responses, tally.gemini):
        read({"input_tokens": "12", "prompt_tokens": None, "promptTokenCount": True, "output_tokens": [1]})
    assert tally.usage is None
