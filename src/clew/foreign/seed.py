"""Continuing another agent's session: its conversation as a fresh session of ours that links to its source."""

from typing import TypeVar

import msgspec

from clew import __version__
from clew.foreign.session import ForeignTranscript
from clew.foreign.shapes import as_dict, as_list
from clew.foreign.user_text import is_said
from clew.protocol.entries import (
    AiTitleEntry,
    AssistantEntry,
    ChainEntry,
    CustomTitleEntry,
    Entry,
    SessionSourceEntry,
    SystemEntry,
    UserEntry,
)
from clew.protocol.ids import EntryId, SessionId, new_uuid
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    ResultContent,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
    text_of,
)
from clew.transcript.chain.links import preserved_segment

_Spoken = UserEntry | AssistantEntry | SystemEntry
_Chain = TypeVar("_Chain", UserEntry, AssistantEntry, SystemEntry)


def to_clew_session(transcript: ForeignTranscript, session_id: str, cwd: str) -> list[Entry]:
    """A valid chain with fresh ids. Modes, approvals, hooks and attachments stay behind: a file never sets rights."""
    seed = _Seed(transcript, SessionId(session_id), cwd)
    for entry in transcript.entries:
        seed.take(entry)
    return seed.entries


class _Seed:
    def __init__(self, transcript: ForeignTranscript, session_id: SessionId, cwd: str) -> None:
        self._source = transcript
        self._session = session_id
        self._cwd = cwd
        self._parent: EntryId | None = None
        self._calls: dict[str, EntryId] = {}
        self._preserved: list[_Spoken] = []
        self._anchor = ""
        self._originals: dict[str, ChainEntry] = {}
        source = SessionSourceEntry(
            session_id=session_id,
            timestamp=transcript.meta.updated,
            agent=transcript.agent,
            source_session=transcript.session_id,
            path=str(transcript.path),
            at=next((e.uuid for e in reversed(transcript.entries) if isinstance(e, ChainEntry)), ""),
        )
        self.entries: list[Entry] = [source]

    def take(self, entry: Entry) -> None:
        """Copy one entry, or leave it behind."""
        if isinstance(entry, ChainEntry):
            if entry.is_sidechain:
                return
            self._originals[entry.uuid] = entry
            if isinstance(entry, UserEntry | AssistantEntry | SystemEntry):
                self._spoken(entry)
        elif isinstance(entry, CustomTitleEntry | AiTitleEntry):
            self.entries.append(msgspec.structs.replace(entry, session_id=self._session))

    def _spoken(self, entry: _Spoken) -> None:
        self._copy(entry)
        if isinstance(entry, SystemEntry) and entry.subtype == "compact_boundary":
            # The view starts anew: a result kept without its call would have nothing to answer.
            self._calls = {}
            self._preserved, self._anchor = self._kept_by(entry)
            ends_here = self._anchor == entry.uuid
        else:
            is_summary = isinstance(entry, UserEntry) and entry.is_compact_summary
            ends_here = entry.uuid == self._anchor if self._anchor in self._originals else is_summary
        if ends_here:
            kept, self._preserved, self._anchor = self._preserved, [], ""
            for original in kept:
                self._copy(original)

    def _kept_by(self, boundary: SystemEntry) -> tuple[list[_Spoken], str]:
        """Messages that a compaction kept word for word, and the entry they follow. They stand before the boundary in
        the file and count after it: behind the summary, or, where the anchor says so, before it."""
        named = as_dict((boundary.compact_metadata or {}).get("preservedMessages"))
        uuids = [uuid for uuid in as_list(named.get("uuids")) if isinstance(uuid, str)]
        segment = preserved_segment(boundary)
        if segment is None:
            anchor = ""
        else:
            head, anchor, tail = segment
            uuids = uuids or self._between(head, tail)
            if anchor in self._originals and anchor != boundary.uuid:
                anchor = ""  # nothing can follow an entry that the boundary cut off
        kept = [self._originals[uuid] for uuid in uuids if uuid in self._originals]
        return [entry for entry in kept if isinstance(entry, UserEntry | AssistantEntry | SystemEntry)], anchor

    def _between(self, head: str, tail: str) -> list[str]:
        """The conversation from head to tail, parallel calls and their results among it."""
        order = list(self._originals)
        if head not in self._originals or tail not in self._originals:
            return []
        return order[order.index(head) : order.index(tail) + 1]

    def _copy(self, entry: _Spoken) -> None:
        if isinstance(entry, SystemEntry):
            is_boundary = entry.subtype == "compact_boundary"
            compact = {"trigger": "manual", "preTokens": 0} if is_boundary else None
            self._add(msgspec.structs.replace(entry, compact_metadata=compact), starts_anew=is_boundary)
        elif isinstance(entry, UserEntry):
            self._copy_user(entry)
        else:
            self._copy_assistant(entry)

    def _copy_user(self, entry: UserEntry) -> None:
        content = entry.message.content
        is_ours = self._source.agent == "clew" or entry.origin == "clew" or entry.is_compact_summary
        if entry.is_meta and not (is_ours or self._is_result(content) or is_said(text_of(content))):
            # Another program's instructions, environment and notices: nobody said them, and they are not true here.
            return
        if not isinstance(content, str):
            content = tuple(_shown(part) for part in content if self._belongs(part))
        if not content:
            return
        holder = self._holder(content)
        copied = msgspec.structs.replace(
            entry,
            message=UserMessage(content=content),
            permission_mode="",
            source_tool_assistant_uuid=holder,
        )
        self._add(copied)

    def _copy_assistant(self, entry: AssistantEntry) -> None:
        if entry.is_api_error_message or entry.message.model == "<synthetic>":
            # Shown in place of a reply, never said by a model: it must not be sent as one.
            return
        parts = tuple(kept for part in entry.message.content if (kept := self._said(part)) is not None)
        if not parts:
            return
        # The tokens were spent, and counted, elsewhere.
        message = msgspec.structs.replace(entry.message, content=parts, usage=None)
        added = self._add(msgspec.structs.replace(entry, message=message, request_id=""))
        for part in parts:
            if isinstance(part, ToolCallPart):
                self._calls[part.id] = added

    def _belongs(self, part: Part) -> bool:
        """A result whose call is not in the history would make it invalid for every provider."""
        return not isinstance(part, ToolResultPart) or part.call_id in self._calls

    @staticmethod
    def _is_result(content: str | tuple[Part, ...]) -> bool:
        return not isinstance(content, str) and any(isinstance(part, ToolResultPart) for part in content)

    def _holder(self, content: str | tuple[Part, ...]) -> EntryId | None:
        for part in content:
            if isinstance(part, ToolResultPart):
                return self._calls.get(part.call_id)
        return None

    def _said(self, part: Part) -> Part | None:
        if isinstance(part, RedactedReasoningPart):
            return None
        if isinstance(part, ReasoningPart):
            # A signature is a proof for the provider and the session it was made in.
            return ReasoningPart(text=part.text, provider=self._source.agent) if part.text.strip() else None
        if isinstance(part, TextPart) and not part.text.strip():
            return None
        if isinstance(part, ToolCallPart):
            return msgspec.structs.replace(part, data=None)
        return part

    def _add(self, entry: _Chain, *, starts_anew: bool = False) -> EntryId:
        uuid = EntryId(new_uuid())
        copied = msgspec.structs.replace(
            entry,
            session_id=self._session,
            uuid=uuid,
            parent_uuid=None if starts_anew else self._parent,
            logical_parent_uuid=self._parent if starts_anew else None,
            is_sidechain=False,
            agent_id=None,
            cwd=self._cwd,
            version=__version__,
            user_type="external",
            forked_from={"sessionId": self._source.session_id, "messageUuid": entry.uuid},
        )
        self._parent = uuid
        self.entries.append(copied)
        return uuid


def _shown(part: Part) -> Part:
    """Media by address or path become words: nothing of another machine is opened."""
    if isinstance(part, ImagePart | DocumentPart):
        return _media(part)
    if isinstance(part, ToolResultPart) and not isinstance(part.content, str):
        content: tuple[ResultContent, ...] = tuple(
            _media(item) if isinstance(item, ImagePart | DocumentPart) else item for item in part.content
        )
        return msgspec.structs.replace(part, content=content)
    return part


def _media(part: ImagePart | DocumentPart) -> ImagePart | DocumentPart | TextPart:
    if part.source.type == "base64" and part.source.data:
        return part
    kind = "image" if isinstance(part, ImagePart) else "document"
    return TextPart(text=f"[{kind}: {part.source.url or part.source.media_type or 'not available'}]")
