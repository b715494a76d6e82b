"""A small way to write sessions: every line of a talk becomes entries, ids count up."""

from typing import Any

from clew.ledger.facts import Ledger
from clew.ledger.fold import LedgerFold, fold
from clew.protocol.entries import (
    ApprovalEntry,
    AssistantEntry,
    Entry,
    SystemEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.ids import CallId, EntryId, MessageId, RequestId, SessionId
from clew.protocol.messages import AssistantMessage, TextPart, ToolCallPart, ToolResultPart, UserMessage
from clew.protocol.usage import Usage

SESSION = SessionId("11111111-2222-4333-8444-555555555555")


class Talk:
    """Collects entries; each method appends and returns the talk."""

    def __init__(self, cwd: str = "/home/ann/parcels") -> None:
        self.entries: list[Entry] = []
        self._cwd = cwd
        self._number = 0
        self._calls = 0
        self._last: EntryId | None = None

    def _chain(self, parent: str | None = None) -> dict[str, Any]:
        self._number += 1
        uuid = EntryId(f"e{self._number}")
        base = {
            "session_id": SESSION,
            "timestamp": f"2026-03-01T10:{self._number // 60:02d}:{self._number % 60:02d}.000Z",
            "uuid": uuid,
            "parent_uuid": parent or self._last,
            "is_sidechain": False,
            "user_type": "external",
            "cwd": self._cwd,
            "version": "1",
        }
        self._last = uuid
        return base

    def user(self, text: str, *, meta: bool = False, parent: str | None = None) -> "Talk":
        self.entries.append(UserEntry(message=UserMessage(content=text), is_meta=meta, **self._chain(parent)))
        return self

    def agent(self, text: str, *, usage: Usage | None = None, message: str = "m") -> "Talk":
        said = AssistantMessage(
            id=MessageId(message), model="scripted/one", content=(TextPart(text=text),), usage=usage
        )
        self.entries.append(AssistantEntry(message=said, **self._chain()))
        return self

    def call(self, name: str, **arguments: Any) -> "Talk":
        self._calls += 1
        part = ToolCallPart(id=CallId(f"c{self._calls}"), name=name, arguments=arguments)
        said = AssistantMessage(id=MessageId("m"), model="scripted/one", content=(part,))
        self.entries.append(AssistantEntry(message=said, **self._chain()))
        return self

    def result(self, text: str = "ok", *, error: bool = False, extra: Any = None, call: str = "") -> "Talk":
        part = ToolResultPart(call_id=CallId(call or f"c{self._calls}"), content=text, is_error=error)
        self.entries.append(UserEntry(message=UserMessage(content=(part,)), tool_use_result=extra, **self._chain()))
        return self

    def bash(self, command: str, output: str = "", *, error: bool = False) -> "Talk":
        return self.call("Bash", command=command).result(output, error=error)

    def edit(self, path: str, old: str = "a", new: str = "b", *, error: bool = False) -> "Talk":
        return self.call("Edit", file_path=path, old_string=old, new_string=new).result(error=error)

    def write(self, path: str, content: str) -> "Talk":
        return self.call("Write", file_path=path, content=content).result(f"File created successfully at: {path}")

    def note(self, subtype: str, content: str = "", **more: Any) -> "Talk":
        self.entries.append(SystemEntry(subtype=subtype, content=content, **more, **self._chain()))
        return self

    def ended(self, reason: str = "completed", *, error: str = "", cost: float | None = None) -> "Talk":
        self.entries.append(
            TurnResultEntry(
                session_id=SESSION,
                timestamp="2026-03-01T11:00:00.000Z",
                reason=reason,
                turn=1,
                steps=1,
                duration_ms=1500,
                cost_usd=cost,
                error=error,
            )
        )
        return self

    def approval(self, decision: Any, tool: str = "Bash", subject: str = "rm -rf build", *, by: Any = "user") -> "Talk":
        self.entries.append(
            ApprovalEntry(
                session_id=SESSION,
                timestamp="2026-03-01T11:00:00.000Z",
                request_id=RequestId("r1"),
                call_id=CallId(f"c{self._calls}"),
                tool=tool,
                subject=subject,
                decision=decision,
                by=by,
            )
        )
        return self

    def add(self, entry: Entry) -> "Talk":
        self.entries.append(entry)
        return self

    def ledger(self) -> Ledger:
        return fold(self.entries)

    def folding(self) -> LedgerFold:
        made = LedgerFold()
        for entry in self.entries:
            made.feed(entry)
        return made
