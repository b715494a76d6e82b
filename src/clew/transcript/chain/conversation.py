"""The conversation: the one owner of its entries, its cursor and the view that is sent. There is no second list.

`messages()` gives what `view()` gives for the same entries (tests/unit/transcript/test_conversation.py holds them
together), but at the cost of what is new: everything before the last settled exchange is computed once.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from clew.protocol.entries import (
    AssistantEntry,
    ContentReplacementEntry,
    Entry,
    EventEntry,
    SystemPromptEntry,
    TombstoneEntry,
    UserEntry,
)
from clew.protocol.events import ViewTrimmed
from clew.protocol.history import CallIds
from clew.protocol.ids import EntryId, MessageId
from clew.protocol.messages import Message, tool_calls
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import is_boundary, is_snip, parent_of, result_calls, sets_tip, undone_by, uuid_of
from clew.transcript.chain.view import Replacements, messages_of, view

if TYPE_CHECKING:
    from clew.transcript.past.reader import LoadedLog

MARK_CHARS = 6


class EntrySink(Protocol):
    """Where entries go before they count."""

    def append(self, entry: Entry) -> bool:
        """Write one entry; False when it could only be kept in memory for now."""
        ...


class Conversation:
    """Write first, then count. One per transcript: the main one, and one for each child agent."""

    def __init__(
        self,
        sink: EntrySink,
        *,
        session_id: str,
        entries: Sequence[Entry] = (),
        sidechain: bool = False,
        chain: Sequence[Entry] | None = None,
        leaf: EntryId | None = None,
        reread: "Callable[[], LoadedLog] | None" = None,
    ) -> None:
        """`entries`: what was read of the past, in file order. `chain` and `leaf`: as the reader found them, where it
        knew more than the entries say (damage it bridged, a cut it was asked for); without them they are computed.
        `reread`: the file once more, when something that was left out of view is needed again."""
        self._sink = sink
        self.session_id = session_id
        self._sidechain = sidechain
        self._reread = reread
        self.entries: list[Entry] = list(entries)
        self.call_ids = CallIds()
        self._replacements = Replacements()
        self._listeners: list[Callable[[Entry], None]] = []
        for entry in self.entries:
            self._note(entry)
        if chain is None:
            self._rebuild()
        else:
            self._reset(chain, leaf)
        began = next((uuid_of(entry) for entry in self.chain() if is_boundary(entry)), None)
        if began is not None:  # what lies before it may not have been read, and its call ids are not known
            self.call_ids.mark(began[:MARK_CHARS])

    def follow(self, listener: Callable[[Entry], None]) -> None:
        """Be told of every entry from now on, after it was written."""
        self._listeners.append(listener)

    def append(self, entry: Entry) -> None:
        """Write an entry and let it join. Raises LeaseLost, and then nothing has joined."""
        self._sink.append(entry)
        self._join(entry)
        for listener in self._listeners:
            listener(entry)

    @property
    def leaf(self) -> EntryId | None:
        """What the next entry hangs under."""
        self._refresh()
        return self._leaf

    def messages(self) -> tuple[Message, ...]:
        """What the model sees, as `view()` computes it from the same entries."""
        self._refresh()
        return (*self._settled_messages, *self._tail_messages)

    def messages_with(self, more: Sequence[Entry]) -> tuple[Message, ...]:
        """What the model would see if these entries joined; nothing is written."""
        return view([*self.entries, *more], session_id=self.session_id, sidechain=self._sidechain)

    def chain(self) -> tuple[Entry, ...]:
        """The entries behind the view, oldest first."""
        self._refresh()
        return (*self._settled, *self._tail_chain)

    @property
    def replacements(self) -> Replacements:
        """What stands for tool results and media in the view; for reading only."""
        return self._replacements

    @property
    def system_prompt(self) -> SystemPromptEntry | None:
        """What requests of this session begin with, as it was kept."""
        return next((entry for entry in reversed(self.entries) if isinstance(entry, SystemPromptEntry)), None)

    def _note(self, entry: Entry) -> None:
        """Facts about single entries that hold whatever the chain is."""
        self._replacements.note(entry)
        if isinstance(entry, AssistantEntry):
            for call in tool_calls(entry.message.content):
                self.call_ids.add(call.id)

    def _join(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._note(entry)
        if uuid_of(entry) is None:
            self._join_keyed(entry)
        elif is_boundary(entry) or is_snip(entry):
            self._rebuild()
        else:
            self._join_chain(entry)

    def _join_keyed(self, entry: Entry) -> None:
        """Most lines outside the chain change nothing of the view."""
        if isinstance(entry, TombstoneEntry):
            if set(entry.targets) <= self._tail_ids:
                self._tail.append(entry)
                self._stale = True
            else:
                self._rebuild()
        elif isinstance(entry, ContentReplacementEntry):
            if any(entry.call_id in result_calls(item) for item in self._tail):
                self._stale = True
            else:
                self._rebuild()
        elif sets_tip(entry) or undone_by(entry):
            self._go_back(entry)
        elif isinstance(entry, EventEntry) and isinstance(entry.event, ViewTrimmed):
            self._rebuild()

    def _go_back(self, entry: Entry) -> None:
        """To where the entry says, which may lie before everything that was read so far."""
        loaded = self._reread() if self._reread is not None else None
        if loaded is None or entry not in loaded.entries:
            self._rebuild()  # nothing is kept, or the line could not be written: memory is all there is
            return
        self.entries = list(loaded.entries)
        self._replacements = Replacements(self.entries)
        self._reset(loaded.chain, loaded.leaf)

    def _join_chain(self, entry: Entry) -> None:
        parent = parent_of(entry)
        if parent == self.leaf and self._begins_anew(entry):
            self._settle_tail()
        elif parent not in self._tail_ids and (parent != self._root or isinstance(entry, AssistantEntry)):
            self._rebuild()  # a branch further back, or one more part of a settled reply
            return
        self._tail.append(entry)
        self._tail_ids.add(uuid_of(entry))
        self._stale = True

    def _begins_anew(self, entry: Entry) -> bool:
        """Everything before this entry is settled: it is input, or the first part of another reply."""
        if isinstance(entry, AssistantEntry):
            return entry.message.id != self._last_reply
        return isinstance(entry, UserEntry) and not result_calls(entry)

    def _settle_tail(self) -> None:
        """What stands behind the cursor will not change any more."""
        self._settled.extend(self._tail_chain)
        self._settled_messages.extend(self._tail_messages)
        self._root = self._leaf
        self._clear_tail()

    def _rebuild(self) -> None:
        """From all entries, as a reader would."""
        chain = build_chain(self.entries, session_id=self.session_id, sidechain=self._sidechain)
        self._reset(chain.entries, chain.leaf)

    def _reset(self, chain: Sequence[Entry], leaf: EntryId | None) -> None:
        self._settled: list[Entry] = list(chain)
        self._settled_messages: list[Message] = list(messages_of(chain, self._replacements))
        self._root = self._leaf = leaf
        self._last_reply = _reply_of(self._settled)
        self._clear_tail()

    def _clear_tail(self) -> None:
        self._tail: list[Entry] = []
        self._tail_ids: set[EntryId | None] = set()
        self._tail_chain: tuple[Entry, ...] = ()
        self._tail_messages: tuple[Message, ...] = ()
        self._stale = False

    def _refresh(self) -> None:
        if not self._stale:
            return
        chain = build_chain(self._tail, session_id=self.session_id, sidechain=self._sidechain, root=self._root)
        self._tail_chain = chain.entries
        self._tail_messages = messages_of(chain.entries, self._replacements)
        self._leaf = chain.leaf if chain.entries else self._root
        self._last_reply = _reply_of(self._tail_chain) or self._last_reply
        self._stale = False


def _reply_of(chain: Sequence[Entry]) -> MessageId | None:
    """The reply that was heard last."""
    last = next((entry for entry in reversed(chain) if isinstance(entry, AssistantEntry)), None)
    return last.message.id if last is not None else None
