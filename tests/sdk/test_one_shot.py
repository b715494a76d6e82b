"""`query()`: one prompt, or a stream of them, and every message parses."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKError,
    PermissionResultAllow,
    ProcessError,
    ResultError,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    ThinkingBlock,
    ToolResultBlock,
    UserMessage,
    query,
)

from sdk.conftest import MakeLab
from sdk.lab import bash, calls, collect, collect_failing, result_of, words


async def test_a_prompt_is_answered(lab: MakeLab) -> None:
    here = lab([{"text": "Forty-two.", "usage": {"input": 10, "output": 3}}])
    messages = await collect(query(prompt="what is it?", options=here.options()))
    result = result_of(messages)
    assert words(messages) == result.result == "Forty-two."
    assert (result.subtype, result.is_error, result.num_turns) == ("success", False, 1)
    assert result.usage is not None
    assert (result.usage["input_tokens"], result.usage["output_tokens"]) == (10, 3)
    assert result.total_cost_usd
    assert result.terminal_reason == "completed"
    first = messages[0]
    assert isinstance(first, SystemMessage)
    assert (first.subtype, first.data["schema_version"]) == ("init", 1)
    assert first.data["session_id"] == result.session_id


async def test_every_kind_of_message_parses(lab: MakeLab) -> None:
    script = [
        {"parts": [{"thinking": "hm", "signature": "sig"}, {"text": "I look. "}, *bash("echo hi")["calls"]]},
        {"text": "It says hi."},
    ]
    here = lab(script)
    options = here.options(permission_mode="bypassPermissions", include_partial_messages=True, effort="high")
    messages = await collect(query(prompt="go", options=options))
    kinds = {type(message) for message in messages}
    assert {SystemMessage, AssistantMessage, UserMessage, StreamEvent, ResultMessage} <= kinds
    (call,) = calls(messages)
    assert (call.name, call.input) == ("Bash", {"command": "echo hi"})
    blocks = [block for message in messages if isinstance(message, AssistantMessage) for block in message.content]
    assert [block.thinking for block in blocks if isinstance(block, ThinkingBlock)] == ["hm"]
    (answer,) = [message for message in messages if isinstance(message, UserMessage)]
    (block,) = answer.content
    assert isinstance(block, ToolResultBlock)
    assert (block.tool_use_id, block.is_error) == (call.id, False)
    assert "hi" in str(block.content)
    assert all(message.usage and message.message_id for message in messages if isinstance(message, AssistantMessage))
    assert result_of(messages).num_turns == 2


async def test_partial_messages_are_whole(lab: MakeLab) -> None:
    here = lab([{"text": "piece by piece"}])
    messages = await collect(query(prompt="go", options=here.options(include_partial_messages=True)))
    events = [message.event for message in messages if isinstance(message, StreamEvent)]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    grown = "".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta")
    assert grown == "piece by piece"


async def test_a_stream_of_prompts_has_a_result_for_each(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "two"}, {"text": "three"}])

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        for text in ("a", "b", "c"):
            yield {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None}

    messages = await collect(query(prompt=prompts(), options=here.options()))
    assert [message.result for message in messages if isinstance(message, ResultMessage)] == ["one", "two", "three"]


async def test_a_stream_of_prompts_is_asked_for_leave_in_every_turn(lab: MakeLab) -> None:
    """The SDK keeps stdin open until it is told that nothing more is due: also past the first of several results."""
    here = lab([{"text": "one"}, bash("echo asked > asked.txt"), {"text": "two"}])
    asked: list[str] = []

    async def allow(tool: str, given: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(tool)
        return PermissionResultAllow()

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        for text in ("a", "b"):
            yield {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None}

    messages = await collect(query(prompt=prompts(), options=here.options(can_use_tool=allow)))
    assert [message.result for message in messages if isinstance(message, ResultMessage)] == ["one", "two"]
    assert asked == ["Bash"]
    assert (here.project / "asked.txt").exists()


async def test_a_stream_without_prompts_ends(lab: MakeLab) -> None:
    here = lab([])

    async def nothing() -> AsyncIterator[dict[str, Any]]:
        return
        yield {}

    messages = await collect(query(prompt=nothing(), options=here.options()))
    assert [type(message) for message in messages] == [SystemMessage]


async def test_an_error_result_is_raised_after_it_was_given(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {"fault": "unauthorized"}})
    seen, error = await collect_failing(query(prompt="hi", options=here.options()))
    assert "401" in str(error)
    result = result_of(seen)
    assert (result.subtype, result.is_error, result.api_error_status) == ("success", True, 401)
    assert "401" in (result.result or "")


async def test_max_turns_and_max_budget_end_a_run_with_their_own_results(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {**bash("true"), "usage": {"input": 100_000, "output": 1000}}})
    for more, subtype in (({"max_turns": 1}, "error_max_turns"), ({"max_budget_usd": 0.001}, "error_max_budget_usd")):
        options = here.options(permission_mode="plan", **more)
        seen, error = await collect_failing(query(prompt="go", options=options))
        assert result_of(seen).subtype == subtype
        assert isinstance(error, ResultError)


async def test_a_session_that_is_not_there_is_told_at_the_start(lab: MakeLab) -> None:
    here = lab([])
    with pytest.raises(ClaudeSDKError, match="there-is-none"):
        await collect(query(prompt="hi", options=here.options(resume="there-is-none")))


async def test_a_command_that_cannot_start_is_named(lab: MakeLab) -> None:
    here = lab([])
    with pytest.raises(ProcessError):
        await collect(query(prompt="hi", options=here.options(extra_args={"no-such-option": None})))
    assert [line for line in here.stderr if "no-such-option" in line]


async def test_words_are_sent_as_written_where_a_program_wants_that(lab: MakeLab) -> None:
    here = lab([{"text": "it is a command"}])
    messages = await collect(query(prompt="/context", options=here.options(verbatim_prompts=True)))
    assert result_of(messages).result == "it is a command"
    shown = await collect(query(prompt="/context", options=here.options()))
    assert "tokens" in (result_of(shown).result or "")
    assert len(here.server.requests) == 1


async def test_a_picture(lab: MakeLab) -> None:
    here = lab([{"text": "a dot"}])
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        content = [{"type": "text", "text": "what?"}, {"type": "image", "source": source}]
        yield {"type": "user", "message": {"role": "user", "content": content}}

    await collect(query(prompt=prompts(), options=here.options()))
    assert json.dumps(source) in json.dumps(here.sent())
