"""Bytes already sent never change: equal requests are equal bytes, and a longer history only appends."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.llm.models.target import Target
from clew.llm.wires.registry import wire_for
from clew.protocol.messages import Message, ReasoningPart, TextPart, UserMessage
from wires.support import DIALECTS, MODELS, READ, ask, body_of, call, compatible, result, said, target, without

HISTORY_KEY = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "gemini": "contents"}
TARGETS = [
    *map(target, DIALECTS),
    compatible("openrouter", "anthropic/claude-sonnet-5.5"),
    compatible("ollama", "qwen3:8b"),
]


def steps(where: Target, count: int) -> list[Message]:
    """A long tool loop as the engine grows it."""
    thought = ReasoningPart(
        text="hm",
        signature="sig",
        provider=where.provider,
        data={"type": "reasoning", "id": "rs", "summary": [], "thoughtSignature": "s", "reasoning_details": [{"a": 1}]},
    )
    history: list[Message] = [UserMessage(content="begin")]
    for n in range(count):
        ids = [f"c{n}a", f"c{n}b"]
        history.append(
            said(thought, f"step {n}", call(ids[0], file_path="x"), call(ids[1], file_path="y"), model=where.name)
        )
        words = (TextPart(text="and hurry"),) if n % 3 == 2 else ()
        history.append(UserMessage(content=(*(result(i, "text " * n) for i in ids), *words)))
        if n % 4 == 3:
            history += [said("an answer", model=where.name), UserMessage(content="next question")]
    return history


def unmarked(where: Target, messages: list[Message]) -> bytes:
    """The request without the cache marks, which move by design."""
    body = body_of(ask(*messages, tools=(READ,)), where)
    return msgspec.json.encode(without(body, "cache_control")).rstrip(b"]}")


@pytest.mark.parametrize("where", TARGETS, ids=lambda t: f"{t.provider}-{t.dialect}")
def test_a_longer_history_only_appends(where: Target):
    history = steps(where, 9)
    requests = [history[: n + 1] for n in range(len(history)) if isinstance(history[n], UserMessage)]
    encoded = [unmarked(where, messages) for messages in requests]
    for shorter, longer in pairwise(encoded):
        assert longer.startswith(shorter)


@pytest.mark.parametrize("where", TARGETS, ids=lambda t: f"{t.provider}-{t.dialect}")
def test_equal_requests_give_equal_bytes(where: Target):
    wire = wire_for(where.dialect)
    first = wire.encode(ask(*steps(where, 4), tools=(READ,)), where, stream=True)
    again = wire.encode(ask(*steps(where, 4), tools=(READ,)), where, stream=True)
    assert first == again


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["user", "say", "call", "think", "blank"]), max_size=14), st.sampled_from(TARGETS))
def test_any_history_keeps_its_items_when_it_grows(kinds: list[str], where: Target):
    history: list[Message] = [UserMessage(content="begin")]
    for n, kind in enumerate(kinds):
        match kind:
            case "user":
                history.append(UserMessage(content=f"word {n}"))
            case "say":
                history.append(said(f"answer {n}", model=where.name))
            case "call":
                history += [said(call(f"c{n}"), model=where.name), UserMessage(content=(result(f"c{n}"),))]
            case "think":
                history.append(
                    said(
                        ReasoningPart(text="t", signature="s", provider=where.provider, data={"id": "r"}),
                        model=where.name,
                    )
                )
            case _:
                history.append(UserMessage(content=" "))
    shorter = without(body_of(ask(*history), where), "cache_control")[HISTORY_KEY[where.dialect]]
    longer = ask(*history, said("more", model=where.name), "and more")
    grown = without(body_of(longer, where), "cache_control")[HISTORY_KEY[where.dialect]]
    settled = shorter[:-1]  # the last turn may still grow, by appending to it
    assert grown[: len(settled)] == settled


def test_anthropic_marks_system_and_the_last_two_user_turns_and_never_thoughts():
    where = target("anthropic")
    body = body_of(ask(*steps(where, 5), system=("stable", "project", "day"), tools=(READ,)), where)
    assert [("cache_control" in block) for block in body["system"]] == [True, False, True]
    marked = [n for n, m in enumerate(body["messages"]) if any("cache_control" in b for b in m["content"])]
    users = [n for n, m in enumerate(body["messages"]) if m["role"] == "user"]
    assert marked == users[-2:]
    thoughts = [b for m in body["messages"] for b in m["content"] if b["type"] in ("thinking", "redacted_thinking")]
    assert thoughts
    assert not any("cache_control" in block for block in thoughts)
    assert str(body).count("cache_control") <= 4


def test_the_cache_can_be_switched_off_or_made_longer():
    assert "cache_control" not in str(body_of(ask("a"), target("anthropic", cache_ttl="off")))
    assert "'ttl': '1h'" in str(body_of(ask("a"), target("anthropic", cache_ttl="1h")))


def test_without_a_system_prompt_the_tools_carry_the_mark():
    body = body_of(ask("a", system=(), tools=(READ,)), target("anthropic"))
    assert "cache_control" in body["tools"][-1]
    assert "system" not in body


def test_models_are_named_for_every_dialect():
    assert set(MODELS) == set(HISTORY_KEY)
