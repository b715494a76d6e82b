"""clew from Python: one question, or a conversation, in this process (docs/sdk.md)."""

from clew.protocol.event_kinds.asks import Choice, Question
from clew.protocol.messages import ImagePart, MediaSource, TextPart
from clew.sdk.errors import ClewError, NotOpen, NotOpened, Refused
from clew.sdk.options import Allow, Deny, Elicitation, Hook, Options, ToolRequest
from clew.sdk.query import query
from clew.sdk.session import Session
from clew.streaming.shapes.stream import (
    AssistantLine,
    BoundaryLine,
    HookLine,
    InitLine,
    NoticeLine,
    PartialLine,
    RecapLine,
    ResultLine,
    RetryLine,
    StatusLine,
    StreamLine,
    TitleLine,
    ToolProgressLine,
    ToolSummaryLine,
    UserLine,
    WithdrawnLine,
)
from clew.streaming.shapes.stream_content import TextContent, ThinkingContent, ToolResultContent, ToolUseContent

__all__ = [
    "Allow",
    "AssistantLine",
    "BoundaryLine",
    "Choice",
    "ClewError",
    "Deny",
    "Elicitation",
    "Hook",
    "HookLine",
    "ImagePart",
    "InitLine",
    "MediaSource",
    "NotOpen",
    "NotOpened",
    "NoticeLine",
    "Options",
    "PartialLine",
    "Question",
    "RecapLine",
    "Refused",
    "ResultLine",
    "RetryLine",
    "Session",
    "StatusLine",
    "StreamLine",
    "TextContent",
    "TextPart",
    "ThinkingContent",
    "TitleLine",
    "ToolProgressLine",
    "ToolRequest",
    "ToolResultContent",
    "ToolSummaryLine",
    "ToolUseContent",
    "UserLine",
    "WithdrawnLine",
    "query",
]
