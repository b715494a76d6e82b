"""A model server whose replies are chosen as they are asked for, and that can cut or hold a reply at any event.

A reply is what `model_server` takes (`parts`, `stop`, `usage`), with
  "message_id": TEXT      what the provider calls the reply; "" leaves the id out
  "call_ids": [TEXT, …]   of its calls in order; "" leaves the id out
  "cut": Place            the connection ends there; with "error": true an error event is the last thing said
  "hold": Place           the reply stops there until `release(place.name)`; `reached` tells the test
  "status": 500           an answer that is no reply, with "retry_after" and "message"
A reply that is asked for without streaming is held before its body and cut in the middle of it.
"""

import json
import socket
import threading
from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

from fakes.model_dialects import error_body
from fakes.model_server import BODIES, EVENTS, ModelServer, Recorded, chunked, dialect_of, fill, http

Json = dict[str, Any]


class Place(NamedTuple):
    """A point of a reply: the `nth` of the points of this kind, counted around; of the kind `event`, after so many."""

    kind: str
    nth: int = 0
    name: str = ""


class Delivery:
    """One request and what became of its reply."""

    def __init__(self, sender: str, request: Recorded, reply: Json) -> None:
        self.sender = sender
        self.request = request
        self.reply = reply
        self.sent = "nothing"
        """nothing, status, cut, or whole."""
        self.whole_parts = 0
        """How many parts of the reply were sent to their end."""
        self.shown = ""
        """The words that were sent when the reply was held."""
        self.disturbed = False
        """The test interrupted or killed the reader while this was the newest reply."""


class FaultServer(ModelServer):
    """`choose(sender, request)` gives the reply; the sender is the first folder of the request's path."""

    def __init__(self, choose: Callable[[str, Recorded], Json]) -> None:
        super().__init__([])
        self._choose = choose
        self.deliveries: list[Delivery] = []
        self.reached: set[str] = set()
        self.before_cut: Callable[[Delivery], None] = lambda delivery: None
        """Called when everything before a cut was sent."""

    def of(self, sender: str) -> list[Delivery]:
        """What one sender asked, in order."""
        return [one for one in self.deliveries if one.sender == sender]

    def _answer(self, connection: socket.socket, request: Recorded) -> bool:
        if request.method == "GET":
            return super()._answer(connection, request)
        with self._lock:
            self.requests.append(request)
            sender = request.path.split("/")[1]
            delivery = Delivery(sender, request, self._choose(sender, request))
            self.deliveries.append(delivery)
            number = len(self.deliveries)
        return _Sending(self, connection, delivery, number).send()

    def hold(self, name: str) -> None:
        """Wait here until released."""
        gate = self.gate(name)
        self.reached.add(name)
        gate.wait()


class _Sending:
    """One reply on its way out."""

    def __init__(self, server: FaultServer, connection: socket.socket, delivery: Delivery, number: int) -> None:
        body = delivery.request.body
        self.server = server
        self.connection = connection
        self.delivery = delivery
        self.reply = delivery.reply
        self.dialect = dialect_of(delivery.request.path)
        self.streaming = bool(body.get("stream"))
        self.filled = fill(self.reply, number, str(body.get("model")))
        self.request_id = f"req_{number}" if self.reply.get("message_id", "-") else ""

    def send(self) -> bool:
        if "status" in self.reply:
            return self._refuse()
        hold: Place | None = self.reply.get("hold")
        cut: Place | None = self.reply.get("cut")
        if hold is not None and hold.kind == "before":
            self.server.hold(hold.name)
        if cut is not None and cut.kind == "before":
            self.delivery.sent = "cut"
            return False
        return self._stream(hold, cut) if self.streaming else self._whole(hold, cut)

    def _refuse(self) -> bool:
        status = self.reply["status"]
        kind = {429: "rate_limit_error", 529: "overloaded_error", 400: "invalid_request_error"}.get(status, "api_error")
        headers = {"retry-after": str(self.reply.get("retry_after", 0))}
        body = json.dumps(error_body(self.dialect, status, self.reply.get("message", "scripted"), kind)).encode()
        self.delivery.sent = "status"
        self.connection.sendall(http(status, body, headers=headers))
        return True

    def _whole(self, hold: Place | None, cut: Place | None) -> bool:
        if hold is not None and hold.kind != "before":
            self.server.hold(hold.name)
        body = json.dumps(self._with_ids(BODIES[self.dialect](self.filled))).encode()
        answer = http(200, body, headers=self._id_header())
        self.delivery.sent = "cut" if cut is not None else "whole"
        self.delivery.whole_parts = 0 if cut is not None else len(self.filled["parts"])
        self.connection.sendall(answer[: -len(body) // 2] if cut is not None else answer)
        return cut is None

    def _stream(self, hold: Place | None, cut: Place | None) -> bool:
        events = list(EVENTS[self.dialect](self.filled))
        points = points_of(self.dialect, events)
        hold_at = position(points, hold)
        cut_at = position(points, cut)
        lines = "".join(f"{name}: {value}\r\n" for name, value in self._id_header().items())
        head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{lines}transfer-encoding: chunked\r\n\r\n"
        pending = bytearray(head.encode())
        whole = whole_parts(points, len(events))
        for number in range(len(events) + 1):
            self.delivery.whole_parts = whole[number]
            if number == cut_at:
                self.delivery.sent = "cut"
                self.connection.sendall(pending)
                self.server.before_cut(self.delivery)
                self.connection.sendall(self._last_words())
                return False
            if number == hold_at and hold is not None:
                self.connection.sendall(pending)
                pending.clear()
                self.delivery.shown = "".join(words_of(event) for event in events[:number])
                self.server.hold(hold.name)
            if number < len(events):
                pending += chunked(self._frame(events[number]))
        self.delivery.sent = "whole"
        self.connection.sendall(pending + b"0\r\n\r\n")
        return True

    def _last_words(self) -> bytes:
        """Of a stream that is cut: nothing, half an event, or an error that the server tells."""
        if self.reply.get("error"):
            body = error_body(self.dialect, 529, "scripted", "overloaded_error")
            return chunked(f"event: error\ndata: {json.dumps(body)}\n\n".encode())
        return chunked(b'event: content_block_delta\ndata: {"type": "content_bl') if self.reply.get("torn") else b""

    def _frame(self, event: Json) -> bytes:
        if event.get("done"):
            return b"data: [DONE]\n\n"
        name = f"event: {event['type']}\n" if self.dialect == "anthropic" else ""
        return f"{name}data: {json.dumps(self._with_ids(event))}\n\n".encode()

    def _id_header(self) -> Json:
        return {"request-id": self.request_id} if self.request_id else {}

    def _with_ids(self, event: Json) -> Json:
        """The event or body with the ids that the script wants."""
        named = self.reply.get("message_id")
        if named is not None:
            holder = event.get("message", event) if self.dialect == "anthropic" else event
            if "id" in holder:
                holder["id"] = named
                if not named:
                    del holder["id"]
        for call in _calls_in(event):
            wanted = self._call_id(call["id"])
            call["id"] = wanted
            if not wanted:
                del call["id"]
        return event

    def _call_id(self, given: str) -> str:
        calls = [part for part in self.filled["parts"] if "call" in part]
        wanted: list[str] = self.reply.get("call_ids", [])
        index = next(at for at, part in enumerate(calls) if part["id"] == given)
        return wanted[index] if index < len(wanted) else given


def _calls_in(event: Json) -> list[Json]:
    """Every place of an event or body that names a call's id."""
    found: list[Json] = [event["content_block"]] if "content_block" in event else []
    found += event.get("content", [])
    for choice in event.get("choices", []):
        found += choice.get("delta", choice.get("message", {})).get("tool_calls", [])
    return [item for item in found if "id" in item]


def words_of(event: Json) -> str:
    """The text that an event adds to the answer."""
    delta = event.get("delta") or (event.get("choices") or [{}])[0].get("delta") or {}
    return delta.get("text") or delta.get("content") or ""


class Point(NamedTuple):
    """What can be said of a stream when its first `after` events were sent."""

    after: int
    kind: str
    whole_parts: int


def points_of(dialect: str, events: list[Json]) -> list[Point]:
    """The points between events: start, opened, in-text, after-text, in-thinking, after-thinking, in-call, after-call,
    before-stop (everything but the end was said), before-end (the stop reason too)."""
    return _anthropic_points(events) if dialect == "anthropic" else _chat_points(events)


def _anthropic_points(events: list[Json]) -> list[Point]:
    points = [Point(0, "start", 0)]
    kind, whole = "", 0
    for number, event in enumerate(events, 1):
        match event["type"]:
            case "content_block_start":
                kind = {"text": "text", "tool_use": "call"}.get(event["content_block"]["type"], "thinking")
                points.append(Point(number, f"in-{kind}", whole))
            case "content_block_delta":
                points.append(Point(number, f"in-{kind}", whole))
            case "content_block_stop":
                whole += 1
                points.append(Point(number, f"after-{kind}", whole))
                if events[number]["type"] == "message_delta":
                    points.append(Point(number, "before-stop", whole))
            case "message_delta":
                points.append(Point(number, "before-end", whole))
            case "message_stop":
                pass
            case _:
                points.append(Point(number, "opened", whole))
    return points


def _chat_points(events: list[Json]) -> list[Point]:
    """A part of this dialect is whole when something else begins."""
    points = [Point(0, "start", 0)]
    kind, whole = "", 0
    for number, event in enumerate(events, 1):
        choices = event.get("choices") or [{}]
        delta = choices[0].get("delta", {})
        if choices[0].get("finish_reason"):
            whole += bool(kind)
            points.append(Point(number, "before-end", whole))
            break
        said = "text" if delta.get("content") else "thinking" if "reasoning_content" in delta else ""
        opening = [call for call in delta.get("tool_calls", []) if "id" in call]
        said = "call" if "tool_calls" in delta else said
        if not said:
            points.append(Point(number, "opened", whole))
            continue
        if kind and (said != kind or opening):
            whole += 1
            points.append(Point(number, f"after-{kind}", whole))
        kind = said
        points.append(Point(number, f"in-{kind}", whole))
        if events[number].get("choices", [{}])[0].get("finish_reason"):
            points.append(Point(number, "before-stop", whole))
    return points


def position(points: list[Point], place: Place | None) -> int | None:
    """How many events come before the place; a kind that the reply does not have is its start."""
    if place is None or place.kind == "before":
        return None
    if place.kind == "event":
        return place.nth
    fitting = [point.after for point in points if point.kind == place.kind] or [0]
    return fitting[place.nth % len(fitting)]


def whole_parts(points: list[Point], events: int) -> list[int]:
    """How many parts are whole after none, one, two, ... of the events."""
    found = [0] * (events + 1)
    for point in points:
        found[point.after] = max(found[point.after], point.whole_parts)
    return list(accumulate(found, max))


class TurnReplies:
    """Replies by turn: the list of the turn that is on, then `after` for whatever more is asked."""

    def __init__(self, after: Callable[[], Json]) -> None:
        self._replies: list[Json] = []
        self._after = after
        self._lock = threading.Lock()

    def load(self, replies: list[Json]) -> None:
        """A new turn: what the last one did not ask for is dropped."""
        with self._lock:
            self._replies = list(replies)

    def take(self) -> Json:
        """The next reply."""
        with self._lock:
            return self._replies.pop(0) if self._replies else self._after()
