"""Side queries on every wire: thinking off or at its least, no cache marks, whatever the model's default is."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from clew.llm.models.target import Target
from wires.support import DIALECTS, ask, body_of, compatible, target

TARGETS = [
    *(target(dialect) for dialect in DIALECTS),
    compatible("openrouter", "anthropic/claude-sonnet-5.5"),
    compatible("deepseek", "deepseek-v4-flash"),
    compatible("dashscope", "qwen3.7-plus"),
    compatible("zai", "glm-5.3-flash"),
]


def body(where: Target, purpose: str) -> dict[str, Any]:
    return body_of(replace(ask("hello"), purpose=purpose, max_output_tokens=300), where)


@pytest.mark.parametrize("where", TARGETS, ids=lambda where: f"{where.provider}-{where.dialect}")
def test_one_shots_neither_think_nor_mark(where: Target) -> None:
    sent = body(where, "side-query:session-recap")
    assert "cache_control" not in json.dumps(sent)
    thinking = sent.get("thinking", {}).get("type", "disabled")
    assert thinking == "disabled"
    assert sent.get("enable_thinking", False) is False
    config = sent.get("generationConfig", {}).get("thinkingConfig", {"includeThoughts": False})
    assert config["includeThoughts"] is False
    assert config.get("thinkingBudget", 0) == 0
    least = where.profile.efforts[0] if where.profile.efforts else "low"
    levels = [sent.get("reasoning", {}).get("effort"), sent.get("reasoning_effort"), config.get("thinkingLevel")]
    assert {level for level in levels if level} <= {least}


SAID = [
    # Where a model can be told not to think it is told so: silence means its provider's default, which is to think.
    ("anthropic", "claude-haiku-5-5", {"thinking": {"type": "disabled"}}),
    ("anthropic", "claude-haiku-4-5", {}),
    ("anthropic", "claude-opus-5-5", {"output_config": {"effort": "low"}}),
    ("openai", "gpt-6-luna", {"reasoning": {"effort": "none"}}),
    ("openai", "gpt-6.1-sol", {"reasoning": {"effort": "low"}}),
    ("gemini", "gemini-3.8-flash", {"thinkingConfig": {"includeThoughts": False, "thinkingLevel": "low"}}),
    ("gemini", "gemini-2.5-flash", {"thinkingConfig": {"includeThoughts": False, "thinkingBudget": 0}}),
    ("gemini", "gemini-2.5-pro", {"thinkingConfig": {"includeThoughts": False, "thinkingBudget": 128}}),
    ("openrouter", "openai/gpt-6-luna", {"reasoning": {"effort": "none"}}),
    ("openrouter", "anthropic/claude-sonnet-5.5", {"reasoning": {"effort": "low"}}),
    ("groq", "openai/gpt-oss-20b", {"reasoning_effort": "low"}),
    ("deepseek", "deepseek-v4-flash", {"thinking": {"type": "disabled"}}),
    ("dashscope", "qwen3.7-plus", {"enable_thinking": False}),
]
FIELDS = ("thinking", "output_config", "reasoning", "reasoning_effort", "enable_thinking", "thinkingConfig")


@pytest.mark.parametrize(("provider", "model", "expected"), SAID, ids=lambda value: str(value))
def test_a_side_query_says_that_it_wants_no_thoughts(provider: str, model: str, expected: dict[str, Any]) -> None:
    sent = body(compatible(provider, model), "side-query:session-recap")
    sent |= sent.get("generationConfig", {})
    assert {name: sent[name] for name in FIELDS if name in sent} == expected
