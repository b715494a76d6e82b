"""How the fake model server says one scripted reply in the OpenAI Responses dialect. Stdlib only."""

from collections.abc import Iterator

from fakes.model_dialects import Json, arguments_text, chunks, stop_of, usage_of


def item_of(reply: Json, part: Json, index: int) -> Json:
    number = f"{reply['number']}_{index}"
    if "text" in part:
        content = [{"type": "output_text", "text": part["text"], "annotations": []}]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    if "thinking" in part:
        item: Json = {"id": f"rs_{number}", "type": "reasoning"}
        item["summary"] = [{"type": "summary_text", "text": part["thinking"]}]
        return item | {"encrypted_content": part.get("signature", "enc")}
    return {
        "id": f"fc_{number}",
        "type": "function_call",
        "status": "completed",
        "call_id": part["id"],
        "name": part["call"],
        "arguments": arguments_text(part),
    }


def body(reply: Json, *, done: bool = True) -> Json:
    limited = stop_of(reply) == "max_tokens"
    parts = [part for part in reply["parts"] if "wait" not in part]
    whole: Json = {
        "id": f"resp_{reply['number']}",
        "object": "response",
        "created_at": 1700000000,
        "status": "in_progress" if not done else "incomplete" if limited else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if done and limited else None,
        "model": reply["model"],
        "output": [item_of(reply, part, index) for index, part in enumerate(parts)] if done else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }
    usage = usage_of(reply)
    if done and usage is not None:
        prompt = usage["input"] + usage["cache_read"]
        whole["usage"] = {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": usage["cache_read"]},
            "output_tokens": usage["output"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + usage["output"],
        }
    return whole


def text_events(item: Json, at: Json) -> Iterator[Json]:
    text = item["content"][0]["text"]
    at = at | {"item_id": item["id"], "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield {"type": "response.content_part.added", "part": empty} | at
    for piece in chunks(text):
        yield {"type": "response.output_text.delta", "delta": piece, "logprobs": []} | at
    yield {"type": "response.output_text.done", "text": text, "logprobs": []} | at
    yield {"type": "response.content_part.done", "part": item["content"][0]} | at


def reasoning_events(item: Json, at: Json) -> Iterator[Json]:
    text = item["summary"][0]["text"]
    at = at | {"item_id": item["id"], "summary_index": 0}
    yield {"type": "response.reasoning_summary_part.added", "part": {"type": "summary_text", "text": ""}} | at
    for piece in chunks(text):
        yield {"type": "response.reasoning_summary_text.delta", "delta": piece} | at
    yield {"type": "response.reasoning_summary_text.done", "text": text} | at
    yield {"type": "response.reasoning_summary_part.done", "part": item["summary"][0]} | at


def call_events(item: Json, at: Json) -> Iterator[Json]:
    at = at | {"item_id": item["id"]}
    for piece in chunks(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", "delta": piece} | at
    yield {"type": "response.function_call_arguments.done", "arguments": item["arguments"], "name": item["name"]} | at


def unnumbered(reply: Json) -> Iterator[Json]:
    yield {"type": "response.created", "response": body(reply, done=False)}
    yield {"type": "response.in_progress", "response": body(reply, done=False)}
    index = 0
    for part in reply["parts"]:
        if "wait" in part:
            yield part
            continue
        item = item_of(reply, part, index)
        at: Json = {"output_index": index}
        hollow = {"message": {"content": []}, "reasoning": {"summary": []}, "function_call": {"arguments": ""}}
        opening = item | hollow[item["type"]]
        if "status" in item:
            opening |= {"status": "in_progress"}
        yield {"type": "response.output_item.added", "item": opening} | at
        inner = {"message": text_events, "reasoning": reasoning_events, "function_call": call_events}
        yield from inner[item["type"]](item, at)
        yield {"type": "response.output_item.done", "item": item} | at
        index += 1
    kind = "response.incomplete" if stop_of(reply) == "max_tokens" else "response.completed"
    yield {"type": kind, "response": body(reply)}


def events(reply: Json) -> Iterator[Json]:
    number = 0
    for event in unnumbered(reply):
        if "wait" in event:
            yield event
        else:
            yield event | {"sequence_number": number}
            number += 1
