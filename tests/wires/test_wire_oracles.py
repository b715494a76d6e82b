"""The vendors' SDKs as oracles: the same bytes are the same message to them and to us."""

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from google import genai

from clew.llm.reply import Reply, reply_of
from clew.protocol.messages import Part, ReasoningPart, RedactedReasoningPart, TextPart, ToolCallPart
from fakes.model_server import ModelServer
from wires.support import KEY, ask, collect, remote

LONG = "Grüße, 你好! " * 9
CALLS = [
    {"call": "Read", "arguments": {"file_path": "src/a.py", "limit": 3}},
    {"call": "Bash", "arguments": {"command": 'echo "é" && ls', "options": {"deep": [1, 2.5, None, True]}}},
]
REPLIES: dict[str, dict[str, Any]] = {
    "text": {"text": LONG, "usage": {"input": 7, "output": 3}},
    "thinking": {"parts": [{"thinking": "let me see " * 5, "signature": "c2ln"}, {"text": LONG}]},
    "calls": {"parts": [{"text": "I look."}, *CALLS], "usage": {"input": 5, "output": 9, "cache_read": 40}},
    "only a call": {"calls": CALLS[:1]},
    "no arguments": {"calls": [{"call": "Now", "arguments": {}}]},
    "cut off": {"text": "half a sent", "stop": "max_tokens"},
}
WITH_CACHE_WRITE = {"text": "x", "usage": {"input": 5, "output": 9, "cache_read": 40, "cache_write": 100}}

Seen = tuple[list[tuple[Any, ...]], str, tuple[int, int, int, int] | None]


def ours(reply: Reply) -> Seen:
    usage = reply.usage
    counts = usage and (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    )
    return [_ours(part) for part in reply.parts], reply.stop_reason, counts


def _ours(part: Part) -> tuple[Any, ...]:
    match part:
        case TextPart():
            return "text", part.text
        case ReasoningPart():
            return "thinking", part.text
        case RedactedReasoningPart():
            return "redacted", part.data
        case ToolCallPart():
            return "call", part.name, part.arguments
        case _:
            raise TypeError(part)


async def both_ways(dialect: str, reply: dict[str, Any], theirs: Any) -> None:
    """Ask four times for the same reply: they and we, streamed and whole."""
    with ModelServer([reply] * 4) as server:
        url = server.url if dialect in ("anthropic", "gemini") else f"{server.url}/v1"
        model = remote(dialect, url)
        streamed, complete = reply_of(await collect(model, ask("hi"))), await model.complete(ask("hi"))
        await model.close()
        expected = list(theirs(url))
    assert ours(streamed) == expected[0]
    assert ours(complete) == expected[1]


def claude(url: str) -> Iterator[Seen]:
    client = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0)
    fields: Any = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
    with client.messages.stream(**fields) as stream:
        yield _claude(stream.get_final_message())
    yield _claude(client.messages.create(**fields))


def _claude(message: anthropic.types.Message) -> Seen:
    parts: list[tuple[Any, ...]] = []
    for block in message.content:
        match block.type:
            case "text":
                parts.append(("text", block.text))
            case "thinking":
                parts.append(("thinking", block.thinking))
            case "redacted_thinking":
                parts.append(("redacted", block.data))
            case "tool_use":
                parts.append(("call", block.name, block.input))
            case _:
                raise TypeError(block)
    usage = message.usage
    counts = (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_creation_input_tokens or 0,
        usage.cache_read_input_tokens or 0,
    )
    return parts, str(message.stop_reason), counts


def chat(url: str) -> Iterator[Seen]:
    client = openai.OpenAI(base_url=url, api_key=KEY, max_retries=0)
    fields: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    with client.chat.completions.stream(**fields, stream_options={"include_usage": True}) as stream:
        try:
            final = stream.get_final_completion()
        except openai.LengthFinishReasonError as error:  # the helper refuses to parse what was cut off
            final = error.completion
        yield _chat(final)
    yield _chat(client.chat.completions.create(**fields))


def _chat(completion: Any) -> Seen:
    message = completion.choices[0].message
    parts: list[tuple[Any, ...]] = []
    if thought := (message.model_extra or {}).get("reasoning_content"):
        parts.append(("thinking", thought))
    if message.content:
        parts.append(("text", message.content))
    for one in message.tool_calls or []:
        parts.append(("call", one.function.name, json.loads(one.function.arguments)))
    stops = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
    usage = completion.usage
    cached = usage.prompt_tokens_details.cached_tokens
    counts = (usage.prompt_tokens - cached, usage.completion_tokens, 0, cached)
    return parts, stops[completion.choices[0].finish_reason], counts


def responses(url: str) -> Iterator[Seen]:
    client = openai.OpenAI(base_url=url, api_key=KEY, max_retries=0)
    last: Any = list(client.responses.create(model="m", input="hi", stream=True))[-1]
    assert last.type in ("response.completed", "response.incomplete")
    yield _response(last.response)
    yield _response(client.responses.create(model="m", input="hi"))


def _response(response: Any) -> Seen:
    parts: list[tuple[Any, ...]] = []
    for item in response.output:
        if item.type == "message":
            parts.append(("text", item.content[0].text))
        elif item.type == "reasoning":
            parts.append(("thinking", item.summary[0].text))
        elif item.type == "function_call":
            parts.append(("call", item.name, json.loads(item.arguments)))
    called = any(part[0] == "call" for part in parts)
    stop = "max_tokens" if response.incomplete_details else "tool_use" if called else "end_turn"
    usage = response.usage
    cached = usage.input_tokens_details.cached_tokens
    return parts, stop, (usage.input_tokens - cached, usage.output_tokens, 0, cached)


def gemini(url: str) -> Iterator[Seen]:
    client = genai.Client(api_key=KEY, http_options=genai.types.HttpOptions(base_url=url))
    pieces = list(client.models.generate_content_stream(model="gemini-3.8-flash", contents="hi"))
    yield _gemini(pieces)
    yield _gemini([client.models.generate_content(model="gemini-3.8-flash", contents="hi")])


def _gemini(chunks: list[Any]) -> Seen:
    parts: list[tuple[Any, ...]] = []
    for part in (part for chunk in chunks for part in chunk.candidates[0].content.parts or []):
        if part.function_call:
            parts.append(("call", part.function_call.name, part.function_call.args or {}))
        elif part.text:
            kind = "thinking" if part.thought else "text"
            if parts and parts[-1][0] == kind:
                parts[-1] = (kind, parts[-1][1] + part.text)
            else:
                parts.append((kind, part.text))
    finish = chunks[-1].candidates[0].finish_reason.value
    called = any(part[0] == "call" for part in parts)
    stop = {"STOP": "tool_use" if called else "end_turn", "MAX_TOKENS": "max_tokens"}[finish]
    usage = chunks[-1].usage_metadata
    cached = usage.cached_content_token_count or 0
    return parts, stop, (usage.prompt_token_count - cached, usage.candidates_token_count or 0, 0, cached)


THEIRS = {"anthropic": claude, "openai-chat": chat, "openai-responses": responses, "gemini": gemini}


@pytest.mark.parametrize("dialect", THEIRS)
@pytest.mark.parametrize("kind", REPLIES)
async def test_the_sdk_reads_the_same_message(dialect: str, kind: str):
    await both_ways(dialect, REPLIES[kind], THEIRS[dialect])


async def test_anthropic_counts_cache_writes_and_keeps_redacted_thoughts():
    await both_ways("anthropic", WITH_CACHE_WRITE, claude)
    await both_ways("anthropic", {"parts": [{"redacted": "opaque"}, {"text": "x"}]}, claude)
