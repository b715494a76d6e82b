"""A session that goes on in a copy: same words, a new id, the source untouched."""

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from clew.protocol.entries import (
    AiTitleEntry,
    AssistantEntry,
    ChainEntry,
    ContentReplacementEntry,
    CustomTitleEntry,
    Entry,
    EventEntry,
    ModeEntry,
    OpaqueEntry,
    SessionSourceEntry,
    SystemEntry,
    SystemPromptEntry,
    TurnResultEntry,
)
from clew.protocol.events import (
    CallChanged,
    CompactionEnded,
    CompactionUndone,
    ItemPinned,
    PlanAnswered,
    SectionKept,
    ViewTrimmed,
)
from clew.protocol.ids import EntryId, SessionId
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import is_boundary, parent_of, uuid_of
from clew.transcript.log.codec import decode, encode, seal
from clew.transcript.log.files import open_read
from clew.transcript.past.interruption import counts
from clew.transcript.past.reader import LoadedLog

SHAPING = (CallChanged, CompactionEnded, CompactionUndone, ItemPinned, PlanAnswered, SectionKept, ViewTrimmed)
"""Events that the view, the next compaction, or the facts about a copied call are made from."""

MAX_BASE_CHARS = 60
_BRANCHED = re.compile(r" ?\(Branch(?: \d+)?\)$")
_fields: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Fork(msgspec.Struct, frozen=True, kw_only=True):
    """What a forked session starts with. Give `lines` to a TranscriptWriter as its seed: no prompt, no file."""

    session_id: SessionId
    lines: tuple[bytes, ...]
    entries: tuple[Entry, ...]
    chain: tuple[Entry, ...]
    leaf: EntryId | None


def fork_session(loaded: LoadedLog, new_id: SessionId, *, timestamp: str, title: str = "") -> Fork:
    """Copy what is in view to a new session. `loaded` may have been cut by `resume_at`.

    Lines are copied field by field as they stand in the file, unknown ones too; only the session's stamp, the links
    and `forkedFrom` are set. Older history stays in the source, which the copy names. Raises OSError.
    """
    kept = _Copied(loaded)
    lines = [_source_line(loaded, new_id, timestamp)]
    spoken: dict[EntryId, bytes] = {}
    fd = open_read(Path(loaded.path))
    try:
        for entry, (offset, length) in zip(loaded.entries, loaded.spans, strict=True):
            if kept.wants(entry, titled=bool(title)):
                line = _restamped(os.pread(fd, length, offset), entry, kept, new_id, loaded.session_id)
                uuid = uuid_of(entry)
                if uuid is None:
                    lines.append(line)
                else:
                    spoken[uuid] = line
    finally:
        os.close(fd)
    last, ended = _last_result(loaded, new_id)
    for uuid in kept.order:
        lines.append(spoken[uuid])
        if ended is not None and uuid == last:
            lines.append(encode(ended))
    if title:
        lines.append(encode(CustomTitleEntry(session_id=new_id, timestamp=timestamp, custom_title=title)))
    entries = tuple(_entries(lines))
    chain = build_chain(entries, session_id=new_id)
    return Fork(session_id=new_id, lines=tuple(lines), entries=entries, chain=chain.entries, leaf=chain.leaf)


def branch_title(title: str, taken: Collection[str]) -> str:
    """`Fix login (Branch)`, then `(Branch 2)`, also for the branch of a branch: never a title that exists."""
    base = _BRANCHED.sub("", " ".join(title.split())) or "Untitled"
    if len(base) > MAX_BASE_CHARS:
        base = f"{base[: MAX_BASE_CHARS - 1].rstrip()}…"  # a list that is narrow must not cut off what differs
    name, number = f"{base} (Branch)", 1
    while name in taken:
        number += 1
        name = f"{base} (Branch {number})"
    return name


def _last_result(loaded: LoadedLog, new_id: SessionId) -> tuple[EntryId | None, TurnResultEntry | None]:
    """The last entry of the last turn that goes along, and how that turn ended; None when it was cut off. What it cost
    stays in the books of the source."""
    last = next((entry for entry in reversed(loaded.chain) if counts(entry)), None)
    at = next((place for place, entry in enumerate(loaded.entries) if entry is last or entry == last), None)
    for entry in loaded.entries[at + 1 :] if last is not None and at is not None else ():
        if isinstance(entry, TurnResultEntry):
            ended = msgspec.structs.replace(entry, session_id=new_id, cost_usd=None, usage=None)
            return uuid_of(last) if last is not None else None, ended
        if counts(entry):
            break
    return None, None


class _Copied:
    """Which entries go along, and what each hangs under in the copy."""

    def __init__(self, loaded: LoadedLog) -> None:
        self._by_id: dict[EntryId, Entry] = {}
        written: dict[EntryId, int] = {}
        for number, entry in enumerate(loaded.entries):
            uuid = uuid_of(entry)
            if uuid is not None and uuid not in written:
                self._by_id[uuid] = entry
                written[uuid] = number
        self.order: list[EntryId] = [uuid for entry in loaded.chain if (uuid := uuid_of(entry)) is not None]
        self._place = {uuid: place for place, uuid in enumerate(self.order)}
        self.preserved, self.keepers = _preserved(loaded.chain, written)
        self._seen: set[EntryId] = set()

    def wants(self, entry: Entry, *, titled: bool) -> bool:
        """Entries of the chain once each; of the others what shapes the view, and what nobody here knows."""
        uuid = uuid_of(entry)
        if uuid is not None:
            fresh = uuid in self._place and uuid not in self._seen
            self._seen.add(uuid)
            return fresh
        if isinstance(entry, CustomTitleEntry | AiTitleEntry):
            return not titled
        if isinstance(entry, EventEntry):
            return isinstance(entry.event, SHAPING)
        return isinstance(entry, ContentReplacementEntry | ModeEntry | SystemPromptEntry | OpaqueEntry)

    def parent(self, entry: Entry) -> EntryId | None:
        """What the entry hangs under in the copy. A preserved segment takes its place between anchor and the rest."""
        uuid = uuid_of(entry)
        if uuid is None or is_boundary(entry):
            return None
        before = self.before(uuid)
        if before in self.preserved and uuid not in self.preserved:
            return before
        parent = parent_of(entry)
        nearest = self.nearest(parent)
        if nearest != parent and isinstance(entry, AssistantEntry):
            return before  # further up may be another reply of the same id, which this one must not become a part of
        return nearest or before

    def before(self, uuid: EntryId) -> EntryId | None:
        """The entry that stands before this one in the conversation."""
        place = self._place[uuid]
        return self.order[place - 1] if place else None

    def nearest(self, at: EntryId | None) -> EntryId | None:
        """This entry, or its nearest ancestor, that goes along."""
        climbed: set[EntryId] = set()
        while at is not None and at not in self._place and at not in climbed:
            climbed.add(at)
            above = self._by_id.get(at)
            at = parent_of(above) if above is not None else None
        return at if at in self._place else None


def _preserved(chain: tuple[Entry, ...], written: dict[EntryId, int]) -> tuple[dict[EntryId, Entry], set[EntryId]]:
    """Entries that come after a boundary in the conversation but before it in the file, and the boundaries that
    kept them."""
    found: dict[EntryId, Entry] = {}
    keepers: set[EntryId] = set()
    boundary: EntryId | None = None
    for entry in chain:
        uuid = uuid_of(entry)
        if uuid is None:
            continue
        if is_boundary(entry):
            boundary = uuid
        elif boundary is not None and written[uuid] < written[boundary]:
            found[uuid] = entry
            keepers.add(boundary)
    return found, keepers


def _restamped(line: bytes, entry: Entry, kept: _Copied, new_id: SessionId, old_id: SessionId) -> bytes:
    try:
        fields: dict[str, Any] = dict(_fields.decode(line))
    except (msgspec.DecodeError, UnicodeDecodeError):
        # The line was mended on reading; its bytes cannot be taken over field by field.
        fields = dict(_fields.decode(encode(entry)))
    if "sessionId" in fields:
        fields["sessionId"] = new_id
    uuid = uuid_of(entry)
    if uuid is not None:
        fields["parentUuid"] = kept.parent(entry)
        fields["forkedFrom"] = {"sessionId": old_id, "messageUuid": uuid}
    if isinstance(entry, ChainEntry) and entry.logical_parent_uuid is not None:
        fields["logicalParentUuid"] = kept.before(entry.uuid)
    if isinstance(entry, SystemEntry) and entry.compact_metadata and uuid in kept.keepers:
        metadata = {name: value for name, value in entry.compact_metadata.items() if name != "preservedSegment"}
        fields["compactMetadata"] = metadata
    preserved = kept.preserved.get(uuid) if uuid is not None else None
    if isinstance(preserved, AssistantEntry):
        fields["message"] = preserved.message  # without its usage, which describes the context before the boundary
    return seal(msgspec.json.encode(fields))


def _source_line(loaded: LoadedLog, new_id: SessionId, timestamp: str) -> bytes:
    entry = SessionSourceEntry(
        session_id=new_id,
        timestamp=timestamp,
        agent="clew",
        source_session=loaded.session_id,
        path=loaded.path,
        at=loaded.leaf or "",
    )
    return encode(entry)


def _entries(lines: list[bytes]) -> Iterator[Entry]:
    for line in lines:
        entry, _ = decode(line)
        if entry is not None:
            yield entry
