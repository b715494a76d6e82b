"""The tools of a session with what they stand on: their state, permissions, the sandbox."""

from typing import Any

from msgspec import Struct

from clew.cli.conversation import Conversation
from clew.cli.workspace import Workspace
from clew.config.errors import SettingsError
from clew.config.schema import Permissions
from clew.host.permits import Permits
from clew.host.saved_rules import SavedRules
from clew.host.tool_host import SessionTools
from clew.llm.connect import key_variables
from clew.permissions.access import Decision, FileAccess
from clew.permissions.policy import Policy, make_policy
from clew.permissions.rules import Rule, RuleError, parse_rule
from clew.protocol.tools import ToolSpec
from clew.system.environment import secret_values
from clew.system.redact import register_secrets
from clew.tools.base import Tool
from clew.tools.registry import builtin_tools
from clew.tools.sandboxing import open_sandbox
from clew.tools.session import ToolSession
from clew.transcript.store import SessionStore


class Toolbox(Struct, kw_only=True):
    """What the session needs of tools."""

    tools: dict[str, Tool[Any]]
    host: SessionTools
    permits: Permits
    session: ToolSession

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told, in fixed order."""
        return tuple(tool.spec() for tool in self.tools.values())


def open_toolbox(workspace: Workspace, conversation: Conversation) -> Toolbox:
    """Tools for this workspace and conversation. Raises SettingsError for a rule that cannot be understood."""
    saved = SavedRules(SessionStore(workspace.home).project_dir(workspace.root))
    session = ToolSession(
        cwd=str(workspace.cwd),
        roots=(str(workspace.root), *workspace.settings.permissions.additional_directories),
        results_dir=conversation.results_dir,
        env=workspace.env,
        key_variables=key_variables(workspace.settings.providers),
        keep_variables=workspace.settings.tool_environment.keep,
        sandbox=open_sandbox(
            mode=workspace.settings.sandbox.mode,
            network=workspace.settings.sandbox.network,
            writable=workspace.settings.sandbox.writable_paths,
            home=workspace.env.get("HOME", ""),
            clew_home=workspace.home,
        ),
        withheld=lambda path: permits.judge((FileAccess(op="read", path=path, cwd="/"),)).decision != "allow",
    )
    register_secrets(secret_values(workspace.env, key_variables=session.key_variables))
    permits = Permits(policy_of(workspace, saved), save=saved.add, results_dir=conversation.results_dir)
    tools = {tool.name: tool for tool in builtin_tools(session)}
    return Toolbox(tools=tools, host=SessionTools(session, permits), permits=permits, session=session)


def policy_of(workspace: Workspace, saved: SavedRules) -> Policy:
    """The policy a session starts with."""
    settings = workspace.settings
    return make_policy(
        root=str(workspace.root),
        home=workspace.env.get("HOME", "") or str(workspace.home.parent),
        clew_home=str(workspace.home),
        mode=settings.permission_mode,
        rules=(*rules_of(settings.permissions, workspace), *saved.load()),
        additional=settings.permissions.additional_directories,
        trusted=workspace.trusted,
    )


def rules_of(permissions: Permissions, workspace: Workspace) -> tuple[Rule, ...]:
    """The rules of all layers. Project files were already narrowed when settings were loaded."""
    lists: tuple[tuple[Decision, tuple[str, ...]], ...] = (
        ("deny", permissions.deny),
        ("ask", permissions.ask),
        ("allow", permissions.allow),
    )
    try:
        return tuple(parse_rule(text, effect) for effect, texts in lists for text in texts)
    except RuleError as error:
        places = {
            source.place
            for key, sources in workspace.loaded.sources.items()
            if key.startswith("permissions.")
            for source in sources
        }
        raise SettingsError(f"{error} (in {', '.join(sorted(places)) or 'the settings'})") from error
