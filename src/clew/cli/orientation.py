"""Orientation for a session: what it needs is put together when the first reply is there, not before."""

from collections.abc import Callable

from clew.cli.conversation import Conversation
from clew.cli.workspace import Workspace
from clew.host.late_orientation import FollowingOrientation, LateOrientation
from clew.host.session import Session
from clew.llm.connect import fast_model
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.protocol.entries import SideQueryEntry
from clew.protocol.events import SideQueryBooked


def late_orientation(
    workspace: Workspace,
    conversation: Conversation,
    main_model: str,
    connect_named: Callable[[str], Model],
    session: Callable[[], Session],
) -> LateOrientation:
    """`session` is asked for only when there is something to publish."""

    def load() -> FollowingOrientation:
        return load_orientation(workspace, conversation, main_model, connect_named, session())

    return LateOrientation(load, past=conversation.entries)


def load_orientation(
    workspace: Workspace,
    conversation: Conversation,
    main_model: str,
    connect_named: Callable[[str], Model],
    session: Session,
) -> FollowingOrientation:
    """Ledger, labels, recap and titles. These imports are late on purpose: see tests/architecture."""
    from clew.host.orientation import Orientation, OrientationSettings
    from clew.orient.daily_cap import DailyCap
    from clew.orient.narrator import Narrator
    from clew.orient.side_query import SideQueries
    from clew.system.debug_log import DebugLog

    settings = workspace.settings
    debug = DebugLog(workspace.home / "debug" / f"{conversation.session_id}.log")

    def log(text: str) -> None:
        if conversation.path is not None:
            debug.write("orient", text)

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
        side_model(workspace, main_model, connect_named, log),
        cap=DailyCap(workspace.home, settings.side_queries.daily_cap_usd),
        current=lambda: narrator.key(),
        book=book,
        log=log,
        enabled=settings.side_queries.enabled,
        timeout_s=settings.side_queries.timeout_s,
    )
    narrator = Narrator(project=workspace.root.name, queries=queries, log=log)
    chosen = OrientationSettings(
        labels=settings.summaries.tool_batches,
        recap=settings.recap.enabled,
        recap_model=settings.recap.model != "off",
        title_model=settings.titles.model == "on",
    )
    return Orientation(narrator, chosen, queries=queries, publish=session.publish)


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
