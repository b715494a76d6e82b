"""Servers that keep to no book, through the real command: the run comes to its answer, or to one clear failure."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer

Json = dict[str, Any]
DIALECTS = {"chat": "openai-chat", "gemini": "gemini"}


def run(tmp_path: Path, script: Any, *, kind: str = "chat", prompt: str = "hi") -> tuple[Any, Json, list[Json]]:
    """A run against a server of the user's own: how it ended, its result, and what the server was asked."""
    with ModelServer(script) as server:
        place = Place(tmp_path, server.url)
        (place.project / "a.txt").write_text("alpha\n")
        at = f"{server.url}/v1" if kind == "chat" else server.url
        lab: Json = {"baseUrl": at, "dialect": DIALECTS[kind], "models": {"m": {"window": 64_000}}}
        settings = json.dumps({"model": "lab/m", "providers": {"lab": lab}, "sideQueries": {"enabled": False}})
        done = place.run("-p", prompt, "--settings", settings, "--output-format", "json")
        return done, json.loads(done.out), [request.body for request in server.requests]


def chunk(finish: str | None = None, **delta: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'c1', 'model': 'm', 'choices': [choice]})}\n\n"


def stream(*events: str, **more: Any) -> Json:
    return {"body": "".join(events), "content_type": "text/event-stream", **more}


DONE = "data: [DONE]\n\n"
WORDS = stream(chunk(content="hel"), chunk(content="lo"), chunk("stop"), DONE)


@pytest.mark.parametrize(
    "words", ["Unrecognized request argument supplied: stream_options", "include_usage: extra field"]
)
def test_a_server_that_does_not_know_stream_options(tmp_path: Path, words: str) -> None:
    refused = {"fault": "status", "status": 400, "message": words}
    done, result, asked = run(tmp_path, [refused, {"text": "hello"}])
    assert (done.code, result["result"]) == (0, "hello")
    assert ["stream_options" in body for body in asked] == [True, False]
    assert "stream_options" not in done.err


def test_any_other_refusal_is_told_at_once(tmp_path: Path) -> None:
    done, result, asked = run(tmp_path, [{"fault": "status", "status": 400, "message": "no such field: tools"}])
    assert (done.code, len(asked), result["api_error_status"]) == (1, 1, 400)


NOTHING = {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}], "usageMetadata": {}}


@pytest.mark.parametrize(("empty", "answer"), [(1, "hello"), (2, "")])
def test_gemini_that_stops_without_a_word_is_asked_once_more(tmp_path: Path, empty: int, answer: str) -> None:
    silent = stream(f"data: {json.dumps(NOTHING)}\n\n")
    done, result, asked = run(tmp_path, [*[silent] * empty, {"text": "hello"}], kind="gemini")
    assert (done.code, result["result"], len(asked)) == (0 if answer else 1, answer, 2)


@pytest.mark.parametrize(
    "written",
    [
        '[TOOL_CALLS] [{"name": "Read", "arguments": {"file_path": "a.txt"}}]',
        '[TOOL_CALLS][{"name": "Read", "arguments": "{\\"file_path\\": \\"a.txt\\"}"}]',
        '[TOOL_CALLS]Read{"file_path": "a.txt"}',
        '[TOOL_CALLS]Read[CALL_ID]abc123456[ARGS]{"file_path": "a.txt"}',
    ],
)
def test_calls_in_mistrals_words(tmp_path: Path, written: str) -> None:
    pieces = [chunk(content=written[at : at + 5]) for at in range(0, len(written), 5)]
    done, result, asked = run(tmp_path, [stream(*pieces, chunk("stop"), DONE), {"text": "it says alpha"}])
    assert (done.code, result["result"]) == (0, "it says alpha")
    assert "alpha" in json.dumps(asked[1]["messages"])


@pytest.mark.parametrize("written", ["[TOOL_CALLS] are marks of Mistral's template.", "[TODO] read this"])
def test_words_about_the_mark_are_words(tmp_path: Path, written: str) -> None:
    pieces = [chunk(content=written[at : at + 3]) for at in range(0, len(written), 3)]
    done, result, _ = run(tmp_path, [stream(*pieces, chunk("stop"), DONE)])
    assert (done.code, result["result"]) == (0, written)


@pytest.mark.parametrize("whole", [False, True], ids=["stream", "whole"])
def test_the_old_function_call(tmp_path: Path, whole: bool) -> None:
    named = {"name": "Read", "arguments": '{"file_path": "a.txt"}'}
    if whole:
        message = {"role": "assistant", "content": None, "function_call": named}
        choice = {"index": 0, "message": message, "finish_reason": "function_call"}
        reply: Json = {"body": json.dumps({"id": "c1", "choices": [choice]})}
    else:
        first = chunk(role="assistant", function_call={"name": "Read", "arguments": ""})
        rest = [chunk(function_call={"arguments": text}) for text in ('{"file_path"', ': "a.txt"}')]
        reply = stream(first, *rest, chunk("function_call"), DONE)
    done, result, asked = run(tmp_path, [reply, {"text": "it says alpha"}])
    assert (done.code, result["result"]) == (0, "it says alpha")
    assert "alpha" in json.dumps(asked[1]["messages"])


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_server_that_streams_although_it_was_asked_not_to(tmp_path: Path, kind: str) -> None:
    """After a broken stream the reply is asked for in one piece."""
    broken = stream(chunk(content="hel"))
    done, result, asked = run(tmp_path, [broken, {**WORDS, "content_type": kind}])
    assert (done.code, result["result"]) == (0, "hello")
    assert [bool(body.get("stream")) for body in asked] == [True, False]


@pytest.mark.parametrize("whole", [False, True], ids=["stream", "whole"])
def test_a_byte_order_mark_before_the_reply(tmp_path: Path, whole: bool) -> None:
    message = {"role": "assistant", "content": "hello"}
    body = json.dumps({"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    reply = {"body": f"\ufeff{body}"} if whole else {**WORDS, "body": f"\ufeff{WORDS['body']}"}
    done, result, asked = run(tmp_path, [reply])
    assert (done.code, result["result"], len(asked)) == (0, "hello", 1)


TOOL_USE = {"message": "Failed to call a function.", "type": "invalid_request_error", "code": "tool_use_failed"}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TOOL_USE, 400),
        ({"message": "no", "status_code": 400}, 400),
        ({"message": "no", "code": "422"}, 422),
        ({"message": "Permission denied", "status": "PERMISSION_DENIED"}, 403),
    ],
)
@pytest.mark.parametrize("begun", [False, True], ids=["first", "later"])
def test_an_error_inside_a_stream_keeps_its_status(tmp_path: Path, error: Json, status: int, begun: bool) -> None:
    said = [chunk(content="I will read")] if begun else []
    reply = stream(*said, f"data: {json.dumps({'error': error})}\n\n")
    done, result, asked = run(tmp_path, [reply, {"text": "asked again in vain"}])
    assert (done.code, result["api_error_status"], len(asked)) == (1, status, 1)


def test_an_error_that_passes_is_still_tried_again(tmp_path: Path) -> None:
    reply = stream(f"data: {json.dumps({'error': {'message': 'oops', 'type': 'server_error'}})}\n\n")
    done, result, asked = run(tmp_path, [reply, {"text": "hello"}])
    assert (done.code, result["result"], len(asked)) == (0, "hello", 2)


def test_the_token_limit_is_a_cut_off(tmp_path: Path) -> None:
    told = f"data: {json.dumps({'error': {'message': 'Token limit reached', 'code': 400}})}\n\n"
    cut = stream(chunk(content="one, two, "), told)
    done, result, asked = run(tmp_path, [cut, cut, {"text": "three"}])
    assert (done.code, result["result"]) == (0, "one, two, three")
    assert "cut off at the output limit" in json.dumps(asked[-1]["messages"])
