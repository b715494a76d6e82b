"""What waited for Claude Code while it worked: prompts typed meanwhile, notices of background work, attached plans."""

from typing import Any, NamedTuple

import msgspec

from clew.foreign.claude.entry import content_of
from clew.foreign.shapes import Json, as_dict, as_str
from clew.foreign.user_text import read_user_text
from clew.protocol.entries import AttachmentEntry, ChainEntry, Entry, OpaqueEntry, UserEntry
from clew.protocol.ids import EntryId
from clew.protocol.messages import Part, ToolResultPart, UserMessage, parts_of, text_of

OPERATION = "queue-operation"


def as_message(entry: AttachmentEntry) -> Entry:
    """An attachment that holds words for the model as the message it was; every other one stays what it is."""
    attachment = as_dict(entry.attachment)
    match attachment.get("type"):
        case "queued_command":
            content = content_of(attachment.get("prompt"))
            return _message(entry, content, is_meta=not _typed_by_a_person(attachment)) if content else entry
        case "plan_file_reference":
            plan = as_str(attachment.get("planContent"))
            where = as_str(attachment.get("planFilePath"))
            return (
                _message(entry, f"The plan in {where or 'force'}:\n\n{plan}", is_meta=True) if plan.strip() else entry
            )
        case _:
            return entry


def _typed_by_a_person(attachment: Json) -> bool:
    mode = as_str(attachment.get("commandMode"))
    origin = as_str(as_dict(attachment.get("origin")).get("kind"))
    return mode in ("", "prompt") and origin in ("", "human") and attachment.get("isMeta") is not True


def chain_fields(entry: ChainEntry) -> dict[str, Any]:
    """What an entry keeps when it is read as one of another kind: its place in the conversation, and when and where."""
    return {name: getattr(entry, name) for name in ChainEntry.__struct_fields__ if name != "forked_from"}


def _message(entry: ChainEntry, content: str | tuple[Part, ...], *, is_meta: bool) -> UserEntry:
    return UserEntry(
        **chain_fields(entry),
        message=UserMessage(content=content),
        is_meta=is_meta,
    )


class _Waiting(NamedTuple):
    content: str | tuple[Part, ...]
    words: str
    at: str


class Queue:
    """Fed with the entries of a file in order; at its end it holds what was typed and never reached the model."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._taken: list[str] = []
        """Taken out by a line of the queue, and not seen as a message yet."""

    def feed(self, entry: Entry) -> None:
        """A line of the queue, or a message that may have come out of it."""
        if isinstance(entry, OpaqueEntry):
            if entry.type == OPERATION:
                self._operation(entry.raw)
        elif isinstance(entry, UserEntry) and self._waiting and not entry.is_sidechain:
            self._arrived(entry)

    def left(self, last: ChainEntry | None) -> list[Entry]:
        """What still waits, as messages after the last entry of the conversation."""
        found: list[Entry] = []
        for number, waiting in enumerate(self._waiting, 1):
            if last is None:
                break
            message = _message(last, waiting.content, is_meta=False)
            uuid = EntryId(f"{last.session_id}-queued-{number}")
            placed = {"uuid": uuid, "parent_uuid": last.uuid, "logical_parent_uuid": None}
            last = msgspec.structs.replace(message, **placed, timestamp=waiting.at or last.timestamp)
            found.append(last)
        return found

    def _operation(self, raw: Json) -> None:
        content = content_of(raw.get("content"))
        words = read_user_text(text_of(content)).text.strip()
        match raw.get("operation"):
            case "enqueue" if words:
                self._waiting.append(_Waiting(content, words, as_str(raw.get("timestamp"))))
            case "dequeue" | "remove":
                if taken := self._take(words):
                    self._taken.append(taken)
            case "popAll":
                # Everything went back into the input line, to be edited there.
                self._waiting = []
            case _:
                pass

    def _take(self, words: str) -> str:
        for number, waiting in enumerate(self._waiting):
            if not words or _same(waiting.words, words):
                return self._waiting.pop(number).words
        return ""

    def _arrived(self, entry: UserEntry) -> None:
        if any(isinstance(part, ToolResultPart) for part in parts_of(entry.message)):
            return
        words = text_of(entry.message.content).strip()
        if not words:
            return
        known = next((taken for taken in self._taken if _same(taken, words)), "") or self._take(words)
        if known in self._taken:
            self._taken.remove(known)
        if not known and not entry.is_meta and not entry.is_compact_summary:
            # Typed into an empty input: the program was started again, and what waited before was given up.
            self._waiting = []


def _same(first: str, second: str) -> bool:
    return " ".join(first.split()) == " ".join(second.split())
