"""How the fake model server says one scripted reply in each of its dialects. Stdlib only.

A reply is a dict: `parts` (each `{"text"}`, `{"thinking", "signature"?}`, `{"redacted"}`, `{"wait": gate}` or
`{"call", "arguments", "id"?}`), `stop`, `usage` (`input`, `output`, `cache_read`, `cache_write`; null:
none reported), `model`.
"""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
DEFAULT_USAGE = {"input": 100, "output": 10, "cache_read": 0, "cache_write": 0}


def chunks(text: str, size: int = 16) -> list[str]:
    """The text in pieces, as a stream would carry it; empty text is one empty piece."""
    return [text[i : i + size] for i in range(0, len(text), size)] or [""]


def arguments_text(part: Json) -> str:
    """The arguments as the model wrote them; a string is taken literally, also when it is not JSON."""
    arguments = part.get("arguments", {})
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def arguments_object(part: Json) -> Json:
    """The arguments for dialects that carry an object."""
    arguments = part.get("arguments", {})
    return arguments if isinstance(arguments, dict) else {}


def usage_of(reply: Json) -> Json | None:
    """The usage with all four fields, or None when the reply reports none."""
    usage = reply.get("usage", DEFAULT_USAGE)
    return None if usage is None else DEFAULT_USAGE | usage


def has_call(reply: Json) -> bool:
    return any("call" in part for part in reply["parts"])


def stop_of(reply: Json) -> str:
    return reply.get("stop") or ("tool_use" if has_call(reply) else "end_turn")


def anthropic_usage(reply: Json) -> Json:
    usage = usage_of(reply) or {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0}
    return {
        "input_tokens": usage["input"],
        "cache_creation_input_tokens": usage["cache_write"],
        "cache_read_input_tokens": usage["cache_read"],
        "output_tokens": usage["output"],
    }


def anthropic_block(part: Json) -> Json:
    if "text" in part:
        return {"type": "text", "text": part["text"]}
    if "thinking" in part:
        return {"type": "thinking", "thinking": part["thinking"], "signature": part.get("signature", "sig")}
    if "redacted" in part:
        return {"type": "redacted_thinking", "data": part["redacted"]}
    return {"type": "tool_use", "id": part["id"], "name": part["call"], "input": arguments_object(part)}


def anthropic_message(reply: Json) -> Json:
    return {
        "id": f"msg_{reply['number']}",
        "type": "message",
        "role": "assistant",
        "model": reply["model"],
        "content": [anthropic_block(part) for part in reply["parts"] if "wait" not in part],
        "stop_reason": stop_of(reply),
        "stop_sequence": None,
        "usage": anthropic_usage(reply),
    }


def anthropic_deltas(part: Json) -> list[Json]:
    if "text" in part:
        return [{"type": "text_delta", "text": piece} for piece in chunks(part["text"])]
    if "thinking" in part:
        pieces = [{"type": "thinking_delta", "thinking": piece} for piece in chunks(part["thinking"])]
        return [*pieces, {"type": "signature_delta", "signature": part.get("signature", "sig")}]
    if "call" in part:
        return [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *chunks(arguments_text(part))]]
    return []


def anthropic_events(reply: Json) -> Iterator[Json]:
    whole = anthropic_message(reply)
    start = whole | {"content": [], "stop_reason": None, "usage": whole["usage"] | {"output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    index = 0
    for part in reply["parts"]:
        if "wait" in part:
            yield part
            continue
        block = anthropic_block(part)
        for key in ("text", "thinking", "signature"):
            if key in block:
                block[key] = ""
        if "input" in block:
            block["input"] = {}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in anthropic_deltas(part):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": whole["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


CHAT_STOP = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "content_filter": "content_filter"}


def chat_usage(reply: Json) -> Json | None:
    usage = usage_of(reply)
    if usage is None:
        return None
    prompt = usage["input"] + usage["cache_read"]
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage["output"],
        "total_tokens": prompt + usage["output"],
        "prompt_tokens_details": {"cached_tokens": usage["cache_read"]},
    }


def chat_call(part: Json) -> Json:
    return {
        "id": part["id"],
        "type": "function",
        "function": {"name": part["call"], "arguments": arguments_text(part)},
    }


def chat_body(reply: Json) -> Json:
    parts = reply["parts"]
    message: Json = {"role": "assistant", "content": "".join(p["text"] for p in parts if "text" in p) or None}
    if thoughts := "".join(p["thinking"] for p in parts if "thinking" in p):
        message["reasoning_content"] = thoughts
    if calls := [chat_call(part) for part in parts if "call" in part]:
        message["tool_calls"] = calls
    stop = CHAT_STOP.get(stop_of(reply), "stop")
    body: Json = {
        "id": f"chatcmpl-{reply['number']}",
        "object": "chat.completion",
        "created": 1700000000,
        "model": reply["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}],
    }
    if (usage := chat_usage(reply)) is not None:
        body["usage"] = usage
    return body


def chat_deltas(reply: Json) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    index = 0
    for part in reply["parts"]:
        if "wait" in part:
            yield part
        elif "text" in part:
            yield from ({"content": piece} for piece in chunks(part["text"]))
        elif "thinking" in part:
            yield from ({"reasoning_content": piece} for piece in chunks(part["thinking"]))
        elif "call" in part:
            whole = chat_call(part)
            opening = whole | {"index": index, "function": {"name": part["call"], "arguments": ""}}
            yield {"tool_calls": [opening]}
            for piece in chunks(arguments_text(part)):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            index += 1


def chat_events(reply: Json) -> Iterator[Json]:
    base: Json = {
        "id": f"chatcmpl-{reply['number']}",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": reply["model"],
    }
    for delta in chat_deltas(reply):
        if "wait" in delta:
            yield delta
        else:
            yield base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    stop = CHAT_STOP.get(stop_of(reply), "stop")
    yield base | {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}
    if (usage := chat_usage(reply)) is not None:
        yield base | {"choices": [], "usage": usage}
    yield {"done": True}


GEMINI_STOP = {"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "content_filter": "SAFETY"}


def gemini_part(part: Json) -> Json:
    if "text" in part:
        return {"text": part["text"]}
    if "thinking" in part:
        return {"text": part["thinking"], "thought": True}
    call: Json = {"functionCall": {"name": part["call"], "args": arguments_object(part)}}
    if "signature" in part:
        call["thoughtSignature"] = part["signature"]
    return call


def gemini_chunk(reply: Json, parts: list[Json], *, last: bool) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    body: Json = {
        "candidates": [candidate],
        "modelVersion": reply["model"],
        "responseId": f"resp_{reply['number']}",
    }
    if last:
        candidate["finishReason"] = GEMINI_STOP.get(stop_of(reply), "STOP")
        if (usage := usage_of(reply)) is not None:
            prompt = usage["input"] + usage["cache_read"]
            body["usageMetadata"] = {
                "promptTokenCount": prompt,
                "cachedContentTokenCount": usage["cache_read"],
                "candidatesTokenCount": usage["output"],
                "totalTokenCount": prompt + usage["output"],
            }
    return body


def gemini_body(reply: Json) -> Json:
    return gemini_chunk(reply, [gemini_part(p) for p in reply["parts"] if "wait" not in p], last=True)


def gemini_events(reply: Json) -> Iterator[Json]:
    for part in reply["parts"]:
        if "wait" in part:
            yield part
            continue
        whole = gemini_part(part)
        for piece in chunks(whole["text"]) if "text" in whole else [None]:
            yield gemini_chunk(reply, [whole if piece is None else whole | {"text": piece}], last=False)
    yield gemini_chunk(reply, [{"text": ""}], last=True)


def error_body(dialect: str, status: int, message: str, kind: str) -> Json:
    """An error as this vendor words it."""
    if dialect == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_fake"}
    if dialect == "gemini":
        return {"error": {"code": status, "message": message, "status": kind.upper()}}
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


TOO_LONG = {
    "anthropic": "prompt is too long: 250000 tokens > 200000 maximum",
    "chat": "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens.",
    "responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
}
