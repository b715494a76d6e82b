"""What other agents' records say, as entries: the words a reader has for users, models, tools and programs.

Where entries stand: stable ids derived from the session and the position, parents, times that never run empty.
"""

from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeGuard

import msgspec

from clew.foreign.listing import modified
from clew.foreign.open_calls import OpenCalls
from clew.foreign.session import ForeignMeta, ForeignTranscript, SkippedPiece
from clew.foreign.shapes import Json, iso_time
from clew.foreign.user_text import UserText, read_user_text
from clew.protocol.display import DiffBlock
from clew.protocol.entries import (
    AiTitleEntry,
    AssistantEntry,
    CustomTitleEntry,
    Entry,
    KnownEntry,
    OpaqueEntry,
    SystemEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.ids import EntryId, MessageId, SessionId
from clew.protocol.messages import (
    AssistantMessage,
    ImagePart,
    MediaSource,
    Part,
    ReasoningPart,
    TextPart,
    ToolResultPart,
    UserMessage,
)
from clew.protocol.usage import Usage

EPOCH = "1970-01-01T00:00:00.000Z"


class EntryChain:
    """One session's entries in order. Reading the same file again gives the same ids."""

    def __init__(self, agent: str, session_id: str, *, cwd: str = "", started: Any = None) -> None:
        self.agent = agent
        self.session_id = SessionId(session_id)
        self.meta = ForeignMeta(cwd=cwd)
        self.entries: list[Entry] = []
        self.abandoned: list[Entry] = []
        self.model = ""
        self.parent: EntryId | None = None
        self.id_prefix = _id_prefix(agent, session_id)
        self._count = 0
        self._time = iso_time(started)
        self._undated = 0

    def rename(self, session_id: str) -> None:
        """The file names its session itself; before the first entry only."""
        if session_id and not self.entries:
            self.session_id = SessionId(session_id)
            self.id_prefix = _id_prefix(self.agent, session_id)

    def at(self, moment: Any) -> None:
        """Later entries happened then; an unreadable time keeps the one before."""
        if stamp := iso_time(moment):
            self._time = stamp

    def add(self, entry: UserEntry | AssistantEntry | SystemEntry) -> None:
        """The next entry of the conversation."""
        self.parent = entry.uuid
        self.entries.append(entry)

    def place(self) -> dict[str, Any]:
        """The fields that say where the next entry of the conversation stands."""
        self._count += 1
        prefix, number = self.id_prefix, f"{self._count:012x}"
        return {
            "session_id": self.session_id,
            "timestamp": self.now(),
            "uuid": f"{prefix[:8]}-{prefix[8:12]}-{prefix[12:16]}-{prefix[16:20]}-{number}",
            "parent_uuid": self.parent,
            "is_sidechain": False,
            "user_type": "external",
            "cwd": self.meta.cwd,
            "version": self.meta.version,
            "git_branch": self.meta.branch,
        }

    def now(self) -> str:
        """The time of the next entry; a placeholder while none is known."""
        if not self._time:
            self._undated = len(self.entries) + 1
        return self._time or EPOCH

    def undo(self, turns: int) -> None:
        """The user took back the last turns: their entries leave the conversation."""
        for index in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[index]
            if isinstance(entry, UserEntry) and _is_prompt(entry):
                turns -= 1
                if turns <= 0:
                    self.abandoned.extend(self.entries[index:])
                    del self.entries[index:]
                    self.parent = entry.parent_uuid
                    return

    def transcript(self, path: Path, problems: list[SkippedPiece]) -> ForeignTranscript:
        """Everything collected, with what the entries say about model and times."""
        if self._undated:
            self._date_the_undated(path)
        meta = self.meta
        meta.model = meta.model or self.model
        meta.started = meta.started or next((e.timestamp for e in self.entries if _has_time(e)), "")
        meta.updated = meta.updated or self._time
        return ForeignTranscript(
            agent=self.agent,
            session_id=self.session_id,
            path=path,
            entries=tuple(self.entries),
            meta=meta,
            problems=tuple(problems),
            abandoned=tuple(self.abandoned),
        )

    def _date_the_undated(self, path: Path) -> None:
        """Entries before the first known time take that time; without any, the time of the file."""
        moment = next((entry.timestamp for entry in self.entries[self._undated :] if _has_time(entry)), "")
        moment = moment or self._time or iso_time(modified(path))
        if moment:
            for index, entry in enumerate(self.entries[: self._undated]):
                if _has_time(entry) and entry.timestamp == EPOCH:
                    self.entries[index] = msgspec.structs.replace(entry, timestamp=moment)
            self._time = self._time or moment


def _has_time(entry: Entry) -> TypeGuard[KnownEntry]:
    return not isinstance(entry, OpaqueEntry)


def _is_prompt(entry: UserEntry) -> bool:
    content = entry.message.content
    is_result = not isinstance(content, str) and any(isinstance(part, ToolResultPart) for part in content)
    return not entry.is_meta and not entry.is_compact_summary and not is_result


def _id_prefix(agent: str, session_id: str) -> str:
    return blake2b(f"{agent}:{session_id}".encode("utf-8", "replace"), digest_size=10).hexdigest()


_USAGE_REACH = 40
"""How many entries back the reply may stand that a token count belongs to."""


class Builder(EntryChain):
    """Takes a session as its records tell it, in order."""

    def __init__(self, agent: str, session_id: str, *, cwd: str = "", started: Any = None) -> None:
        super().__init__(agent, session_id, cwd=cwd, started=started)
        self._calls = OpenCalls()
        self._reply = 0
        self._in_reply = False

    def user(self, text: str, *, images: tuple[Part, ...] = (), reading: UserText | None = None) -> None:
        """A text of role user; wrappers come off, and what no person typed is marked."""
        kind, words = reading or read_user_text(text)
        if images and kind == "meta" and not text.strip():
            kind, words = "typed", ""
        if kind == "interrupted":
            self.system("interrupted", words)
        elif kind == "summary":
            self.summary(words)
        elif words.strip() or images:
            content = (*((TextPart(text=words),) if words else ()), *images) if images else words
            self._user_entry(content, is_meta=kind == "meta")

    def meta_text(self, text: str) -> None:
        """A text the model read that a program wrote."""
        if text.strip():
            self._user_entry(text, is_meta=True)

    def summary(self, text: str) -> None:
        """What stands for the history before a boundary."""
        if text.strip():
            self._user_entry(text, is_compact_summary=True)

    def boundary(self, summary: str, **data: Any) -> None:
        """The other agent compacted: the model's view starts anew with a summary."""
        logical, self.parent = self.parent, None
        self.system("compact_boundary", "Conversation compacted", compact=data or {}, logical=logical)
        self.summary(summary)

    def text(self, text: str) -> None:
        """Words of the model."""
        if text.strip():
            self._assistant(TextPart(text=text))

    def reasoning(self, text: str) -> None:
        """Reasoning of the model, for people to read; it is never sent to any provider."""
        if text.strip():
            self._assistant(ReasoningPart(text=text, provider=self.agent))

    def call(self, call_id: str, name: str, arguments: Json, *, raw: str | None = None) -> str:
        """A tool call, under our name where the meaning is clear. Returns the id its result must name."""
        given = call_id or f"{self.id_prefix}-{len(self.entries)}"
        for part in self._calls.announce(given, name, arguments, raw):
            self._assistant(part)
            self._calls.held(given, self.parent)
        return given

    def has_call(self, call_id: str) -> bool:
        """Whether a call of this id was made and still waits for its result."""
        return call_id in self._calls

    def result(
        self,
        call_id: str,
        text: str,
        *,
        is_error: bool = False,
        exit_code: int | None = None,
        diffs: tuple[DiffBlock, ...] = (),
    ) -> None:
        """What a call came to. An exit code other than 0 is an error."""
        settled = self._calls.settle(call_id, text, is_error=is_error, exit_code=exit_code, diffs=diffs)
        for part, display, holder in settled:
            self._user_entry((part,), tool_use_result=display, source_tool_assistant_uuid=holder)

    def usage(self, usage: Usage) -> None:
        """Tokens of the reply that was just read."""
        for index in range(len(self.entries) - 1, max(-1, len(self.entries) - _USAGE_REACH), -1):
            entry = self.entries[index]
            if isinstance(entry, AssistantEntry):
                message = msgspec.structs.replace(entry.message, usage=usage)
                self.entries[index] = msgspec.structs.replace(entry, message=message)
                return

    def system(
        self,
        subtype: str,
        content: str = "",
        *,
        level: str = "info",
        data: Json | None = None,
        compact: Json | None = None,
        logical: EntryId | None = None,
    ) -> None:
        """A note inside the chain that the model does not read."""
        self._in_reply = False
        self.add(
            SystemEntry(
                **self.place(),
                subtype=subtype,
                content=content,
                level=level,
                data=data,
                compact_metadata=compact,
                logical_parent_uuid=logical,
            )
        )

    def error(self, text: str, *, kind: str = "", ends_turn: bool = True) -> None:
        """The provider or the program failed; unless it tried again, that was the end of the turn."""
        self.system("api_error", text, level="error", data={"kind": kind} if kind else None)
        if ends_turn:
            is_limit = any(word in kind.lower() for word in ("quota", "limit"))
            self.turn_result("max_budget" if is_limit else "model_error", 0, error=text)

    def title(self, title: str, *, by_user: bool = False) -> None:
        """The session's title; the last one counts, and one by the user beats the others."""
        if not title.strip():
            return
        if by_user:
            entry = CustomTitleEntry(session_id=self.session_id, timestamp=self.now(), custom_title=title)
        else:
            entry = AiTitleEntry(session_id=self.session_id, timestamp=self.now(), ai_title=title, source="model")
        self.entries.append(entry)
        self.meta.title = title

    def turn_result(self, reason: str, turn: int, *, steps: int = 0, duration_ms: int = 0, error: str = "") -> None:
        """The other agent says how a turn ended."""
        self._in_reply = False
        self.entries.append(
            TurnResultEntry(
                session_id=self.session_id,
                timestamp=self.now(),
                reason=reason,
                turn=turn,
                steps=steps,
                duration_ms=duration_ms,
                error=error,
            )
        )

    def opaque(self, kind: str, raw: Json) -> None:
        """A record of a kind we do not know, kept as it is."""
        self.entries.append(OpaqueEntry(type=kind or "unknown", raw=raw))

    def end_reply(self) -> None:
        """What follows of the model belongs to another reply."""
        self._in_reply = False

    def _user_entry(self, content: str | tuple[Part, ...], **fields: Any) -> None:
        self._in_reply = False
        self.add(UserEntry(**self.place(), message=UserMessage(content=content), **fields))

    def _assistant(self, part: Part) -> None:
        if not self._in_reply:
            self._reply += 1
            self._in_reply = True
        message_id = MessageId(f"msg_{self.id_prefix}_{self._reply}")
        message = AssistantMessage(id=message_id, model=self.model, content=(part,))
        self.add(AssistantEntry(**self.place(), message=message))


def image_part(url: str, media_type: str = "") -> ImagePart:
    """A picture given as a data URL, or by its address, which is kept and never opened."""
    if url.startswith("data:"):
        head, _, data = url.partition(",")
        media = head[5:].partition(";")[0] or media_type or "image/png"
        return ImagePart(source=MediaSource(type="base64", media_type=media, data=data))
    return ImagePart(source=MediaSource(type="url", media_type=media_type, url=url))
