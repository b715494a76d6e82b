"""The one place where the parts are put together into a session."""

import argparse
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from msgspec import Struct

from clew import __version__
from clew.cli.conversation import Conversation
from clew.cli.orientation import late_orientation
from clew.cli.toolbox import Toolbox, open_toolbox
from clew.cli.workspace import Workspace
from clew.config.schema import Settings
from clew.engine.agent import Agent
from clew.engine.approvals import PendingAnswers
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.limits import LimitCheck
from clew.engine.middleware.nested_memory import NestedMemory
from clew.engine.middleware.reminders import Reminders
from clew.engine.middleware.steering import Steering
from clew.engine.ports import Limits
from clew.engine.step import StepRunner
from clew.host.late_orientation import LateOrientation
from clew.host.recorder import Recorder
from clew.host.session import Session, Subscriber
from clew.host.stamp import Stamp
from clew.llm.connect import connect, default_model
from clew.llm.errors import MissingCredential
from clew.llm.model import Model
from clew.llm.retry import RetryPolicy
from clew.prompts.facts import FactsProbe
from clew.prompts.memory import Memory, load_memory, load_nested_memory
from clew.prompts.system_prompt import build_system_prompt
from clew.protocol.entries import ChainEntry, SystemEntry
from clew.protocol.events import Event, RecapReady, SessionStarted
from clew.protocol.tally import Tally
from clew.system.clock import SystemClock
from clew.system.git import read_head
from clew.transcript.store import SessionStore, read_project
from clew.transcript.writer import TranscriptWriter

OVERLOADS_BEFORE_FALLBACK = 3


class NoModel(Exception):
    """No model is configured; the words say how to connect one."""


class Assembled(Struct, kw_only=True):
    """A session ready to take ops."""

    session: Session
    toolbox: Toolbox
    notes: tuple[str, ...] = ()
    """What a person should know before it starts."""


def assemble(
    args: argparse.Namespace, workspace: Workspace, conversation: Conversation, *, headless: bool
) -> Assembled:
    """Put a session together. Raises LLMError, NoModel or SettingsError before anything is written."""
    settings = workspace.settings
    connect_named = connector(workspace)
    check_fast_model(settings, connect_named)
    with closing(facts_probe(workspace)) as probe:
        agent = Agent(
            model=connect_named(chosen_model(workspace)),
            fallback=connect_named(settings.fallback_model) if settings.fallback_model else None,
            system=(),
            messages=conversation.messages,
            effort=settings.effort,
            max_output_tokens=settings.max_output_tokens,
        )
        toolbox = open_toolbox(workspace, conversation)
        memory = project_memory(workspace)
        agent.specs = toolbox.specs
        agent.system = build_system_prompt(
            probe.finish(), memory, override=args.system_prompt, append=args.append_system_prompt, headless=headless
        )
    reminders = Reminders()
    middlewares: list[Middleware] = [
        Steering(),
        limits_of(settings, headless=headless),
        nested_memory(workspace, memory),
        reminders,
    ]
    orientation: LateOrientation | None = None
    if not headless or asks_fast_model(settings):
        orientation = late_orientation(
            workspace, conversation, agent.model.name, connect_named, session=lambda: session
        )
    subscribers = [share_recaps(reminders)] if settings.recap.share_with_model else []
    session = session_of(
        workspace,
        conversation,
        agent,
        toolbox,
        middlewares,
        connect_named,
        orientation,
        subscribers,
        greet=not headless,
    )
    return Assembled(session=session, toolbox=toolbox, notes=memory.notes)


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


def share_recaps(reminders: Reminders) -> Subscriber:
    """The model learns what the user was told about where things stand."""

    def share(event: Event) -> None:
        if isinstance(event, RecapReady):
            reminders.add(f"[The user was shown this recap: {event.text}]")

    return share


def connector(workspace: Workspace) -> Callable[[str], Model]:
    """How a name becomes a model in this workspace. With a fallback, overload is not waited out."""
    settings = workspace.settings
    retry = RetryPolicy(overload_limit=OVERLOADS_BEFORE_FALLBACK if settings.fallback_model else None)

    def connect_named(name: str) -> Model:
        return connect(name, providers=settings.providers, env=workspace.env, retry=retry)

    return connect_named


def check_fast_model(settings: Settings, connect_named: Callable[[str], Model]) -> None:
    """A name that means no model is told now; a key that is missing only leaves side queries out."""
    if settings.fast_model in ("", "none"):
        return
    with suppress(MissingCredential):
        connect_named(settings.fast_model)


def chosen_model(workspace: Workspace) -> str:
    """The configured model, else that of the first provider that has a key."""
    settings = workspace.settings
    name = settings.model or default_model(workspace.env, settings.providers)
    if not name:
        raise NoModel(
            "no model is configured: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or choose one with "
            "--model provider/model (a local server needs no key: --model ollama/NAME); see docs/models.md"
        )
    return name


def project_memory(workspace: Workspace) -> Memory:
    """The memory files the user and the trusted project bring."""
    if not workspace.settings.memory.enabled:
        return Memory()
    return load_memory(home=workspace.home, project_root=workspace.root, cwd=workspace.cwd, trusted=workspace.trusted)


def nested_memory(workspace: Workspace, known: Memory) -> NestedMemory:
    """Memory files further down, found when the agent gets there."""
    told = known

    def find(path: Path) -> str:
        nonlocal told
        if not workspace.settings.memory.enabled:
            return ""
        found = load_nested_memory(
            project_root=workspace.root, cwd=workspace.cwd, touched=path, trusted=workspace.trusted, known=told
        )
        told = Memory(files=told.files + found.files)
        return found.text

    return NestedMemory(find, workspace.cwd)


def limits_of(settings: Settings, *, headless: bool) -> LimitCheck:
    """Budgets from the settings; the flags are part of them."""
    limits = settings.limits
    return LimitCheck(Limits(max_steps=limits.step_limit(headless=headless), max_budget_usd=limits.max_budget_usd))


def session_of(
    workspace: Workspace,
    conversation: Conversation,
    agent: Agent,
    toolbox: Toolbox,
    middlewares: list[Middleware],
    connect_named: Callable[[str], Model],
    orientation: LateOrientation | None,
    subscribers: list[Subscriber],
    *,
    greet: bool,
) -> Session:
    """The actor and its subscribers, the recorder first."""
    settings = workspace.settings
    tally = Tally()
    pending = PendingAnswers()
    stamp = Stamp(
        session_id=conversation.session_id,
        cwd=str(workspace.cwd),
        git_branch=read_head(workspace.repository).branch if workspace.repository and workspace.trusted else "",
    )
    writer = conversation.writer
    recorder = Recorder(
        writer,
        stamp,
        leaf=conversation.leaf,
        last_recap=last_recap(conversation),
        on_entry=orientation.feed if orientation is not None else None,
        on_lost=lambda why: session.lose(why),
    )

    async def close() -> None:
        await toolbox.session.close()
        writer.close()
        note_project(workspace, conversation)

    session = Session(
        started=SessionStarted(
            session_id=conversation.session_id,
            cwd=str(workspace.cwd),
            model=agent.model.name,
            permission_mode=settings.permission_mode,
            tools=tuple(toolbox.tools),
            version=__version__,
            resumed=conversation.resumed,
        ),
        agent=agent,
        steps=StepRunner(tools=toolbox.tools, host=toolbox.host, pending=pending),
        pending=pending,
        middlewares=middlewares,
        subscribers=[recorder, tally, *subscribers],
        orientation=orientation,
        greet=greet and conversation.resumed and settings.recap.enabled,
        tally=tally,
        connect=connect_named,
        set_mode=toolbox.permits.set_mode,
        first_turn=conversation.first_turn,
        hand_over=writer.hand_over if isinstance(writer, TranscriptWriter) else None,
        on_close=close,
    )
    return session


def last_recap(conversation: Conversation) -> str:
    """The recap that is already the last word of the log, so that it is not written again."""
    last = next((entry for entry in reversed(conversation.entries) if isinstance(entry, ChainEntry)), None)
    if isinstance(last, SystemEntry) and last.subtype == "away_summary" and last.uuid == conversation.leaf:
        return last.content
    return ""


def note_project(workspace: Workspace, conversation: Conversation) -> None:
    """Remember which repository the sessions belong to, so that they are found after a move. Costs nothing twice."""
    store = SessionStore(workspace.home)
    known = read_project(store.project_dir(workspace.root))
    if conversation.path is None or not conversation.path.exists() or (known is not None and known.identity):
        return
    try:
        store.remember_project(workspace.root, identity=workspace.identity(workspace.root))
    except OSError:
        return  # a full disk was told already when the log could not be written
