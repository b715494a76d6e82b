"""The list of builtin tools, in the fixed order in which a model is told of them."""

from collections.abc import Collection
from typing import Any

from clew.tools.base import Tool
from clew.tools.builtin.ask_user import AskUser
from clew.tools.builtin.base import BuiltinTool
from clew.tools.builtin.bash import Bash
from clew.tools.builtin.bash_output import BashOutput
from clew.tools.builtin.edit import Edit
from clew.tools.builtin.enter_plan_mode import EnterPlanMode
from clew.tools.builtin.exit_plan_mode import ExitPlanMode
from clew.tools.builtin.glob import Glob
from clew.tools.builtin.grep import Grep
from clew.tools.builtin.kill_shell import KillShell
from clew.tools.builtin.notebook_edit import NotebookEdit
from clew.tools.builtin.read import Read
from clew.tools.builtin.todo_write import TodoWrite
from clew.tools.builtin.web_fetch import WebFetch
from clew.tools.builtin.write import Write
from clew.tools.session import ToolSession

BUILTIN: tuple[type[BuiltinTool[Any]], ...] = (
    Bash,
    Read,
    Edit,
    Write,
    Grep,
    Glob,
    NotebookEdit,
    BashOutput,
    KillShell,
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
