"""Orientation for a session: what makes its words is loaded when the first step has ended, not before."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from clew.host.part import Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.host.session import EndReason, Session
from clew.host.workspace import Workspace
from clew.llm.model import Model
from clew.llm.models.connect import is_local
from clew.orient.daily_cap import DailyCap
from clew.orient.fast_model import side_model
from clew.orient.narrator import Narrator
from clew.orient.recap_query import Used, WriterChoice, WrittenRecaps, choose
from clew.orient.side_query import QueryStamp, SideQueries, booked
from clew.parts.orientation.orientation_task import Orientation, OrientationTask
from clew.parts.orientation.recap_drafts import RecapDrafts
from clew.parts.orientation.session_orientation import OrientationSettings, SessionOrientation
from clew.protocol.entries import ChainEntry, SideQueryEntry, SystemEntry
from clew.protocol.event_kinds.words import Occasion
from clew.protocol.events import Event, Notice, RecapReady, TitleChanged
from clew.protocol.ids import MAIN_AGENT, AgentId, new_entry_id
from clew.protocol.ops import RequestRecap, SetTitle
from clew.system.private_files import private_dir, replace_private
from clew.text.figures import price

MAX_MEMORY_CHARS = 4_000
"""How much of the memory files a model that writes a recap is given."""

EARLY = 0.8
"""A recap is written when so much of `recap.awayMinutes` has passed, so that it is there when somebody comes back."""


class OrientationPart(Part):
    """Words for facts, behind a boundary of their own: labels, titles, and a recap for who returns."""

    def __init__(self, setup: PartSetup, memory: str, *, speaks: bool = True) -> None:
        """`memory`: what the memory files say, for a model that writes a recap. Without `speaks` there are no labels
        and recaps in this session, only a person's own title."""
        self._setup = setup
        self._memory = memory
        settings, request = setup.workspace.settings, setup.request
        self._speaks = speaks
        self._greets = not request.headless and setup.past.resumed and settings.recap.enabled
        self._task: OrientationTask | None = None
        self._recap: asyncio.Task[None] | None = None

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session
        self._remind = own.reminders.add
        if self._speaks:
            past = self._setup.past
            self._task = OrientationTask(
                self._loaded,
                past=past.story if past.resumed else None,
                publish=own.session.publish,
                log=self._setup.log,
            )
            own.session.journal.main.conversation.follow(self._task.hear)

    def begin(self) -> None:
        """Whoever comes back to a session is told once where things stand."""
        if self._greets:
            self._greets = False
            self.tell("resumed")

    def on(self, event: Event, agent: AgentId) -> None:
        """The main agent's events; and the model learns what the user was told about where things stand."""
        if agent != MAIN_AGENT:
            return
        if self._task is not None:
            self._task.hear(event)
        if isinstance(event, RecapReady) and self._setup.workspace.settings.recap.share_with_model:
            self._remind(f"[The user was shown this recap: {event.text}]")

    def ops(self) -> OpHandlers:
        """A recap that somebody asks for, and a person's own title."""
        return {RequestRecap: self._requested, SetTitle: self._titled}

    async def _titled(self, op: SetTitle) -> Effect:
        if not op.title.strip():
            raise OpRefused("the title is empty")
        return partial(self._session.publish, TitleChanged(title=op.title, source="user"))

    async def words_for(self, path: Path) -> str:
        """A model's recap of another session of ours; empty where none may be written."""
        return await self._task.words_for(path) if self._task is not None else ""

    def hurry(self) -> None:
        """Words in the making are given up."""
        if self._task is not None:
            self._task.hurry()

    async def stop(self) -> None:
        """A recap that is being told ends here."""
        if self._recap is not None:
            self._recap.cancel()
            await asyncio.gather(self._recap, return_exceptions=True)

    async def let_go(self) -> None:
        """Nothing more is said."""
        if self._task is not None:
            task, self._task = self._task, None
            await task.close()

    async def leave(self, reason: EndReason) -> None:
        """A little time may be taken to write what the next visit will show."""
        if self._task is not None:
            await self._task.close(leaving=not self._session.lost)

    async def _requested(self, op: RequestRecap) -> Effect:
        if self._task is None:
            raise OpRefused("recaps are off in this session")
        return partial(self.tell, "returned" if op.returned else "asked", model=op.model)

    def tell(self, occasion: Occasion, *, model: bool = False) -> None:
        """Tell where things stand, if this session has words for it."""
        asked = occasion == "asked"
        if self._task is None:
            return
        if asked and self._recap is not None:
            self._recap.cancel()  # whoever asks sees the facts at once; what a model is writing goes on and serves both
        if asked or self._recap is None or self._recap.done():
            self._recap = asyncio.create_task(self._tell(self._task, occasion, model=model))

    async def _tell(self, task: OrientationTask, occasion: Occasion, *, model: bool) -> None:
        async for told in task.recap(model=model):
            if isinstance(told, RecapReady):
                self._session.publish(self._placed(replace(told, occasion=occasion)))
            elif occasion == "asked" or not isinstance(told, Notice) or told.code != "recap":
                self._session.publish(told)

    def _placed(self, recap: RecapReady) -> RecapReady:
        """Written once: when the log already ends with these words they are only shown."""
        conversation = self._session.journal.main.conversation
        for last in (entry for entry in reversed(conversation.chain()) if isinstance(entry, ChainEntry)):
            if not isinstance(last, SystemEntry) or last.subtype != "away_summary":
                break
            if last.content == recap.text:
                return recap
        return replace(recap, entry_id=new_entry_id(), parent_id=conversation.leaf)

    def _loaded(self) -> Orientation:
        setup, session = self._setup, self._session
        return load_orientation(
            setup.workspace,
            lambda: session.main.agent.model.name,
            setup.connect,
            session,
            setup.log,
            self._memory,
            watched=not setup.request.headless,
            restore_cut_off=lambda: setup.past.restore_is_open,
        )


def load_orientation(
    workspace: Workspace,
    main_model: Callable[[], str],
    connect_named: Callable[[str], Model],
    session: Session,
    log: Callable[[str], None],
    memory: str = "",
    *,
    watched: bool = False,
    restore_cut_off: Callable[[], bool] = bool,
) -> Orientation:
    """Ledger, labels, recap and titles. These imports are late on purpose: see tests/architecture. `watched`: a person
    is there, who may go away and come back."""
    settings = workspace.settings
    main, fast = main_model(), side_model(workspace.settings, main_model(), connect_named, log)

    def chosen(used: Used, *, asked: bool = False) -> WriterChoice:
        return choose(
            settings.recap.model if settings.side_queries.enabled else "off",
            asked=asked,
            fast=fast.name if fast is not None else "",
            main=main,
            used=Used(used.model or main, used.own),
            is_local=lambda name: is_local(name, settings.providers),
        )

    def book(entry: SideQueryEntry) -> None:
        session.publish(booked(entry))

    def asking(model: Model | None, about: Callable[[], QueryStamp] = lambda: narrator.key()) -> SideQueries:
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
        restore_cut_off=restore_cut_off,
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
    limit = price(settings.side_queries.daily_cap_usd)
    most = "" if is_local(model, settings.providers) else f", for at most {limit} a day"
    return f'recaps are also written by {model}{most}; "recap": {{"model": "off"}} ends that'
