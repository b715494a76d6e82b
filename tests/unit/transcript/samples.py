"""Small sessions made by hand, for the tests of the log."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clew.protocol.entries import (
    AssistantEntry,
    ContentReplacementEntry,
    Entry,
    SystemEntry,
    TombstoneEntry,
    UserEntry,
)
from clew.protocol.ids import AgentId, CallId, EntryId, MessageId, SessionId
from clew.protocol.messages import AssistantMessage, Part, TextPart, ToolCallPart, ToolResultPart, UserMessage
from clew.protocol.usage import Usage
from clew.transcript.log.codec import encode

SESSION = SessionId("5e55104e-0000-4000-8000-000000000001")


class Script:
    """Builds entries that chain by themselves; ids are readable ("u1", "a2", ...)."""

    def __init__(self, session: SessionId = SESSION, *, sidechain: bool = False, agent: str | None = None) -> None:
        self.session = session
        self.entries: list[Entry] = []
        self.tip: EntryId | None = None
        self._numbers = itertools.count(1)
        self.issued = 0
        self._sidechain = sidechain
        self._agent = AgentId(agent) if agent else None

    def _chain(self, prefix: str, parent: Any, **more: Any) -> dict[str, Any]:
        number = self.issued = next(self._numbers)
        return {
            "session_id": self.session,
            "timestamp": f"2026-11-15T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
            "uuid": EntryId(more.pop("uuid", f"{prefix}{number}")),
            "parent_uuid": self.tip if parent is ... else parent,
            "is_sidechain": self._sidechain,
            "user_type": "external",
            "cwd": "/src/app",
            "version": "0.1.0",
            "agent_id": self._agent,
            **more,
        }

    def _add(self, entry: Any, *, move: bool = True) -> EntryId:
        self.entries.append(entry)
        if move:
            self.tip = entry.uuid
        return entry.uuid

    def user(self, text: str | tuple[Part, ...], *, parent: Any = ..., **more: Any) -> EntryId:
        return self._add(UserEntry(message=UserMessage(content=text), **self._chain("u", parent, **more)))

    def assistant(
        self, *parts: Part | str, parent: Any = ..., message: str = "", usage: Usage | None = None, **more: Any
    ) -> EntryId:
        chain = self._chain("a", parent, **more)
        content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
        reply = AssistantMessage(
            id=MessageId(message or f"msg_{chain['uuid']}"), model="test/model", content=content, usage=usage
        )
        return self._add(AssistantEntry(message=reply, **chain))

    def call(self, call_id: str, *, message: str = "", parent: Any = ..., name: str = "Read", **more: Any) -> EntryId:
        part = ToolCallPart(id=CallId(call_id), name=name, arguments={"path": f"{call_id}.py"})
        return self.assistant(part, message=message, parent=parent, **more)

    def result(self, call_id: str, text: str = "done", *, parent: Any = ..., **more: Any) -> EntryId:
        part = ToolResultPart(call_id=CallId(call_id), content=text)
        return self.user((part,), parent=parent, **more)

    def system(self, subtype: str, *, parent: Any = ..., **more: Any) -> EntryId:
        return self._add(SystemEntry(subtype=subtype, **self._chain("s", parent, **more)))

    def boundary(self, summary: str = "Summary so far.", **metadata: Any) -> EntryId:
        boundary = self.system(
            "compact_boundary",
            parent=None,
            logical_parent_uuid=self.tip,
            content="Conversation compacted",
            compact_metadata={"trigger": "manual", **metadata},
        )
        self.user(summary, is_compact_summary=True)
        return boundary

    def tombstone(self, *targets: str) -> None:
        self.entries.append(
            TombstoneEntry(
                session_id=self.session,
                timestamp="2026-11-15T10:00:00.000Z",
                targets=tuple(EntryId(target) for target in targets),
                reason="stream broke",
            )
        )

    def replacement(self, call_id: str, text: str) -> None:
        self.entries.append(
            ContentReplacementEntry(
                session_id=self.session, timestamp="2026-11-15T10:00:00.000Z", call_id=CallId(call_id), replacement=text
            )
        )

    def lines(self) -> list[bytes]:
        return [encode(entry) for entry in self.entries]

    def write(self, directory: Path, name: str = "") -> Path:
        return write_lines(directory / f"{name or self.session}.jsonl", self.lines())


def write_lines(path: Path, lines: Iterable[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path
