"""What the user asked, in order: requests told from nods and from commands to the program."""

from collections.abc import Iterable

from msgspec.structs import replace

from clew.ledger.facts import Request, RequestKind, Sources
from clew.ledger.words import is_wide, word_cost
from clew.protocol.ids import EntryId
from clew.transcript.mapping.typed_text import HOUSEKEEPING, bounded, typed

MAX_REQUESTS = 60
_MAX_TEXT = 4000


def is_reply(text: str, *, to_question: bool = False) -> bool:
    """One or two plain words or numbers, a few more after a question: they mean something only with what came
    before."""
    words = text.split()
    if any(map(is_wide, text)):
        return word_cost(text) <= 2
    named = any(not word.strip(".,!?)(").isalpha() and any(map(str.isalpha, word)) for word in words)
    return len(words) <= (4 if to_question else 2) and not named


class RequestsFold:
    """The user's messages. `turn` counts the requests; a nod or an answer belongs to the turn before it."""

    def __init__(self) -> None:
        self._requests: list[Request] = []
        self.last: Request | None = None
        self.typed_turns = 0
        self.turn = 0

    def feed(self, raw: str, source: Sources, *, at: str, question: str, rewound: set[str] | None = None) -> bool:
        """Take one message; `question` is what the agent had asked. False when nothing was asked of the agent."""
        if rewound:
            self.forget(rewound)
        text, command = typed(raw)
        if not text and (not command or command in HOUSEKEEPING):
            return False
        kind: RequestKind = (
            "command"
            if not text
            else "reply"
            if not command and is_reply(text, to_question=bool(question))
            else "request"
        )
        answers = question if kind != "command" and word_cost(text) <= 12 else ""
        if kind != "reply" or self.last is None:
            self.turn += 1
        request = Request(
            text=bounded(text, _MAX_TEXT),
            kind=kind,
            at=at,
            command=command,
            source=source,
            question=answers,
            turn=self.turn,
        )
        self.last = request
        self.typed_turns += bool(text)
        if kind != "reply" or not self._requests:
            if len(self._requests) >= MAX_REQUESTS:
                del self._requests[1]
            self._requests.append(request)
        return True

    def before(self, words: Iterable[tuple[str, EntryId]]) -> None:
        """Messages from before all that was fed; turns are counted from where they end."""
        earlier = RequestsFold()
        for text, source in words:
            earlier.feed(text, (source,), at="", question="")
        if earlier.last is not None:
            found = [replace(item, turn=0) for item in earlier.all()] + self._requests
            self._requests = found[:1] + found[1:][-(MAX_REQUESTS - 1) :]
            self.last = self.last or replace(earlier.last, turn=self.turn)
            self.typed_turns += earlier.typed_turns

    def forget(self, rewound: set[str]) -> None:
        """These messages were taken back."""
        self._requests = [item for item in self._requests if not rewound.intersection(item.source)]
        if self.last and rewound.intersection(self.last.source):
            self.last = self._requests[-1] if self._requests else None

    def all(self) -> tuple[Request, ...]:
        """Requests in order; a session's first word counts even where it is only a greeting."""
        return tuple(self._requests)

    def first(self) -> Request | None:
        """The session's task as it was put: the first message that is more than a word."""
        return next(
            (item for item in self._requests if item.kind != "reply"), self._requests[0] if self._requests else None
        )
