"""`ClaudeSDKClient`: many turns in one session, and what can be changed between them."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeSDKClient,
    ProcessError,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    UserMessage,
)

from e2e.test_dialogue import until
from sdk.conftest import MakeLab
from sdk.lab import bash, collect, exchange, result_of, words


async def test_turns_share_one_conversation(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "two"}])
    async with here.client() as client:
        first = await exchange(client, "a")
        second = await exchange(client, "b")
    assert (words(first), words(second)) == ("one", "two")
    assert result_of(first).session_id == result_of(second).session_id
    assert [message["role"] for message in here.sent()["messages"]] == ["user", "assistant", "user"]
    inits = [m for m in (*first, *second) if isinstance(m, SystemMessage) and m.subtype == "init"]
    assert len(inits) == 2


async def test_what_there_is_is_told_at_the_start(lab: MakeLab) -> None:
    here = lab([])
    async with here.client() as client:
        info = await client.get_server_info()
    assert info is not None
    assert "context" in [command["name"] for command in info["commands"]]
    assert info["models"][0]["value"] == "anthropic/claude-sonnet-4-5"
    assert (info["hook_on_failure_supported"], info["hooks_applied"], info["account"]) == (True, True, {})
    assert isinstance(info["pid"], int)


async def test_an_interrupt_with_a_stream_open_and_a_later_turn(lab: MakeLab) -> None:
    here = lab([{"parts": [{"text": "words "}, {"wait": "never"}, {"text": "late"}]}, {"text": "next"}])
    async with here.client(include_partial_messages=True) as client:
        await client.query("go")
        messages = client.receive_messages()
        async for message in messages:
            if isinstance(message, StreamEvent) and "words" in str(message.event):
                break
        await client.interrupt()
        rest = await until_result(messages)
        after = await exchange(client, "and now?")
    assert result_of(rest).terminal_reason == "aborted_streaming"
    assert "late" not in str(rest)
    assert words(after) == "next"


async def until_result(messages: Any) -> list[Any]:
    seen: list[Any] = []
    async for message in messages:
        seen.append(message)
        if isinstance(message, ResultMessage):
            return seen
    raise AssertionError("no result")


async def test_an_interrupt_of_a_command_that_will_not_end(lab: MakeLab) -> None:
    here = lab([bash("trap '' TERM INT; touch began; while :; do sleep 0.1; done"), {"text": "next"}])
    async with here.client(permission_mode="bypassPermissions") as client:
        await client.query("go")
        until((here.project / "began").exists)
        await client.interrupt()
        stopped = await collect(client.receive_response())
        after = await exchange(client, "and now?")
    assert result_of(stopped).terminal_reason == "aborted_tools"
    assert words(after) == "next"


async def test_the_model_can_be_changed_and_changed_back(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {"text": "hi"}})
    async with here.client() as client:
        await client.set_model("claude-haiku-4-5")
        await exchange(client, "a")
        await client.set_model(None)
        await exchange(client, "b")
        with pytest.raises(Exception, match="no-such-provider"):
            await client.set_model("no-such-provider/model")
        assert words(await exchange(client, "c")) == "hi"
    assert [request.body["model"] for request in here.server.requests] == [
        "claude-haiku-4-5",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5",
    ]


async def test_the_permission_mode_can_be_changed(lab: MakeLab) -> None:
    here = lab([bash("echo 1 > one.txt"), {"text": "no"}, bash("echo 2 > two.txt"), {"text": "yes"}])
    async with here.client() as client:
        first = await exchange(client, "a")
        await client.set_permission_mode("bypassPermissions")
        second = await exchange(client, "b")
        await client.set_permission_mode("dontAsk")
        with pytest.raises(Exception, match="there is no permission mode 'auto'; modes are default"):
            await client.set_permission_mode("auto")
    assert result_of(first).permission_denials
    assert not result_of(second).permission_denials
    assert not (here.project / "one.txt").exists()
    assert (here.project / "two.txt").exists()


async def test_the_window_is_told_by_kind(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    async with here.client() as client:
        await exchange(client, "some words")
        usage = await client.get_context_usage()
    assert usage["model"] == "anthropic/claude-sonnet-4-5"
    assert (usage["maxTokens"], usage["rawMaxTokens"]) == (200_000, 200_000)
    named = {category["name"]: category["tokens"] for category in usage["categories"]}
    assert named["system prompt"] > 0
    assert usage["totalTokens"] == sum(tokens for name, tokens in named.items() if name != "Free space")
    assert 0 < usage["percentage"] < 100
    assert usage["isAutoCompactEnabled"]
    for key in ("memoryFiles", "mcpTools", "agents", "gridRows"):
        assert usage[key] == []


async def test_there_are_no_mcp_servers_and_asking_for_one_says_so(lab: MakeLab) -> None:
    here = lab([])
    async with here.client() as client:
        assert await client.get_mcp_status() == {"mcpServers": []}
        with pytest.raises(Exception, match="there is no MCP server"):
            await client.reconnect_mcp_server("x")
        with pytest.raises(Exception, match="there is no MCP server"):
            await client.toggle_mcp_server("x", enabled=True)


async def test_a_program_sees_and_switches_mcp_servers(lab: MakeLab) -> None:
    here = lab([])
    script = str(Path(__file__).parents[1] / "fakes" / "raw_mcp.py")
    servers = {"raw": {"type": "stdio", "command": sys.executable, "args": [script]}}
    async with here.client(mcp_servers=servers) as client:
        await client.reconnect_mcp_server("raw")
        await client.toggle_mcp_server("raw", enabled=False)
        (row,) = (await client.get_mcp_status())["mcpServers"]
        assert (row["name"], row["status"]) == ("raw", "disabled")


async def test_files_go_back_to_before_a_prompt(lab: MakeLab) -> None:
    write = {"calls": [{"call": "Write", "arguments": {"file_path": "a.txt", "content": "changed\n"}}]}
    read = {"calls": [{"call": "Read", "arguments": {"file_path": "a.txt"}}]}
    here = lab([read, write, {"text": "done"}])
    (here.project / "a.txt").write_text("as it was\n")
    options: dict[str, Any] = {"permission_mode": "bypassPermissions", "enable_file_checkpointing": True}
    async with here.client(**options, extra_args={"replay-user-messages": None}) as client:
        messages = await exchange(client, "change it")
        said = next(m for m in messages if isinstance(m, UserMessage) and m.content == "change it")
        assert (here.project / "a.txt").read_text() == "changed\n"
        assert said.uuid
        await client.rewind_files(said.uuid)
        assert (here.project / "a.txt").read_text() == "as it was\n"
        with pytest.raises(Exception, match="there-is-no-such-entry"):
            await client.rewind_files("there-is-no-such-entry")


async def test_a_command_in_the_background_can_be_stopped(lab: MakeLab) -> None:
    here = lab([bash("sleep 1000", run_in_background=True), {"text": "it runs"}])
    async with here.client(permission_mode="bypassPermissions") as client:
        messages = await exchange(client, "start it")
        assert "bash_1" in str(messages)
        await client.stop_task("bash_1")
        with pytest.raises(Exception, match="has ended already"):
            await client.stop_task("bash_1")
        with pytest.raises(Exception, match="no task nothing"):
            await client.stop_task("nothing")


async def test_a_prompt_at_connect_and_a_session_id_that_is_chosen(lab: MakeLab) -> None:
    here = lab([{"text": "hello"}])
    chosen = "0b6d1f3e-9d5c-4b3a-8f21-000000000001"
    client = ClaudeSDKClient(here.options(session_id=chosen))
    await client.connect("hi")
    messages = await collect(client.receive_response())
    await client.disconnect()
    assert result_of(messages).session_id == chosen
    assert words(messages) == "hello"


async def test_leaving_in_the_middle_of_a_turn_ends_the_process(lab: MakeLab) -> None:
    here = lab([{"parts": [{"text": "words "}, {"wait": "never"}]}])
    client = ClaudeSDKClient(here.options(include_partial_messages=True))
    await client.connect()
    await client.query("go")
    async for message in client.receive_messages():
        if isinstance(message, StreamEvent):
            break
    info = await client.get_server_info()
    assert info is not None
    await client.disconnect()
    with pytest.raises(ProcessLookupError):
        os.kill(info["pid"], 0)


async def test_a_command_that_dies_ends_what_waits_for_it(lab: MakeLab) -> None:
    here = lab([{"parts": [{"text": "words "}, {"wait": "never"}]}])
    client = ClaudeSDKClient(here.options(include_partial_messages=True))
    await client.connect()
    info = await client.get_server_info()
    assert info is not None
    await client.query("go")
    messages = client.receive_messages()
    async for message in messages:
        if isinstance(message, StreamEvent):
            break
    os.kill(info["pid"], signal.SIGKILL)
    with pytest.raises(ProcessError):
        await collect(messages)
    await client.disconnect()
