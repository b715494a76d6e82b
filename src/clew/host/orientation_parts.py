"""Orientation for a session: its parts are put together when the first step has ended, not before."""

from collections.abc import Callable

from clew.host.orienting import Orientation
from clew.host.past import Past
from clew.host.session import Session
from clew.host.workspace import Workspace
from clew.llm.connect import fast_model
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.protocol.entries import SideQueryEntry
from clew.protocol.events import SideQueryBooked
from clew.system.debug_log import DebugLog


def debug_log(workspace: Workspace, past: Past) -> Callable[[str], None]:
    """Where orientation says what nobody needs to see; nothing for a session that keeps nothing."""
    debug = DebugLog(workspace.home / "debug" / f"{past.session_id}.log")

    def log(text: str) -> None:
        if past.path is not None:
            debug.write("orient", text)

    return log


def load_orientation(
    workspace: Workspace,
    main_model: Callable[[], str],
    connect_named: Callable[[str], Model],
    session: Session,
    log: Callable[[str], None],
) -> Orientation:
    """Ledger, labels, recap and titles. These imports are late on purpose: see tests/architecture."""
    from clew.host.orientation import OrientationSettings, SessionOrientation
    from clew.orient.daily_cap import DailyCap
    from clew.orient.label_query import label_mode
    from clew.orient.narrator import Narrator
    from clew.orient.side_query import SideQueries

    settings = workspace.settings

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

    queries = SideQueries(
        side_model(workspace, main_model(), connect_named, log),
        cap=DailyCap(workspace.home, settings.side_queries.daily_cap_usd),
        current=lambda: narrator.key(),
        book=book,
        log=log,
        enabled=settings.side_queries.enabled,
        timeout_s=settings.side_queries.timeout_s,
    )
    narrator = Narrator(project=workspace.root.name, queries=queries, log=log)
    chosen = OrientationSettings(
        labels=label_mode(settings.summaries.tool_batches, workspace.env),
        recap=settings.recap.enabled,
        recap_model=settings.recap.model == "on",
        title_model=settings.titles.model == "on",
    )
    return SessionOrientation(narrator, chosen, queries=queries, publish=session.publish)


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
