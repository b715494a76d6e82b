"""Parts of messages as programs read them."""

import msgspec

from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    ResultContent,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_of,
)
from clew.streaming.shapes.stream_content import (
    Content,
    DocumentContent,
    ImageContent,
    RedactedThinkingContent,
    TextContent,
    ThinkingContent,
    ToolResultContent,
    ToolUseContent,
)


def content_of(part: Part) -> Content:
    """One part. What a provider wants back with it is not for readers."""
    match part:
        case TextPart() | ImagePart() | DocumentPart():
            return result_content(part)
        case ReasoningPart():
            return ThinkingContent(thinking=part.text, signature=part.signature)
        case RedactedReasoningPart():
            return RedactedThinkingContent(data=part.data)
        case ToolCallPart():
            return ToolUseContent(id=part.id, name=part.name, input=arguments_of(part))
        case ToolResultPart():
            content = part.content if isinstance(part.content, str) else tuple(map(result_content, part.content))
            return ToolResultContent(tool_use_id=part.call_id, content=content, is_error=part.is_error)


def result_content(part: ResultContent) -> TextContent | ImageContent | DocumentContent:
    """What may also stand inside a result."""
    match part:
        case TextPart():
            return TextContent(text=part.text)
        case ImagePart():
            return ImageContent(source=part.source)
        case DocumentPart():
            return DocumentContent(source=part.source, title=part.title)


def input_of(content: str | tuple[Part, ...]) -> str | tuple[Content, ...]:
    """What somebody put in, as it stands in a message."""
    return content if isinstance(content, str) else tuple(map(content_of, content))


def whole_text(part: Part) -> str:
    """What the deltas of a part come to; empty for one that does not grow."""
    match part:
        case TextPart() | ReasoningPart():
            return part.text
        case ToolCallPart():
            if part.raw_arguments is not None:
                return part.raw_arguments
            return msgspec.json.encode(part.arguments).decode()
        case _:
            return ""
