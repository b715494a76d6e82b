"""What a line of stdin means, and what is said of those that mean nothing."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.headless.input_reading import InputProblem, input_of
from clew.headless.stdin_lines import StdinLine
from clew.protocol.messages import ImagePart, TextPart
from clew.streaming.shapes.control import ControlCancel, ControlRequest, ControlResponse, Failed, KeepAlive, PromptInput
from fakes.effort import not_hanging


def read(text: str | bytes) -> Any:
    return input_of(StdinLine(1, text.encode() if isinstance(text, str) else text))


def said(data: bytes) -> str:
    """What a line is, or what is wrong with it."""
    try:
        return f"a line: {read(data)}"
    except InputProblem as problem:
        return str(problem)


def test_a_prompt_with_all_that_programs_send_beside_it() -> None:
    line = read(
        '{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null,"session_id":"default",'
        '"uuid":"u1","client_composed":true,"priority":"next","some_later_field":{"a":[1]}}'
    )
    assert isinstance(line, PromptInput)
    assert (line.message.content, line.uuid, line.client_composed) == ("hi", "u1", True)


def test_a_prompt_with_a_picture() -> None:
    line = read(
        '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"what is it?","cache_control":{}},'
        '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}}'
    )
    assert isinstance(line, PromptInput)
    text, picture = line.message.content
    assert isinstance(text, TextPart)
    assert isinstance(picture, ImagePart)
    assert picture.source.data == "aGk="


def test_control_lines() -> None:
    assert isinstance(read('{"type":"keep_alive"}'), KeepAlive)
    assert read('{"type":"control_cancel_request","request_id":"r"}') == ControlCancel(request_id="r")
    asked = read('{"type":"control_request","request_id":"r","request":{"subtype":"mcp_status"},"extra":1}')
    assert asked == ControlRequest(request_id="r", request={"subtype": "mcp_status"})
    failed = read('{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"no"}}')
    assert failed == ControlResponse(response=Failed(request_id="r", error="no"))


@pytest.mark.parametrize("text", ["", "   ", "\r", "\t \r"])
def test_an_empty_line_says_nothing(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"hello", "not a JSON object"),
        (b"[1, 2]", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"{", "not valid JSON"),
        (b"{}", "no type"),
        (b'{"type": 5}', "Expected `str`"),
        (b'{"type": "assistant"}', "there is no type 'assistant'; types are user"),
        (b'{"type": "user"}', "message"),
        (b'{"type": "user", "message": "hi"}', "$.message"),
        (b'{"type": "user", "message": {"role": "assistant", "content": "hi"}}', "$.message.role"),
        (b'{"type": "user", "message": {"role": "user", "content": 5}}', "$.message.content"),
        (b'{"type": "user", "message": {"role": "user", "content": [{"type": "tool_use"}]}}', "tool_use"),
        (b'{"type": "control_request", "request": {}}', "request_id"),
        (b'{"type": "control_response", "response": {"subtype": "maybe", "request_id": "r"}}', "maybe"),
        (b'{"type": "user", "message": {"role": "user", "content": "\\ud800"}}', "not valid JSON"),
        (b'{"type": "user", "x": NaN}', "not valid JSON"),
        (b'{"a": "\xff"}', "not UTF-8 (byte 0xff at offset 7)"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(data: bytes, words: str) -> None:
    with pytest.raises(InputProblem) as problem:
        read(data)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_line_that_never_ends_its_brackets_is_a_problem_and_no_crash() -> None:
    with not_hanging(), pytest.raises(InputProblem):
        read(b'{"type":"user","message":' + b'{"a":' * 100_000)


def test_a_line_that_was_too_long_keeps_its_own_words() -> None:
    with pytest.raises(InputProblem, match="longer than 5 bytes"):
        input_of(StdinLine(7, b"", "it is longer than 5 bytes"))


@given(st.binary(max_size=200))
def test_any_bytes_are_understood_or_named(data: bytes) -> None:
    assert said(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["type", "message", "request", "request_id", "response", "subtype", "content", "role"]),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_any_document_is_understood_or_named(document: Any) -> None:
    for kind in ("user", "control_request", "control_response", "control_cancel_request", "keep_alive"):
        whole = {**document, "type": kind} if isinstance(document, dict) else document
        try:
            data = msgspec.json.encode(whole)
        except OverflowError:
            return
        assert said(data)
