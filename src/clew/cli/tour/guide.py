"""The guide of the tour: a Client around the session's own, which adds words where something is to be seen.

Front ends know nothing of it: they get notices and offered prompts among the events, and their ops go on as they are.
"""

from collections.abc import AsyncIterator, Callable

from msgspec.structs import replace

from clew.cli.tour.script import Stop, TourScript
from clew.protocol.client import A, Client
from clew.protocol.display import DiffBlock, TerminalBlock
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchLabelled,
    CompactionEnded,
    CompactionFailed,
    Envelope,
    Event,
    Notice,
    PromptOffered,
    RecapReady,
    SessionEnded,
    SessionStarted,
    SnapshotTaken,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import SessionId
from clew.protocol.lookups.base import Lookup
from clew.protocol.ops import Op, SubmitPrompt
from clew.text.terminal_text import sanitize

GO = frozenset({"go", "next"})
"""Typed in place of the words that are offered: for terminals whose prompt cannot be filled."""
ARROW = "-> "
PARTS = ("label", "approval", "diff", "test", "receipt", "leaving", "recap")
"""What the tour is to show, in its order."""


class Guide:
    """Follows the events of both halves of the tour and remembers what really happened."""

    def __init__(
        self,
        script: TourScript,
        *,
        full_screen: bool,
        fills: bool = True,
        on_seen: Callable[[str, str], None] | None = None,
    ) -> None:
        """`fills`: the front end can put what is offered into its prompt."""
        self._stops = script.stops
        self._full_screen = full_screen
        self._fills = fills
        self._on_seen = on_seen
        self.seen: dict[str, str] = {}
        """Each part that happened, with what was seen of it."""
        self.session_id = SessionId("")
        self._at = script.stops.hello
        self._back = False
        """This is the second half: the session was left and is resumed."""
        self._failed_before = False
        self._commands_asked = False

    @property
    def missing(self) -> tuple[str, ...]:
        """What has not happened yet."""
        return tuple(part for part in PARTS if part not in self.seen)

    @property
    def offered(self) -> str:
        """What the person is expected to send."""
        return self._at.offer

    def around(self, client: Client) -> Client:
        """The same session, with a guide."""
        return GuidedClient(client, self)

    def meant(self, op: Op) -> Op:
        """`go` stands for the words that are offered."""
        if isinstance(op, SubmitPrompt) and isinstance(op.content, str) and op.content.strip().lower() in GO:
            return replace(op, content=self.offered) if not self.offered.startswith("/") else op
        return op

    def shown(self, envelope: Envelope) -> Envelope:
        """The session is removed with the tour, so no front end may say how to go on with it."""
        event = envelope.event
        return replace(envelope, event=replace(event, kept=False)) if isinstance(event, SessionStarted) else envelope

    def before(self, event: Event) -> tuple[Event, ...]:
        """What is to be said before a question is asked."""
        if not isinstance(event, ApprovalRequested):
            return ()
        self._commands_asked = self._commands_asked or event.tool == "Bash"
        stop = self._stops.command if event.tool == "Bash" else self._stops.approval
        return (self._said(stop),)

    def after(self, event: Event) -> tuple[Event, ...]:
        """What is to be said and offered after an event."""
        match event:
            case SessionStarted():
                self.session_id, self._back = event.session_id, event.resumed
            case SnapshotTaken() if not self._back:
                return self._come_to(self._stops.hello)
            case BatchLabelled():
                self._see("label", event.label)
            case ApprovalResolved():
                self._resolved(event)
            case ToolEnded():
                self._ended(event)
            case TurnEnded():
                return self._turn_ended()
            case CompactionEnded():
                self._see("receipt", f"{event.tokens_before or 0:,} -> {event.tokens_after or 0:,} tokens")
                return self._come_to(self._stops.receipt) if self._at is self._stops.edit else self._again()
            case CompactionFailed():
                return self._again()
            case SessionEnded() if "receipt" in self.seen and event.reason != "switched":
                self._see("leaving", f"session {self.session_id[:8]} closed")
            case RecapReady() if self._back and "recap" not in self.seen:
                self._see("recap", event.text)
                return self._come_to(self._stops.recap)
            case _:
                pass
        return ()

    def _resolved(self, event: ApprovalResolved) -> None:
        if event.tool == "Edit" and event.by == "user" and event.decision != "deny":
            self._see("approval", f"{event.tool} {event.subject}: {event.decision}")

    def _ended(self, event: ToolEnded) -> None:
        for block in event.display:
            if isinstance(block, DiffBlock):
                self._see("diff", f"{block.path} +{block.added} -{block.removed}")
            elif isinstance(block, TerminalBlock) and block.exit_code is not None:
                failed = block.exit_code != 0
                if not failed and self._failed_before and "diff" in self.seen:
                    self._see("test", f"{block.command}: failed before, passes now")
                self._failed_before = self._failed_before or failed

    def _turn_ended(self) -> tuple[Event, ...]:
        stops = self._stops
        if self._at is stops.hello and self._failed_before:
            return self._come_to(stops.label)
        if self._at is stops.label and "test" in self.seen:
            return self._come_to(stops.receipt if "receipt" in self.seen else stops.edit)
        return self._again()

    def _come_to(self, stop: Stop) -> tuple[Event, ...]:
        self._at = stop
        return self._said(stop, stop.offer), PromptOffered(text=stop.offer)

    def _again(self) -> tuple[Event, ...]:
        """Something else was done; the tour waits where it is."""
        return self._said(self._stops.again, self.offered), PromptOffered(text=self.offered)

    def _said(self, stop: Stop, offer: str = "") -> Notice:
        where = f"Tour {stop.number} of {self._stops.last}. " if stop.number else "Tour. "
        words = stop.asked if stop.asked and self._commands_asked else stop.words
        screen, plain = (stop.screen, "") if self._full_screen else ("", stop.plain)
        text = " ".join(part.strip() for part in (words, screen, stop.leaving) if part)
        typed = "" if self._fills or not offer else f"(Type {offer if offer.startswith('/') else 'go'} first.)"
        press = " ".join(part for part in (stop.press, plain, typed) if part)
        return Notice(level="info", text=f"{where}{text}\n{ARROW}{press}", code="tour")

    def _see(self, part: str, detail: str) -> None:
        if part not in self.seen:
            self.seen[part] = sanitize(detail, one_line=True)
            if self._on_seen is not None:
                self._on_seen(part, self.seen[part])


class GuidedClient:
    """Hands everything on, and lets the guide speak in between."""

    def __init__(self, client: Client, guide: Guide) -> None:
        self._client = client
        self._guide = guide

    async def submit(self, op: Op) -> None:
        """As the session takes it."""
        await self._client.submit(self._guide.meant(op))

    async def look_up(self, lookup: Lookup[A]) -> A:
        """As the session answers it."""
        return await self._client.look_up(lookup)

    def events(self) -> AsyncIterator[Envelope]:
        """All events of the session, with the guide's."""
        return self._guided(self._client.events())

    async def _guided(self, events: AsyncIterator[Envelope]) -> AsyncIterator[Envelope]:
        async for envelope in events:
            for event in self._guide.before(envelope.event):
                yield replace(envelope, event=event)
            yield self._guide.shown(envelope)
            for event in self._guide.after(envelope.event):
                yield replace(envelope, event=event)
