"""Prompts of a program in the order of their lines: one is at work, the others wait and can be taken back.

The parts of a prompt that a program sent: what no model could read is told before it joins a conversation, which it
would spoil for every later request.
"""

import binascii
import re
from collections import deque

from msgspec import Struct

from clew.commands.registry import known_command
from clew.headless.input_reading import InputProblem
from clew.protocol.ids import EntryId, PromptId, new_uuid
from clew.protocol.messages import DocumentPart, ImagePart, MediaSource, TextPart
from clew.streaming.shapes.control import PromptInput, UserPart

SOURCES = ("base64", "url", "text")
"""Inline bytes, an address, and for documents plain words."""
MEDIA_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9][A-Za-z0-9.+-]*")


def words_of(content: str | tuple[UserPart, ...]) -> str | None:
    """The text of a prompt that is nothing else; None when there is more."""
    if isinstance(content, str):
        return content
    (only, *more) = content or (None,)
    return only.text if isinstance(only, TextPart) and not more else None


def problem_with(content: str | tuple[UserPart, ...]) -> str:
    """Why it cannot be a prompt; empty when it can."""
    if isinstance(content, str):
        return "" if content.strip() else "the prompt is empty"
    if all(isinstance(part, TextPart) and not part.text.strip() for part in content):
        return "the prompt is empty"
    media = (part for part in content if not isinstance(part, TextPart))
    return next((problem for part in media if (problem := media_problem(part))), "")


def media_problem(part: ImagePart | DocumentPart) -> str:
    """What is wrong with a picture or a document."""
    source, kind = part.source, "image" if isinstance(part, ImagePart) else "document"
    if source.type not in SOURCES or (source.type == "text" and kind == "image"):
        return f"the source of the {kind} has the type {source.type!r}"
    if source.type == "url":
        return "" if source.url else f"the {kind} has no url"
    if not source.data:
        return f"the {kind} has no data"
    return encoding_problem(source, kind) if source.type == "base64" else ""


def encoding_problem(source: MediaSource, kind: str) -> str:
    """Bytes must be base64, of a type that is said; an image's is one of images."""
    if not MEDIA_TYPE.fullmatch(source.media_type) or (kind == "image" and not source.media_type.startswith("image/")):
        return f"the {kind} has the media_type {source.media_type!r}"
    try:
        binascii.a2b_base64(source.data, strict_mode=True)
    except (binascii.Error, ValueError):
        return f"the data of the {kind} is not base64"
    return ""


class Given(Struct, frozen=True, kw_only=True):
    """One prompt."""

    prompt_id: PromptId
    """The program's name for it, or ours where it gave none."""
    content: str | tuple[UserPart, ...]
    command: str = ""
    """The slash command it is, instead of words for a model."""
    typed: str = ""
    """Its text, where that is all of it and a slash at its beginning may be a name."""
    problem: str = ""
    """Why it cannot be a prompt: it has its place and its result all the same, for a program waits for one."""


class PromptQueue:
    """Each prompt is taken once, whatever becomes of it."""

    def __init__(self) -> None:
        self._waiting: deque[Given] = deque()
        self._taken: set[str] = set()
        self._entries: dict[str, EntryId] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, line: PromptInput) -> Given:
        """Wait for its turn. Raises InputProblem."""
        if line.parent_tool_use_id is not None:
            raise InputProblem(f"no agent of the call {line.parent_tool_use_id!r} takes prompts")
        if line.uuid and line.uuid in self._taken:
            raise InputProblem(f"a prompt with the uuid {line.uuid!r} was taken already")
        content = line.message.content
        problem = problem_with(content)
        words = words_of(content) if not problem else None
        command = words.strip() if words is not None and not line.client_composed else ""
        prompt_id = PromptId(line.uuid or new_uuid())
        self._taken.add(prompt_id)
        given = Given(
            prompt_id=prompt_id,
            content=content,
            command=command if known_command(command) else "",
            typed=command,
            problem=problem,
        )
        self._waiting.append(given)
        return given

    def next(self) -> Given:
        """The oldest, which waits no longer."""
        return self._waiting.popleft()

    def take_back(self, uuid: str) -> bool:
        """Whether it still waited."""
        for given in self._waiting:
            if given.prompt_id == uuid:
                self._waiting.remove(given)
                return True
        return False

    def clear(self) -> int:
        """How many will never begin."""
        count = len(self._waiting)
        self._waiting.clear()
        return count

    def waiting_ids(self) -> tuple[str, ...]:
        """Which ones wait."""
        return tuple(given.prompt_id for given in self._waiting)

    def joined(self, prompt_id: PromptId, entry_id: EntryId) -> None:
        """It is in the log now, as this entry."""
        self._entries[prompt_id] = entry_id

    def entry_of(self, uuid: str) -> EntryId:
        """The entry that a prompt became; other names are taken for those of entries."""
        return self._entries.get(uuid, EntryId(uuid))
