"""Which call a call stands for: one through `CallTool` means the call of the tool that it names.

Whoever judges, runs, shows or counts calls asks here first. What is recorded and sent back to the model stays as the
model wrote it.

Also what a model is told about a tool. Most are told in full from the first request on; others come and go while a
session runs (those of MCP servers): they are deferred, found with `SearchTools` and run with `CallTool`, so that the
list of tools stays the same bytes.
"""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.messages import Part, ToolCallPart, tool_calls

STRUCTURED_OUTPUT = "StructuredOutput"
"""The tool that takes an answer of a shape that was asked for."""
SEARCH_TOOLS = "SearchTools"
"""The tool that finds deferred ones."""
CALL_TOOL = "CallTool"
"""The tool through which deferred ones are called."""


class ToolSpec(Struct, frozen=True, kw_only=True):
    """Name, words and JSON schema of one tool. The list is constant within a session (prompt cache)."""

    name: str
    description: str
    schema: dict[str, Any]


TOOL_FIELD = "tool"
ARGUMENTS_FIELD = "arguments"
NOT_THROUGH = (CALL_TOOL, SEARCH_TOOLS)
"""Tools that are only called directly: through `CallTool` they mean nothing else."""


OLD_NAMES: dict[str, tuple[str, str]] = {
    "BashOutput": ("TaskOutput", "bash_id"),
    "KillShell": ("TaskStop", "shell_id"),
    "Task": ("Agent", ""),
}
"""Tools that were called otherwise: the name of today, and the field that is `task_id` today."""


def renamed(call: ToolCallPart) -> ToolCallPart:
    """A call by an old name, as it is made today."""
    name, field = OLD_NAMES[call.name]
    given = {("task_id" if key == field else key): value for key, value in call.arguments.items()}
    return replace(call, name=name, arguments=given)


def meant_call(call: ToolCallPart) -> ToolCallPart:
    """The call that this one stands for; itself where it stands for none, or does not say which."""
    if call.name in OLD_NAMES:
        return renamed(call)
    if call.name != CALL_TOOL or call.raw_arguments is not None:
        return call
    name = call.arguments.get(TOOL_FIELD)
    arguments = given_arguments(call.arguments)
    if not isinstance(name, str) or arguments is None:
        return call
    name = name.strip()
    if not name or name in NOT_THROUGH:
        return call
    return replace(call, name=name, arguments=arguments)


def given_arguments(given: dict[str, Any]) -> dict[str, Any] | None:
    """What a call through `CallTool` gives to the tool it names; None where that is no object. Some models write the
    object as a string: that is the same."""
    if set(given) - {TOOL_FIELD, ARGUMENTS_FIELD}:
        return None
    inner = given.get(ARGUMENTS_FIELD)
    if isinstance(inner, str):
        try:
            inner = msgspec.json.decode(inner) if inner.strip() else None
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    if inner is None:
        return {}
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else None


def meant_part(part: Part) -> Part:
    """The same for any part of a message."""
    return meant_call(part) if isinstance(part, ToolCallPart) else part


def meant_calls(parts: Sequence[Part]) -> tuple[ToolCallPart, ...]:
    """The calls among some parts, each as the one it stands for."""
    return tuple(map(meant_call, tool_calls(parts)))
