"""The tools of a session with what they stand on: their state, permissions, the sandbox."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clew.agents.offering import OfferTelling
from clew.agents.permits import Permits, SavedRules
from clew.config.errors import SettingsError
from clew.config.schema import Permissions
from clew.engine.ports import Ask, CallHook
from clew.host.undo_hook import UndoHook
from clew.host.workspace import Workspace
from clew.llm.connect import key_variables
from clew.permissions.access import Access, Decision, FileAccess, ShellAccess, Verdict
from clew.permissions.policy import Policy, make_policy
from clew.permissions.rules import Rule, RuleError, parse_rule
from clew.protocol.asking import RuleScope
from clew.protocol.ids import CallId
from clew.protocol.tools import ToolSpec
from clew.system.environment import secret_values
from clew.system.redact import register_secrets
from clew.tools.base import Tool, ToolContext
from clew.tools.late_tools import LateTools
from clew.tools.registry import builtin_names, builtin_tools
from clew.tools.sandboxing import open_sandbox
from clew.tools.session import ToolSession
from clew.tools.toolset import ToolSet
from clew.transcript.store import SessionStore

NOTHING_KEPT = "this session keeps no files"
RULE_OPTIONS: dict[Decision, str] = {"allow": "--allowed-tools", "deny": "--disallowed-tools"}
Unkept = Callable[[tuple[str, ...], bool], Awaitable[tuple[str, ...]]]


class SessionTools:
    """What tool calls get of their session: the directory in force, permissions, a place for long results, hooks."""

    def __init__(
        self,
        session: ToolSession,
        permits: Permits,
        hooks: tuple[CallHook, ...] = (),
        *,
        unkept: Unkept | None = None,
    ) -> None:
        """`unkept` tells what of these paths could not be brought back; None: nothing is kept."""
        self._session = session
        self._permits = permits
        self._unkept = unkept
        self.hooks = hooks

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        """A call starts in the directory the last command left."""
        return ToolContext(call_id=call_id, cwd=self._session.cwd, progress=progress, ask=ask)

    async def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        """By the rules and mode in force now. Where something would be lost, whether it could be brought back."""
        verdict = self._permits.judge(accesses)
        if not verdict.at_stake:
            return verdict
        told = [await self._told(access, verdict.at_stake) for access in accesses]
        return self._permits.judge(tuple(told))

    async def only_a_person(self, accesses: tuple[Access, ...]) -> bool:
        """Whether an ask about these is one that no hook may answer."""
        return self._permits.only_a_person(accesses)

    async def _told(self, access: Access, paths: tuple[str, ...]) -> Access:
        """The access with what is known of the paths at stake."""
        if not isinstance(access, ShellAccess | FileAccess):
            return access
        named = isinstance(access, FileAccess)
        gaps = await self._unkept(paths, named) if self._unkept is not None else (NOTHING_KEPT,)
        return replace(access, unkept=gaps)

    def remember(self, rules: tuple[str, ...], *, scope: RuleScope) -> None:
        """The user said "always", or "for this session"."""
        self._permits.remember(rules, kept=scope != "session")

    def saved_in(self, scope: RuleScope) -> str:
        """The file beside the project's sessions; rules of this session only are in none."""
        return "" if scope == "session" else self._permits.saved_in

    @property
    def results_dir(self) -> Path | None:
        """None when the session keeps nothing on disk."""
        return self._session.results_dir


class Toolbox(Struct, kw_only=True):
    """What the session needs of tools."""

    tools: ToolSet
    host: SessionTools
    permits: Permits
    session: ToolSession
    may_read: Callable[[str], bool]
    """Whether the agent may read a file without asking."""
    undo: UndoHook | None = None
    offers: OfferTelling


def open_toolbox(
    workspace: Workspace,
    results_dir: Path | None,
    transcript: Path | None = None,
    *,
    names: tuple[str, ...] | None = None,
    more: tuple[Tool[Any], ...] = (),
    told: tuple[ToolSpec, ...] = (),
    late: LateTools | None = None,
    small: bool = False,
) -> Toolbox:
    """Tools for this workspace, all or those of these `names`, and what the session brings along; `told` and `late`:
    what may come later; `small`: only the few that a small window has room for, unless names are given. Without a
    transcript nothing is kept, files included. Raises SettingsError for a rule or a name that cannot be understood."""
    if names is not None and (unknown := [name for name in names if name not in builtin_names()]):
        raise SettingsError(f"no tool {', '.join(unknown)} (--tools); there are {', '.join(builtin_names())}")
    saved = SavedRules(SessionStore(workspace.home).project_dir(workspace.root))
    session = ToolSession(
        cwd=str(workspace.cwd),
        roots=(str(workspace.root), *workspace.settings.permissions.additional_directories),
        results_dir=results_dir,
        env=workspace.env,
        key_variables=key_variables(workspace.settings.providers),
        keep_variables=workspace.settings.tool_environment.keep,
        sandbox=open_sandbox(
            mode=workspace.settings.sandbox.mode,
            network=workspace.settings.sandbox.network,
            writable=workspace.settings.sandbox.writable_paths,
            home=workspace.env.get("HOME", ""),
            clew_home=workspace.home,
            allowed=lambda path: may_read(path),
        ),
        withheld=lambda path: not may_read(path),
    )

    def may_read(path: str) -> bool:
        return permits.judge((FileAccess(op="read", path=path, cwd="/"),)).decision == "allow"

    register_secrets(secret_values(workspace.env, key_variables=session.key_variables))
    permits = Permits(
        policy_of(workspace, saved),
        save=saved.add,
        unsave=saved.remove,
        saved=saved.texts,
        saved_in=str(saved.path),
        results_dir=results_dir,
    )
    names, in_short = small_set(names) if small else (names, as_it_is)
    own = builtin_tools(session, allowed=names)
    undo = UndoHook(session, home=workspace.home, transcript=transcript) if transcript is not None else None
    offers = OfferTelling()
    return Toolbox(
        tools=ToolSet((*own, *more), told=told, late=late, in_short=in_short),
        host=SessionTools(
            session,
            permits,
            hooks=(undo, offers) if undo is not None else (offers,),
            unkept=undo.unkept if undo is not None else None,
        ),
        permits=permits,
        session=session,
        may_read=may_read,
        undo=undo,
        offers=offers,
    )


def as_it_is(spec: ToolSpec) -> ToolSpec:
    """A spec in full."""
    return spec


def small_set(names: tuple[str, ...] | None) -> tuple[tuple[str, ...], Callable[[ToolSpec], ToolSpec]]:
    """Which tools, and how they are told, where the window is small. Those that were asked for are told in full."""
    if names is not None:
        return names, as_it_is
    from clew.tools.small_set import SMALL_SET, short_spec  # most sessions have room for all

    return tuple(SMALL_SET), short_spec


def policy_of(workspace: Workspace, saved: SavedRules) -> Policy:
    """The policy a session starts with."""
    settings = workspace.settings
    return make_policy(
        root=str(workspace.root),
        home=workspace.env.get("HOME", "") or str(workspace.home.parent),
        clew_home=str(workspace.home),
        mode=settings.permission_mode,
        rules=(*rules_of(settings.permissions, workspace), *(saved.load() if "local" in workspace.sources else ())),
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
    rules: list[Rule] = []
    for effect, texts in lists:
        try:
            rules += [parse_rule(text, effect) for text in texts]
        except RuleError as error:
            raise SettingsError(f"{error} (in {places_of(effect, workspace)})") from error
    return tuple(rules)


def places_of(effect: Decision, workspace: Workspace) -> str:
    """Where rules of this kind come from: files, or the option that gave them."""
    sources = workspace.loaded.sources.get(f"permissions.{effect}", ())
    named = {RULE_OPTIONS.get(effect, source.place) if source.layer == "flag" else source.place for source in sources}
    return ", ".join(sorted(named)) or "the settings"
