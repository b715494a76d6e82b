"""Opening a session: the one place where its parts are put together."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Literal

from msgspec.structs import replace

from clew import __version__
from clew.agents.budget import TreeBudget
from clew.agents.factory import AgentFactory
from clew.agents.log import AgentLog
from clew.agents.runner import MAIN, AgentBody
from clew.agents.toolbox import AgentTools, SessionTools, open_tools
from clew.agents.undo_hook import LookAtEnd
from clew.config.schema import Settings
from clew.engine.agent import Agent
from clew.engine.gate import PendingAnswers
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.reminders import Reminders
from clew.engine.middleware.repeat_brake import RepeatBrake
from clew.engine.middleware.secret_warning import SecretWarning
from clew.engine.middleware.steering import Steering
from clew.engine.ports import Limits
from clew.engine.turn import Prompt
from clew.host.part import Brought, Joined, Place, brought_to
from clew.host.door import Door, Room
from clew.parts.hooks.part import HookParts
from clew.host.slash_names import Invocables
from clew.host.journal import Journal
from clew.parts.memory.files import nested_memory, project_memory
from clew.parts.models.choice import (
    check_fast_model,
    check_thinking,
    chosen_model,
    connector,
    key_source,
    listed_rows,
)
from clew.parts.notifications.part import start_notifying, webhook_of
from clew.parts.orientation.part import debug_log, orient, share_recaps, share_restores, side_model
from clew.host.past import Past, interrupted_words, moved_words, new_origin, note_project, open_past, resolve
from clew.host.prompt_bytes import PromptBytes, prompt_bytes
from clew.host.request import SessionRequest, Tell
from clew.host.session import Session
from clew.host.socket_life import SocketLife
from clew.assembly.structured import output_parts
from clew.assembly.tool_search import is_small, small_words, tool_search
from clew.parts.shells.part import TypedShells
from clew.parts.window.part import WindowParts
from clew.host.workspace import Workspace, workspace_of
from clew.llm.model import Model
from clew.prompts.facts import FactsProbe
from clew.prompts.memory import Memory
from clew.prompts.system_prompt import build_system_prompt
from clew.protocol.client import Client
from clew.protocol.entries import SystemPromptEntry
from clew.protocol.events import Notice, SessionRow, SessionStarted
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.ops import SwitchSession
from clew.protocol.state import AgentState
from clew.system.clock import SystemClock
from clew.system.peers import SessionMark
from clew.transcript.conversation import Conversation
from clew.transcript.interruption import CONTINUE_PROMPT
from clew.transcript.stamp import Stamp
from clew.transcript.writer import TranscriptWriter


class Voice:
    """Where words about the log go: into the session while there is one, else to whoever asked for it."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.session: Session | None = None

    def __call__(self, level: Literal["info", "warning", "error"], text: str) -> None:
        """Tell a person."""
        if self.session is not None and not self.session.closed:
            self.session.notice(level, text, code="log")
        else:
            self._tell(level, text)


def note(text: str) -> Notice:
    """Something to know before it starts."""
    return Notice(level="info", text=text, code="note")


def unread(workspace: Workspace) -> list[str]:
    """What of the project was left alone because nobody trusts it yet."""
    return [f"{path} is not read: the directory is not trusted (see --trust)" for path in workspace.loaded.unread]


def open_session(request: SessionRequest) -> Client:
    """A client for the session that is asked for. Raises SettingsError, TranscriptError, LLMError or NoModel, and then
    nothing was written."""
    return open_door(request).connect()


def open_door(request: SessionRequest) -> Door:
    """The same, as the host's own parts see it."""
    listed: dict[str, SessionRow] = {}

    async def reopen(op: SwitchSession) -> Room:
        from clew.assembly.switching import another  # where a front end goes on with another session

        return await asyncio.to_thread(open_room, another(request, op), door)

    async def sessions(query: str, limit: int) -> tuple[SessionRow, ...]:
        from clew.parts.sessions.rows import session_rows  # the board is loaded only where it is shown

        rows = await asyncio.to_thread(session_rows, workspace_of(request), query, limit)
        listed.update({row.session_id: row for row in rows})
        return rows

    async def preview(session_id: str) -> tuple[str, ...]:
        from clew.parts.sessions.preview import session_preview  # as above

        return await asyncio.to_thread(session_preview, workspace_of(request), session_id, listed.get(session_id))

    door = Door(reopen=reopen, sessions=sessions, preview=preview)
    door.enter(open_room(request, door))
    return door


def open_room(request: SessionRequest, door: Door) -> Room:
    """A session, its agent and all they need. Everything that can fail comes before the log is touched."""
    workspace = workspace_of(request)
    (request.connect or connector(workspace))(chosen_model(workspace))  # a missing key is told before a missing session
    found = resolve(request, workspace)
    moved = found.cwd != request.cwd
    if moved:
        workspace = workspace_of(request, found.cwd)
    voice = Voice(request.tell)
    found = replace(found, tell=voice)
    settings = workspace.settings
    connect_named = request.connect or connector(workspace)
    model = connect_named(chosen_model(workspace))
    fallback = connect_named(settings.fallback_model) if settings.fallback_model else None
    oriented = not request.headless or request.labelled or asks_fast_model(settings)
    check_fast_model(settings, connect_named)
    webhook = webhook_of(workspace)
    check_thinking(request, model, fallback)
    output = output_parts(request.json_schema)
    with closing(facts_probe(workspace)) as probe:
        past = open_past(found, workspace)
        brought = brought_to(Place(request=found, workspace=workspace, past=past, model=model, offered=door.offered))
        late = next((part.late for part in brought if part.late is not None), None)
        small = is_small(model.window)
        search = tool_search(settings.tool_search, late, past.entries, window=model.window, small=small)
        tools = (*output.tools, *(tool for part in brought if not small for tool in part.tools), *search.tools)
        shared = SessionTools(workspace, past.results_dir, past.path)
        toolbox = open_tools(shared, names=request.tools, more=tools, told=search.told, late=late, small=small)
        search.attach(toolbox.tools)
        memory = project_memory(workspace)
        conversation = Conversation(
            past.sink,
            session_id=past.session_id,
            entries=past.entries,
            chain=past.chain,
            leaf=past.leaf,
            reread=past.reread,
        )
        prompt = system_prompt(found, conversation, memory, toolbox, probe, brought, small=small)
    agent = Agent(
        conversation=conversation,
        model=model,
        fallback=fallback,
        system=prompt.blocks,
        tools=toolbox.tools,
        effort=settings.effort,
        thinking=request.thinking,
        max_output_tokens=settings.max_output_tokens,
    )
    log = debug_log(workspace, past)
    parts = WindowParts(workspace, past, agent, toolbox, log)
    reminders = Reminders()
    state = past.state()
    gone = interrupted_words(state)
    for words in (prompt.reminder, moved_words(past, workspace), *(f"[{text}]" for text in gone)):
        if words:
            reminders.add(words)
    bounds, budget = bounds_of(settings, headless=request.headless), TreeBudget()
    limits = LimitCheck(bounds, purse=budget.of(MAIN_AGENT))
    middlewares = [*middlewares_of(workspace, memory, reminders, limits), *output.middlewares]
    middlewares += [middleware for part in brought for middleware in part.middlewares]
    if toolbox.undo is not None:
        middlewares.append(LookAtEnd(toolbox.undo))
    hooks = HookParts(request, workspace, past, toolbox, door.offered)
    middlewares += [hooks.calls, parts.middleware, hooks.turns, *search.middlewares]
    session = assemble(workspace, past, state, agent, toolbox, middlewares, door, budget, connect_named, bounds)
    parts.attach(session)
    parts.consent = hooks.attach(session)
    invocables = Invocables(brought)
    invocables.attach(session)
    for part in brought:
        part.names_changed = invocables.changed
        part.attach(Joined(session=session, toolbox=toolbox, agent=agent, reminders=reminders))
    typed = beside(session, toolbox)
    voice.session = session
    SessionMark.put()
    session.at_end.append(SessionMark.take_away)
    if isinstance(past.sink, TranscriptWriter):
        SocketLife(door, session, past.sink, workspace.env, workspace.home, headless=request.headless)
    notes = [Notice(level="warning", text=text, code="settings") for text in workspace.loaded.warnings]
    notes += [Notice(level="warning", text=text, code="log") for text in past.notes]
    notes += [Notice(level="warning", text=text, code="brought") for part in brought for text in part.warnings]
    if moved:
        notes.append(note(f"this session belongs to {workspace.root}: it goes on there"))
    told = [text for part in brought for text in part.notes]
    told += [small_words(model, chosen=request.tools is not None)] if small else []
    notes += [note(text) for text in (*unread(workspace), *memory.notes, *told, prompt.note, *gone) if text]
    offered = hooks.hooking.introduction()
    for origin in new_origin(found, past):
        session.journal.main.keep(origin)
    if prompt.keep:
        session.journal.main.keep(
            SystemPromptEntry(
                blocks=prompt.blocks,
                tools=prompt.tools,
                searched=search.searched,
                told=search.told,
                small=small,
                **session.journal.main.stamp.keyed(),
            )
        )
    session.subscribe(share_restores(reminders))
    if settings.recap.share_with_model:
        session.subscribe(share_recaps(reminders))
    if oriented:
        orient(session, workspace, past, connect_named, memory, log, watched=not request.headless)
    session.ahead = parts.snapshots(lambda: side_model(workspace, agent.model.name, connect_named, log))
    if found.branched and isinstance(past.sink, TranscriptWriter):
        past.sink.write_seed()  # the last thing that can fail: whoever asked for it stays in the session they are in
        notes.append(note(f'this is "{past.state().title}"; the session it was copied from stays as it is'))
    cold = [event for event in (parts.cold_return(),) if event is not None and not request.headless]
    return Room(
        session=session,
        permits=toolbox.permits,
        undo=toolbox.undo,
        connect=connect_named,
        models=lambda: listed_rows(workspace),
        scrollback=past.scrollback(),
        window=lambda: parts.window(reminders),
        notes=(*notes, *cold, *offered),
        go_on=Prompt(content=CONTINUE_PROMPT, origin="clew") if past.interrupted != "none" else None,
        greet=not request.headless and past.resumed and settings.recap.enabled,
        workspace=workspace,
        tools=toolbox.session,
        typed=typed,
        reminders=reminders,
        transcript=past.path,
        hooking=hooks.hooking,
        brought=brought,
        invocables=invocables,
        attention=start_notifying(session, settings.notifications, webhook, headless=request.headless),
    )


def assemble(
    workspace: Workspace,
    past: Past,
    state: AgentState,
    agent: Agent,
    toolbox: AgentTools,
    middlewares: Sequence[Middleware],
    door: Door,
    budget: TreeBudget,
    connect: Callable[[str], Model],
    bounds: Limits,
) -> Session:
    """The session with its journal and its main agent."""
    stamp = Stamp(session_id=past.session_id, cwd=str(workspace.cwd), git_branch=workspace.branch)
    sink = past.sink
    log = AgentLog(
        agent.conversation,
        sink,
        stamp,
        state=state,
        place=lambda: (toolbox.session.cwd, workspace.branch),
    )

    async def close() -> None:
        await toolbox.shared.close()
        note_project(workspace, past)

    session = Session(
        started=SessionStarted(
            session_id=past.session_id,
            cwd=str(workspace.cwd),
            model=agent.model.name,
            permission_mode=workspace.settings.permission_mode,
            tools=toolbox.tools.names,
            version=__version__,
            resumed=past.resumed,
            kept=past.path is not None,
            key_source=key_source(agent.model),
        ),
        journal=Journal(log, on_lost=lambda why: session.lose(why)),
        pending=PendingAnswers(),
        deliver=door.deliver,
        asked_for=sink.asked_for if isinstance(sink, TranscriptWriter) else None,
        on_close=close,
    )
    factory = AgentFactory(
        session,
        toolbox.shared,
        budget,
        connect=connect,
        transcript=past.path,
        limits=bounds,
        compaction=workspace.settings.compaction,
    )
    factory.make(MAIN, body=AgentBody(agent=agent, log=log, tools=toolbox, middlewares=middlewares))
    session.on_leave.append(lambda reason: factory.close())
    return session


def beside(session: Session, toolbox: AgentTools) -> TypedShells:
    """Commands that no call of the model waits for: those a person types, and those in the background."""
    typed = TypedShells(session, toolbox.session, toolbox.undo)
    session.beside.append(typed.close)
    session.beside.append(toolbox.shared.end_tasks)
    return typed


def system_prompt(
    request: SessionRequest,
    conversation: Conversation,
    memory: Memory,
    toolbox: AgentTools,
    probe: FactsProbe,
    brought: Sequence[Brought],
    *,
    small: bool,
) -> PromptBytes:
    """The bytes this session began with, or new ones."""
    facts = probe.finish()

    def build(headless: bool) -> tuple[str, ...]:
        return build_system_prompt(
            facts,
            memory,
            more=tuple(part.words for part in brought if not small),
            override=request.system_prompt,
            append=request.append_system_prompt,
            headless=headless,
            small=small,
        )

    nobody = request.headless and not request.answered
    return prompt_bytes(conversation.system_prompt, build, toolbox.tools.specs, headless=nobody, small=small)


def bounds_of(settings: Settings, *, headless: bool) -> Limits:
    """The limits of the session."""
    limits = settings.limits
    return Limits(
        max_steps=limits.step_limit(headless=headless),
        max_budget_usd=limits.max_budget_usd,
        max_tokens=limits.max_tokens,
        max_minutes=limits.max_minutes,
    )


def middlewares_of(
    workspace: Workspace, memory: Memory, reminders: Reminders, limits: LimitCheck
) -> tuple[Middleware, ...]:
    """What stands around the steps of the main agent, in order."""
    return (
        Steering(),
        limits,
        nested_memory(workspace, memory),
        reminders,
        RepeatBrake(),
        SecretWarning(),
    )


def facts_probe(workspace: Workspace) -> FactsProbe:
    """Starts to look at the place; git works while the rest is put together."""
    return FactsProbe(
        cwd=workspace.cwd,
        project_root=workspace.root,
        trusted=workspace.trusted,
        env=workspace.env,
        clock=SystemClock(),
    )


def asks_fast_model(settings: Settings) -> bool:
    """Whether the user wants model words even in a run that nobody watches; facts can be had from the log later."""
    return settings.titles.model == "on" or settings.summaries.tool_batches == "model"
