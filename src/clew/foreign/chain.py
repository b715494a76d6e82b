"""Where entries stand: stable ids derived from the session and the position, parents, times that never run empty."""

from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeGuard

import msgspec

from clew.foreign.listing import modified
from clew.foreign.session import ForeignMeta, ForeignTranscript, Problem
from clew.foreign.shapes import iso_time
from clew.protocol.entries import AssistantEntry, Entry, KnownEntry, OpaqueEntry, SystemEntry, UserEntry
from clew.protocol.ids import EntryId, SessionId
from clew.protocol.messages import ToolResultPart

EPOCH = "1970-01-01T00:00:00.000Z"


class Chain:
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

    def transcript(self, path: Path, problems: list[Problem]) -> ForeignTranscript:
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
