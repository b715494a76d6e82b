"""Pieces of one block that wait for a slow reader, as one line."""

from msgspec.structs import replace

from clew.streaming.shapes.stream import PartialLine
from clew.streaming.shapes.stream_content import BlockDelta, InputPiece, Piece, TextPiece, ThinkingPiece

MAX_JOINED_CHARS = 4_096


def joined(last: object, new: object) -> PartialLine | None:
    """Two pieces of one block as one; None when they do not belong together."""
    if not isinstance(last, PartialLine) or not isinstance(new, PartialLine):
        return None
    first, second = last.event, new.event
    if not isinstance(first, BlockDelta) or not isinstance(second, BlockDelta):
        return None
    if first.index != second.index or last.parent_tool_use_id != new.parent_tool_use_id:
        return None
    delta = _longer(first.delta, second.delta)
    return replace(last, event=replace(first, delta=delta)) if delta is not None else None


def _longer(first: Piece, second: Piece) -> Piece | None:
    match first, second:
        case TextPiece(text=one), TextPiece(text=two) if len(one) < MAX_JOINED_CHARS:
            return TextPiece(text=one + two)
        case ThinkingPiece(thinking=one), ThinkingPiece(thinking=two) if len(one) < MAX_JOINED_CHARS:
            return ThinkingPiece(thinking=one + two)
        case InputPiece(partial_json=one), InputPiece(partial_json=two) if len(one) < MAX_JOINED_CHARS:
            return InputPiece(partial_json=one + two)
        case _:
            return None
