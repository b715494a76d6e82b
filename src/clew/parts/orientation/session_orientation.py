"""Words for facts while a session runs: labels after each batch, titles and recaps after each turn."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from clew.llm.model import Model
from clew.orient.away import MIN_NEW_PROMPTS, MIN_PROMPTS
from clew.orient.label_query import is_large, model_label
from clew.orient.labels import LabelledCall, batch_label
from clew.orient.narrator import FinishedRecap, Narrator
from clew.orient.recap_query import Used, WriterChoice
from clew.orient.side_query import QueryStamp, SideQueries
from clew.orient.titles import next_title
from clew.parts.orientation.recap_drafts import RecapDrafts
from clew.protocol.entries import Entry, SessionSourceEntry
from clew.protocol.events import (
    BatchLabelled,
    CallChanged,
    Event,
    Notice,
    PartCompleted,
    PromptAccepted,
    RecapReady,
    ReplyWithdrawn,
    StepEnded,
    TitleChanged,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import CallId, EntryId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import TextPart, ToolCallPart

LEAVE_S = 1.5
"""How long leaving may take for the sake of a recap."""


class OrientationSettings(Struct, frozen=True, kw_only=True):
    """What the user wants of it."""

    labels: Literal["facts", "model", "off"] = "facts"
    title_model: bool = False
    waits: bool = False
    """Words that were asked of a model are waited for at the end, as long as a side query may take: nobody will come
    back to a run that is over."""
    draft_after_s: float = 0.0
    """Idle for so long, a session has its recap written before anybody asks for it; 0: never, nor on leaving."""


def _nobody(used: Used) -> WriterChoice:
    del used
    return WriterChoice("")


class SessionOrientation:
    """Follows recorded entries and events; publishes what follows from them. Model calls run beside the session."""

    def __init__(
        self,
        narrator: Narrator,
        settings: OrientationSettings,
        *,
        queries: SideQueries | None,
        publish: Callable[[Event], None],
        automatic: Callable[[Used], WriterChoice] = _nobody,
        first_time: Callable[[str], str] = lambda _: "",
        models: Sequence[Model] = (),
        drafts: RecapDrafts | None = None,
    ) -> None:
        """`automatic`: who writes a recap nobody asked for, by what the session used; `first_time`: what to say before
        that happens for the first time; `models`: to be closed at the end; `drafts`: recaps of other sessions."""
        self._drafts = drafts
        self._automatic = automatic
        self._first_time = first_time
        self._models = models
        self._own = True
        self._narrator = narrator
        self._settings = settings
        self._queries = queries
        self._publish = publish
        self._newest_batch: tuple[CallId, ...] = ()
        self._calls: dict[CallId, ToolCallPart] = {}
        self._ended: dict[CallId, ToolEnded] = {}
        self._intent = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._due: asyncio.TimerHandle | None = None
        self._turns_at_draft = 0

    def feed(self, entry: Entry) -> None:
        """One more entry of the log, old or new."""
        self._narrator.feed(entry)
        if isinstance(entry, SessionSourceEntry) and entry.agent != "clew":
            self._own = False

    def reopened(self) -> None:
        """What was fed so far was written by a process that is gone."""
        self._narrator.reopened()

    def after(self, event: Event) -> Sequence[Event]:
        """Labels at once; titles and model words follow as soon as they are ready."""
        match event:
            case PartCompleted(part=TextPart(text=text)):
                self._intent = text
            case PartCompleted(part=ToolCallPart() as call):
                self._calls[call.id] = meant_call(call)
            case CallChanged() if event.call_id in self._calls:
                self._calls[event.call_id] = replace(self._calls[event.call_id], arguments=event.arguments)
            case ToolEnded():
                self._ended[event.result.call_id] = event
            case ReplyWithdrawn():
                self._forget()
            case PromptAccepted():
                self._put_off()
                self._narrator.back()
            case StepEnded():
                return self._label()
            case TurnEnded():
                self._forget()
                self._draft_later()
                unwanted = self._settings.waits and event.reason == "interrupted"
                if unwanted:
                    self.hurry()
                return self._retitle(with_model=not unwanted)
            case _:
                pass
        return ()

    async def recap(self, *, model: bool) -> AsyncIterator[Event]:
        """Where you are, now: from facts at once; then, where one is to write it, in a model's words or why not."""
        choice = self._automatic(Used(self._narrator.ledger().model, self._own))
        with_model = model or bool(choice.model)
        told = await self._narrator.tell()
        if told is None:
            yield Notice(level="info", text="there is nothing to recap yet", code="recap")
            return
        yield _ready(told, "" if with_model or not choice.reason else f"No model wrote it: {choice.reason}.")
        if not with_model:
            return
        if not model and (words := self._first_time(choice.model)):
            yield Notice(level="info", text=words, code="recap-model")
        written = await self._narrator.tell(with_model=True)
        if written is not None and written.source == "model":
            yield _ready(written, written.why)
        elif written is not None and written.why:
            # Whoever asked is told; where nobody did, the facts are enough and `/recap why` tells.
            yield Notice(level="info", text=written.why, code="recap-why")
            if model:
                yield Notice(level="info", text=written.why, code="recap")

    async def words_for(self, path: Path) -> str:
        """Another session in a list, as a model tells it; nothing where recaps are not written unasked."""
        return await self._drafts.words(path) if self._drafts and self._settings.draft_after_s > 0 else ""

    async def close(self, *, leaving: bool) -> None:
        """Leaving, the recap for the next time is written if that is quick; what else is asked is not needed any
        more."""
        self._put_off()
        if leaving and self._settings.waits and self._tasks:
            await asyncio.wait(self._tasks)
        if leaving and self._is_worth_drafting(new_prompts=1):
            self._start(self._draft())
            await asyncio.wait(self._tasks, timeout=LEAVE_S)
        self.hurry()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._narrator.close()
        for model in self._models:
            await model.close()

    def hurry(self) -> None:
        """Whoever waits for words in the making does not want to any more."""
        for task in self._tasks:
            task.cancel()

    def _draft_later(self) -> None:
        self._put_off()
        if self._settings.draft_after_s > 0:
            self._due = asyncio.get_running_loop().call_later(self._settings.draft_after_s, self._left_alone)

    def _left_alone(self) -> None:
        """Nobody has said a word for so long: what happens from here on is news, and the recap is due."""
        self._narrator.leave()
        if self._is_worth_drafting(new_prompts=MIN_NEW_PROMPTS):
            self._start(self._draft())

    def _put_off(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _is_worth_drafting(self, *, new_prompts: int) -> bool:
        """A short session needs no model to be told, and one that is told already none either."""
        ledger = self._narrator.ledger()
        enough = ledger.user_turns >= max(MIN_PROMPTS, self._turns_at_draft + new_prompts)
        return (
            enough and self._settings.draft_after_s > 0 and bool(self._automatic(Used(ledger.model, self._own)).model)
        )

    async def _draft(self) -> None:
        """Written early, shown when somebody comes back: on resume, in the list of sessions, after a pause."""
        ledger = self._narrator.ledger()
        self._turns_at_draft = ledger.user_turns
        self.tell_first(self._automatic(Used(ledger.model, self._own)).model)
        await self._narrator.tell(with_model=True)

    def tell_first(self, model: str) -> None:
        """Before a model writes unasked for the first time."""
        if words := self._first_time(model):
            self._publish(Notice(level="info", text=words, code="recap-model"))

    def batch(self) -> QueryStamp:
        """What a label made now would be about. It may come while the turn goes on, but not onto a newer batch."""
        return QueryStamp(self._narrator.key().session_id, " ".join(self._newest_batch))

    def _label(self) -> Sequence[Event]:
        batch = [
            LabelledCall(call, ended.result, ended.display)
            for call_id, call in self._calls.items()
            if (ended := self._ended.get(call_id)) is not None
        ]
        intent = self._intent
        self._forget()
        if not batch or self._settings.labels == "off":
            return ()
        call_ids = tuple(item.call.id for item in batch)
        self._newest_batch = call_ids
        if self._settings.labels == "model" and self._queries is not None and is_large(batch):
            self._start(self._better_label(batch, intent, self._queries))
        label = batch_label(batch)
        return (BatchLabelled(call_ids=call_ids, label=label),) if label else ()

    async def _better_label(self, batch: Sequence[LabelledCall], intent: str, queries: SideQueries) -> None:
        call_ids = tuple(item.call.id for item in batch)
        if label := await model_label(batch, intent, queries):
            self._publish(BatchLabelled(call_ids=call_ids, label=label, source="model"))

    def _retitle(self, *, with_model: bool) -> Sequence[Event]:
        """A title from facts at once; the fast model's may follow."""
        title = next_title(self._narrator.ledger())
        if not title:
            return ()
        if self._settings.title_model and with_model:
            self._start(self._better_title())
        return (TitleChanged(title=title, source="facts"),)

    async def _better_title(self) -> None:
        if title := await self._narrator.better_title():
            self._publish(TitleChanged(title=title, source="model"))

    def _forget(self) -> None:
        self._calls.clear()
        self._ended.clear()
        self._intent = ""

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _ready(told: FinishedRecap, why: str) -> RecapReady:
    return RecapReady(
        text=told.text,
        away=told.away,
        last_entry_id=EntryId(told.key.last_entry_id),
        source=told.source,
        why=why,
    )
