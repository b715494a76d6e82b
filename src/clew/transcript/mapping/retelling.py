"""Entries back into events: what was told when a line was written. Pure, and the inverse of `recording`."""

from typing import Any, cast, get_args

import msgspec

from clew.protocol.display import Block, ChangesBlock, DiffBlock, TerminalBlock
from clew.protocol.entries import (
    AiTitleEntry,
    ApprovalEntry,
    AssistantEntry,
    BatchLabelEntry,
    ContentReplacementEntry,
    CustomTitleEntry,
    Entry,
    EventEntry,
    ModeEntry,
    ResultDetails,
    SideQueryEntry,
    SystemEntry,
    TombstoneEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.event_kinds.turns import TurnEndReason
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchLabelled,
    Durable,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    RangeSnipped,
    RecapReady,
    ReplyWithdrawn,
    ResultReplaced,
    ShellEnded,
    SideQueryBooked,
    TitleChanged,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.messages import ToolResultPart
from clew.transcript.chain.links import withdrawn_by

_REASONS: frozenset[str] = frozenset(get_args(TurnEndReason))


def events_of(entry: Entry) -> tuple[Durable, ...]:
    """What was told when this line was written, as far as the line says; nothing for lines that only serve readers."""
    match entry:
        case EventEntry():
            return (entry.event,)
        case UserEntry():
            return _from_user(entry)
        case AssistantEntry():
            return _from_assistant(entry)
        case SystemEntry(subtype="away_summary"):
            return (_recap_of(entry),)
        case SystemEntry(subtype="snip_boundary"):
            return (_snipped(entry),)
        case TombstoneEntry():
            reply = _id(entry.reply_id)
            withdrawn = ReplyWithdrawn(reply_id=reply, entry_ids=entry.targets, reason=entry.reason, words=entry.words)
            return (withdrawn,)
        case TurnResultEntry():
            return (_turn_of(entry),)
        case _:
            return _from_keyed(entry)


def _from_user(entry: UserEntry) -> tuple[Durable, ...]:
    content = entry.message.content
    if entry.origin == "shell" and (typed := _typed_of(entry)) is not None:
        return (typed,)
    results = () if isinstance(content, str) else tuple(part for part in content if isinstance(part, ToolResultPart))
    if not results:
        prompt = PromptAccepted(
            entry_id=entry.uuid,
            parent_id=entry.parent_uuid,
            content=content,
            origin=entry.origin,
            hidden=entry.is_meta or entry.is_compact_summary,
            continues=entry.continues,
            queued=entry.queued,
            prompt_id=entry.prompt_id,
            notices=entry.notices,
        )
        return (prompt,)
    details = details_of(entry.tool_use_result)
    parent = entry.source_tool_assistant_uuid or entry.parent_uuid or entry.uuid
    return tuple(
        ToolEnded(
            entry_id=entry.uuid,
            parent_id=parent,
            name=details.name,
            result=result,
            display=details.display,
            duration_ms=details.duration_ms,
            refused=details.refused,
            stopped=details.stopped,
        )
        for result in results
    )


def _typed_of(entry: UserEntry) -> ShellEnded | None:
    """A command of the user's own; None where the line does not say what it was."""
    details = details_of(entry.tool_use_result)
    block = next((item for item in details.display if isinstance(item, TerminalBlock)), None)
    if block is None:
        return None
    return ShellEnded(
        request_id=_id(details.request_id),
        entry_id=entry.uuid,
        parent_id=entry.parent_uuid,
        command=block.command,
        output=block.output,
        exit_code=block.exit_code,
        changes=next((item for item in details.display if isinstance(item, ChangesBlock)), None),
        diffs=tuple(item for item in details.display if isinstance(item, DiffBlock)),
    )


def details_of(stored: Any) -> ResultDetails:
    """Our details of a result; empty ones for what another program wrote."""
    try:
        return msgspec.convert(stored, ResultDetails) if isinstance(stored, dict) else ResultDetails()
    except msgspec.ValidationError:
        return ResultDetails()


def display_of(entry: UserEntry) -> tuple[Block, ...]:
    """What people see of a tool result."""
    return details_of(entry.tool_use_result).display


def _from_assistant(entry: AssistantEntry) -> tuple[Durable, ...]:
    if entry.is_api_error_message:
        return ()
    return tuple(
        PartCompleted(
            entry_id=entry.uuid,
            parent_id=entry.parent_uuid,
            reply_id=entry.message.id,
            part_number=entry.part_number + offset,
            model=entry.message.model,
            part=part,
            provider_message_id=entry.provider_message_id,
            request_id=entry.request_id,
        )
        for offset, part in enumerate(entry.message.content)
    )


def _recap_of(entry: SystemEntry) -> RecapReady:
    data = entry.data or {}
    return RecapReady(
        text=entry.content,
        entry_id=entry.uuid,
        parent_id=entry.parent_uuid,
        away=str(data.get("away") or ""),
        last_entry_id=_id(str(data.get("lastEntryId") or "")),
        source="model" if data.get("source") == "model" else "facts",
        why=str(data.get("why") or ""),
    )


def _snipped(entry: SystemEntry) -> RangeSnipped:
    freed = (entry.data or {}).get("tokensFreed")
    return RangeSnipped(
        entry_id=entry.uuid,
        parent_id=entry.parent_uuid,
        removed=tuple(sorted(withdrawn_by(entry))),
        tokens_freed=freed if isinstance(freed, int) else 0,
    )


def _turn_of(entry: TurnResultEntry) -> TurnEnded:
    reason = cast("TurnEndReason", entry.reason if entry.reason in _REASONS else "model_error")
    return TurnEnded(
        turn=entry.turn,
        reason=reason,
        by="session" if entry.by == "session" else "",
        steps=entry.steps,
        duration_ms=entry.duration_ms,
        waited_ms=entry.waited_ms,
        usage=entry.usage,
        cost_usd=entry.cost_usd,
        error=entry.error,
        entry_id=entry.note,
    )


def _from_keyed(entry: Entry) -> tuple[Durable, ...]:
    match entry:
        case ContentReplacementEntry():
            return (
                ResultReplaced(call_id=entry.call_id, replacement=entry.replacement, keeps_media=entry.keeps_media),
            )
        case ApprovalEntry():
            return (_approval_of(entry),)
        case BatchLabelEntry():
            return (BatchLabelled(call_ids=entry.call_ids, label=entry.label, source=entry.source),)
        case CustomTitleEntry():
            return (TitleChanged(title=entry.custom_title, source="user"),)
        case AiTitleEntry():
            return (TitleChanged(title=entry.ai_title, source=entry.source),)
        case SideQueryEntry():
            booked = SideQueryBooked(
                purpose=entry.purpose,
                model=entry.model,
                usage=entry.usage,
                cost_usd=entry.cost_usd,
                outcome=entry.outcome,
            )
            return (booked,)
        case ModeEntry():
            return (PermissionModeChanged(mode=entry.permission_mode),)
        case _:
            return ()


def _approval_of(entry: ApprovalEntry) -> ApprovalRequested | ApprovalResolved:
    if entry.decision == "pending":
        return ApprovalRequested(
            request_id=entry.request_id,
            call_id=entry.call_id,
            tool=entry.tool,
            subject=entry.subject,
            why=entry.reason,
        )
    return ApprovalResolved(
        request_id=entry.request_id,
        call_id=entry.call_id,
        tool=entry.tool,
        subject=entry.subject,
        decision=entry.decision,
        by=entry.by,
        reason=entry.reason,
        rule=entry.rule,
        scope=entry.scope,
        saved_in=entry.saved_in,
        via=entry.via,
    )


def _id(text: str) -> Any:
    """An id of whatever kind the field has."""
    return text
