"""Moments of a conversation that files can be taken back to: before a prompt, or right after any other entry."""

from collections.abc import Sequence

from msgspec import Struct

from clew.protocol.entries import AssistantEntry, ChainEntry, Entry, UserEntry
from clew.protocol.ids import EntryId
from clew.protocol.messages import tool_calls
from clew.transcript.chain.links import result_calls
from clew.transcript.index.digest import answers, prompt_text
from clew.undo.errors import NothingToRestore
from clew.undo.state import Checkpoint

MIN_PREFIX = 4


class Point(Struct, frozen=True, kw_only=True):
    """A prompt, and what was done to files from it to the next one."""

    number: int
    """Counted from 1."""
    entry: EntryId
    at: str
    text: str
    checkpoints: tuple[Checkpoint, ...]


class Moment(Struct, frozen=True, kw_only=True):
    """Where to go back to."""

    at: str
    """Everything done to files after this moment is taken back."""
    resume_at: EntryId | None
    """The conversation up to here is what remains; None: nothing of it."""
    words: str


def points(entries: Sequence[Entry], checkpoints: Sequence[Checkpoint]) -> tuple[Point, ...]:
    """The prompts of a conversation, oldest first. What was done before the first belongs to none."""
    prompts = prompts_of(entries)
    found: list[Point] = []
    for number, prompt in enumerate(prompts, 1):
        end = prompts[number].timestamp if number < len(prompts) else "~"
        between = tuple(item for item in checkpoints if prompt.timestamp < item.at <= end)
        found.append(
            Point(
                number=number,
                entry=prompt.uuid,
                at=prompt.timestamp,
                text=prompt_text(prompt),
                checkpoints=between,
            )
        )
    return tuple(found)


def prompts_of(entries: Sequence[Entry]) -> list[UserEntry]:
    """What a person typed, each prompt once."""
    return [
        entry for entry in entries if isinstance(entry, UserEntry) and not answers(entry.message) and prompt_text(entry)
    ]


def find_moment(entries: Sequence[Entry], query: str) -> Moment:
    """By the number of a turn, or the id of an entry or its start. Raises NothingToRestore."""
    chain = [entry for entry in entries if isinstance(entry, ChainEntry)]
    prompts = prompts_of(entries)
    if query.isascii() and query.isdigit() and len(query) < 8:
        if not 1 <= int(query) <= len(prompts):
            raise NothingToRestore(f"there is no turn {query}; the session has {len(prompts)}")
        return _before(chain, prompts[int(query) - 1], int(query))
    fitting = [entry for entry in chain if entry.uuid == query]
    if not fitting and len(query) >= MIN_PREFIX:
        fitting = [entry for entry in chain if entry.uuid.startswith(query)]
    if len(fitting) != 1:
        raise NothingToRestore(f"{len(fitting) or 'no'} entries of this session have an id that starts with {query!r}")
    if fitting[0] in prompts:
        return _before(chain, fitting[0], prompts.index(fitting[0]) + 1)
    return _after(chain, fitting[0])


def _before(chain: Sequence[ChainEntry], prompt: ChainEntry, number: int) -> Moment:
    place = chain.index(prompt)
    before = chain[place - 1].uuid if place else None
    return Moment(at=prompt.timestamp, resume_at=before, words=f"before turn {number}")


def _after(chain: Sequence[ChainEntry], entry: ChainEntry) -> Moment:
    """A reply is never cut from the results of its calls, here as in the conversation."""
    at = entry.timestamp
    if isinstance(entry, AssistantEntry):
        calls = {
            call.id
            for item in chain
            if isinstance(item, AssistantEntry) and item.message.id == entry.message.id
            for call in tool_calls(item.message.content)
        }
        results = (item for item in chain if isinstance(item, UserEntry) and calls.intersection(result_calls(item)))
        at = max([at, *(item.timestamp for item in results)])
    return Moment(at=at, resume_at=entry.uuid, words=f"after entry {entry.uuid[:8]}")
