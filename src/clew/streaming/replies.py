"""One agent's replies as lines: each whole part once, and, when asked for, how it grew.

The line of a part waits until the provider has told a usage, and what follows in the conversation waits behind it; that
of the newest part waits until it is known whether it is the last: then it carries the whole usage and the stop reason.
Nothing waits longer than until the reply is whole, breaks off, or somebody is asked about a call.
"""

from collections.abc import Iterator

from msgspec import UNSET
from msgspec.structs import replace

from clew.protocol.events import (
    ArgumentsDelta,
    AttemptEnded,
    PartCompleted,
    ReasoningDelta,
    ReplyBegan,
    ReplyReceived,
    TextDelta,
)
from clew.protocol.ids import new_uuid
from clew.protocol.meant_calls import CALL_TOOL, meant_part
from clew.protocol.messages import Part, ReasoningPart
from clew.protocol.usage import Usage
from clew.streaming.content import content_of, whole_text
from clew.streaming.shapes.stream import AssistantLine, PartialLine, ToolProgressLine, UserLine
from clew.streaming.shapes.stream_content import (
    BlockDelta,
    BlockStart,
    BlockStop,
    Growth,
    InputPiece,
    MessageDelta,
    MessageStart,
    MessageStop,
    Piece,
    RedactedThinkingContent,
    ReplyMessage,
    SignaturePiece,
    StopDetails,
    TextContent,
    TextPiece,
    ThinkingContent,
    ThinkingPiece,
    ToolUseContent,
)

Delta = TextDelta | ReasoningDelta | ArgumentsDelta
Start = TextContent | ThinkingContent | RedactedThinkingContent | ToolUseContent
Follower = UserLine | ToolProgressLine
ReplyLine = AssistantLine | PartialLine | Follower


class _Block:
    """A part on its way out. It is started as soon as all that its start says is known."""

    def __init__(self) -> None:
        self.index = -1
        self.start: Start | None = None
        self.told: list[str] = []
        self.waiting: list[str] = []
        """What came before the block could be started."""


class ReplyLines:
    """Fed with the events of one agent; what is open is always closed before something new begins."""

    def __init__(self, session_id: str, parent_call: str | None, *, partial: bool) -> None:
        self._session_id = session_id
        self._parent = parent_call
        self._partial = partial
        self.model = ""
        """What the next reply comes from, as far as it is known before it begins."""
        self._reply = ""
        self._is_open = False
        self._usage: Usage | None = None
        self._blocks: dict[int, _Block] = {}
        self._count = 0
        self._held: list[AssistantLine | Follower] = []

    def began(self, event: ReplyBegan) -> Iterator[ReplyLine]:
        """A reply begins."""
        yield from self._begin(event.reply_id, event.model, event.usage)

    def grew(self, event: Delta) -> Iterator[ReplyLine]:
        """More of a part; the line before it is not the last."""
        yield from self._begin(event.reply_id, self.model)
        yield from self._tell_held()
        if self._partial:
            yield from self._grow(self._block(event.part), _start_of(event), event.text)

    def completed(self, event: PartCompleted) -> Iterator[ReplyLine]:
        """A part is whole. A call that stands for another is told as that one."""
        part = meant_part(event.part)
        yield from self._begin(event.reply_id, event.model)
        yield from self._tell_held()
        if self._partial:
            if part is not event.part:
                self._block(event.part_number).waiting.clear()
            yield from self._finish(part, event.part_number)
        self._held.append(
            AssistantLine(
                session_id=self._session_id,
                uuid=event.entry_id,
                message=ReplyMessage(id=event.reply_id, model=event.model, content=(content_of(part),)),
                parent_tool_use_id=self._parent,
                request_id=event.request_id or UNSET,
            )
        )

    def received(self, event: ReplyReceived) -> Iterator[ReplyLine]:
        """The reply is whole."""
        yield from self._begin(event.reply_id, self.model)
        self._usage = event.usage or self._usage
        for at, line in reversed(list(enumerate(self._held))):
            if isinstance(line, AssistantLine):
                self._held[at] = replace(line, message=replace(line.message, stop_reason=event.stop_reason))
                break
        yield from self.settled()
        if self._partial:
            yield from self._stop_blocks()
            yield self._growth(MessageDelta(delta=StopDetails(stop_reason=event.stop_reason), usage=self._usage))
            yield self._growth(MessageStop())
        self._is_open = False

    def ended(self, event: AttemptEnded) -> Iterator[ReplyLine]:
        """Nothing more comes of this request, whatever became of it."""
        if event.reply_id == self._reply and not event.estimated:
            self._usage = event.usage or self._usage
        yield from self.broken_off()

    def broken_off(self) -> Iterator[ReplyLine]:
        """The reply goes on no more: nothing of it stays open."""
        yield from self.settled()
        if self._partial and self._is_open:
            yield from self._stop_blocks()
            yield self._growth(MessageStop())
        self._is_open = False
        self._blocks.clear()

    def followed(self, line: Follower) -> Iterator[ReplyLine]:
        """Something that belongs after what was said so far."""
        if self._held and self._usage is None and self._is_open:
            self._held.append(line)
            return
        yield from self.settled()
        yield line

    def settled(self) -> Iterator[ReplyLine]:
        """Every line that waits, with the usage as it is known now."""
        held, self._held = self._held, []
        for line in held:
            if isinstance(line, AssistantLine):
                line = replace(line, message=replace(line.message, usage=self._usage))
            yield line

    def _begin(self, reply_id: str, model: str, usage: Usage | None = None) -> Iterator[ReplyLine]:
        if reply_id == self._reply:
            return
        yield from self.broken_off()
        self._reply, self._usage, self._count, self._is_open = reply_id, usage, 0, True
        if self._partial:
            yield self._growth(MessageStart(message=ReplyMessage(id=reply_id, model=model, usage=usage)))

    def _tell_held(self) -> Iterator[ReplyLine]:
        if self._usage is not None:
            yield from self.settled()

    def _block(self, part: int) -> _Block:
        return self._blocks.setdefault(part, _Block())

    def _grow(self, block: _Block, start: Start | None, text: str) -> Iterator[ReplyLine]:
        block.waiting.append(text)
        if block.start is None and start is not None:
            block.start, block.index = start, self._count
            self._count += 1
            yield self._growth(BlockStart(index=block.index, content_block=start))
        if block.start is None:
            return
        text = "".join(block.waiting)
        block.waiting.clear()
        if text:
            block.told.append(text)
            yield self._growth(BlockDelta(index=block.index, delta=_piece(block.start, text)))

    def _finish(self, part: Part, number: int) -> Iterator[ReplyLine]:
        """What was not told of it yet, then its end. Deltas that were merged or never sent are made good here."""
        start = _start_of_whole(part)
        if start is None:
            return
        block = self._block(number)
        if block.start is not None and type(block.start) is not type(start):
            yield self._growth(BlockStop(index=block.index))
            self._blocks[number] = block = _Block()
        yield from self._grow(block, start, "")
        told, whole = "".join(block.told), whole_text(part)
        if whole.startswith(told):  # arguments that were told stay as the model wrote them
            yield from self._grow(block, start, whole.removeprefix(told))
        if isinstance(part, ReasoningPart) and part.signature:
            yield self._growth(BlockDelta(index=block.index, delta=SignaturePiece(signature=part.signature)))
        yield self._growth(BlockStop(index=block.index))
        del self._blocks[number]

    def _stop_blocks(self) -> Iterator[ReplyLine]:
        for block in self._blocks.values():
            if block.start is not None:
                yield self._growth(BlockStop(index=block.index))
        self._blocks.clear()

    def _growth(self, event: Growth) -> PartialLine:
        return PartialLine(session_id=self._session_id, uuid=new_uuid(), event=event, parent_tool_use_id=self._parent)


def _start_of(event: Delta) -> Start | None:
    """How a part that grows is opened; None while it is not known what call it is."""
    match event:
        case TextDelta():
            return TextContent(text="")
        case ReasoningDelta():
            return ThinkingContent(thinking="")
        case ArgumentsDelta():
            known = event.call_id and event.tool and event.tool != CALL_TOOL  # what that stands for is known in the end
            return ToolUseContent(id=event.call_id, name=event.tool, input={}) if known else None


def _start_of_whole(part: Part) -> Start | None:
    """How a part that came whole is opened; None for one that models do not write."""
    match content_of(part):
        case TextContent():
            return TextContent(text="")
        case ThinkingContent():
            return ThinkingContent(thinking="")
        case ToolUseContent() as call:
            return replace(call, input={})
        case RedactedThinkingContent() as redacted:
            return redacted
        case _:
            return None


def _piece(start: Start, text: str) -> Piece:
    match start:
        case ThinkingContent():
            return ThinkingPiece(thinking=text)
        case ToolUseContent():
            return InputPiece(partial_json=text)
        case _:
            return TextPiece(text=text)
