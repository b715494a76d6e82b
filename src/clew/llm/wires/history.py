"""Our messages as turns that every API accepts: roles alternate, and results follow their calls in call order."""

import hashlib
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from clew.llm.target import Target
from clew.protocol.ids import CallId
from clew.protocol.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    parts_of,
    result_text,
)

NO_RESULT = "No result was recorded for this call."
NO_OUTPUT = "(no output)"
OPENING = "(The conversation goes on from here.)"


class Turn(Struct):
    """Everything one side said until the other spoke."""

    role: Literal["user", "assistant"]
    parts: list[Part]


def turns_of(messages: Iterable[Message], target: Target) -> list[Turn]:
    """The history for this target. A pure function of the messages: a longer history only adds to a shorter one's."""
    turns: list[Turn] = []
    for message in messages:
        parts = _assistant_parts(message, target) if isinstance(message, AssistantMessage) else _user_parts(message)
        if not parts:
            continue
        if turns and turns[-1].role == message.role:
            turns[-1].parts.extend(parts)
        else:
            turns.append(Turn(message.role, parts))
    return _paired(_whole(turns, target))


def _user_parts(message: Message) -> list[Part]:
    wanted = TextPart | ImagePart | DocumentPart | ToolResultPart
    return [part for part in parts_of(message) if isinstance(part, wanted) and not _blank(part)]


def _assistant_parts(message: AssistantMessage, target: Target) -> list[Part]:
    """Reasoning goes back only to the model that wrote it: signatures and encrypted content are bound to it."""
    own = message.model in (target.name, target.model)
    kept: list[Part] = []
    for part in message.content:
        match part:
            case TextPart() if not _blank(part):
                kept.append(part)
            case ToolCallPart():
                kept.append(part)
            case ReasoningPart() if own and part.provider == target.provider and _echoes(part, target):
                kept.append(part)
            case RedactedReasoningPart() if own and target.dialect == "anthropic":
                kept.append(part)
            case _:
                pass
    return kept


def _echoes(part: ReasoningPart, target: Target) -> bool:
    """Whether the dialect has a place for it: signed thoughts, or a field that carries it."""
    match target.dialect:
        case "anthropic":
            return bool(part.signature)
        case "gemini":
            return part.data is not None
        case "openai-responses":
            return part.data is not None
        case "openai-chat":
            return bool(target.quirks.echo_reasoning)


def _blank(part: Part) -> bool:
    return isinstance(part, TextPart) and not part.text.strip()


def _whole(turns: list[Turn], target: Target) -> list[Turn]:
    """Without reasoning that nothing followed (an interrupted reply), and opened by the user."""
    if target.dialect != "gemini":  # there a signature may stand last, it belongs to the text before it
        for turn in turns:
            while turn.parts and isinstance(turn.parts[-1], ReasoningPart | RedactedReasoningPart):
                turn.parts.pop()
    merged: list[Turn] = []
    for turn in turns:
        if not turn.parts:
            continue
        if merged and merged[-1].role == turn.role:
            merged[-1].parts.extend(turn.parts)
        else:
            merged.append(turn)
    if merged and merged[0].role == "assistant":
        merged.insert(0, Turn("user", [TextPart(text=OPENING)]))
    return merged


def _paired(turns: list[Turn]) -> list[Turn]:
    """Every call is answered at the start of the next turn, once, in call order; stray results become words."""
    done: list[Turn] = []
    calls: list[CallId] = []
    for turn in turns:
        if turn.role == "assistant":
            calls = [part.id for part in turn.parts if isinstance(part, ToolCallPart)]
            done.append(turn)
            continue
        done.append(Turn("user", _answered(calls, turn.parts)))
        calls = []
    if calls:
        done.append(Turn("user", _answered(calls, [])))
    return done


def _answered(calls: list[CallId], parts: list[Part]) -> list[Part]:
    results: dict[CallId, ToolResultPart] = {}
    rest: list[Part] = []
    for part in parts:
        if not isinstance(part, ToolResultPart):
            rest.append(part)
        elif part.call_id in calls and part.call_id not in results:
            results[part.call_id] = part
        elif part.call_id not in calls and result_text(part).strip():
            rest.append(TextPart(text=f"Result of an earlier tool call:\n{result_text(part)}"))
    missing = {call_id: ToolResultPart(call_id=call_id, content=NO_RESULT, is_error=True) for call_id in calls}
    return [*(results.get(call_id, missing[call_id]) for call_id in calls), *rest]


def result_parts(result: ToolResultPart) -> tuple[str, list[ImagePart | DocumentPart]]:
    """A tool result as words, never empty, and the media that came with them."""
    if isinstance(result.content, str):
        return (result.content if result.content.strip() else NO_OUTPUT), []
    media = [part for part in result.content if isinstance(part, ImagePart | DocumentPart)]
    text = result_text(result)
    return (text if text.strip() else "(see attachment)" if media else NO_OUTPUT), media


def wire_id(call_id: str, *, length: int = 0) -> str:
    """The id if the API takes it, else one derived from it: the same on every request."""
    if length:
        if len(call_id) == length and call_id.isascii() and call_id.isalnum():
            return call_id
        return hashlib.blake2b(call_id.encode("utf-8", "replace"), digest_size=16).hexdigest()[:length]
    if 0 < len(call_id) <= 64 and call_id.isascii() and call_id.replace("_", "").replace("-", "").isalnum():
        return call_id
    return "call_" + hashlib.blake2b(call_id.encode("utf-8", "replace"), digest_size=12).hexdigest()
