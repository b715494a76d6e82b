"""Opening a session: its past, its parts, its tools and its agent are put together here, in this order."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from typing import Any, Literal

from msgspec.structs import replace

from clew import __version__
from clew.agents.budget import TreeBudget, bounds_of, with_steps_of
from clew.agents.factory import AgentFactory, rules_of
from clew.agents.log import AgentLog
from clew.agents.runner import COORDINATOR, MAIN, AgentBody, AgentSpec, LookAtEnd
from clew.agents.toolbox import AgentTools
from clew.assembly.parts import (
    PartMaker,
    SessionPlace,
    answering_parts,
    children_of,
    open_toolbox,
    output_tools,
    parts_of,
    placed,
    recast_of,
    team_parts,
    with_scratch,
)
from clew.config.errors import SettingsError
from clew.engine.agent import Agent
from clew.engine.gate import PendingAnswers
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.reminders import Reminders, Steering
from clew.engine.middleware.repeat_brake import RepeatBrake
from clew.engine.middleware.secret_warning import SecretWarning
from clew.engine.turn import Prompt, PromptWord
from clew.host.door import Door, OpenSession
from clew.host.model_choice import (
    NoModel,
    check_fast_model,
    check_thinking,
    is_small,
    key_source,
    small_words,
    thinking_of,
)
from clew.host.part import MoreTools, Part, PartSession, PartSetup
from clew.host.past import Past, cut_off_words, left_words, moved_words, new_origin, new_past, note_project
from clew.host.prompt_bytes import PromptBytes, facts_probe, main_prompt, system_prompt
from clew.host.request import SessionRequest, Tell
from clew.host.session import Journal, Session
from clew.host.slash_names import SlashNames
from clew.host.workspace import Workspace
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.parts.memory.part import MemoryPart
from clew.prompts.memory import Memory
from clew.protocol.client import Client
from clew.protocol.entries import SystemPromptEntry
from clew.protocol.events import Event, Notice, SessionStarted
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.ops import SwitchSession
from clew.protocol.state import AgentState
from clew.system.debug_log import open_debug_log
from clew.tools.base import Tool, WorkPort
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import TranscriptWriter


class Voice:
    """Where words about the log go: into the session while there is one, else to whoever asked for it."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._session: Session | None = None

    def speak_in(self, session: Session) -> None:
        """There is one from now on."""
        self._session = session

    def __call__(self, level: Literal["info", "warning", "error"], text: str) -> None:
        """Tell a person."""
        if self._session is not None and not self._session.closed:
            self._session.notice(level, text, code="log")
        else:
            self._tell(level, text)


def open_session(request: SessionRequest, more: Sequence[PartMaker] = ()) -> Client:
    """A client for the session that is asked for. `more`: parts that only this one has. Raises SettingsError,
    TranscriptError, LLMError or NoModel, and then nothing was written."""
    return open_door(request, more).connect()


def open_door(request: SessionRequest, more: Sequence[PartMaker] = ()) -> Door:
    """The same, as the host sees it."""

    async def reopen(op: SwitchSession) -> OpenSession:
        from clew.assembly.session_switch import another  # where a front end goes on with another session

        return await asyncio.to_thread(assemble, another(request, op), door, more)

    door = Door(reopen=reopen)
    door.enter(assemble(request, door, more))
    return door


def assemble(request: SessionRequest, door: Door, more: Sequence[PartMaker] = ()) -> OpenSession:
    """A session with its parts and its main agent. Everything that can fail comes before the log is touched."""
    voice = Voice(request.tell)
    found, setup, fallback = set_up(request, door, voice)
    workspace, past, settings = setup.workspace, setup.past, setup.workspace.settings
    output, main = output_tools(request.json_schema), main_prompt(found, with_scratch(setup.main, past))
    with closing(facts_probe(workspace)) as probe:
        parts = parts_of(setup, door, more)
        small = is_small(setup.model.window)
        toolbox, search = open_toolbox(setup, parts, output, main, lambda name: bring(name), small=small)
        memory = next((part.memory for part in parts if isinstance(part, MemoryPart)), Memory())
        conversation = Conversation(
            past.sink,
            session_id=past.session_id,
            entries=past.entries,
            chain=past.chain,
            leaf=past.leaf,
            reread=past.reread,
        )
        facts = probe.finish()
        prompt = system_prompt(main, found, conversation, memory, toolbox, facts, parts, small=small)
    agent = Agent(
        conversation=conversation,
        model=setup.model,
        fallback=fallback,
        system=prompt.blocks,
        tools=toolbox.tools,
        effort=settings.effort,
        thinking=found.thinking,
        max_output_tokens=settings.max_output_tokens,
    )
    reminders, state = Reminders(), past.state()
    gone = cut_off_words(past, state, agents=False)
    began = "" if past.resumed else setup.main.initial_prompt
    moved = moved_words(past, next((part.place for part in parts if part.place), str(workspace.cwd)))
    for words in (prompt.reminder, moved, *(f"[{text}]" for text in gone), began):
        if words:
            reminders.add(words)
    session, agents = join(
        setup, state, agent, toolbox, parts, (*output.middlewares, *search.middlewares), door, reminders
    )
    names = SlashNames(parts)
    names.start(session)
    own = PartSession(
        session=session,
        toolbox=toolbox,
        agent=agent,
        agents=agents,
        reminders=reminders,
        names_changed=names.changed,
        recast=recast_of(setup, conversation, memory, toolbox, facts, parts, small=small),
    )
    for part in parts:
        toolbox.shared.add_hooks(part.call_hook)
        agents.admit_by(part.child_objection, part.sees_to)
        part.start(own)

    def more_parts() -> tuple[Part, ...]:
        return started(answering_parts(setup, session.parts))

    def started(made: tuple[Part, ...]) -> tuple[Part, ...]:
        for part in made:
            part.start(own)
        return made

    def bring_team() -> None:
        if made := team_parts(setup, session.parts):
            door.add_parts(started(made))

    def work(agent: AgentId) -> WorkPort | None:
        bring_team()
        return next((desk for part in session.parts if (desk := part.desk(agent)) is not None), None)

    def bring(name: str) -> Tool[Any]:
        bring_team()
        if not any(part.deferred(name, MAIN_AGENT) for part in session.parts):
            door.add_parts()
        return next(tool for part in session.parts if (tool := part.deferred(name, MAIN_AGENT)) is not None)

    toolbox.shared.work = work
    voice.speak_in(session)
    keep_beginning(setup, session, prompt, search, small=small)
    notes = [*warnings_of(workspace, past, parts)]
    if found.cwd != request.cwd:
        notes.append(note(f"this session belongs to {workspace.root}: it goes on there"))
    told = [runs_as(setup.main), *(text for part in parts for text in part.notes)]
    told += [small_words(setup.model, chosen=request.tools is not None)] if small else []
    left = (*cut_off_words(past, state, agents=True), *left_words(past, state))
    notes += [note(text) for text in (*unread(workspace), *told, prompt.note, *left) if text]
    if found.branched and isinstance(past.sink, TranscriptWriter):
        past.sink.write_seed()  # the last thing that can fail: whoever asked for it stays in the session they are in
        notes.append(note(f'this is "{past.state().title}"; the session it was copied from stays as it is'))
    return OpenSession(
        session=session,
        permits=toolbox.permits,
        names=names,
        notes=(*notes, *(event for part in parts for event in part.introduction())),
        more_parts=more_parts,
        go_on=past.continue_prompt,
    )


def set_up(request: SessionRequest, door: Door, voice: Voice) -> tuple[SessionRequest, PartSetup, Model | None]:
    """The request with the session that is meant, what its parts are made of, and the model for when the first one is
    overloaded. The model comes first: a missing key is told before a missing session."""
    place = placed(request)
    old = old_past() if request.resuming else None
    found = old.resolve(request, place.workspace) if old is not None else request
    if found.cwd != request.cwd:
        place = placed(request, found.cwd)
    found = replace(found, tell=voice)
    settings = place.workspace.settings
    fallback = place.connect(settings.fallback_model) if settings.fallback_model else None
    check_fast_model(settings, place.connect)
    found = replace(found, thinking=thinking_of(found, place.workspace.env, place.model, fallback))
    check_thinking(found, place.model, fallback)
    past = old.open_old(found, place.workspace) if old is not None else new_past(found, place.workspace)
    place = as_it_ran(found, past, place)
    setup = PartSetup(
        request=found,
        workspace=place.workspace,
        past=past,
        model=place.model,
        connect=place.connect,
        main=place.main,
        kinds=place.kinds,
        log=debug_log(place.workspace, past),
        offered=door.offered,
    )
    return found, setup, fallback


def as_it_ran(request: SessionRequest, past: Past, place: SessionPlace) -> SessionPlace:
    """The place with the kind of agent that an old session ran as, unless another one is asked for now. A kind that is
    not there any more is told of, and the session goes on as clew's own."""
    began = next((entry for entry in reversed(past.entries) if isinstance(entry, SystemPromptEntry)), None)
    if began is None or not began.agent or request.agent:
        return place
    try:
        return placed(replace(request, agent=began.agent), request.cwd)
    except (SettingsError, LLMError, NoModel) as error:
        request.tell("warning", f"this session ran as the agent {began.agent} and goes on without it: {error}")
        return place


def old_past():
    """All that reads logs: loaded only where there is one to go on with."""
    from clew.host import old_past

    return old_past


def debug_log(workspace: Workspace, past: Past) -> Callable[[str], None]:
    """Where parts write what nobody needs to see; nothing for a session that keeps nothing."""
    kept = past.path is not None and workspace.settings.debug_log
    debug = open_debug_log(workspace.home, past.session_id, enabled=kept)
    return lambda text: debug.write("orient", text)


def join(
    setup: PartSetup,
    state: AgentState,
    agent: Agent,
    toolbox: AgentTools,
    parts: Sequence[Part],
    more: Sequence[Middleware],
    door: Door,
    reminders: Reminders,
) -> tuple[Session, AgentFactory]:
    """The session with its journal and its main agent, and what makes further agents."""
    workspace, past = setup.workspace, setup.past
    stamp = Stamp(session_id=past.session_id, cwd=str(workspace.cwd), git_branch=workspace.branch)
    sink = past.sink
    log = AgentLog(
        agent.conversation,
        sink,
        stamp,
        state=state,
        place=lambda: (toolbox.session.cwd, toolbox.session.branch or workspace.branch),
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
        parts=parts,
        asked_for=sink.asked_for if isinstance(sink, TranscriptWriter) else None,
        on_close=close,
    )
    bounds, budget = bounds_of(workspace.settings, headless=setup.request.headless), TreeBudget()
    factory = AgentFactory(
        session,
        toolbox.shared,
        budget,
        connect=setup.connect,
        transcript=past.path,
        limits=bounds,
        compaction=workspace.settings.compaction,
        make_children=children_of,
        kinds=setup.kinds,
        rules=rules_of(workspace.settings.agents, headless=setup.request.headless),
    )
    factory.coordinate(setup.main.kind == COORDINATOR)
    limits = LimitCheck(with_steps_of(bounds, setup.main.limits), purse=budget.of(MAIN_AGENT))
    looks = [LookAtEnd(toolbox.undo.look_at_end)] if toolbox.undo is not None else []
    middlewares = [Steering(), limits, reminders, RepeatBrake(), SecretWarning(), *more, *looks]
    middlewares += [middleware for part in parts for middleware in part.middlewares]
    middlewares.sort(key=lambda middleware: middleware.stage)
    body = AgentBody(agent=agent, log=log, tools=toolbox, middlewares=middlewares, look=look_of(parts))
    factory.make(setup.main, body=body)
    return session, factory


def look_of(parts: Sequence[Part]) -> Callable[[Prompt], Coroutine[Any, Any, PromptWord] | None]:
    """What the parts say to a prompt before it joins: the first that refuses it counts, and all that is added."""

    async def heard(looks: Sequence[Coroutine[Any, Any, PromptWord]]) -> PromptWord:
        words = [await look for look in looks]
        refused = next((word for word in words if word.refused), None)
        return refused or PromptWord(context="\n".join(word.context for word in words if word.context))

    def look(prompt: Prompt) -> Coroutine[Any, Any, PromptWord] | None:
        looks = [found for part in parts if (found := part.look(prompt)) is not None]
        return looks[0] if len(looks) == 1 else heard(looks) if looks else None

    return look


def keep_beginning(setup: PartSetup, session: Session, prompt: PromptBytes, search: MoreTools, *, small: bool) -> None:
    """The lines of a log that say who works in it and what its requests begin with."""
    log, agent = session.journal.main, "" if setup.main is MAIN else setup.main.kind
    for origin in new_origin(setup.request, setup.past):
        log.keep(origin)
    if prompt.keep:
        log.keep(
            SystemPromptEntry(
                blocks=prompt.blocks,
                tools=prompt.tools,
                searched=search.searched,
                told=search.told,
                small=small,
                agent=agent,
                **log.stamp.keyed(),
            )
        )


def warnings_of(workspace: Workspace, past: Past, parts: Sequence[Part]) -> list[Event]:
    """What is wrong, and does not keep the session from starting."""
    found: list[Event] = [Notice(level="warning", text=text, code="settings") for text in workspace.loaded.warnings]
    found += [Notice(level="warning", text=text, code="log") for text in past.notes]
    found += [Notice(level="warning", text=text, code="brought") for part in parts for text in part.warnings]
    return found


def runs_as(main: AgentSpec) -> str:
    """That the conversation runs as a kind of agent; empty for clew's own."""
    needs = f"; it needs the MCP servers {', '.join(main.needs_servers)}" if main.needs_servers else ""
    return "" if main is MAIN else f"the conversation runs as the agent {main.kind} ({main.source}){needs}"


def note(text: str) -> Notice:
    """Something to know before it starts."""
    return Notice(level="info", text=text, code="note")


def unread(workspace: Workspace) -> list[str]:
    """What of the project was left alone because nobody trusts it yet."""
    return [f"{path} is not read: the directory is not trusted (see --trust)" for path in workspace.loaded.unread]
