"""Our entries as Claude Code would have written them: its types only, its fields only."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from clew.protocol.entries import (
    AiTitleEntry,
    AssistantEntry,
    ChainEntry,
    CustomTitleEntry,
    Entry,
    SystemEntry,
    UserEntry,
)
from clew.protocol.messages import Part, RedactedReasoningPart, ToolCallPart, arguments_of
from clew.transcript.chain.links import Replies
from clew.transcript.chain.settled import settled
from clew.transcript.log.codec import seal

_OUR_PART_FIELDS = ("provider", "data", "rawInput")


def claude_lines(entries: Iterable[Entry], keyed: Iterable[Entry] = ()) -> Iterator[bytes]:
    """Lines of a session file. A line of ours that only carries usage gives it to the last line of its reply."""
    keyed = tuple(keyed)
    chain = [entry for entry in entries if isinstance(entry, ChainEntry)]
    replies = Replies(chain, {entry.uuid: number for number, entry in enumerate(chain)})
    usages = {
        replies.of(number): entry.message.usage
        for number, entry in enumerate(chain)
        if isinstance(entry, AssistantEntry) and entry.message.usage is not None
    }
    numbers = {entry.uuid: number for number, entry in enumerate(chain)}
    for entry in settled(chain, keyed):
        if isinstance(entry, AssistantEntry):
            usage = usages.get(replies.of(numbers[entry.uuid]), entry.message.usage)
            entry = msgspec.structs.replace(entry, message=msgspec.structs.replace(entry.message, usage=usage))
        yield seal(msgspec.json.encode(_plain(entry)))
    for entry in keyed:
        if isinstance(entry, CustomTitleEntry):
            yield seal(msgspec.json.encode(msgspec.to_builtins(entry)))
        elif isinstance(entry, AiTitleEntry):
            value = msgspec.to_builtins(entry)
            value.pop("source", None)
            yield seal(msgspec.json.encode(value))


def _plain(entry: ChainEntry) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(entry)
    if isinstance(entry, UserEntry | AssistantEntry) and not isinstance(entry.message.content, str):
        value["message"]["content"] = [_part(part) for part in entry.message.content]
    result: Any = value.get("toolUseResult")
    if isinstance(result, dict) and "display" in result:
        del value["toolUseResult"]
    if isinstance(entry, SystemEntry):
        value.pop("data", None)
    return value


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, ToolCallPart) and part.raw_arguments is not None:
        part = msgspec.structs.replace(part, arguments=arguments_of(part))  # as the model was sent it
    value: dict[str, Any] = msgspec.to_builtins(part)
    if isinstance(part, RedactedReasoningPart):
        return value
    return {name: item for name, item in value.items() if name not in _OUR_PART_FIELDS}
