"""The list of builtin tools, in the fixed order in which a model is told of them, and the few of a small window."""

from collections.abc import Callable, Collection
from typing import Any

from msgspec import Struct

from clew.protocol.meant_calls import ToolSpec
from clew.tools.base import Tool
from clew.tools.builtin.agent import AgentTool
from clew.tools.builtin.ask_user import AskUser
from clew.tools.builtin.bash import Bash
from clew.tools.builtin.edit import Edit
from clew.tools.builtin.glob import Glob
from clew.tools.builtin.grep import Grep
from clew.tools.builtin.notebook_edit import NotebookEdit
from clew.tools.builtin.plan_mode import EnterPlanMode, ExitPlanMode
from clew.tools.builtin.read import Read
from clew.tools.builtin.send_message import SendMessage
from clew.tools.builtin.task_output import TaskOutput, TaskStop
from clew.tools.builtin.todo_write import TodoWrite
from clew.tools.builtin.web_fetch import WebFetch
from clew.tools.builtin.write import Write
from clew.tools.session import BuiltinTool, ToolSession

InShort = Callable[[ToolSpec], ToolSpec]
BUILTIN: tuple[type[BuiltinTool[Any]], ...] = (
    Bash,
    Read,
    Edit,
    Write,
    Grep,
    Glob,
    NotebookEdit,
    AgentTool,
    SendMessage,
    TaskOutput,
    TaskStop,
    TodoWrite,
    AskUser,
    WebFetch,
    EnterPlanMode,
    ExitPlanMode,
)


def builtin_names() -> tuple[str, ...]:
    """What they are called."""
    return tuple(tool.name for tool in BUILTIN)


def builtin_tools(
    session: ToolSession, *, allowed: Collection[str] | None = None, disallowed: Collection[str] = ()
) -> tuple[Tool[Any], ...]:
    """The tools of a session. `allowed` None: all; names that are no builtin tool are ignored here."""
    return tuple(
        tool(session) for tool in BUILTIN if (allowed is None or tool.name in allowed) and tool.name not in disallowed
    )


class ShortForm(Struct, frozen=True, kw_only=True):
    """What is told of a tool where the window is small. Everything else it takes still works."""

    words: str
    parameters: tuple[str, ...]


SMALL_SET: dict[str, ShortForm] = {
    "Bash": ShortForm(
        words="Runs a command in a fresh bash; only the directory is kept, nothing can prompt. A sandbox may hold it: "
        "no network, writes only in the workspace. leave_sandbox asks the user; only when it failed for that reason.",
        parameters=("command", "timeout", "leave_sandbox"),
    ),
    "Read": ShortForm(
        words="Reads a file with line numbers. Use offset and limit for long ones.",
        parameters=("file_path", "offset", "limit"),
    ),
    "Edit": ShortForm(
        words="Replaces exact text in a file that was read before. old_string must be unique, or replace_all true.",
        parameters=("file_path", "old_string", "new_string", "replace_all"),
    ),
    "Write": ShortForm(
        words="Creates a file or replaces all of it. An existing one must have been read first.",
        parameters=("file_path", "content"),
    ),
    "Grep": ShortForm(
        words="Searches files with regular expressions. output_mode: files_with_matches (default), content, count.",
        parameters=("pattern", "path", "glob", "output_mode", "-i", "-C"),
    ),
}


def short_spec(spec: ToolSpec) -> ToolSpec:
    """The spec in its short form, if it has one."""
    form = SMALL_SET.get(spec.name)
    if form is None:
        return spec
    properties = {name: spec.schema["properties"][name] for name in form.parameters}
    return ToolSpec(name=spec.name, description=form.words, schema=spec.schema | {"properties": properties})


def as_it_is(spec: ToolSpec) -> ToolSpec:
    """A spec in full."""
    return spec


def small_set(names: tuple[str, ...] | None) -> tuple[tuple[str, ...], InShort]:
    """Which tools, and how they are told, where the window is small. Those that were asked for are told in full."""
    if names is not None:
        return names, as_it_is
    return tuple(SMALL_SET), short_spec
