"""What servers ask a person for: an event with an id, one answer that fits, and an end with the turn in any case."""

import msgspec
from msgspec import Struct

from clew.host.part import Effect, OpRefused, nothing, too_late
from clew.host.session import Session
from clew.protocol.events import ElicitationAnswered, ElicitationRequested, Refuser
from clew.protocol.form_fields import FormField, UnusableForm, fields_of, problem_with_all
from clew.protocol.ids import CallId, RequestId, new_uuid
from clew.protocol.ops import AnswerElicitation
from clew.text.terminal_text import sanitize

MAX_MESSAGE_CHARS = 4_000
MAX_MESSAGE_LINES = 60
MAX_SCHEMA_BYTES = 32_768
MAX_URL_CHARS = 4_096
MAX_OPEN = 20
"""More at once is a flood, not a question."""


class CannotAsk(ValueError):
    """A server's question that is not put to anybody; the words are for the server."""


class _Open(Struct, frozen=True, kw_only=True):
    asked: ElicitationRequested
    fields: tuple[FormField, ...]


class Elicitations:
    """The open questions of all servers of a session. What a person said goes to the server and nowhere else: the log
    keeps that it was answered, not the values."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._open: dict[RequestId, _Open] = {}

    def start(self, session: Session) -> None:
        """Belong to a session."""
        self._session = session

    async def ask(
        self,
        server: str,
        message: str,
        *,
        schema: dict[str, object] | None = None,
        url: str = "",
        call_id: CallId | None = None,
    ) -> AnswerElicitation:
        """Put it to whoever is there, and wait. Raises CannotAsk for what nobody can be shown."""
        session = self._session
        if session is None or session.closed:
            raise CannotAsk("there is no session to ask in")
        asked = ElicitationRequested(
            request_id=RequestId(new_uuid()),
            server=server,
            message=_bounded(message),
            schema=schema or {},
            url=_checked_url(url),
            call_id=call_id,
        )
        fields = () if url else _checked_fields(asked.schema)
        if len(self._open) >= MAX_OPEN:
            raise CannotAsk("too many questions are open")
        waiting = session.pending.open(asked.request_id, AnswerElicitation)
        self._open[asked.request_id] = _Open(asked=asked, fields=fields)
        try:
            session.publish(asked)
            answer = await waiting
            assert isinstance(answer, AnswerElicitation)
            return answer
        finally:
            session.pending.forget(asked.request_id)
            if asked.request_id in self._open:  # whoever waited does so no longer
                self._tell(asked.request_id, _withdrawn(asked.request_id), by="interrupt")

    def answered(self, op: AnswerElicitation) -> Effect:
        """What an answer means. Raises OpRefused for one that comes late or does not fit."""
        session, waits = self._session, self._open.get(op.request_id)
        if session is None or waits is None or not session.pending.waits_for(op):
            raise OpRefused(too_late(session.pending, op) if session is not None else "there is no session")
        if op.action == "accept" and (problem := problem_with_all(waits.fields, op.values)):
            raise OpRefused(f"the answer does not fit: {problem}")
        self._tell(op.request_id, op)
        session.pending.settle(op)
        return nothing

    def withdraw(self) -> None:
        """The turn, or the session itself, ends: nothing waits any more."""
        if self._session is None:
            return
        for request_id in list(self._open):
            answer = _withdrawn(request_id)
            self._tell(request_id, answer, by="interrupt")
            self._session.pending.settle(answer)

    def _tell(self, request_id: RequestId, answer: AnswerElicitation, *, by: Refuser | None = None) -> None:
        """Once for each question: recorded before the server learns of it."""
        waits = self._open.pop(request_id, None)
        if waits is not None and self._session is not None:
            told = ElicitationAnswered(
                request_id=request_id,
                server=waits.asked.server,
                action=answer.action,
                by=by or answer.by,
                via=answer.via,
            )
            self._session.publish(told)


def _withdrawn(request_id: RequestId) -> AnswerElicitation:
    return AnswerElicitation(request_id=request_id, action="cancel", by="nobody")


def _bounded(message: str) -> str:
    lines = sanitize(message).split("\n")
    text = "\n".join(lines[:MAX_MESSAGE_LINES])
    whole = len(text) <= MAX_MESSAGE_CHARS and len(lines) <= MAX_MESSAGE_LINES
    return text if whole else f"{text[:MAX_MESSAGE_CHARS]}… (cut)"


def _checked_url(url: str) -> str:
    """Only what a browser goes to with a host's name; nothing else is shown as a place to go."""
    if not url:
        return ""
    front, _, rest = url.partition("://")
    if front.lower() not in ("https", "http") or not rest or len(url) > MAX_URL_CHARS or not url.isascii():
        raise CannotAsk("this is not an address of the web")
    if any(letter <= " " or letter in "\x7f\\" for letter in url):  # a browser reads a backslash as a slash
        raise CannotAsk("the address holds blanks, backslashes or control characters")
    return url


def _checked_fields(schema: dict[str, object]) -> tuple[FormField, ...]:
    try:
        if len(msgspec.json.encode(schema)) > MAX_SCHEMA_BYTES:
            raise UnusableForm("it is too large")
        return fields_of(schema)
    except (UnusableForm, TypeError, msgspec.MsgspecError) as error:
        raise CannotAsk(f"the form cannot be shown: {error}") from error
