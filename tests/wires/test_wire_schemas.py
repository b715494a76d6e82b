"""What we encode is what the vendors' own request types describe, key by key."""

from typing import Any

import pytest
from anthropic.types import message_create_params as claude
from google.genai import types as gemini
from openai.types.chat import completion_create_params as chat
from openai.types.responses import response_create_params as responses

from clew.llm.request import ModelRequest
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    MediaSource,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    UserMessage,
)
from wires.conforms import misfits
from wires.support import READ, ask, body_of, call, result, said, target

PNG = ImagePart(source=MediaSource(type="base64", media_type="image/png", data="aGk="))
LINK = ImagePart(source=MediaSource(type="url", url="https://example.org/a.png"))
PDF = DocumentPart(source=MediaSource(type="base64", media_type="application/pdf", data="aGk="), title="a.pdf")
NOTES = DocumentPart(source=MediaSource(type="text", media_type="text/plain", data="plain"), title="notes")
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
TYPES: dict[str, Any] = {
    "anthropic": claude.MessageCreateParamsStreaming,
    "openai-chat": chat.CompletionCreateParamsStreaming,
    "openai-responses": responses.ResponseCreateParamsStreaming,
}


def thought(dialect: str) -> ReasoningPart:
    data: dict[str, dict[str, Any]] = {
        "openai-responses": {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "enc",
        },
        "gemini": {"thoughtSignature": "c2ln"},
    }
    provider = target(dialect).provider
    return ReasoningPart(text="hm", signature="sig", provider=provider, data=data.get(dialect))


def requests(dialect: str) -> dict[str, ModelRequest]:
    """Every kind of thing a conversation can hold."""
    name = target(dialect).name
    loop = (
        "go",
        said(thought(dialect), "I look.", call("c1", file_path="x"), call("c2", raw="{bad"), model=name),
        UserMessage(content=(result("c2", "broken", is_error=True), result("c1", (TextPart(text="t"), PNG, PDF)))),
        said(RedactedReasoningPart(data="opaque"), "done", model=name),
        UserMessage(content=(TextPart(text="and?"), PNG, LINK, PDF, NOTES)),
    )
    return {
        "plain": ask("hi"),
        "no system": ask("hi", system=()),
        "everything": ask(*loop, tools=(READ,), effort="max", max_output_tokens=5_000, temperature=0.5),
        "shaped": ask("hi", json_schema=SCHEMA, effort="low", purpose="side-query:title"),
        "from another model": ask("go", said(thought("anthropic"), call("x:1"), model="a/b"), "more", tools=(READ,)),
    }


@pytest.mark.parametrize("dialect", TYPES)
@pytest.mark.parametrize("kind", requests("anthropic"))
def test_the_vendors_type_takes_our_request(dialect: str, kind: str):
    body = body_of(requests(dialect)[kind], target(dialect))
    assert misfits(body, TYPES[dialect]) == []


@pytest.mark.parametrize("kind", requests("anthropic"))
def test_gemini_types_take_our_request(kind: str):
    body = body_of(requests("gemini")[kind], target("gemini"))
    for content in body.pop("contents"):
        gemini.Content.model_validate(content)
    gemini.GenerationConfig.model_validate(body.pop("generationConfig"))
    for tool in body.pop("tools", []):
        gemini.Tool.model_validate(tool)
    gemini.Content.model_validate(body.pop("systemInstruction", {"parts": []}))
    assert body == {}


def test_older_claude_models_are_asked_in_their_own_words():
    where = target("anthropic", model="anthropic/claude-haiku-4-5")
    body = body_of(ask("hi", effort="medium", temperature=0.2), where)
    assert misfits(body, TYPES["anthropic"]) == []
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 8_192}
    assert "temperature" not in body
    assert body_of(ask("hi", effort="max", max_output_tokens=1_500), where).get("thinking") is None


def test_thinking_is_not_switched_on_inside_another_models_tool_loop():
    where = target("anthropic", model="anthropic/claude-haiku-4-5")
    loop = ask("go", said(call("c1"), model="openai/gpt-6.1-sol"), UserMessage(content=(result("c1"),)), effort="high")
    assert "thinking" not in body_of(loop, where)
    assert "thinking" in body_of(ask("go", said("hm"), "on", effort="high"), where)


def test_the_checker_sees_what_is_wrong():
    body = body_of(ask("hi"), target("anthropic"))
    wrong = [
        body | {"nonsense": 1},
        {key: value for key, value in body.items() if key != "max_tokens"},
        body | {"messages": [{"role": "robot", "content": "x"}]},
        body | {"messages": [{"role": "user", "content": [{"type": "text", "text": 3}]}]},
        body | {"system": [{"type": "text", "text": "x", "cache_control": {"type": "forever"}}]},
    ]
    for each in wrong:
        assert misfits(each, TYPES["anthropic"]), each
