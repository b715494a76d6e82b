"""Events into entries: the one mapping from what is told to what is kept. Pure; `retelling` is its inverse."""

from typing import Any

import msgspec

from clew.protocol.display import TerminalBlock
from clew.protocol.entries import (
    AiTitleEntry,
    ApprovalEntry,
    AssistantEntry,
    BatchLabelEntry,
    ContentReplacementEntry,
    CustomTitleEntry,
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
    DurableEvent,
    Event,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
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
from clew.protocol.messages import AssistantMessage, UserMessage
from clew.transcript.chain.links import BOUNDARY, SNIP
from clew.transcript.log.stamp import Stamp
from clew.transcript.mapping.typed_text import shell_words

RECAP = "away_summary"
FAILURE = "api_error"
TYPED = "!"
"""The name under which a command of the user's own is kept."""


def entries_of(event: Event, stamp: Stamp) -> tuple[KnownEntry, ...]:
    """The lines that keep an event; none for live ones."""
    match event:
        case PromptAccepted() | PartCompleted() | ToolEnded() | AttemptEnded() | TurnEnded() | RecapReady():
            return _spoken(event, stamp)
        case ShellEnded():
            return (_typed(event, stamp),)
        case CompactionEnded():
            return _compacted(event, stamp)
        case RangeSnipped():
            return (_snip(event, stamp),)
        case ReplyWithdrawn():
            if not event.entry_ids and not event.words:
                return ()  # nobody saw anything of it
            withdrawn = TombstoneEntry(
                targets=event.entry_ids,
                reason=event.reason,
                reply_id=event.reply_id,
                words=event.words,
                **stamp.keyed(),
            )
            return (withdrawn,)
        case PromptQueued() | PromptWithdrawn() if not event.kept:
            return ()  # it joins at once, or nobody typed it
        case DurableEvent():
            return (_keyed(event, stamp),)
        case _:
            return ()


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
                prompt_id=event.prompt_id,
                notices=event.notices,
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
                display=event.display,
                name=event.name,
                duration_ms=event.duration_ms,
                refused=event.refused,
                stopped=event.stopped,
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


def _typed(event: ShellEnded, stamp: Stamp) -> UserEntry:
    """A command of the user's own, in the form that readers of such files know; no prompt, so never a goal."""
    block = TerminalBlock(command=event.command, output=event.output, exit_code=event.exit_code)
    display = (block, *event.diffs) if event.changes is None else (block, *event.diffs, event.changes)
    details = ResultDetails(display=display, name=TYPED, request_id=event.request_id)
    return UserEntry(
        uuid=event.entry_id,
        message=UserMessage(content=shell_words(event.command, event.output, event.exit_code)),
        origin="shell",
        tool_use_result=msgspec.to_builtins(details),
        **stamp.chain(event.parent_id),
    )


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
        by=event.by,
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


def _compacted(event: CompactionEnded, stamp: Stamp) -> tuple[KnownEntry, ...]:
    """In this order: until the summary stands under it, a boundary changes nothing (tests/unit/transcript)."""
    about: dict[str, Any] = {"trigger": "auto" if event.kind in ("predictive", "reactive") else event.kind}
    about["preTokens"] = event.tokens_before
    if event.kept is not None:
        segment = {"headUuid": event.kept.head, "anchorUuid": event.summary_id, "tailUuid": event.kept.tail}
        about["preservedSegment"] = segment
    boundary = SystemEntry(
        uuid=event.entry_id,
        subtype=BOUNDARY,
        logical_parent_uuid=event.logical_parent_id,
        compact_metadata=about,
        **stamp.chain(None),
    )
    receipt = EventEntry(event=msgspec.structs.replace(event, summary=()), **stamp.keyed())
    if event.summary_id is None:
        return (boundary, receipt)
    summary = UserEntry(
        uuid=event.summary_id,
        message=UserMessage(content=event.summary),
        is_compact_summary=True,
        is_meta=True,
        origin="clew",
        **stamp.chain(event.entry_id),
    )
    return (boundary, summary, receipt)


def _snip(event: RangeSnipped, stamp: Stamp) -> SystemEntry:
    return SystemEntry(
        uuid=event.entry_id,
        subtype=SNIP,
        data={"removedUuids": list(event.removed), "tokensFreed": event.tokens_freed},
        **stamp.chain(event.parent_id),
    )


def _keyed(event: DurableEvent, stamp: Stamp) -> KnownEntry:
    match event:
        case ResultReplaced():
            return ContentReplacementEntry(
                call_id=event.call_id,
                replacement=event.replacement,
                keeps_media=event.keeps_media,
                **stamp.keyed(),
            )
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
                scope=event.scope if resolved else "",
                saved_in=event.saved_in if resolved else "",
                via=event.via if resolved else "",
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
            return EventEntry(event=event, **stamp.keyed())
