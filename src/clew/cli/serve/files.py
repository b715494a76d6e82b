"""`clew mcp serve --files`: reading and searching below the given directories; nothing that would ask a person."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from clew.config.load import load_settings
from clew.permissions.access import FileAccess
from clew.permissions.policy import Policy, judge, judge_call, make_policy
from clew.permissions.rules import parse_rule
from clew.protocol.events import Question
from clew.protocol.ids import CallId
from clew.system.home import clew_home
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.registry import builtin_tools
from clew.tools.session import ToolSession

NAMES = ("Read", "Grep", "Glob")


class ServedFiles:
    """Read, Grep and Glob as sessions have them. What permissions would not allow by themselves is refused."""

    def __init__(self, folders: Sequence[str], env: Mapping[str, str]) -> None:
        """Raises ValueError for what is no directory, and SettingsError."""
        roots = tuple(_root(folder) for folder in folders)
        self._policy = policy_of(roots, env)
        self._session = ToolSession(
            cwd=roots[0],
            roots=roots,
            env=env,
            withheld=lambda path: not self._may_read(path),
        )
        self.tools: dict[str, Tool[Any]] = {tool.name: tool for tool in builtin_tools(self._session, allowed=NAMES)}
        self._calls = 0

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Judged, then run. Raises BadArguments."""
        tool = self.tools[name]
        params = tool.decode(arguments)
        self._calls += 1
        context = ToolContext(
            call_id=CallId(f"served_{self._calls}"), cwd=self._session.cwd, progress=lambda _: None, ask=_nobody
        )
        verdict = judge_call(tool.accesses(params, context), self._policy)
        if verdict.decision != "allow":
            return ToolResult(text=f"Not served: {verdict.why}. Nobody is asked here.", is_error=True)
        return await tool.run(params, context)

    def _may_read(self, path: str) -> bool:
        return judge(FileAccess(op="read", path=path, cwd="/"), self._policy).decision == "allow"


def policy_of(roots: tuple[str, ...], env: Mapping[str, str]) -> Policy:
    """The places that were given, and whatever the user's settings forbid; rules that allow more do not count."""
    home = clew_home(env)
    settings = load_settings(home=home, project_root=None, trusted=False, env=env).settings
    rules = (
        *(parse_rule(text, "deny") for text in settings.permissions.deny),
        *(parse_rule(text, "ask") for text in settings.permissions.ask),
    )
    return make_policy(
        root=roots[0],
        additional=roots[1:],
        home=env.get("HOME", "") or str(home.parent),
        clew_home=str(home),
        rules=rules,
        trusted=False,
    )


def _root(folder: str) -> str:
    path = os.path.realpath(os.path.expanduser(folder))
    if not os.path.isdir(path):
        raise ValueError(f"--files {folder}: no such directory")
    return path


async def _nobody(_questions: tuple[Question, ...]) -> tuple[tuple[str, ...], ...] | None:
    return None
