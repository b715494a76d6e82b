"""Events as stream-json lines, in the shape that hosts of such agents already read."""

from typing import Any

import msgspec

from clew.protocol.events import (
    BatchLabelled,
    Event,
    Notice,
    PartCompleted,
    PromptAccepted,
    ReplyWithdrawn,
    RetryScheduled,
    SessionStarted,
    TextDelta,
    ToolEnded,
)
from clew.protocol.messages import AssistantMessage, UserMessage


class StreamJson:
    """One line per event that matters outside; partial text only when asked for."""

    def __init__(self, *, partial: bool) -> None:
        self._partial = partial
        self._session = ""

    def line(self, event: Event) -> dict[str, Any] | None:
        """The document for an event, or None."""
        match event:
            case SessionStarted():
                self._session = event.session_id
                return {
                    "type": "system",
                    "subtype": "init",
                    "session_id": event.session_id,
                    "cwd": event.cwd,
                    "model": event.model,
                    "permissionMode": event.permission_mode,
                    "tools": list(event.tools),
                    "clew_version": event.version,
                }
            case PartCompleted():
                message = AssistantMessage(id=event.reply_id, model=event.model, content=(event.part,))
                return self._message("assistant", message, event.entry_id)
            case ToolEnded():
                return self._message("user", UserMessage(content=(event.result,)), event.entry_id)
            case PromptAccepted() if event.hidden or event.queued:
                line = self._message("user", UserMessage(content=event.content), event.entry_id)
                return {**line, "isMeta": event.hidden}
            case BatchLabelled():
                return {
                    "type": "tool_use_summary",
                    "summary": event.label,
                    "preceding_tool_use_ids": list(event.call_ids),
                    "source": event.source,
                    "session_id": self._session,
                }
            case TextDelta() if self._partial:
                delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": event.text}}
                return {"type": "stream_event", "event": delta, "session_id": self._session}
            case _:
                return self._system(event)

    def _message(self, kind: str, message: AssistantMessage | UserMessage, uuid: str) -> dict[str, Any]:
        return {
            "type": kind,
            "message": msgspec.to_builtins(message),
            "parent_tool_use_id": None,
            "session_id": self._session,
            "uuid": uuid,
        }

    def _system(self, event: Event) -> dict[str, Any] | None:
        match event:
            case RetryScheduled():
                details: dict[str, Any] = {
                    "subtype": "api_retry",
                    "attempt": event.attempt,
                    "max_retries": event.max_attempts,
                    "retry_delay_ms": int(event.delay_s * 1000),
                    "error": event.reason,
                }
            case ReplyWithdrawn():
                details = {"subtype": "reply_withdrawn", "uuids": list(event.entry_ids), "reason": event.reason}
            case Notice():
                details = {"subtype": "notice", "level": event.level, "text": event.text, "code": event.code}
            case _:
                return None
        return {"type": "system", **details, "session_id": self._session}
