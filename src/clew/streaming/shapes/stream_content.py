"""What the lines of a stream hold: the pieces of a message, and how a message grows. Names are those that programs
which drive such agents already read."""

from typing import Any, Literal

from msgspec import Struct

from clew.protocol.messages import MediaSource
from clew.protocol.usage import Usage


class ContentBase(Struct, frozen=True, kw_only=True, tag_field="type"):
    """One piece of a message. Every field is always written: readers index them."""


class TextContent(ContentBase, frozen=True, kw_only=True, tag="text"):
    """Words."""

    text: str


class ThinkingContent(ContentBase, frozen=True, kw_only=True, tag="thinking"):
    """The model's reasoning."""

    thinking: str
    signature: str = ""
    """The provider's proof that the text is its own; empty where it gives none."""


class RedactedThinkingContent(ContentBase, frozen=True, kw_only=True, tag="redacted_thinking"):
    """Reasoning that the provider encrypted as a whole."""

    data: str


class ToolUseContent(ContentBase, frozen=True, kw_only=True, tag="tool_use"):
    """The model asks for a tool. Arguments that were no JSON object stand under `malformed_arguments`."""

    id: str
    name: str
    input: dict[str, Any]


class ImageContent(ContentBase, frozen=True, kw_only=True, tag="image"):
    """A picture."""

    source: MediaSource


class DocumentContent(ContentBase, frozen=True, kw_only=True, tag="document"):
    """A document, such as a PDF."""

    source: MediaSource
    title: str = ""


class ToolResultContent(ContentBase, frozen=True, kw_only=True, tag="tool_result"):
    """What a call came to; exactly one for each call."""

    tool_use_id: str
    content: str | tuple[TextContent | ImageContent | DocumentContent, ...]
    is_error: bool = False


Content = (
    TextContent
    | ThinkingContent
    | RedactedThinkingContent
    | ToolUseContent
    | ImageContent
    | DocumentContent
    | ToolResultContent
)


class ReplyMessage(Struct, frozen=True, kw_only=True):
    """A model's message, or one part of it. Lines of one reply share the `id`."""

    id: str
    model: str
    content: tuple[Content, ...] = ()
    stop_reason: str | None = None
    """Only on the last line of a reply that is whole."""
    stop_sequence: str | None = None
    usage: Usage | None = None
    """What the provider had told when the line was written; the whole of it on the last line of a reply. Null: it had
    told nothing, which is not zero."""
    role: Literal["assistant"] = "assistant"
    type: Literal["message"] = "message"


class InputMessage(Struct, frozen=True, kw_only=True):
    """What the model reads: words of the user, of clew, or a tool's result."""

    content: str | tuple[Content, ...]
    role: Literal["user"] = "user"


class PieceBase(Struct, frozen=True, kw_only=True, tag_field="type"):
    """More of one block."""


class TextPiece(PieceBase, frozen=True, kw_only=True, tag="text_delta"):
    """More words."""

    text: str


class ThinkingPiece(PieceBase, frozen=True, kw_only=True, tag="thinking_delta"):
    """More reasoning."""

    thinking: str


class SignaturePiece(PieceBase, frozen=True, kw_only=True, tag="signature_delta"):
    """The signature of a reasoning block, in one piece."""

    signature: str


class InputPiece(PieceBase, frozen=True, kw_only=True, tag="input_json_delta"):
    """More of a call's arguments, as the model writes them."""

    partial_json: str


Piece = TextPiece | ThinkingPiece | SignaturePiece | InputPiece


class GrowthBase(Struct, frozen=True, kw_only=True, tag_field="type"):
    """One moment in the growth of a reply. Order: message_start, blocks, message_delta, message_stop. A block is
    content_block_start, its deltas, content_block_stop; blocks are told apart by `index`, and two calls may grow side
    by side. A reply that broke off has every block stopped and no message_delta."""


class MessageStart(GrowthBase, frozen=True, kw_only=True, tag="message_start"):
    """A reply begins: no content yet."""

    message: ReplyMessage


class BlockStart(GrowthBase, frozen=True, kw_only=True, tag="content_block_start"):
    """A block begins; its deltas together are the whole block."""

    index: int
    content_block: TextContent | ThinkingContent | RedactedThinkingContent | ToolUseContent


class BlockDelta(GrowthBase, frozen=True, kw_only=True, tag="content_block_delta"):
    """More of a block."""

    index: int
    delta: Piece


class BlockStop(GrowthBase, frozen=True, kw_only=True, tag="content_block_stop"):
    """Nothing more comes for this block."""

    index: int


class StopDetails(Struct, frozen=True, kw_only=True):
    """Why the model stopped."""

    stop_reason: str | None
    stop_sequence: str | None = None


class MessageDelta(GrowthBase, frozen=True, kw_only=True, tag="message_delta"):
    """The reply is whole: why it ended and what it used."""

    delta: StopDetails
    usage: Usage | None


class MessageStop(GrowthBase, frozen=True, kw_only=True, tag="message_stop"):
    """Nothing more comes for this reply."""


Growth = MessageStart | BlockStart | BlockDelta | BlockStop | MessageDelta | MessageStop
