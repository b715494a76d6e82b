"""In-process servers of `claude-agent-sdk` (`@tool`, `create_sdk_mcp_server`): called over the control channel."""

import json
from typing import Any

import pytest
from claude_agent_sdk import ToolResultBlock, UserMessage, create_sdk_mcp_server, tool

from sdk.conftest import MakeLab
from sdk.lab import exchange, words

CALLED: list[dict[str, Any]] = []


@tool("add", "Adds two numbers", {"a": float, "b": float})
async def add(args: dict[str, Any]) -> dict[str, Any]:
    CALLED.append(args)
    return {"content": [{"type": "text", "text": f"the sum is {args['a'] + args['b']:g}"}]}


@tool("fail", "Always fails", {})
async def fail(args: dict[str, Any]) -> dict[str, Any]:
    raise RuntimeError("out of fingers")


def calls(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    given = {"tool": f"mcp__calculator__{name}", "arguments": arguments}
    return {"calls": [{"call": "CallTool", "arguments": given}]}


@pytest.fixture(autouse=True)
def nothing_called() -> None:
    CALLED.clear()


async def test_a_function_of_the_program_is_a_tool(lab: MakeLab) -> None:
    here = lab([calls("add", {"a": 2, "b": 3}), calls("fail", {}), {"text": "five"}, {"text": "still here"}])
    servers = {"calculator": create_sdk_mcp_server("calculator", tools=[add, fail])}
    allowed = ["mcp__calculator__add", "mcp__calculator__fail"]
    async with here.client(mcp_servers=servers, allowed_tools=allowed) as client:
        messages = await exchange(client, "what is 2 + 3?")
        assert words(messages) == "five"
        status = await client.get_mcp_status()
        (row,) = status["mcpServers"]
        assert (row["name"], row["status"]) == ("calculator", "connected")
        assert words(await exchange(client, "and?")) == "still here"
    assert CALLED == [{"a": 2, "b": 3}]
    told = [
        block
        for message in messages
        if isinstance(message, UserMessage) and isinstance(message.content, list)
        for block in message.content
        if isinstance(block, ToolResultBlock)
    ]
    assert [bool(block.is_error) for block in told] == [False, True]
    sent = json.dumps(here.sent(2)["messages"])
    assert "the sum is 5" in sent
    assert "out of fingers" in sent


async def test_the_first_request_names_the_tools_of_the_program(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    servers = {"calculator": create_sdk_mcp_server("calculator", tools=[add, fail])}
    async with here.client(mcp_servers=servers) as client:
        await exchange(client, "hi")
    assert "calculator (2): add, fail" in json.dumps(here.sent(0)["messages"])


@tool("decide", "Says yes or no", {"tool_name": str, "input": dict, "tool_use_id": str})
async def decide(args: dict[str, Any]) -> dict[str, Any]:
    CALLED.append({"tool_name": args["tool_name"]})
    answer = {"behavior": "allow", "updatedInput": args["input"]} if args["input"]["a"] else {"behavior": "deny"}
    return {"content": [{"type": "text", "text": json.dumps(answer)}]}


async def test_a_function_of_the_program_answers_what_would_ask(lab: MakeLab) -> None:
    here = lab([calls("add", {"a": 2, "b": 3}), calls("add", {"a": 0, "b": 1}), {"text": "five"}])
    servers = {"calculator": create_sdk_mcp_server("calculator", tools=[add, decide])}
    tool_name = "mcp__calculator__decide"
    async with here.client(mcp_servers=servers, permission_prompt_tool_name=tool_name) as client:
        assert words(await exchange(client, "what is 2 + 3?")) == "five"
    asked = {"tool_name": "mcp__calculator__add"}
    assert [asked, {"a": 2, "b": 3}, asked] == CALLED


async def test_a_tool_that_is_not_allowed_is_not_called(lab: MakeLab) -> None:
    here = lab([calls("add", {"a": 2, "b": 3}), {"text": "no sum"}])
    servers = {"calculator": create_sdk_mcp_server("calculator", tools=[add])}
    async with here.client(mcp_servers=servers) as client:
        await exchange(client, "what is 2 + 3?")
    assert CALLED == []


async def test_without_a_program_that_holds_it_the_server_is_refused_by_name(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    config = json.dumps({"mcpServers": {"calculator": {"type": "sdk", "name": "calculator"}}})
    done = here.place.run("-p", "hi", "--mcp-config", config, "--mcp-wait", "30", "--output-format", "json")
    assert done.code == 2
    assert "calculator: no program here holds it" in done.err
