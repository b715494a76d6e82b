"""Messages: a role and tagged parts. The JSON names are those that Claude-Code-style transcript readers know."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct, field

from clew.protocol.ids import CallId, MessageId
from clew.protocol.usage import Usage

Json = dict[str, Any]


class PartBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """What a message is made of. `cache_control` and other wire decorations never live here."""


class TextPart(PartBase, frozen=True, kw_only=True, tag="text"):
    """Words, from either side."""

    text: str


class ReasoningPart(PartBase, frozen=True, kw_only=True, tag="thinking"):
    """A model's reasoning. It is shown if the user wants, and echoed back only to the provider that wrote it."""

    text: str = field(default="", name="thinking")
    signature: str = ""
    """Anthropic's proof that the text is theirs; empty for other providers."""
    provider: str = ""
    """Name of the provider row that produced it; reasoning of another provider is never sent."""
    data: Json | None = None
    """Opaque provider data to be echoed byte for byte (encrypted content, item ids, thought signatures)."""


class MediaSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Inline bytes as base64."""

    type: str
    media_type: str = ""
    data: str = ""
    url: str = ""


class ImagePart(PartBase, frozen=True, kw_only=True, tag="image"):
    """A picture."""

    source: MediaSource


class DocumentPart(PartBase, frozen=True, kw_only=True, tag="document"):
    """A document such as a PDF, for models that read them."""

    source: MediaSource
    title: str = ""


class ToolCallPart(PartBase, frozen=True, kw_only=True, tag="tool_use"):
    """The model asks for a tool. `arguments` keeps the order in which the model wrote the keys."""

    id: CallId
    name: str
    arguments: Json = field(name="input")
    raw_arguments: str | None = field(default=None, name="rawInput")
    """The text the model wrote, kept only when it is not a JSON object; then `arguments` is empty and the
    call is answered with an error without running anything."""
    data: Json | None = None
    """Opaque provider data that must be echoed with the call (Gemini thought signatures)."""


MALFORMED_KEY = "malformed_arguments"
"""Arguments that were not a JSON object go back to the model under this key: every API wants an object there."""


def arguments_of(call: ToolCallPart) -> Json:
    """The arguments as history carries them: always an object."""
    return call.arguments if call.raw_arguments is None else {MALFORMED_KEY: call.raw_arguments}


ResultContent = TextPart | ImagePart | DocumentPart


class ToolResultPart(PartBase, frozen=True, kw_only=True, tag="tool_result"):
    """What a tool call came to. Every call gets exactly one."""

    call_id: CallId = field(name="tool_use_id")
    content: str | tuple[ResultContent, ...] = ""
    is_error: bool = False


class RedactedReasoningPart(PartBase, frozen=True, kw_only=True, tag="redacted_thinking"):
    """Reasoning the provider encrypted as a whole; echoed back, never shown."""

    data: str


Part = TextPart | ReasoningPart | RedactedReasoningPart | ImagePart | DocumentPart | ToolCallPart | ToolResultPart


class UserMessage(Struct, frozen=True, kw_only=True):
    """Input to the model: what the user wrote, or tool results."""

    content: str | tuple[Part, ...]
    role: Literal["user"] = "user"


class AssistantMessage(Struct, frozen=True, kw_only=True):
    """Output of the model. On disk one entry holds one part; entries of one reply share `id`."""

    id: MessageId
    model: str
    content: tuple[Part, ...]
    stop_reason: str | None = None
    stop_sequence: str | None = None
    usage: Usage | None = None
    role: Literal["assistant"] = "assistant"
    type: Literal["message"] = "message"


Message = UserMessage | AssistantMessage


def parts_of(message: Message) -> tuple[Part, ...]:
    """The parts of a message; bare text counts as one text part."""
    content = message.content
    if isinstance(content, str):
        return (TextPart(text=content),) if content else ()
    return content


def text_of(parts: Sequence[Part] | str) -> str:
    """The plain words of some parts, joined by newlines."""
    if isinstance(parts, str):
        return parts
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def result_text(result: ToolResultPart) -> str:
    """The words of a tool result."""
    if isinstance(result.content, str):
        return result.content
    return "\n".join(part.text for part in result.content if isinstance(part, TextPart))


SUBJECTS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "prompt")
"""Arguments that tell what a call is about, the most telling first."""


def call_subject(call: ToolCallPart) -> str:
    """What a call is about, in the words of its arguments; empty when it has none."""
    texts = [*(call.arguments.get(name) for name in SUBJECTS), *call.arguments.values()]
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def tool_calls(parts: Sequence[Part]) -> tuple[ToolCallPart, ...]:
    """The tool calls among some parts, in order."""
    return tuple(part for part in parts if isinstance(part, ToolCallPart))
