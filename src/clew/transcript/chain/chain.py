"""The conversation: from the last tip of the file back through the parents, mended where the file allows."""

from collections.abc import Collection, Sequence

import msgspec

from clew.protocol.entries import AssistantEntry, Entry, SystemEntry
from clew.protocol.ids import EntryId
from clew.protocol.messages import tool_calls
from clew.transcript.chain.links import (
    Replies,
    Reply,
    can_be_leaf,
    is_boundary,
    named_tip,
    on_sidechain,
    parent_before,
    parent_of,
    preserved_segment,
    result_calls,
    session_of,
    sets_tip,
    undone_by,
    uuid_of,
    withdrawn,
)


class Flaw(msgspec.Struct, frozen=True):
    """A problem of the structure, at `entries[index]`."""

    index: int
    kind: str
    detail: str = ""


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation as it stands, oldest entry first."""

    entries: tuple[Entry, ...] = ()
    indices: tuple[int, ...] = ()
    """Where each entry stood in the sequence given."""
    leaf: EntryId | None = None
    """What the next entry hangs under: the last one, in the order of the conversation."""
    set_by: int | None = None
    """The line that said where the conversation ends, when nothing was said after it."""
    flaws: tuple[Flaw, ...] = ()


def build_chain(
    entries: Sequence[Entry],
    *,
    session_id: str = "",
    sidechain: bool = False,
    gaps: Collection[int] = (),
    past_boundaries: bool = False,
    root: EntryId | None = None,
    tip: EntryId | None = None,
) -> Chain:
    """The chain of a sequence of entries in file order. Pure: live, resumed, branched and agent views all use it.

    `gaps` are the indices before which a damaged line was skipped: an entry whose parent was lost there is hung under
    the nearest entry before the damage, because that line almost surely was the parent's. `past_boundaries` gives the
    whole conversation as people saw it, not what the model still sees. `root`: an entry before the sequence under which
    it may hang; the chain then begins behind it. `tip`: where the conversation ends, when that is known.
    """
    builder = _Builder(entries, session_id=session_id, sidechain=sidechain, gaps=gaps, past_boundaries=past_boundaries)
    builder.root = root
    builder.wanted_tip = tip
    return builder.build()


class _Builder:
    def __init__(
        self,
        entries: Sequence[Entry],
        *,
        session_id: str,
        sidechain: bool,
        gaps: Collection[int],
        past_boundaries: bool,
    ) -> None:
        self.entries = entries
        self.session_id = session_id
        self.sidechain = sidechain
        self.gaps = sorted(gaps)
        self.past_boundaries = past_boundaries
        self.root: EntryId | None = None
        self.wanted_tip: EntryId | None = None
        self.undone = {undone for entry in entries if (undone := undone_by(entry)) is not None}
        self.left = withdrawn(entries, undone=self.undone)
        """What the model no longer sees."""
        self.gone = withdrawn(entries, snips=False) if past_boundaries else self.left
        self.flaws: list[Flaw] = []
        self.set_by: int | None = None
        self.at: dict[EntryId, int] = {}
        self.early: set[EntryId] = set()
        """Parents that stand after one of their children in the file."""
        self._index()

    def _index(self) -> None:
        strangers = 0
        first_stranger = 0
        for number, entry in enumerate(self.entries):
            uuid = uuid_of(entry)
            if uuid is None:
                continue
            parent = parent_of(entry)
            if parent is not None and parent not in self.at:
                self.early.add(parent)
            known = self.at.setdefault(uuid, number)
            if known != number and self.entries[known] != entry:
                self.flaws.append(Flaw(number, "duplicate", uuid))
            if self.session_id and session_of(entry) not in {self.session_id, ""}:
                first_stranger = first_stranger if strangers else number
                strangers += 1
        if strangers:
            self.flaws.append(Flaw(first_stranger, "other-session", f"{strangers} entries"))

    def build(self) -> Chain:
        tip = self._tip()
        if tip is None:
            return Chain(set_by=self.set_by, flaws=tuple(self.flaws))
        path = self._walk(tip)
        path = self._with_siblings(path)
        leaf, trailing = self._trailing(path)
        indices = (*path, *trailing)
        kept = self._without_old_usage(indices)
        return Chain(entries=kept, indices=indices, leaf=leaf, set_by=self.set_by, flaws=tuple(self.flaws))

    def _tip(self) -> int | None:
        if self.wanted_tip is not None and self.wanted_tip in self.at:
            return self.at[self.wanted_tip]
        for number in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[number]
            if sets_tip(entry, self.undone):
                tip = named_tip(entry)
                if tip is None or tip in self.at:
                    self.set_by = number
                    return self.at[tip] if tip is not None else None
            elif can_be_leaf(entry, session_id=self.session_id, sidechain=self.sidechain, gone=self.left):
                uuid = uuid_of(entry)
                if uuid is not None and self.at[uuid] == number:
                    return self._farthest(number) if uuid in self.early else number
        return None

    def _farthest(self, tip: int) -> int:
        """The last line has children before it: the conversation ends with the deepest entry under it."""
        children: dict[EntryId, list[int]] = {}
        for uuid, number in self.at.items():
            parent = parent_of(self.entries[number])
            if parent is not None and parent != uuid:
                children.setdefault(parent, []).append(number)
        best = tip
        seen = {tip}
        level = [tip]
        while level:
            uuids = [uuid for number in level if (uuid := uuid_of(self.entries[number])) is not None]
            below = [number for uuid in uuids for number in children.get(uuid, ())]
            if tip in below:
                return tip  # a loop has no end; the walk reports it
            level = [number for number in below if number not in seen]
            seen.update(level)
            ends = [
                number
                for number in level
                if can_be_leaf(
                    self.entries[number], session_id=self.session_id, sidechain=self.sidechain, gone=self.gone
                )
            ]
            best = max(ends, default=best)
        return best

    def _walk(self, tip: int) -> list[int]:
        """From the tip to the root, returned root first. Withdrawn entries are passed through."""
        path: list[int] = []
        seen: dict[int, int] = {}  # each entry that was passed, with its place in the path
        self.segment: set[int] = set()
        number: int | None = tip
        while number is not None:
            if number in seen:
                self.flaws.append(Flaw(number, "cycle"))
                break
            seen[number] = len(path)
            entry = self.entries[number]
            if uuid_of(entry) not in self.gone:
                path.append(number)
            parent = parent_of(entry)
            if parent is None:
                number = self._beyond(number, path, seen)
            else:
                number = self._find_parent(number, parent)
        path.reverse()
        return path

    def _find_parent(self, number: int, parent: EntryId) -> int | None:
        found = self.at.get(parent)
        if found is not None or (parent == self.root and self.root is not None):
            return found
        gap = next((gap for gap in reversed(self.gaps) if gap <= number), None)
        if gap is not None:
            for before in range(gap - 1, -1, -1):
                entry = self.entries[before]
                if can_be_leaf(entry, session_id=self.session_id, sidechain=self.sidechain, gone=self.gone):
                    self.flaws.append(Flaw(number, "orphan", f"{parent}, bridged over damage"))
                    return before
        self.flaws.append(Flaw(number, "orphan", parent))
        return None

    def _beyond(self, number: int, path: list[int], seen: dict[int, int]) -> int | None:
        """At a root: nothing lies beyond it, unless a boundary keeps a segment. `path` is leaf first here."""
        entry = self.entries[number]
        if not is_boundary(entry) or not isinstance(entry, SystemEntry):
            return None
        if self.past_boundaries or entry.uuid in self.undone:
            return self.at.get(entry.logical_parent_uuid) if entry.logical_parent_uuid else None
        named = preserved_segment(entry)
        if named is None:
            return None
        head, anchor, tail = named
        kept = self._segment(head, tail, seen)
        place = self.at.get(anchor)
        if kept is None or place not in seen:
            self.flaws.append(Flaw(number, "segment", "the whole history is used"))
            return self.at.get(entry.logical_parent_uuid) if entry.logical_parent_uuid else None
        self.segment = set(kept)
        spot = seen[place]
        path[spot:spot] = [index for index in kept if uuid_of(self.entries[index]) not in self.gone]
        return None

    def _segment(self, head: EntryId, tail: EntryId, seen: dict[int, int]) -> list[int] | None:
        """The entries from tail to head, if that walk succeeds."""
        kept: list[int] = []
        walked = set(seen)
        number = self.at.get(tail)
        while number is not None and number not in walked:
            walked.add(number)
            kept.append(number)
            if uuid_of(self.entries[number]) == head:
                return kept
            parent = parent_before(self.entries[number], self.undone)
            number = self.at.get(parent) if parent is not None else None
        return None

    def _with_siblings(self, path: list[int]) -> list[int]:
        """One reply's parts stand together, followed by the results of its calls in call order."""
        replies = Replies(self.entries, self.at)
        wanted = {replies.of(number) for number in path if isinstance(self.entries[number], AssistantEntry)}
        groups: dict[Reply, list[int]] = {reply: [] for reply in wanted}
        for uuid, number in self.at.items():
            entry = self.entries[number]
            if isinstance(entry, AssistantEntry) and self._usable(entry, uuid):
                reply = replies.of(number)
                if reply in groups:
                    groups[reply].append(number)
        groups = {reply: self._by_depth(members) if members[1:] else members for reply, members in groups.items()}
        results = self._results(groups)
        placed: set[int] = set()
        ordered: list[int] = []
        for number in path:
            if number in placed:
                continue
            group = groups[replies.of(number)] if isinstance(self.entries[number], AssistantEntry) else None
            run = [*group, *self._answers(group, results)] if group else [number]
            if number in self.segment:
                self.segment.update(run)  # what stands beside a kept entry is kept with it
            for item in run:
                if item not in placed:
                    placed.add(item)
                    ordered.append(item)
        return ordered

    def _by_depth(self, members: list[int]) -> list[int]:
        """Parts of a reply follow their parents, whatever the order of the lines."""
        inside = set(members)
        depths: dict[int, int] = {}

        def depth(number: int) -> int:
            steps: list[int] = []
            at: int | None = number
            while at is not None and at not in depths and at not in steps:
                steps.append(at)
                at = self._near_ancestor(at, inside)
            base = depths.get(at, 0) if at is not None else 0
            for step in reversed(steps):
                base += 1
                depths[step] = base
            return depths[number]

        return sorted(members, key=lambda number: (depth(number), number))

    def _near_ancestor(self, number: int, inside: set[int]) -> int | None:
        """The closest ancestor within the reply; results may stand in between."""
        at = number
        for _ in range(8):
            parent = parent_of(self.entries[at])
            found = self.at.get(parent) if parent is not None else None
            if found is None or found in inside:
                return found
            at = found
        return None

    def _results(self, groups: dict[Reply, list[int]]) -> dict[str, dict[EntryId, int]]:
        """Result entries by call, and then by the entry they hang under."""
        members = {uuid_of(self.entries[number]) for group in groups.values() for number in group}
        found: dict[str, dict[EntryId, int]] = {}
        for uuid, number in self.at.items():
            entry = self.entries[number]
            parent = parent_of(entry)
            if parent in members and parent is not None and self._usable(entry, uuid):
                for call in result_calls(entry):
                    found.setdefault(call, {}).setdefault(parent, number)
        return found

    def _answers(self, group: list[int], results: dict[str, dict[EntryId, int]]) -> list[int]:
        ids = {uuid: at for at, number in enumerate(group) if (uuid := uuid_of(self.entries[number])) is not None}
        answers: list[int] = []
        for number in group:
            entry = self.entries[number]
            if isinstance(entry, AssistantEntry):
                for call in tool_calls(entry.message.content):
                    under = results.get(call.id, {})
                    answers.extend(under[uuid] for uuid in sorted(under.keys() & ids.keys(), key=ids.__getitem__))
        return answers

    def _usable(self, entry: Entry, uuid: EntryId) -> bool:
        mine = not self.session_id or session_of(entry) in {self.session_id, ""}
        return mine and on_sidechain(entry) == self.sidechain and uuid not in self.gone

    def _trailing(self, path: list[int]) -> tuple[EntryId | None, list[int]]:
        """Notes of the program after the end: the next entry hangs under the last of them."""
        if not path:
            return self.root, []
        # What a boundary kept stands behind its summary, but hangs where it always hung: the next entry must not.
        spoken = next((number for number in reversed(path) if number not in self.segment), path[-1])
        leaf = uuid_of(self.entries[spoken])
        trailing: list[int] = []
        for number in range(spoken + 1, len(self.entries)):
            entry = self.entries[number]
            if not isinstance(entry, SystemEntry) or entry.parent_uuid != leaf or entry.uuid in self.gone:
                continue
            if entry.is_sidechain == self.sidechain and self.at[entry.uuid] == number:
                trailing.append(number)
                leaf = entry.uuid
        return leaf, trailing

    def _without_old_usage(self, indices: Sequence[int]) -> tuple[Entry, ...]:
        """Usage of preserved replies describes the context before the boundary: it must not trigger another one."""
        kept: list[Entry] = []
        for number in indices:
            entry = self.entries[number]
            if number in self.segment and isinstance(entry, AssistantEntry) and entry.message.usage is not None:
                entry = msgspec.structs.replace(entry, message=msgspec.structs.replace(entry.message, usage=None))
            kept.append(entry)
        return tuple(kept)
