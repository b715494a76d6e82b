"""Tools: what all agents of a session share of them, and what each agent has of its own."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from clew.agents.log import OfferTelling, SessionPort
from clew.agents.permits import AgentRights, PathBounds, Permits, SavedRules, ToolPlace, policy_of
from clew.agents.undo_hook import AgentUndo, UndoHook
from clew.config.errors import SettingsError
from clew.engine.ports import Ask, CallHook
from clew.llm.models.connect import key_variables
from clew.permissions.access import Access, FileAccess, Mode, ShellAccess, Verdict
from clew.protocol.event_kinds.asks import RuleScope
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId
from clew.protocol.meant_calls import CALL_TOOL, SEARCH_TOOLS, STRUCTURED_OUTPUT, ToolSpec
from clew.system.environment import secret_values
from clew.system.home import socket_dir
from clew.text.redact import register_secrets
from clew.tools.base import AgentPort, TaskPort, Tool, ToolContext, WorkPort
from clew.tools.registry import InShort, as_it_is, builtin_names, builtin_tools, small_set
from clew.tools.session import ToolSession, WorkPlace, in_checkout, open_sandbox
from clew.tools.toolset import LateTools, ToolSet, any_tool, is_chosen
from clew.transcript.log.store import SessionStore

if TYPE_CHECKING:
    from clew.agents.definitions.own_memory import OwnMemory
    from clew.agents.tasks import TaskRegistry

NOTHING_KEPT = "this session keeps no files"
NOT_FOR_CHILDREN = frozenset(
    {SEARCH_TOOLS, CALL_TOOL, "EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree", STRUCTURED_OUTPUT}
)
"""Tools that belong to the main agent's conversation: its search among tools, its plan, the shape of its answer."""
PortMaker = Callable[[AgentId, CallId], AgentPort]
HookMaker = Callable[[AgentId], CallHook | None]
"""Makes what stands around one agent's calls, if anything."""


class SessionTools:
    """What the calls of all agents of a session stand on: one sandbox, one set of rules, one keeper of files."""

    def __init__(self, place: ToolPlace, results_dir: Path | None, transcript: Path | None = None) -> None:
        """Without a transcript nothing is kept, files included. Raises SettingsError for a rule that cannot be
        understood."""
        settings = place.settings
        saved = SavedRules(SessionStore(place.home).project_dir(place.root))
        self._place = place
        self._results_dir = results_dir
        self._roots = (str(place.root), *settings.permissions.additional_directories)
        self._key_variables = key_variables(settings.providers)
        held = settings.sandbox
        self._sandbox = open_sandbox(
            mode=held.mode,
            network=held.network,
            writable=held.writable_paths,
            max_memory_mb=held.max_memory_mb,
            max_processes=held.max_processes,
            home=place.env.get("HOME", ""),
            search_path=place.env.get("PATH", ""),
            clew_home=place.home,
            sockets=socket_dir(place.env, place.home),
            allowed=self.may_read,
        )
        self._sessions: list[ToolSession] = []
        self._session: SessionPort | None = None
        self._agents: PortMaker | None = None
        self._registry: TaskRegistry | None = None
        self._hooks: list[HookMaker] = []
        self.work: Callable[[AgentId], WorkPort | None] = lambda agent: None
        """The list of work, as an agent writes it; None: it has a list of its own."""
        self.permits = Permits(
            policy_of(place, saved),
            save=saved.add,
            unsave=saved.remove,
            saved=saved.texts,
            saved_in=str(saved.path),
            results_dir=results_dir,
        )
        self.undo: UndoHook | None = None
        if transcript is not None:
            roots = [os.path.realpath(root) for root in self._roots]
            self.undo = UndoHook(home=place.home, transcript=transcript, roots=roots)
        self.offers = OfferTelling()
        register_secrets(secret_values(place.env, key_variables=frozenset(self._key_variables)))

    def may_read(self, path: str, at: str = "") -> bool:
        """Whether an agent may read a file without asking; `at`: one with a checkout of its own."""
        return self.permits.judge((FileAccess(op="read", path=path, cwd="/"),), at=at).decision == "allow"

    def tool_session(
        self, agent: AgentId, parent: ToolSession | None = None, *, checkout: str = "", seen: tuple[str, ...] = ()
    ) -> ToolSession:
        """What the tools of one more agent remember: its directory, its reads and claims, its commands. It works where
        its parent does, or in a `checkout` of its own: then the workspace, and what else is `seen` from there, is
        read-only to its commands."""
        place = self.work_place(parent, checkout=checkout, seen=seen)

        def withheld(path: str) -> bool:
            return not self.may_read(path, session.checkout)

        session = ToolSession(
            cwd=place.cwd,
            roots=place.roots,
            checkout=place.checkout,
            results_dir=self._results_dir,
            env=place.env,
            key_variables=self._key_variables,
            keep_variables=self._place.settings.tool_environment.keep,
            sandbox=place.sandbox,
            shared_sandbox=place.shared_sandbox,
            withheld=withheld,
            tasks=lambda: self.registry.of(agent),
        )
        self._sessions.append(session)
        return session

    def work_place(
        self, parent: ToolSession | None = None, *, checkout: str = "", seen: tuple[str, ...] = (), branch: str = ""
    ) -> WorkPlace:
        """Where an agent works: where its parent does, or in a `checkout`; without both, in the workspace."""
        place = WorkPlace(
            cwd=str(self._place.cwd), roots=self._roots, env=self._place.env, sandbox=self._sandbox, shared_sandbox=True
        )
        place = parent.place if parent is not None else place
        return in_checkout(place, checkout, self._roots, seen=seen, branch=branch) if checkout else place

    @property
    def place(self) -> ToolPlace:
        """Where the session works."""
        return self._place

    def add_hooks(self, make: HookMaker) -> None:
        """Stand around every agent's calls, within what was added before and around what keeps files."""
        self._hooks.append(make)

    def hooks_of(self, agent: AgentId, session: ToolSession) -> tuple[CallHook, ...]:
        """What stands around one agent's calls, the outermost first."""
        kept = (self.undo.of(agent, session),) if self.undo is not None else ()
        made = (make(agent) for make in self._hooks)
        return (*(hook for hook in made if hook is not None), *kept, self.offers)

    def open_ports(self, session: SessionPort, agents: PortMaker | None = None) -> None:
        """Belong to a session; `agents` makes the ports through which calls start agents."""
        self._session = session
        self._agents = agents
        if self.undo is not None:
            self.undo.attach(session)
        self.offers.tell = lambda text, code: session.notice("warning", text, code=code)

    @property
    def registry(self) -> "TaskRegistry":
        """The tasks of the session; loaded when the first one begins."""
        if self._registry is None:
            from clew.agents.tasks import TaskRegistry  # most runs have none

            assert self._session is not None
            self._registry = TaskRegistry(self._session)
        return self._registry

    def ports(self, agent: AgentId, call_id: CallId) -> tuple[AgentPort | None, Callable[[], TaskPort]]:
        """The ports of one call."""
        return self._agents(agent, call_id) if self._agents is not None else None, lambda: self.registry.of(agent)

    async def end_tasks(self) -> None:
        """The session is about to end: so does what runs beside it, and that is told."""
        if self._registry is not None:
            await self._registry.close()

    async def release(self, session: ToolSession) -> None:
        """An agent is done: what it started ends."""
        if session in self._sessions:
            self._sessions.remove(session)
            await session.close()

    async def close(self) -> None:
        """End all that runs, of every agent, then let the sandbox and the kept files go."""
        for session in list(self._sessions):
            await self.release(session)
        if self._sandbox is not None:
            self._sandbox.close()
        if self.undo is not None:
            await self.undo.close()


class AgentToolHost:
    """What an agent's calls get of it and of its session: the directory in force, rights, a place for long results."""

    def __init__(self, agent: AgentId, session: ToolSession, rights: AgentRights, shared: SessionTools) -> None:
        self._agent = agent
        self._session = session
        self._rights = rights
        self._shared = shared
        self._hooks: tuple[CallHook, ...] | None = None

    @property
    def hooks(self) -> tuple[CallHook, ...]:
        """What stands around its calls; fixed with the first one. In a checkout of its own no files are kept."""
        if self._hooks is None:
            self._hooks = self._shared.hooks_of(self._agent, self._session)
        if not self._session.checkout:
            return self._hooks
        return tuple(hook for hook in self._hooks if not isinstance(hook, AgentUndo))

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        """A call starts in the directory the last command left."""
        agents, tasks = self._shared.ports(self._agent, call_id)
        cwd, shared, agent = self._session.cwd, self._shared, self._agent
        return ToolContext(
            call_id=call_id,
            cwd=cwd,
            progress=progress,
            ask=ask,
            agents=agents,
            work=lambda: shared.work(agent),
            tasks=tasks,
        )

    async def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        """By the rules and mode in force now. Where something would be lost, whether it could be brought back."""
        verdict = self._rights.judge(accesses)
        own = f"{self._session.checkout}/" if self._session.checkout else ""
        if not verdict.at_stake or (own and all(path.startswith(own) for path in verdict.at_stake)):
            return verdict  # what is lost in a checkout of its own is nobody else's
        told = [await self._told(access, verdict.at_stake) for access in accesses]
        return self._rights.judge(tuple(told))

    async def only_a_person(self, accesses: tuple[Access, ...]) -> bool:
        """Whether an ask about these is one that no hook may answer."""
        return self._rights.only_a_person(accesses)

    async def _told(self, access: Access, paths: tuple[str, ...]) -> Access:
        """The access with what is known of the paths at stake."""
        if not isinstance(access, ShellAccess | FileAccess):
            return access
        undo, named = self._shared.undo, isinstance(access, FileAccess)
        gaps = await undo.unkept(paths, named) if undo is not None else (NOTHING_KEPT,)
        return replace(access, unkept=gaps)

    def remember(self, rules: tuple[str, ...], *, scope: RuleScope) -> None:
        """The user said "always", or "for this session"."""
        self._rights.permits.remember(rules, kept=scope != "session")

    def saved_in(self, scope: RuleScope) -> str:
        """The file beside the project's sessions; rules of this session only are in none."""
        return "" if scope == "session" else self._rights.permits.saved_in

    @property
    def results_dir(self) -> Path | None:
        """None when the session keeps nothing on disk."""
        return self._session.results_dir


class AgentTools(Struct, frozen=True, kw_only=True):
    """The tools of one agent, with what they remember and what it may do."""

    shared: SessionTools
    session: ToolSession
    tools: ToolSet
    host: AgentToolHost
    rights: AgentRights
    in_short: InShort

    @property
    def permits(self) -> Permits:
        """The session's."""
        return self.shared.permits

    @property
    def undo(self) -> UndoHook | None:
        """What keeps the session's files."""
        return self.shared.undo

    def work_in(self, *, checkout: str = "", seen: tuple[str, ...] = (), branch: str = "") -> None:
        """The main agent goes on in a checkout, or without one in the workspace. Nothing of its own may run now."""
        self.session.work_in(self.shared.work_place(checkout=checkout, seen=seen, branch=branch))
        self.rights.work_in(self.session.checkout)

    def fork(self, agent: AgentId, wrap: Callable[[Tool[Any]], Tool[Any]]) -> "AgentTools":
        """Tools for a fork: its parent's, told in the same bytes. Those that no child has are `wrap`ped."""
        made = self.child(agent)
        here = {tool.name: tool for tool in made.tools}
        tools = ToolSet(here.get(tool.name) or wrap(tool) for tool in self.tools if self.tools.is_told(tool.name))
        tools.tell_the_same_as(self.tools)
        return replace(made, tools=tools)

    def child(
        self,
        agent: AgentId,
        names: tuple[str, ...] | None = None,
        *,
        mode: Mode | None = None,
        without: tuple[str, ...] = (),
        bounds: PathBounds | None = None,
        checkout: str = "",
        seen: tuple[str, ...] = (),
        memory: "OwnMemory | None" = None,
        own_tools: tuple[Tool[Any], ...] = (),
    ) -> "AgentTools":
        """Tools for a child: of those that its parent is told of, all or the ones of these names and never those
        `without`, and `own_tools` of its kind, on the same sandbox, rules and kept files. `mode` and `bounds` never
        make rights wider. `checkout`, `seen`: where it works, if not where its parent does. `memory`: its notes."""
        session = self.shared.tool_session(agent, self.session, checkout=checkout, seen=seen)
        told = {spec.name for spec in self.tools.specs} | self.tools.aside.keys()
        offered = [
            tool
            for tool in (*self.tools, *self.tools.aside.values())
            if tool.name in told and tool.name not in NOT_FOR_CHILDREN and is_chosen(tool.name, names, without)
        ]
        own = {tool.name: tool for tool in builtin_tools(session, allowed=[tool.name for tool in offered])}
        rights = AgentRights(
            self.permits,
            mode=mode,
            parent=self.rights,
            bounds=bounds,
            checkout=session.checkout,
            memory=memory,
            alone=bool(checkout) or self.rights.alone,
        )
        return AgentTools(
            shared=self.shared,
            session=session,
            tools=ToolSet((*(own.get(tool.name, tool) for tool in offered), *own_tools), in_short=self.in_short),
            host=AgentToolHost(agent, session, rights, self.shared),
            rights=rights,
            in_short=self.in_short,
        )


def open_tools(
    shared: SessionTools,
    *,
    names: tuple[str, ...] | None = None,
    more: tuple[Tool[Any], ...] = (),
    told: tuple[ToolSpec, ...] = (),
    late: LateTools | None = None,
    small: bool = False,
    has: Callable[[str], bool] = any_tool,
    bounds: PathBounds | None = None,
    memory: "OwnMemory | None" = None,
    delegates: bool = False,
    shelf: Mapping[str, Callable[[], Tool[Any]]] | None = None,
) -> AgentTools:
    """The main agent's tools: all or those of these `names`, and what the session brings along. `told` and `late`: what
    may come later; `shelf`: deferred ones of clew's own. `small`: only the few that a small window has room for, unless
    names are given. `has` and `bounds`: what the kind of agent that it runs as leaves of them; `delegates`: its
    children have the others. Raises SettingsError for a name that there is not."""
    if names is not None and (unknown := [name for name in names if name not in builtin_names()]):
        raise SettingsError(f"no tool {', '.join(unknown)} (--tools); there are {', '.join(builtin_names())}")
    session = shared.tool_session(MAIN_AGENT)
    names, in_short = small_set(names) if small else (names, as_it_is)
    rights = AgentRights(shared.permits, bounds=bounds, memory=memory, alone=False)
    builtin = (tool for tool in builtin_tools(session, allowed=names) if delegates or has(tool.name))
    takes = has if not delegates else any_tool
    tools = ToolSet((*builtin, *more), told=told, late=late, in_short=in_short, takes=takes, shelf=shelf)
    if delegates:
        tools.delegate(has)
    return AgentTools(
        shared=shared,
        session=session,
        tools=tools,
        host=AgentToolHost(MAIN_AGENT, session, rights, shared),
        rights=rights,
        in_short=in_short,
    )
