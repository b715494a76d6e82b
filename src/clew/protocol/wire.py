"""Frames between a session and a front end in another process: JSON lines of the protocol's own Structs.

The front end says `Hello` first and is answered by `Welcome` or `RefusedFrame`. Then it sends ops and lookups in any
order; after `Listen` it is told events. Nothing here is trusted: a frame that is not understood ends the connection.
"""

from importlib import import_module
from typing import Any

import msgspec
from msgspec import Raw, Struct

from clew.protocol import lookups
from clew.protocol.base import Envelope, EventBase, OpBase, leaves, union_of
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, SessionId
from clew.protocol.lookups.base import Answer, Lookup

WIRE_VERSION = 2
"""Goes up when a frame, an op, an event or a lookup changes so that an older reader would misunderstand it."""
MAX_FRAME_BYTES = 32 * 1024 * 1024


class Frame(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="frame"):
    """One line."""


class Hello(Frame, frozen=True, kw_only=True, tag="hello"):
    """The first line of a front end."""

    wire: int
    version: str
    """Of its clew, for people."""
    rights: str
    name: str
    """What it is, for people: "clew attach"."""


class Welcome(Frame, frozen=True, kw_only=True, tag="welcome"):
    """It is let in."""

    wire: int
    version: str
    session_id: SessionId


class RefusedFrame(Frame, frozen=True, kw_only=True, tag="refused"):
    """It is not, or no longer; the connection ends."""

    reason: str


class SendOp(Frame, frozen=True, kw_only=True, tag="op"):
    """An op of the front end."""

    op: Raw


class LookupFrame(Frame, frozen=True, kw_only=True, tag="look_up"):
    """A lookup of the front end."""

    id: int
    lookup: Raw


class Listen(Frame, frozen=True, kw_only=True, tag="listen"):
    """The front end wants to be told events from now on."""


class EventFrame(Frame, frozen=True, kw_only=True, tag="event"):
    """An envelope."""

    seq: int
    at: str
    session_id: SessionId
    event: Raw
    agent: AgentId = MAIN_AGENT
    parent_call: CallId | None = None


class AnswerFrame(Frame, frozen=True, kw_only=True, tag="answer"):
    """The answer to a lookup."""

    id: int
    answer: Raw


class NotFound(Frame, frozen=True, kw_only=True, tag="no_answer"):
    """Why there is none."""

    id: int
    reason: str


class EndFrame(Frame, frozen=True, kw_only=True, tag="ended"):
    """No event comes any more."""


FromFrontEnd = Hello | SendOp | LookupFrame | Listen
FromSession = Welcome | RefusedFrame | EventFrame | AnswerFrame | NotFound | EndFrame
_encode = msgspec.json.Encoder().encode


class BadFrame(ValueError):
    """A line that is none of ours."""


class _Union:
    """Decodes by tag, over all classes that are defined by now."""

    def __init__(self, base: Any) -> None:
        self._base = base
        self._known = 0
        self._decoder: msgspec.json.Decoder[Any] | None = None

    def decode(self, raw: bytes | Raw) -> Any:
        known = len(leaves(self._base))
        if not known:
            raise BadFrame("there are none of these yet")
        if self._decoder is None or known != self._known:
            self._known, self._decoder = known, msgspec.json.Decoder(union_of(self._base))
        try:
            return self._decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadFrame(str(error)) from error


_events, _ops, _lookups, _answers = _Union(EventBase), _Union(OpBase), _Union(Lookup), _Union(Answer)
_from_front_end = msgspec.json.Decoder(FromFrontEnd)
_from_session = msgspec.json.Decoder(FromSession)


def load_lookups() -> None:
    """Both ends can read every lookup and every answer from now on; before the first comes over the wire."""
    from pkgutil import iter_modules  # costs more than the rest of this module

    for topic in iter_modules(lookups.__path__):
        import_module(f"{lookups.__name__}.{topic.name}")


def line_of(frame: Frame) -> bytes:
    """A frame as one line."""
    return _encode(frame) + b"\n"


def said_by_front_end(line: bytes) -> FromFrontEnd:
    """Raises BadFrame."""
    return _decoded(_from_front_end, line)


def said_by_session(line: bytes) -> FromSession:
    """Raises BadFrame."""
    return _decoded(_from_session, line)


def _decoded(decoder: "msgspec.json.Decoder[Any]", line: bytes) -> Any:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame(str(error)) from error


def op_frame(op: OpBase) -> SendOp:
    """An op on its way."""
    return SendOp(op=Raw(_encode(op)))


def op_of(frame: SendOp) -> OpBase:
    """Raises BadFrame."""
    return _ops.decode(frame.op)


def lookup_frame(number: int, lookup: "Lookup[Any]") -> LookupFrame:
    """A lookup on its way."""
    return LookupFrame(id=number, lookup=Raw(_encode(lookup)))


def lookup_of(frame: LookupFrame) -> "Lookup[Any]":
    """Raises BadFrame."""
    load_lookups()
    return _lookups.decode(frame.lookup)


def answer_frame(number: int, answer: Answer) -> AnswerFrame:
    """An answer on its way."""
    return AnswerFrame(id=number, answer=Raw(_encode(answer)))


def answer_of(frame: AnswerFrame) -> Answer:
    """Raises BadFrame."""
    load_lookups()
    return _answers.decode(frame.answer)


def event_frame(envelope: Envelope) -> EventFrame:
    """An event on its way."""
    return EventFrame(
        seq=envelope.seq,
        at=envelope.at,
        session_id=envelope.session_id,
        event=Raw(_encode(envelope.event)),
        agent=envelope.agent,
        parent_call=envelope.parent_call,
    )


def envelope_of(frame: EventFrame) -> Envelope:
    """Raises BadFrame."""
    return Envelope(
        seq=frame.seq,
        at=frame.at,
        session_id=frame.session_id,
        event=_events.decode(frame.event),
        agent=frame.agent,
        parent_call=frame.parent_call,
    )
