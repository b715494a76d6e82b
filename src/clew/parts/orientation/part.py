"""Orientation for a session: its parts are put together when the first step has ended, not before."""

from collections.abc import Callable
from contextlib import suppress

from clew.engine.middleware.reminders import Reminders
from clew.parts.orientation.orientation_task import Orientation, Orienting
from clew.host.past import Past
from clew.host.session import Session
from clew.host.workspace import Workspace
from clew.llm.connect import fast_model, is_local
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.prompts.memory import Memory
from clew.protocol.entries import SideQueryEntry
from clew.protocol.events import Event, RecapReady, Rewound, SideQueryBooked
from clew.system.debug_log import open_debug_log
from clew.system.private_files import private_dir, replace_private

MAX_MEMORY_CHARS = 4_000
"""How much of the memory files a model that writes a recap is given."""

EARLY = 0.8
"""A recap is written when so much of `recap.awayMinutes` has passed, so that it is there when somebody comes back."""
MAX_NAMED = 20


def debug_log(workspace: Workspace, past: Past) -> Callable[[str], None]:
    """Where orientation says what nobody needs to see; nothing for a session that keeps nothing."""
    kept = past.path is not None and workspace.settings.debug_log
    debug = open_debug_log(workspace.home, past.session_id, enabled=kept)
    return lambda text: debug.write("orient", text)


def load_orientation(
    workspace: Workspace,
    main_model: Callable[[], str],
    connect_named: Callable[[str], Model],
    session: Session,
    log: Callable[[str], None],
    memory: str = "",
    *,
    watched: bool = False,
) -> Orientation:
    """Ledger, labels, recap and titles. These imports are late on purpose: see tests/architecture. `watched`: a person
    is there, who may go away and come back."""
    from clew.parts.orientation.session_orientation import OrientationSettings, SessionOrientation
    from clew.parts.orientation.recap_drafts import RecapDrafts
    from clew.orient.daily_cap import DailyCap
    from clew.orient.narrator import Narrator
    from clew.orient.recap_query import Choice, Used, WrittenRecaps, choose
    from clew.orient.side_query import SideQueries, Stamp

    settings = workspace.settings
    main, fast = main_model(), side_model(workspace, main_model(), connect_named, log)

    def chosen(used: Used, *, asked: bool = False) -> Choice:
        return choose(
            settings.recap.model if settings.side_queries.enabled else "off",
            asked=asked,
            fast=fast.name if fast is not None else "",
            main=main,
            used=Used(used.model or main, used.own),
            is_local=lambda name: is_local(name, settings.providers),
        )

    def book(entry: SideQueryEntry) -> None:
        session.publish(
            SideQueryBooked(
                purpose=entry.purpose,
                model=entry.model,
                usage=entry.usage,
                cost_usd=entry.cost_usd,
                outcome=entry.outcome,
            )
        )

    def asking(model: Model | None, about: Callable[[], Stamp] = lambda: narrator.key()) -> SideQueries:
        return SideQueries(
            model,
            cap=DailyCap(workspace.home, settings.side_queries.daily_cap_usd),
            current=about,
            book=book,
            log=log,
            enabled=settings.side_queries.enabled,
            timeout_s=settings.side_queries.timeout_s,
        )

    by_request = chosen(Used(main, own=True), asked=True)
    # Without a fast model a recap that is asked for may go to the main one; labels and titles never do.
    writer = connect_named(by_request.model) if fast is None and by_request.model else None
    narrator = Narrator(
        project=workspace.root.name,
        queries=asking(writer or fast),
        log=log,
        goal_only=by_request.goal_only,
        memory=lambda: memory[:MAX_MEMORY_CHARS],
        kept=WrittenRecaps(workspace.home) if session.started.kept else None,
    )
    wanted = OrientationSettings(
        labels=settings.summaries.tool_batches,
        title_model=settings.titles.model == "on" and fast is not None,
        waits=not watched,
        draft_after_s=settings.recap.away_minutes * 60 * EARLY if watched and settings.recap.enabled else 0.0,
    )
    drafts = RecapDrafts(
        WrittenRecaps(workspace.home),
        lambda key: asking(writer or fast, lambda: key),
        automatic=chosen,
        before=lambda name: orientation.tell_first(name),
    )
    orientation = SessionOrientation(
        narrator,
        wanted,
        queries=asking(fast, lambda: orientation.batch()),
        publish=session.publish,
        automatic=chosen,
        first_time=lambda name: first_words(workspace, name),
        models=[model for model in (fast, writer) if model is not None],
        drafts=drafts,
    )
    return orientation


def first_words(workspace: Workspace, model: str) -> str:
    """Before a model writes recaps here for the first time: that it does, what it may cost, and how to end it."""
    mark = workspace.home / "cache" / "told-recap-model"
    if mark.exists():
        return ""
    with suppress(OSError):  # a home that cannot be written is told again
        private_dir(mark.parent)
        replace_private(mark, b"")
    settings = workspace.settings
    price = (
        "" if is_local(model, settings.providers) else f", for at most ${settings.side_queries.daily_cap_usd:g} a day"
    )
    return f'recaps are also written by {model}{price}; "recap": {{"model": "off"}} ends that'


def side_model(
    workspace: Workspace, main_model: str, connect_named: Callable[[str], Model], log: Callable[[str], None]
) -> Model | None:
    """The fast model, if there is one that can be used; never the main model in its place."""
    settings = workspace.settings
    if settings.fast_model == "none":
        return None
    try:
        name = settings.fast_model or fast_model(main_model, settings.providers)
        return connect_named(name) if name else None
    except LLMError as error:
        log(f"no fast model: {error}")
        return None


def orient(
    session: Session,
    workspace: Workspace,
    past: Past,
    connect_named: Callable[[str], Model],
    memory: Memory,
    log: Callable[[str], None],
    *,
    watched: bool,
) -> None:
    """Words for facts, behind a boundary of their own."""
    session.orienting = Orienting(
        lambda: load_orientation(
            workspace,
            lambda: session.main.agent.model.name,
            connect_named,
            session,
            log,
            memory.text,
            watched=watched,
        ),
        past=past.story if past.resumed else None,
        publish=session.publish,
        log=log,
    )
    session.journal.main.conversation.follow(session.orienting.hear)


def share_recaps(reminders: Reminders) -> Callable[[Event], None]:
    """The model learns what the user was told about where things stand."""

    def share(event: Event) -> None:
        if isinstance(event, RecapReady):
            reminders.add(f"[The user was shown this recap: {event.text}]")

    return share


def share_restores(reminders: Reminders) -> Callable[[Event], None]:
    """The model learns that files are not as it left them."""

    def share(event: Event) -> None:
        if isinstance(event, Rewound) and (names := [item.path for item in event.files if not item.conflict]):
            more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
            words = "undone changes were made again" if event.direction == "redo" else "changes were taken back"
            reminders.add(f"[The user restored files, {words}: {', '.join(names[:MAX_NAMED])}{more}]")

    return share
