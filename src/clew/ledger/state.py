"""Where a session stands: working, waiting, asking, idle, interrupted, limited, failed."""

import re

from clew.ledger.facts import Limit, Sources, State
from clew.protocol.entries import TurnResultEntry
from clew.protocol.ids import CallId, EntryId

UNANSWERED = "unanswered"
"""Detail of a state: the last request has no reply at all."""
_LIMITED = frozenset({"max_turns", "max_budget", "output_limit", "prompt_too_long"})
_QUOTA = re.compile(
    r"usage limit|rate.?limit|quota|limit (?:reached|exceeded)|too many requests|\b429\b|credit balance|"
    r"insufficient (?:credit|balance|funds|quota)|out of credits",
    re.IGNORECASE,
)


class TurnFold:
    """The turn that is open or was closed last. One `mark` per kind of entry; the state follows from the last one."""

    def __init__(self) -> None:
        self.open_calls: dict[CallId, EntryId] = {}
        self.mark = ""
        self.detail = ""
        self.source: Sources = ()
        self.limit: Limit | None = None
        self.closed = False

    def prompt(self, source: EntryId) -> None:
        """The user said something: a new turn."""
        self.open_calls.clear()
        self._set("prompt", UNANSWERED, source)
        self.closed = False
        self.limit = None

    def said(self, source: EntryId) -> None:
        """The agent spoke."""
        self._set("text", "", source)

    def called(self, call_id: CallId, source: EntryId) -> None:
        """A tool call was announced."""
        self.open_calls[call_id] = source
        self._set("call", "", source)

    def settled(self, call_id: CallId, source: EntryId) -> None:
        """A call has its result."""
        self.open_calls.pop(call_id, None)
        if self.mark != "interrupted":
            self._set("result", "", source)

    def rested(self, source: EntryId) -> None:
        """A program without a turn of its own (Aider) told that the reply is complete."""
        if self.mark in ("text", "result"):
            self._set("text", "", source)

    def interrupted(self, source: EntryId) -> None:
        """The user stopped the turn."""
        self.open_calls.clear()
        self._set("interrupted", "", source)
        self.closed = True

    def failed(self, text: str, source: EntryId) -> None:
        """The model or its provider failed."""
        if _QUOTA.search(text):
            self.limit = Limit(kind="quota", text=text[:240], source=(source,))
            self._set("limited", text[:240], source)
        else:
            self._set("error", text[:240], source)

    def ended(self, entry: TurnResultEntry, source: EntryId) -> None:
        """The engine closed the turn and said why."""
        self.closed = True
        self.open_calls.clear()
        if entry.reason == "interrupted" or entry.reason == "stopped_by_denial":
            self._set("interrupted", entry.reason, source)
        elif entry.reason in _LIMITED:
            self.limit = Limit(kind=entry.reason, text=entry.error[:240], source=(source,) if source else ())
            self._set("limited", entry.reason, source)
        elif entry.reason == "model_error":
            self.failed(entry.error or "model error", source)
        elif self.mark not in ("error", "limited"):
            self._set("ended", "", source)

    def withdraw(self, targets: frozenset[EntryId]) -> None:
        """Some entries are void: their calls will never have results."""
        for call_id in [call for call, entry in self.open_calls.items() if entry in targets]:
            del self.open_calls[call_id]

    def state(self, *, pending_approval: bool, question: bool) -> State:
        """The state after the last entry."""
        if self.mark in ("interrupted", "limited"):
            return "interrupted" if self.mark == "interrupted" else "limited"
        if self.mark == "error":
            return "failed"
        if pending_approval and not self.closed:
            return "waiting"
        if self.mark in ("prompt", "call", "result"):
            return "asking" if question and self.open_calls else "working"
        if self.mark in ("text", "ended"):
            return "asking" if question else "idle"
        return "idle"

    def _set(self, mark: str, detail: str, source: EntryId) -> None:
        self.mark = mark
        self.detail = detail
        self.source = (source,) if source else ()
