"""Events into entries and back: the one mapping between what is told and what is kept. Pure in both directions."""

from typing import Any, cast, get_args

import msgspec

from clew.protocol.display import Block
from clew.protocol.entries import (
    AiTitleEntry,
    ApprovalEntry,
    AssistantEntry,
    BatchLabelEntry,
    ContentReplacementEntry,
    CustomTitleEntry,
    Entry,
    EventEntry,
    KnownEntry,
    ModeEntry,
    ResultDetails,
    SideQueryEntry,
    SystemEntry,
    TombstoneEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    AttemptEnded,
    BatchLabelled,
    CompactionEnded,
    Durable,
    DurableEvent,
    Event,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    RecapReady,
    ReplyWithdrawn,
    ResultReplaced,
    SideQueryBooked,
    TitleChanged,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.messages import AssistantMessage, ToolResultPart, UserMessage
from clew.protocol.turn_events import TurnEndReason
from clew.transcript.links import BOUNDARY
from clew.transcript.stamp import Stamp

RECAP = "away_summary"
FAILURE = "api_error"
_REASONS: frozenset[str] = frozenset(get_args(TurnEndReason))


def entries_of(event: Event, stamp: Stamp) -> tuple[KnownEntry, ...]:
    """The lines that keep an event; none for live ones."""
    match event:
        case PromptAccepted() | PartCompleted() | ToolEnded() | AttemptEnded() | TurnEnded() | RecapReady():
            return _spoken(event, stamp)
        case CompactionEnded():
            return (_boundary(event, stamp), EventEntry(event=event, **stamp.keyed()))
        case ReplyWithdrawn():
            if not event.entry_ids:
                return ()  # only words that were never written
            withdrawn = TombstoneEntry(
                targets=event.entry_ids, reason=event.reason, reply_id=event.reply_id, **stamp.keyed()
            )
            return (withdrawn,)
        case DurableEvent():
            return (_keyed(event, stamp),)
        case _:
            return ()


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
        case TombstoneEntry():
            return (ReplyWithdrawn(reply_id=_id(entry.reply_id), entry_ids=entry.targets, reason=entry.reason),)
        case TurnResultEntry():
            return (_turn_of(entry),)
        case _:
            return _from_keyed(entry)


def _spoken(
    event: PromptAccepted | PartCompleted | ToolEnded | AttemptEnded | TurnEnded | RecapReady, stamp: Stamp
) -> tuple[KnownEntry, ...]:
    match event:
        case PromptAccepted():
            prompt = UserEntry(
                uuid=event.entry_id,
                message=UserMessage(content=event.content),
                is_meta=event.hidden,
                origin=event.origin,
                continues=event.continues,
                queued=event.queued,
                **stamp.chain(event.parent_id),
            )
            return (prompt,)
        case PartCompleted():
            part = AssistantEntry(
                uuid=event.entry_id,
                message=AssistantMessage(id=event.reply_id, model=event.model, content=(event.part,)),
                request_id=event.request_id,
                provider_message_id=event.provider_message_id,
                part_number=event.part_number,
                **stamp.chain(event.parent_id),
            )
            return (part,)
        case ToolEnded():
            details = ResultDetails(
                display=event.display, name=event.name, duration_ms=event.duration_ms, refused=event.refused
            )
            result = UserEntry(
                uuid=event.entry_id,
                message=UserMessage(content=(event.result,)),
                tool_use_result=msgspec.to_builtins(details),
                source_tool_assistant_uuid=event.parent_id,
                **stamp.chain(event.parent_id),
            )
            return (result,)
        case AttemptEnded():
            booked = EventEntry(event=event, **stamp.keyed())
            if not event.entry_id or event.usage is None:
                return (booked,)
            message = AssistantMessage(id=event.reply_id, model=event.model, content=(), usage=event.usage)
            carrier = AssistantEntry(uuid=event.entry_id, message=message, **stamp.chain(event.parent_id))
            return (carrier, booked)
        case TurnEnded():
            return _turn(event, stamp)
        case RecapReady():
            if not event.entry_id:
                return ()  # the log already ends with these words
            data = {"lastEntryId": event.last_entry_id, "away": event.away, "source": event.source}
            if event.why:
                data["why"] = event.why
            recap = SystemEntry(
                uuid=event.entry_id, subtype=RECAP, content=event.text, data=data, **stamp.chain(event.parent_id)
            )
            return (recap,)


def _turn(event: TurnEnded, stamp: Stamp) -> tuple[KnownEntry, ...]:
    result = TurnResultEntry(
        reason=event.reason,
        turn=event.turn,
        steps=event.steps,
        duration_ms=event.duration_ms,
        waited_ms=event.waited_ms,
        cost_usd=event.cost_usd,
        usage=event.usage,
        error=event.error,
        note=event.entry_id,
        **stamp.keyed(),
    )
    if not event.entry_id:
        return (result,)
    note = SystemEntry(
        uuid=event.entry_id,
        subtype=FAILURE,
        content=event.error,
        level="error",
        data={"reason": event.reason},
        **stamp.chain(event.parent_id),
    )
    return (note, result)


def _boundary(event: CompactionEnded, stamp: Stamp) -> SystemEntry:
    return SystemEntry(
        uuid=event.entry_id,
        subtype=BOUNDARY,
        logical_parent_uuid=event.logical_parent_id,
        compact_metadata={"trigger": event.kind, "preTokens": event.tokens_before},
        **stamp.chain(None),
    )


def _keyed(event: DurableEvent, stamp: Stamp) -> KnownEntry:
    match event:
        case ResultReplaced():
            return ContentReplacementEntry(call_id=event.call_id, replacement=event.replacement, **stamp.keyed())
        case ApprovalRequested() | ApprovalResolved():
            resolved = isinstance(event, ApprovalResolved)
            return ApprovalEntry(
                request_id=event.request_id,
                call_id=event.call_id,
                tool=event.tool,
                subject=event.subject,
                decision=event.decision if resolved else "pending",
                by=event.by if resolved else "user",
                reason=event.reason if resolved else event.why,
                rule=event.rule if resolved else "",
                **stamp.keyed(),
            )
        case BatchLabelled():
            return BatchLabelEntry(call_ids=event.call_ids, label=event.label, source=event.source, **stamp.keyed())
        case TitleChanged(source="user"):
            return CustomTitleEntry(custom_title=event.title, **stamp.keyed())
        case TitleChanged():
            source = "model" if event.source == "model" else "facts"
            return AiTitleEntry(ai_title=event.title, source=source, **stamp.keyed())
        case SideQueryBooked():
            return SideQueryEntry(
                purpose=event.purpose,
                model=event.model,
                usage=event.usage,
                cost_usd=event.cost_usd,
                outcome=event.outcome,
                **stamp.keyed(),
            )
        case PermissionModeChanged():
            return ModeEntry(permission_mode=event.mode, **stamp.keyed())
        case _:
            return EventEntry(event=cast("Durable", event), **stamp.keyed())


def _from_user(entry: UserEntry) -> tuple[Durable, ...]:
    content = entry.message.content
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
        )
        for result in results
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


def _turn_of(entry: TurnResultEntry) -> TurnEnded:
    reason = cast("TurnEndReason", entry.reason if entry.reason in _REASONS else "model_error")
    return TurnEnded(
        turn=entry.turn,
        reason=reason,
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
            return (ResultReplaced(call_id=entry.call_id, replacement=entry.replacement),)
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
    )


def _id(text: str) -> Any:
    """An id of whatever kind the field has."""
    return text
