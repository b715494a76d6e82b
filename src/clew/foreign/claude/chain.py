"""The conversation in view of a Claude-shaped file: the chain to the last entry, with parallel siblings restored."""

from collections.abc import Sequence
from typing import cast

import msgspec

from clew.foreign.source import Source
from clew.protocol.entries import (
    AssistantEntry,
    ChainEntry,
    Entry,
    OpaqueEntry,
    ProgressEntry,
    SystemEntry,
    TombstoneEntry,
    UserEntry,
)
from clew.protocol.ids import CallId, EntryId
from clew.protocol.messages import ToolCallPart, ToolResultPart
from clew.transcript.chain.links import preserved_segment


class EntryTree:
    """All entries of a file in order, the chain entries also by id."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.order: list[Entry] = []
        self.by_id: dict[EntryId, ChainEntry] = {}
        self.before: dict[EntryId, EntryId | None] = {}
        """The chain entry that precedes each one in the file: where an orphan is hung."""
        self.opaque: list[OpaqueEntry] = []
        self.withdrawn: set[EntryId] = set()
        self._last: dict[bool, EntryId | None] = {False: None, True: None}
        self._kept_tails: set[EntryId] = set()
        """Where segments end that a boundary kept: what hangs there afterwards stands behind that boundary."""

    def add(self, entry: Entry, offset: int) -> None:
        """Take in an entry; of two with one id the first counts."""
        if isinstance(entry, ChainEntry):
            known = self.by_id.get(entry.uuid)
            if known is not None:
                if known != entry:
                    self.source.note("duplicate", offset, f"a second entry {entry.uuid}")
                return
            if entry.parent_uuid in self._kept_tails:
                entry = msgspec.structs.replace(entry, parent_uuid=self._last[False])
            if segment := preserved_segment(entry):
                self._kept_tails.add(segment[2])
            self.by_id[entry.uuid] = entry
            self.before[entry.uuid] = self._last[entry.is_sidechain]
            self._last[entry.is_sidechain] = entry.uuid
        elif isinstance(entry, OpaqueEntry):
            self.opaque.append(entry)
        elif isinstance(entry, TombstoneEntry):
            self.withdrawn.update(entry.targets)
        self.order.append(entry)


def conversation(tree: EntryTree) -> tuple[list[Entry], list[Entry]]:
    """The entries in view, sub-agents of the same file among them, and those that were rewound away."""
    chain = [entry for entry in tree.order if isinstance(entry, ChainEntry) and entry.uuid not in tree.withdrawn]
    main = [entry for entry in chain if not entry.is_sidechain]
    whole_file_is_sidechain = bool(chain) and not main
    if whole_file_is_sidechain:
        main = chain
    leaf = next((entry for entry in reversed(main) if not isinstance(entry, ProgressEntry)), None)
    view = _with_siblings(main, _ancestors(leaf, tree))
    kept: list[Entry] = []
    early_sidechain: list[Entry] = []
    seen_main = False
    abandoned: list[Entry] = []
    for entry in tree.order:
        if not isinstance(entry, ChainEntry):
            kept.append(entry)
        elif entry.uuid in view:
            kept.append(_mended(entry, tree, alone=whole_file_is_sidechain))
            if not seen_main:
                seen_main = True
                kept.extend(early_sidechain)
        elif entry.is_sidechain and entry.uuid not in tree.withdrawn:
            # The first entry tells whose conversation this is, so a sub-agent's never comes first.
            (kept if seen_main else early_sidechain).append(entry)
        else:
            abandoned.append(entry)
    return kept, abandoned


def _mended(entry: ChainEntry, tree: EntryTree, *, alone: bool) -> Entry:
    """An orphan hung where it was read; and a sub-agent's own file is a conversation of its own."""
    parent = entry.parent_uuid
    if parent is not None and parent not in tree.by_id:
        entry = msgspec.structs.replace(entry, parent_uuid=tree.before[entry.uuid])
    return cast(Entry, msgspec.structs.replace(entry, is_sidechain=False) if alone else entry)


def _ancestors(leaf: ChainEntry | None, tree: EntryTree) -> set[EntryId]:
    """From the last entry back over parents and boundaries. An orphan is hung on the entry before it."""
    view: set[EntryId] = set()
    entry = leaf
    while entry is not None:
        if entry.uuid in view:
            tree.source.note("cycle", 0, f"the parents of {entry.uuid} lead back to it")
            break
        view.add(entry.uuid)
        parent = entry.parent_uuid or entry.logical_parent_uuid
        if parent is not None and parent not in tree.by_id:
            before = tree.before[entry.uuid]
            if before is not None:
                tree.source.note("orphan", 0, f"{entry.uuid} names a parent that is not in the file")
            parent = before
        entry = tree.by_id[parent] if parent is not None else None
    return view


def _with_siblings(main: Sequence[ChainEntry], view: set[EntryId]) -> set[EntryId]:
    """Parallel calls and their results hang beside the chain; bring back those that belong to replies in view."""
    replies = {entry.message.id for entry in main if isinstance(entry, AssistantEntry) and entry.uuid in view}
    calls: set[CallId] = set()
    answered: set[CallId] = set()
    for entry in main:
        if isinstance(entry, AssistantEntry) and (entry.uuid in view or entry.message.id in replies):
            view.add(entry.uuid)
            calls.update(part.id for part in entry.message.content if isinstance(part, ToolCallPart))
        elif isinstance(entry, UserEntry) and entry.uuid in view:
            answered.update(_answers(entry))
    for entry in main:
        if entry.uuid in view:
            continue
        if isinstance(entry, UserEntry):
            answers = _answers(entry)
            if answers and answers <= calls and not answers & answered:
                view.add(entry.uuid)
                answered |= answers
        elif isinstance(entry, SystemEntry | ProgressEntry) and entry.parent_uuid in view:
            view.add(entry.uuid)
    return view


def _answers(entry: UserEntry) -> set[CallId]:
    content = entry.message.content
    if isinstance(content, str):
        return set()
    return {part.call_id for part in content if isinstance(part, ToolResultPart)}
