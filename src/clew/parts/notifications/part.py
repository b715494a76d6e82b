"""Notices of a session: published once each while nobody looks, for the terminal, for hooks and for a webhook."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from msgspec.structs import replace

from clew.host.part import Effect, OpHandlers, Part, PartSession, PartSetup, nothing
from clew.host.session import EndReason
from clew.protocol.events import (
    Answered,
    ApprovalRequested,
    Ask,
    ElicitationRequested,
    Event,
    Notified,
    PlanProposed,
    QuestionAsked,
    TurnEnded,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, RequestId, new_uuid
from clew.protocol.lookups.base import Lookup
from clew.protocol.ops import Op, ReportFocus, ReportTyping
from clew.protocol.outcome import ALL_REFUSED, ALL_REFUSED_WORDS, RefusedCalls
from clew.protocol.standing import STOPPED_BY, WIRE_WORDS, standing_after
from clew.text.redact import redact
from clew.text.terminal_text import clip, sanitize

MAX_CHARS = 120
PAUSE_S = 30.0
MAX_READ_CHARS = 20_000
"""More of a text is not looked at: what is shown of it comes from its beginning."""
OWN_DOING = frozenset(reason for reason, actor in STOPPED_BY.items() if actor == "user")
"""Whoever ended the turn so knows of it."""


def notice_of(event: Event, title: str = "") -> Notified | None:
    """The notice of an event; None for those one need not know of. No id of the event is in it."""
    title = safe_line(title)
    about = f": {title}" if title else ""
    match event:
        case ApprovalRequested():
            text = f"Approval needed for {safe_line(event.tool)}: {safe_line(event.subject)}"
            return Notified(kind="needs_approval", text=text, title=title)
        case PlanProposed():
            return Notified(kind="needs_approval", text=f"A plan waits for approval{about}", title=title)
        case QuestionAsked():
            question = event.questions[0].question if event.questions else ""
            return Notified(kind="asks", text=f"A question: {safe_line(question)}", title=title)
        case ElicitationRequested():
            text = f"{safe_line(event.server)} asks: {safe_line(event.message)}"
            return Notified(kind="asks", text=text, title=title)
        case Ask():
            return Notified(kind="asks", text=f"An answer is needed{about}", title=title)
        case TurnEnded(reason="completed"):
            return Notified(kind="done", text=f"Done{about}", title=title)
        case TurnEnded() if event.reason in OWN_DOING:
            return None
        case TurnEnded():
            kind = WIRE_WORDS[standing_after(event.reason, event.error)].notice or "failed"
            why = "" if event.reason.startswith("max_") else f": {safe_line(event.error or event.reason)}"
            words = "A limit was reached" if kind == "limit" else "Stopped"
            return Notified(kind=kind, text=f"{words}{about}{why}", title=title)
        case _:
            return None


def safe_line(text: str) -> str:
    """Redacted before it is cut: half a key is still most of a key."""
    return clip(sanitize(redact(text[:MAX_READ_CHARS]), one_line=True), MAX_CHARS)


class Attention:
    """Of one session. Who never reports the focus is taken to look as long as something was asked a moment ago."""

    def __init__(self, *, pause_s: float = PAUSE_S, headless: bool = False) -> None:
        self._pause_s = pause_s
        self._headless = headless
        self._focused: bool | None = None
        self._heard_s: float | None = None

    def heard(self, op: Op | Lookup[Any]) -> None:
        """An op or a lookup came through the door."""
        if isinstance(op, ReportFocus):
            self._focused = op.focused
        else:
            self._heard_s = asyncio.get_running_loop().time()

    @property
    def looking(self) -> bool:
        """Somebody sees what is told now."""
        if self._headless:
            return False
        if self._focused is not None or self._heard_s is None:
            return self._focused is not False
        return asyncio.get_running_loop().time() - self._heard_s < self._pause_s


class Sender(Protocol):
    """Where notices go outside of this process."""

    def send(self, notice: Notified, *, session_id: str, cwd: str) -> None:
        """Take it; whatever becomes of it, nobody waits."""
        ...

    async def close(self) -> None:
        """A short moment for what is under way."""
        ...


OpenSender = Callable[[Callable[[str], None]], Sender]
"""Given how to tell that it does not work."""


class NotificationPart(Part):
    """What waits for an answer is told once, what ended is told once, and most is not told at all: whoever looks has
    seen it."""

    def __init__(self, setup: PartSetup, webhook: OpenSender | None = None) -> None:
        """`webhook`: opens the one that is configured."""
        settings = setup.workspace.settings.notifications
        self._headless = setup.request.headless
        self._attention = Attention(pause_s=settings.unanswered_s, headless=self._headless)
        self._webhook = webhook
        self._sender: Sender | None = None
        self._min_turn_ms = settings.min_turn_s * 1000
        self._unanswered_s = settings.unanswered_s
        self._known: set[RequestId] = set()
        self._timers: dict[RequestId, asyncio.TimerHandle] = {}
        """What nobody has answered or was told of yet."""
        self._ended_turn = 0
        self._refusals = RefusedCalls()
        self._closed = False
        self._told_failure = False

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session
        if self._webhook is not None:
            self._sender = self._webhook(lambda text: own.session.notice("warning", text, code="webhook"))

    def ops(self) -> OpHandlers:
        """The focus of a terminal, and keys where it tells none; `heard` took them already."""
        return {ReportFocus: self._reported, ReportTyping: self._reported}

    async def _reported(self, op: ReportFocus | ReportTyping) -> Effect:
        return nothing

    def heard(self, asked: Op | Lookup[Any]) -> None:
        """Whoever asks something looks."""
        self._attention.heard(asked)

    def on(self, event: Event, agent: AgentId) -> None:
        """Somebody must answer whoever asks, whichever agent it is; the main agent's turns are what people wait for."""
        match event:
            case Ask():
                self._guarded(lambda: self._asked(event))
            case Answered():
                self._answered(event.request_id)
            case _:
                pass
        if agent != MAIN_AGENT:
            return
        self._refusals.feed(event)
        if isinstance(event, TurnEnded) and event.turn > self._ended_turn:
            self._ended_turn = event.turn
            self._guarded(lambda: self._ended(event))

    async def stop(self) -> None:
        """Nothing more is told."""
        self._closed = True
        for request_id in list(self._timers):
            self._answered(request_id)

    async def leave(self, reason: EndReason) -> None:
        """What is on its way gets a short moment."""
        if self._sender is not None:
            await self._sender.close()

    def _asked(self, event: Ask) -> None:
        """At once to who looks away; else when nobody answers. A run without a person has a program that may."""
        if event.request_id in self._known:
            return
        self._known.add(event.request_id)
        if self._headless or self._attention.looking:
            loop = asyncio.get_running_loop()
            self._timers[event.request_id] = loop.call_later(self._unanswered_s, self._unanswered, event)
        else:
            self._tell(event)

    def _unanswered(self, event: Ask) -> None:
        del self._timers[event.request_id]
        self._guarded(lambda: self._tell(event))

    def _answered(self, request_id: RequestId) -> None:
        timer = self._timers.pop(request_id, None)
        if timer is not None:
            timer.cancel()

    def _ended(self, event: TurnEnded) -> None:
        """A turn is not the end while input waits, and its end is no news to who looks or has hardly looked away. Where
        nobody was there to allow anything, having done nothing is no answer."""
        if self._headless and self._refusals.undid(event):
            event = replace(event, reason=ALL_REFUSED, error=ALL_REFUSED_WORDS)
        if event.reason == "completed":
            short = not self._headless and event.duration_ms < self._min_turn_ms
            if short or self._session.journal.main.state.queued:
                return
        if not self._attention.looking:
            self._tell(event)

    def _tell(self, event: Event) -> None:
        log = self._session.journal.main
        notice = notice_of(event, log.state.title)
        if notice is None:
            return
        notice = replace(notice, notice_id=new_uuid())
        self._session.publish(notice)
        if self._sender is not None:
            self._sender.send(notice, session_id=self._session.started.session_id, cwd=log.stamp.cwd)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Its own boundary: a notice that cannot be made never ends a turn."""
        if self._closed:
            return
        try:
            work()
        except Exception as error:  # told once; the session goes on without
            if not self._told_failure:
                self._told_failure = True
                self._session.notice("warning", f"notifications failed: {type(error).__name__}: {error}", code="notify")
