"""THE list of parts: every capability of a session, in the order in which they are asked and told.

This is the registry of what only some sessions need: parts are imported here where they are made, and what a part of
every session loads later is handed to it by a function of this module.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from clew.agents.factory import AgentFactory
from clew.agents.runner import COORDINATOR, KINDS_HEADING, MAIN, AgentSpec
from clew.agents.toolbox import AgentTools, SessionTools, open_tools
from clew.config.skill_places import Around, agent_folders
from clew.engine.compaction.window_meter import WindowMeter
from clew.host.door import Door
from clew.host.model_choice import chosen_model, connector
from clew.host.part import MoreTools, Part, PartSession, PartSetup
from clew.host.past import Past
from clew.host.prompt_bytes import MainPrompt, stored_block
from clew.host.request import SessionRequest
from clew.host.socket_life import SocketPart
from clew.host.workspace import Workspace, workspace_of
from clew.llm.model import Model
from clew.parts.agents.part import AgentPart
from clew.parts.memory.part import MemoryPart
from clew.parts.notifications.part import NotificationPart
from clew.parts.plan.part import PlanPart
from clew.parts.skills.part import SkillPart
from clew.parts.window.part import WindowPart
from clew.prompts.memory import Memory
from clew.prompts.system_prompt import Facts
from clew.protocol.entries import Entry, SystemPromptEntry
from clew.protocol.ids import MAIN_AGENT
from clew.tools.base import Tool
from clew.tools.builtin.search_tools import CallTool, SearchTools
from clew.tools.toolset import LateTools
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.store import SessionStore

if TYPE_CHECKING:
    from clew.agents.children import Children
    from clew.agents.definitions.kinds import Kinds
    from clew.engine.compaction.compactor import Consent
    from clew.host.socket_server import SocketServer
    from clew.parts.skills.session_skills import SessionSkills
    from clew.parts.window.room import WindowRoom

PartMaker = Callable[[PartSetup], Part]
OWN_DEFERRED = (
    *("TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TeamCreate", "TeamDelete", "TeamShutdown", "PlanReply"),
    *("EnterWorktree", "ExitWorktree"),
)
"""Tools of clew's own that the model searches for. The parts that bring them (`Part.deferred`) are loaded with the
first one that is looked for."""


class SessionPlace(Struct, frozen=True, kw_only=True):
    """Where a session works and as what: known before its past is opened."""

    workspace: Workspace
    main: AgentSpec
    kinds: "Callable[[], Kinds]"
    connect: Callable[[str], Model]
    model: Model


def placed(request: SessionRequest, cwd: Path | None = None) -> SessionPlace:
    """The place, the kind of agent and the model that are asked for. Raises SettingsError, LLMError or NoModel."""
    workspace, main = workspace_of(request, cwd), MAIN
    kinds = kinds_of(request, workspace)
    if request.agent and request.agent != MAIN.kind:
        from clew.assembly.main_agent import as_agent  # where the conversation runs as a kind of agent

        workspace, main = as_agent(request, workspace, kinds(), cwd)
    connect = request.connect or connector(workspace)
    return SessionPlace(
        workspace=workspace, main=main, kinds=kinds, connect=connect, model=connect(chosen_model(workspace))
    )


def parts_of(setup: PartSetup, door: Door, more: Sequence[PartMaker] = ()) -> tuple[Part, ...]:
    """The parts that a session has from its first moment on. `more`: those that only this one has. Raises
    SettingsError."""
    request, workspace, settings = setup.request, setup.workspace, setup.workspace.settings
    memory = MemoryPart(setup)
    found: list[Part] = []
    consent: Consent | None = None
    agents = may_have_agents(setup)
    brought = frozenset(name for spec in setup.kinds().specs() for name in spec.brings) if agents else frozenset[str]()
    hooked = may_have_hooks(workspace) or "hooks" in brought
    if hooked or request.entrypoint != "print":
        from clew.parts.hooks.part import HookPart  # where there may be a hook, or somebody may bring one later

        hooks = HookPart(setup, expected=hooked, of_agents=agents)
        found, consent = [hooks], hooks.before_compaction
    if not request.bare:
        found.append(SkillPart(setup, session_skills))
    expected = may_have_servers(setup)
    if expected or request.driven or "servers" in brought:
        from clew.parts.mcp.part import McpPart  # where there may be a server, or a program may bring one

        found.append(McpPart(setup, expected=expected, of_agents="servers" in brought))
    if settings.output_style or request.driven:
        from clew.parts.output_style.part import OutputStylePart, output_style  # where a style may be named

        if name := output_style(setup):
            found.append(OutputStylePart(setup, name))
    found += [PlanPart(setup), AgentPart()]
    if agents:
        from clew.parts.agents.kinds import AgentKindPart  # where somebody may have defined a kind

        found.append(AgentKindPart(setup, expected=True))
    if request.teammate or may_have_work(setup):
        found += team_parts(setup, found)
    lsp = settings.lsp.mode
    if workspace.trusted and (lsp == "on" or (lsp == "auto" and not request.headless)):
        from clew.parts.language_servers.part import LanguageServerPart  # where one may be asked

        found.append(LanguageServerPart(setup))
    if request.worktree is not None or setup.past.worktree is not None:
        from clew.parts.worktree.part import WorktreePart  # where one is asked for

        found.append(WorktreePart(setup))
    found.append(memory)
    if settings.memory.enabled and settings.memory.auto == "suggest":
        from clew.parts.memory.suggestions import MemorySuggestionPart  # where the user asked for it

        found.append(MemorySuggestionPart(setup))
    found.append(WindowPart(setup, window_room, consent=consent))
    if is_oriented(setup):
        from clew.parts.orientation.part import OrientationPart  # where words are wanted

        found.append(OrientationPart(setup, memory.memory.text))
    webhook = None
    if settings.notifications.webhook:
        from clew.parts.notifications.webhook import webhook_of  # where one is configured

        webhook = webhook_of(workspace)
    found.append(NotificationPart(setup, webhook))
    return (*found, *(make(setup) for make in more), SocketPart(setup, lambda path: socket_server(door, path)))


def answering_parts(setup: PartSetup, known: Sequence[Part]) -> tuple[Part, ...]:
    """The parts that only answer: made by the first op or lookup that none of those above takes. `known`: those."""
    from clew.parts.agents.kinds import AgentKindPart  # what nobody asks for is not loaded
    from clew.parts.doctor.part import DoctorPart
    from clew.parts.files.part import FilePart
    from clew.parts.history.part import HistoryPart
    from clew.parts.hooks.part import HookPart
    from clew.parts.mcp.part import McpPart
    from clew.parts.models.part import ModelPart
    from clew.parts.orientation.part import OrientationPart
    from clew.parts.permissions.part import PermissionPart
    from clew.parts.preferences.part import PreferencePart
    from clew.parts.sessions.part import SessionListPart
    from clew.parts.shells.part import ShellPart
    from clew.parts.undo.part import UndoPart
    from clew.parts.worktree.part import WorktreePart

    found: list[Part] = [] if any(isinstance(part, McpPart) for part in known) else [McpPart(setup)]
    if not any(isinstance(part, HookPart) for part in known):
        found.append(HookPart(setup, expected=False))
    if not any(isinstance(part, AgentKindPart) for part in known):
        found.append(AgentKindPart(setup))
    found += team_parts(setup, known)
    if not any(isinstance(part, WorktreePart) for part in known):
        found.append(WorktreePart(setup))
    orientation = next((part for part in known if isinstance(part, OrientationPart)), None)
    if orientation is None:
        orientation = OrientationPart(setup, "", speaks=False)
        found.append(orientation)
    return (
        *found,
        UndoPart(setup),
        ShellPart(),
        PermissionPart(),
        ModelPart(setup),
        PreferencePart(setup),
        FilePart(setup),
        HistoryPart(setup),
        SessionListPart(setup, orientation.words_for),
        DoctorPart(setup),
    )


def team_parts(setup: PartSetup, known: Sequence[Part]) -> tuple[Part, ...]:
    """The list of work and the team; none, where they are there already."""
    from clew.parts.hooks.part import HookPart
    from clew.parts.teams.part import TeamPart  # where there is a list or a team, or somebody wants one
    from clew.parts.work_items.part import WorkPart

    if any(isinstance(part, WorkPart) for part in known):
        return ()
    hooks = next((part for part in known if isinstance(part, HookPart)), None)
    ask = hooks.asked if hooks is not None else None
    if setup.request.teammate:
        from clew.parts.teams.member import MemberPart, lead_of  # where the session is a member in a pane

        work = WorkPart(setup, ask=ask, list_id=lead_of(setup))
        member = MemberPart(setup, work_tools=work.tools_for(MAIN_AGENT), ask=ask)
        work.member, work.assign, work.address = member.member, member.assign, member.address
        return work, member
    work = WorkPart(setup, ask=ask)
    team = TeamPart(setup, work=work, work_tools=work.tools_for, ask=ask)
    work.member, work.assign, work.address = team.member, team.assign, team.address
    return work, team


def may_have_work(setup: PartSetup) -> bool:
    """Whether an old session may have a list of work or lead a team: a few names on disk."""
    home, past = setup.workspace.home, setup.past
    return past.resumed and (os.path.isdir(home / "teams") or os.path.isdir(home / "tasks" / past.session_id))


def is_oriented(setup: PartSetup) -> bool:
    """Whether somebody sees labels and recaps, or the user wants a model's words even where nobody watches; facts can
    be had from the log later."""
    settings, request = setup.workspace.settings, setup.request
    wanted = settings.titles.model == "on" or settings.summaries.tool_batches == "model"
    return wanted or request.labelled or not request.headless


def may_have_servers(setup: PartSetup) -> bool:
    """Whether it is worth looking: a few names on disk."""
    request, workspace = setup.request, setup.workspace
    if request.mcp_config:
        return True
    if request.strict_mcp or request.bare:
        return False
    kept = SessionStore(workspace.home).project_dir(workspace.root)
    files = [(workspace.home / "mcp.json", "user"), (kept / "mcp.json", "local")]
    files += [(workspace.root / ".mcp.json", "project")] if workspace.trusted else []
    return any(source in workspace.sources and file.exists() for file, source in files)


def may_have_hooks(workspace: Workspace) -> bool:
    """Whether it is worth looking: a few names on disk, and what settings say anyway."""
    loaded, env = workspace.loaded, workspace.env
    if loaded.settings.hooks or loaded.given_hooks is not None:
        return True
    claude = env.get("CLAUDE_CONFIG_DIR") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".claude")
    files = [os.path.join(claude, "settings.json")]
    if workspace.trusted:
        names = ("settings.json", "settings.local.json")
        files += [str(workspace.root / folder / name) for folder in (".clew", ".claude") for name in names]
    return any(os.path.lexists(file) for file in files)


def output_tools(schema: dict[str, Any] | None) -> MoreTools:
    """The tool for the shape of an answer, where one is given. Raises SettingsError."""
    if schema is None:
        return MoreTools()
    from clew.assembly import some_tools  # where answers have a shape

    return some_tools.output_tools(schema)


def open_toolbox(
    setup: PartSetup,
    parts: Sequence[Part],
    output: MoreTools,
    main: MainPrompt,
    bring: Callable[[str], Tool[Any]],
    *,
    small: bool,
) -> tuple[AgentTools, MoreTools]:
    """The main agent's tools, and how it searches for those that are deferred. `bring`: makes one of clew's own."""
    workspace, past = setup.workspace, setup.past
    delegates = setup.main.kind == COORDINATOR
    late = next((part.late for part in parts if part.late is not None and (main.has_servers or delegates)), None)
    search = search_tools(setup, late, past.entries, small=small) if not delegates else MoreTools()
    brought = [tool for part in parts if not small for tool in part.tools if delegates or main.has(tool.name)]
    toolbox = open_tools(
        SessionTools(workspace, past.results_dir, past.path),
        names=setup.request.tools,
        more=(*output.tools, *brought, *search.tools, *setup.main.own_tools),
        told=search.told,
        late=late,
        small=small,
        has=main.has,
        bounds=setup.main.bounds,
        memory=setup.main.memory,
        delegates=delegates,
        shelf={name: partial(bring, name) for name in OWN_DEFERRED} if not delegates and not small else None,
    )
    search.attach(toolbox.tools)
    return toolbox, search


def search_tools(setup: PartSetup, late: LateTools | None, past: Sequence[Entry], *, small: bool) -> MoreTools:
    """The search among tools that are deferred: clew's own, and those of servers. A session that goes on has it where
    it began with it."""
    began = next((entry for entry in reversed(past) if isinstance(entry, SystemPromptEntry)), None)
    mode, request = setup.workspace.settings.tool_search, setup.request
    whole = request.tools is None and setup.main.tools is None and not request.bare and not small
    if late is None and began is None and whole and mode != "off":
        return MoreTools(tools=(SearchTools(), CallTool()), searched=True)
    if late is None and (began is None or not (began.searched or began.told)):
        return MoreTools()
    from clew.assembly import some_tools  # where a server's tool may come later

    return some_tools.tool_search(mode, late, began, window=setup.model.window, small=small)


def session_skills(setup: PartSetup, around: Callable[[], Around]) -> "SessionSkills":
    """For the skills: what reads their files, where there are any."""
    from clew.parts.skills.session_skills import SessionSkills

    return SessionSkills(setup, around)


def window_room(setup: PartSetup, own: PartSession, meter: WindowMeter, consent: "Consent | None") -> "WindowRoom":
    """For the window: what makes room in it, where it is needed."""
    from clew.parts.window.room import WindowRoom

    return WindowRoom(setup, own, meter, consent)


def socket_server(door: Door, path: Path) -> "SocketServer":
    """For the socket: what serves it, once the first request has left."""
    from clew.host.socket_server import SocketServer

    return SocketServer(door, path)


def children_of(factory: AgentFactory) -> "Children":
    """For the agents: what makes, runs and ends children, with the first one."""
    from clew.agents.children import Children

    return Children(factory)


def kinds_of(request: SessionRequest, workspace: Workspace) -> "Callable[[], Kinds]":
    """For the agents: what reads their definitions, with the first kind that is named. The same one each time."""
    made: list[Kinds] = []

    def kinds() -> "Kinds":
        if not made:
            from clew.agents.definitions.kinds import Kinds
            from clew.agents.definitions.reading import GivenAgents

            source = "SDK" if request.entrypoint == "sdk" else "--agents"
            given = [GivenAgents(source=source, definitions=request.agents)] if request.agents else []
            made.append(Kinds(workspace, given=given, files=not request.bare))
        return made[0]

    return kinds


def may_have_agents(setup: PartSetup) -> bool:
    """Whether it is worth looking for definitions of agents: a few names on disk."""
    request, workspace = setup.request, setup.workspace
    if request.agents or (request.driven and stored_block(setup.past.entries, KINDS_HEADING)):
        return True
    if request.bare:
        return False
    env, home, root, cwd = workspace.env, workspace.home, workspace.root, workspace.cwd
    return bool(agent_folders(env, home=home, root=root, cwd=cwd, sources=workspace.sources))


def with_scratch(main: AgentSpec, past: Past) -> AgentSpec:
    """The spec of the main agent; a coordinator's tells of the directory that its workers share."""
    if main.kind != COORDINATOR:
        return main
    from clew.assembly import coordinating  # where the conversation coordinates

    return coordinating.with_scratch(main, past)


def recast_of(
    setup: PartSetup,
    conversation: Conversation,
    memory: Memory,
    toolbox: AgentTools,
    facts: Facts,
    parts: Sequence[Part],
    *,
    small: bool,
) -> Callable[[bool], tuple[str, ...]]:
    """For the agents: what makes the main one a coordinator, or clew's own again."""

    def recast(on: bool) -> tuple[str, ...]:
        from clew.assembly import coordinating  # where somebody asks for it

        return coordinating.recast(setup, conversation, memory, toolbox, facts, parts, small=small, on=on)

    return recast
