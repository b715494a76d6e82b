"""The real claude-agent-sdk with its CLI path pointed at the installed `clew`, and a scripted model behind it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    Message,
    ResultMessage,
    TextBlock,
    ToolUseBlock,
)

from e2e.command import CLEW, Place
from fakes.model_server import ModelServer

OURS = {"type": "preset", "preset": "claude_code"}
"""What makes the SDK leave the system prompt alone."""


class Lab:
    """A place, a server, and options for both."""

    def __init__(self, tmp_path: Path, script: Any) -> None:
        self.server = ModelServer(script).__enter__()
        self.place = Place(tmp_path, self.server.url)
        self.stderr: list[str] = []

    @property
    def project(self) -> Path:
        return self.place.project

    def options(self, **more: Any) -> ClaudeAgentOptions:
        given: dict[str, Any] = {
            "cli_path": CLEW,
            "cwd": self.project,
            "system_prompt": OURS,
            "stderr": self.stderr.append,
            **more,
        }
        given["env"] = {**self.place.env, **given.get("env", {})}
        return ClaudeAgentOptions(**given)

    @asynccontextmanager
    async def client(self, **more: Any) -> AsyncIterator[ClaudeSDKClient]:
        """Connected while the test is inside."""
        client = ClaudeSDKClient(self.options(**more))
        async with client:
            yield client

    def sent(self, at: int = -1) -> dict[str, Any]:
        """What the model was asked."""
        return self.server.requests[at].body

    def close(self) -> None:
        self.server.__exit__()


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"calls": [{"call": "Bash", "arguments": {"command": command, **more}}]}


async def collect(messages: AsyncIterator[Message]) -> list[Message]:
    return [message async for message in messages]


async def collect_failing(messages: AsyncIterator[Message]) -> tuple[list[Message], ClaudeSDKError]:
    """What came before the error, and the error."""
    seen: list[Message] = []
    try:
        async for message in messages:
            seen.append(message)
    except ClaudeSDKError as error:
        return seen, error
    raise AssertionError("it did not fail")


async def exchange(client: ClaudeSDKClient, prompt: Any) -> list[Message]:
    """One prompt and all up to its result."""
    await client.query(prompt)
    return await collect(client.receive_response())


def result_of(messages: list[Message]) -> ResultMessage:
    """The one result, which is last."""
    (result,) = [message for message in messages if isinstance(message, ResultMessage)]
    assert messages[-1] is result
    return result


def words(messages: list[Message]) -> str:
    said = [block for message in messages if isinstance(message, AssistantMessage) for block in message.content]
    return "".join(block.text for block in said if isinstance(block, TextBlock))


def calls(messages: list[Message]) -> list[ToolUseBlock]:
    said = [block for message in messages if isinstance(message, AssistantMessage) for block in message.content]
    return [block for block in said if isinstance(block, ToolUseBlock)]
