"""The first subscriber: durable events become entries, written before anyone else sees the event."""

from collections.abc import Callable

from clew.host.stamp import Stamp
from clew.protocol.entries import (
    AiTitleEntry,
    ApprovalEntry,
    AssistantEntry,
    BatchLabelEntry,
    CustomTitleEntry,
    KnownEntry,
    LastPromptEntry,
    ModeEntry,
    SideQueryEntry,
    SystemEntry,
    TombstoneEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchLabelled,
    Event,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    RecapReady,
    ReplyWithdrawn,
    SideQueryBooked,
    StepEnded,
    TitleChanged,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import EntryId, MessageId, new_uuid
from clew.protocol.messages import AssistantMessage, Part, UserMessage, text_of
from clew.protocol.usage import Usage
from clew.transcript.errors import LeaseLost
from clew.transcript.writer import TranscriptSink

LAST_PROMPT_CHARS = 500


class Recorder:
    """Turns events into the chain.

    A result hangs under the part that asked, a part under the part before it, whatever finished in between; what
    comes next hangs under the result of the last part. Readers find the results of the other calls beside it.
    """

    def __init__(
        self,
        writer: TranscriptSink,
        stamp: Stamp,
        *,
        leaf: EntryId | None = None,
        last_recap: str = "",
        on_entry: Callable[[KnownEntry], None] | None = None,
        on_lost: Callable[[str], None] | None = None,
    ) -> None:
        """`last_recap`: the text at the leaf, if a recap is the last thing there. `on_lost` is told once, in words,
        when another process has taken the session over."""
        self._writer = writer
        self._on_entry = on_entry
        self._on_lost = on_lost
        self._lost = False
        self.stamp = stamp
        self.leaf = leaf
        self._before_reply = leaf
        self._reply: MessageId | None = None
        self._last_part: EntryId | None = None
        self._reply_model = ""
        self._usage_written = True
        self._last_prompt = ""
        self._recap_at_leaf = last_recap

    def __call__(self, event: Event) -> None:
        """Record one event."""
        match event:
            case PromptAccepted():
                self._prompt(event)
            case PartCompleted():
                self._part(event)
            case ToolEnded():
                self._result(event)
            case ReplyWithdrawn():
                self._withdraw(event)
            case StepEnded():
                self._step_usage(event)
            case TurnEnded():
                self._turn(event)
            case ApprovalRequested() | ApprovalResolved():
                self._approval(event)
            case _:
                self._words(event)

    def _prompt(self, event: PromptAccepted) -> None:
        entry = UserEntry(
            uuid=event.entry_id,
            message=UserMessage(content=event.content),
            is_meta=event.hidden,
            **self.stamp.chain(self.leaf),
        )
        self._chain(entry)
        if not event.hidden:
            self._last_prompt = text_of(event.content)[:LAST_PROMPT_CHARS]
            self._writer.sync()

    def _part(self, event: PartCompleted) -> None:
        if event.message_id != self._reply:
            self._reply = event.message_id
            self._before_reply = self._last_part = self.leaf
        self._reply_model = event.model
        self._usage_written = event.usage is not None
        entry = self._assistant(event.entry_id, self._last_part, (event.part,), event.usage, event.request_id)
        self._chain(entry)
        self._last_part = event.entry_id

    def _assistant(
        self, uuid: EntryId, parent: EntryId | None, content: tuple[Part, ...], usage: Usage | None, request_id: str
    ) -> AssistantEntry:
        message = AssistantMessage(
            id=self._reply or MessageId(""), model=self._reply_model, content=content, usage=usage
        )
        return AssistantEntry(uuid=uuid, message=message, request_id=request_id, **self.stamp.chain(parent))

    def _step_usage(self, event: StepEnded) -> None:
        """A reply that ends with a call is written before its usage is known: a line without content carries it."""
        if event.usage is not None and not self._usage_written and self._reply is not None:
            self._usage_written = True
            entry = self._assistant(EntryId(new_uuid()), self.leaf, (), event.usage, "")
            self._chain(entry)

    def _result(self, event: ToolEnded) -> None:
        display = {"display": list(event.display)} if event.display else None
        entry = UserEntry(
            uuid=event.entry_id,
            message=UserMessage(content=(event.result,)),
            tool_use_result=display,
            source_tool_assistant_uuid=event.parent_entry_id,
            **self.stamp.chain(event.parent_entry_id),
        )
        self._keyed(entry)
        if event.parent_entry_id == self._last_part:
            self.leaf = event.entry_id

    def _withdraw(self, event: ReplyWithdrawn) -> None:
        self.leaf = self._before_reply
        self._reply = None
        self._usage_written = True
        if event.entry_ids:
            self._keyed(TombstoneEntry(targets=event.entry_ids, reason=event.reason, **self.stamp.keyed()))

    def _turn(self, event: TurnEnded) -> None:
        if event.error:
            self._system("api_error", event.error, level="error", data={"reason": event.reason})
        if self._last_prompt:
            self._keyed(LastPromptEntry(last_prompt=self._last_prompt, **self.stamp.keyed()))
        self._keyed(
            TurnResultEntry(
                reason=event.reason,
                turn=event.turn,
                steps=event.steps,
                duration_ms=event.duration_ms,
                cost_usd=event.cost_usd,
                usage=event.usage,
                error=event.error,
                **self.stamp.keyed(),
            )
        )
        self._writer.sync()

    def _approval(self, event: ApprovalRequested | ApprovalResolved) -> None:
        resolved = isinstance(event, ApprovalResolved)
        self._keyed(
            ApprovalEntry(
                request_id=event.request_id,
                call_id=event.call_id,
                tool=event.tool,
                subject=event.subject,
                decision=event.decision if resolved else "pending",
                reason=event.reason if resolved else "",
                rule=event.rule if resolved else "",
                **self.stamp.keyed(),
            )
        )
        if resolved:
            self._writer.sync()

    def _words(self, event: Event) -> None:
        match event:
            case BatchLabelled():
                self._keyed(
                    BatchLabelEntry(
                        call_ids=event.call_ids, label=event.label, source=event.source, **self.stamp.keyed()
                    )
                )
            case TitleChanged(source="user"):
                self._keyed(CustomTitleEntry(custom_title=event.title, **self.stamp.keyed()))
            case TitleChanged(source="facts" | "model" as source):
                self._keyed(AiTitleEntry(ai_title=event.title, source=source, **self.stamp.keyed()))
            case RecapReady() if event.text != self._recap_at_leaf:
                data = {"lastEntryId": event.last_entry_id, "away": event.away, "source": event.source}
                self._system("away_summary", event.text, data=data)
                self._recap_at_leaf = event.text
            case SideQueryBooked():
                self._keyed(
                    SideQueryEntry(
                        purpose=event.purpose,
                        model=event.model,
                        usage=event.usage,
                        cost_usd=event.cost_usd,
                        outcome=event.outcome,
                        **self.stamp.keyed(),
                    )
                )
            case PermissionModeChanged():
                self._keyed(ModeEntry(permission_mode=event.mode, **self.stamp.keyed()))
            case _:
                pass

    def _system(self, subtype: str, content: str, *, level: str = "info", data: dict[str, str] | None = None) -> None:
        entry = SystemEntry(
            uuid=EntryId(new_uuid()),
            subtype=subtype,
            content=content,
            level=level,
            data=data,
            **self.stamp.chain(self.leaf),
        )
        self._chain(entry)

    def _chain(self, entry: UserEntry | AssistantEntry | SystemEntry) -> None:
        self._keyed(entry)
        self.leaf = entry.uuid
        self._recap_at_leaf = ""

    def _keyed(self, entry: KnownEntry) -> None:
        if self._lost:
            return
        try:
            self._writer.append(entry)
        except LeaseLost as lost:
            self._lost = True
            if self._on_lost is not None:
                self._on_lost(str(lost))
            return
        if self._on_entry is not None:
            self._on_entry(entry)
