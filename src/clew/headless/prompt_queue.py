"""Prompts of a program in the order of their lines: one is at work, the others wait and can be taken back."""

from collections import deque

from msgspec import Struct

from clew.commands.registry import known_command
from clew.headless.input_reading import InputProblem
from clew.headless.prompt_parts import problem_with, words_of
from clew.protocol.ids import EntryId, PromptId, new_uuid
from clew.streaming.shapes.control import UserLine, UserPart


class Given(Struct, frozen=True, kw_only=True):
    """One prompt."""

    prompt_id: PromptId
    """The program's name for it, or ours where it gave none."""
    content: str | tuple[UserPart, ...]
    command: str = ""
    """The slash command it is, instead of words for a model."""
    typed: str = ""
    """Its text, where that is all of it and a slash at its beginning may be a name."""


class PromptQueue:
    """Each prompt is taken once, whatever becomes of it."""

    def __init__(self) -> None:
        self._waiting: deque[Given] = deque()
        self._taken: set[str] = set()
        self._entries: dict[str, EntryId] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, line: UserLine) -> None:
        """Wait for its turn. Raises InputProblem."""
        if line.parent_tool_use_id is not None:
            raise InputProblem(f"no agent of the call {line.parent_tool_use_id!r} takes prompts")
        if line.uuid and line.uuid in self._taken:
            raise InputProblem(f"a prompt with the uuid {line.uuid!r} was taken already")
        content = line.message.content
        if problem := problem_with(content):
            raise InputProblem(problem)
        words = words_of(content)
        command = words.strip() if words is not None and not line.client_composed else ""
        prompt_id = PromptId(line.uuid or new_uuid())
        self._taken.add(prompt_id)
        self._waiting.append(
            Given(
                prompt_id=prompt_id,
                content=content,
                command=command if known_command(command) else "",
                typed=command,
            )
        )

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
