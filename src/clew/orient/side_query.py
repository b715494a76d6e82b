"""The one path for model calls that are not the conversation: stamped, single flight, capped, booked, switchable."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.llm.reply import Reply
from clew.llm.request import ModelRequest
from clew.orient.daily_cap import DailyCap
from clew.protocol.entries import SideQueryEntry
from clew.protocol.events import SideQueryBooked
from clew.protocol.ids import SessionId
from clew.protocol.messages import TextPart, UserMessage
from clew.system.clock import Clock, SystemClock, iso_utc
from clew.text.figures import price
from clew.text.redact import redact

_CUT = "\n[…]\n"
THOUGHT_TOKENS = 2_048
"""What a model that cannot be kept from thinking may spend before its first word: thoughts count as output."""


class QueryStamp(NamedTuple):
    """What a result is about. A result whose stamp is not the current one any more is dropped."""

    session_id: str
    last_entry_id: str


class SideQuery(NamedTuple):
    """One question to the fast model. No tools, one attempt."""

    purpose: str
    system: str
    text: str
    max_output_tokens: int
    temperature: float = 0.3


class SideQueries:
    """Asks the fast model, or says in the debug log why not. Nothing it does ever raises into the session."""

    def __init__(
        self,
        model: Model | None,
        *,
        cap: DailyCap,
        current: Callable[[], QueryStamp],
        book: Callable[[SideQueryEntry], None],
        log: Callable[[str], None],
        enabled: bool = True,
        timeout_s: float | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._model = model
        self._cap = cap
        self._current = current
        self._book = book
        self._log = log
        self._enabled = enabled
        self._timeout_s = timeout_s
        self._clock = clock or SystemClock()
        self._running: dict[str, tuple[QueryStamp, asyncio.Task[Reply]]] = {}
        self.why_none = "there is too little to tell"
        """Why there is no answer; nothing was asked yet."""

    @property
    def available(self) -> bool:
        """Whether a query could be sent at all."""
        return self._enabled and self._model is not None

    @property
    def model_name(self) -> str:
        """The model that is asked; empty: there is none."""
        return self._model.name if self._model is not None else ""

    async def ask(self, query: SideQuery) -> str | None:
        """The reply's words; None when there is none to use, with the reason in the debug log."""
        stamp = self._current()
        model = self._model
        refusal = self._refusal(query, stamp)
        if model is None or refusal:
            return self._none(query, refusal or "no fast model")
        request = ModelRequest(
            system=(query.system,),
            messages=(UserMessage(content=_bounded(redact(query.text), model.side_query_chars)),),
            max_output_tokens=query.max_output_tokens + (THOUGHT_TOKENS if model.thinks == "always" else 0),
            temperature=query.temperature,
            purpose=f"side-query:{query.purpose}",
        )
        timeout_s = model.side_query_timeout_s if self._timeout_s is None else self._timeout_s
        task = asyncio.ensure_future(model.complete(request))
        self._running[query.purpose] = (stamp, task)
        try:
            reply = await asyncio.wait_for(asyncio.shield(task), timeout_s)
        except TimeoutError:
            task.cancel()
            return self._failed(query, model, stamp, f"timeout after {timeout_s:g} s")
        except asyncio.CancelledError:
            self._failed(query, model, stamp, "aborted")
            if task.cancelled() and not _is_cancelling():
                return None
            task.cancel()
            raise
        except LLMError as error:
            self._failed(query, model, stamp, f"{type(error).__name__}: {error}")
            self.why_none = str(error)
            return None
        finally:
            if self._running.get(query.purpose) == (stamp, task):
                del self._running[query.purpose]
        return self._settled(query, model, stamp, reply)

    def abort(self, *, unless: QueryStamp | None = None) -> None:
        """Stop what is in flight; with `unless`, only what is about something else."""
        for purpose, (stamp, task) in list(self._running.items()):
            if stamp != unless:
                self._log(f"side query {purpose}: aborted, its key is stale")
                task.cancel()

    def _refusal(self, query: SideQuery, stamp: QueryStamp) -> str:
        if not self._enabled:
            return "side queries are switched off"
        if not self._cap.allows():
            return f"the daily cap of {price(self._cap.limit_usd)} is used up"
        running = self._running.get(query.purpose)
        if running is None:
            return ""
        if running[0] == stamp:
            return "one is in flight already"
        running[1].cancel()
        return ""

    def _settled(self, query: SideQuery, model: Model, stamp: QueryStamp, reply: Reply) -> str | None:
        cost = model.cost_usd(reply.usage) if reply.usage is not None else None
        self._cap.add(cost or 0.0, query.purpose)
        text = "\n".join(part.text for part in reply.parts if isinstance(part, TextPart)).strip()
        stale = self._current() != stamp
        outcome = "stale" if stale else "ok" if text else "empty"
        self._book(
            SideQueryEntry(
                session_id=SessionId(stamp.session_id),
                timestamp=iso_utc(self._clock.wall_s()),
                purpose=query.purpose,
                model=reply.model or model.name,
                usage=reply.usage,
                cost_usd=cost,
                outcome=outcome,
            )
        )
        if stale:
            return self._none(query, "the session went on meanwhile, result dropped")
        return text or self._none(query, "empty reply")

    def _failed(self, query: SideQuery, model: Model, stamp: QueryStamp, reason: str) -> None:
        self._book(
            SideQueryEntry(
                session_id=SessionId(stamp.session_id),
                timestamp=iso_utc(self._clock.wall_s()),
                purpose=query.purpose,
                model=model.name,
                outcome=reason.split(":")[0],
            )
        )
        return self._none(query, reason)

    def _none(self, query: SideQuery, reason: str) -> None:
        self.why_none = reason
        self._log(f"side query {query.purpose}: {reason}")


def _bounded(text: str, max_chars: int) -> str:
    """What the model can take: the beginning, where the facts stand, and the end, where the newest words do."""
    if len(text) <= max_chars:
        return text
    half = max(1, (max_chars - len(_CUT)) // 2)
    return text[:half] + _CUT + text[-half:]


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def booked(entry: SideQueryEntry) -> SideQueryBooked:
    """What a session publishes of a side query, so that its log keeps it."""
    return SideQueryBooked(
        purpose=entry.purpose,
        model=entry.model,
        usage=entry.usage,
        cost_usd=entry.cost_usd,
        outcome=entry.outcome,
    )
