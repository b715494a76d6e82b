"""Thinking as it is asked for, in every server's words: on, off, with a budget, shown or not."""

from typing import Any

import pytest

from clew.llm.models.target import Target
from clew.llm.request import Thinking
from wires.support import ask, body_of, compatible

OFF = Thinking(mode="disabled")


def sent(where: Target, thinking: Thinking, **more: Any) -> dict[str, Any]:
    body = body_of(ask("hi", thinking=thinking, **more), where)
    config = body.get("generationConfig", {})
    names = ("thinking", "output_config", "reasoning", "reasoning_effort", "enable_thinking")
    return {name: body[name] for name in names if name in body} | (
        {"thinkingConfig": config["thinkingConfig"]} if "thinkingConfig" in config else {}
    )


@pytest.mark.parametrize(
    ("provider", "model", "fields"),
    [
        ("anthropic", "claude-opus-5", {"thinking": {"type": "disabled"}}),
        ("anthropic", "claude-sonnet-5", {"thinking": {"type": "disabled"}}),
        ("anthropic", "claude-sonnet-4-5", {}),
        ("openai", "gpt-6-sol", {"reasoning": {"effort": "none"}}),
        ("openai", "gpt-4o", {}),
        ("gemini", "gemini-2.5-flash", {"thinkingConfig": {"includeThoughts": False, "thinkingBudget": 0}}),
        ("openrouter", "anthropic/claude-opus-5", {"reasoning": {"effort": "none"}}),
        ("deepseek", "deepseek-v4-pro", {"thinking": {"type": "disabled"}}),
        ("dashscope", "qwen3.7-max", {"enable_thinking": False}),
    ],
)
def test_off_is_off(provider: str, model: str, fields: dict[str, Any]) -> None:
    where = compatible(provider, model)
    assert where.thinks != "always"
    assert sent(where, OFF) == fields


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-opus-5-5"),
        ("anthropic", "claude-sonnet-5-5"),
        ("anthropic", "claude-fable-5-1"),
        ("openrouter", "anthropic/claude-sonnet-5.5"),
        ("openai", "gpt-6.1-sol"),
        ("openai", "gpt-5-mini"),
        ("openai", "o3"),
        ("gemini", "gemini-3.8-flash"),
        ("gemini", "gemini-2.5-pro"),
        ("mistral", "mistral-large-latest"),
        ("moonshot", "kimi-k3"),
    ],
)
def test_models_that_cannot_be_kept_from_it_are_known_and_never_sent_the_refused_word(
    provider: str, model: str
) -> None:
    where = compatible(provider, model)
    assert where.thinks == "always"
    assert "disabled" not in str(sent(where, OFF))
    assert "none" not in str(sent(where, OFF)).lower()


def test_the_highest_efforts_do_not_go_with_no_thinking() -> None:
    fields = sent(compatible("anthropic", "claude-opus-5"), OFF, effort="max")
    assert fields == {"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}


@pytest.mark.parametrize(
    ("provider", "model", "tokens", "fields"),
    [
        ("anthropic", "claude-sonnet-4-5", 5000, {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
        ("anthropic", "claude-sonnet-4-5", 10, {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ("anthropic", "claude-sonnet-4-5", 10**6, {"thinking": {"type": "enabled", "budget_tokens": 30976}}),
        (
            "anthropic",
            "claude-opus-5",
            5000,
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "medium"}},
        ),
        ("openai", "gpt-6.1-sol", 10**6, {"reasoning": {"effort": "max"}}),
        ("gemini", "gemini-2.5-flash", 700, {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 700}}),
        ("gemini", "gemini-3.8-flash", 700, {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"}}),
        ("deepseek", "deepseek-v4-pro", 700, {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("dashscope", "qwen3.7-max", 700, {"enable_thinking": True}),
    ],
)
def test_a_number_of_tokens_is_sent_or_becomes_a_level(
    provider: str, model: str, tokens: int, fields: dict[str, Any]
) -> None:
    assert sent(compatible(provider, model), Thinking(mode="enabled", budget_tokens=tokens)) == fields


@pytest.mark.parametrize("mode", ["adaptive", "enabled"])
def test_old_claude_thinks_when_it_is_asked_to(mode: Any) -> None:
    where = compatible("anthropic", "claude-sonnet-4-5")
    assert sent(where, Thinking()) == {}
    assert sent(where, Thinking(mode=mode)) == {"thinking": {"type": "enabled", "budget_tokens": 16000}}


def test_an_effort_by_name_beats_a_number() -> None:
    fields = sent(compatible("openai", "gpt-6.1-sol"), Thinking(mode="enabled", budget_tokens=100), effort="high")
    assert fields == {"reasoning": {"effort": "high"}}


def test_what_is_thought_need_not_be_told() -> None:
    hidden = Thinking(shown=False)
    assert sent(compatible("anthropic", "claude-opus-5"), hidden) == {
        "thinking": {"type": "adaptive", "display": "omitted"}
    }
    assert sent(compatible("gemini", "gemini-3.8-flash"), hidden) == {"thinkingConfig": {"includeThoughts": False}}
