"""Tool calls of a chat stream while they grow, one after the other or side by side."""

from collections.abc import Iterator
from typing import Any

from clew.llm.errors import StreamBroken
from clew.llm.reply import ArgumentsChunk, PartDone, ReplyEvent
from clew.llm.wires.base import Json, call_id, obj, parse_arguments, string
from clew.protocol.messages import ToolCallPart


class _Call:
    """A call on its way in."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.given: Any = None
        """Arguments that came as an object."""
        self.end = ObjectEnd()
        self.superseded = False
        """Another call took its place in the stream: nothing more can come."""
        self.done = False
        self._judged = 0

    @property
    def has_object(self) -> bool:
        """Whether the arguments look like a complete JSON object."""
        return self.given is not None or self.end.seen

    def became_whole(self) -> bool:
        """Whether the arguments are a complete JSON object; asked again only when there are more of them."""
        if self.done or not self.has_object or self._judged == len(self.pieces) > 0:
            return False
        self._judged = len(self.pieces)
        return self.part().raw_arguments is None

    def part(self) -> ToolCallPart:
        arguments, raw = parse_arguments(self.given if self.given is not None else "".join(self.pieces))
        return ToolCallPart(id=call_id(self.id), name=self.name, arguments=arguments, raw_arguments=raw)


class ObjectEnd:
    """Notices where a JSON object that comes in pieces is closed, looking at each character once."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self.seen = False

    def feed(self, text: str) -> None:
        if self._in_string and not self._escaped and '"' not in text and "\\" not in text:
            return
        for char in text:
            if self._escaped:
                self._escaped = False
            elif self._in_string:
                self._escaped = char == "\\"
                self._in_string = char != '"'
            elif char == '"':
                self._in_string = True
            elif char in "{[":
                self._depth += 1
            elif char in "}]":
                self._depth -= 1
                self.seen = self.seen or self._depth == 0


class GrowingCalls:
    """The calls of one reply.

    A call is whole, and is told, as soon as its arguments are a complete JSON object and another index has opened or
    finished; else when the stream ends. A complete object alone is not enough: a server that sends `{}` first and the
    arguments after it sends one call. Pieces of several indexes may come in any order. Whatever reaches a call after it
    was told breaks the stream, because a call that runs cannot change any more.
    """

    def __init__(self, numbers: Iterator[int]) -> None:
        self._numbers = numbers
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        """The call that an index stands for now; servers reuse them."""

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, delta: Json) -> Iterator[ReplyEvent]:
        """One piece of a call."""
        function = obj(delta.get("function"))
        arguments = function.get("arguments")
        text = string(arguments)
        known = self._known(delta, string(function.get("name")), has_arguments=bool(text.strip()))
        call = known or self._begin(delta)
        if call.done:
            if text.strip():
                raise StreamBroken("the stream mixed the pieces of two tool calls")
            return
        call.id = call.id or string(delta.get("id"))
        call.name = call.name or string(function.get("name"))
        if text:
            call.pieces.append(text)
            call.end.feed(text)
        elif not isinstance(arguments, str) and arguments is not None:
            call.given = arguments
        if known is None or text:
            yield ArgumentsChunk(part=call.number, name=call.name, text=text, call_id=call.id)
        for other in self._calls:
            if other.superseded or (len(self._calls) > 1 and other.became_whole()):
                yield from self._tell(other)

    def finish(self) -> Iterator[ReplyEvent]:
        """The stream ended: what came of every call is all there is."""
        for call in self._calls:
            yield from self._tell(call)

    def _known(self, delta: Json, name: str, *, has_arguments: bool) -> _Call | None:
        """The call that a piece belongs to; None: it begins a new one.

        Another id begins a new call, also under the same index. Without ids, a name after complete arguments does;
        without an index, any name does.
        """
        index, given = delta.get("index"), string(delta.get("id"))
        call = self._at.get(index) if isinstance(index, int) else self._calls[-1] if self._calls else None
        if call is None:
            return None
        if given and call.id:
            same = given == call.id
        elif not name:
            same = True
        elif isinstance(index, int):
            same = not call.has_object or (name == call.name and not has_arguments)
        else:
            same = not call.name
        call.superseded = not same
        return call if same else None

    def _begin(self, delta: Json) -> _Call:
        call = _Call(next(self._numbers))
        self._calls.append(call)
        index = delta.get("index")
        self._at[index if isinstance(index, int) else len(self._calls) - 1] = call
        return call

    def _tell(self, call: _Call) -> Iterator[ReplyEvent]:
        if not call.done:
            call.done = True
            yield PartDone(part=call.part(), index=call.number)
