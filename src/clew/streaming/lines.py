"""The events of a session as the lines that programs read: one fold for `-p`, for a dialogue and for the SDK."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from clew import __version__
from clew.protocol.entries import ResultDetails
from clew.protocol.event_kinds.programs import McpState
from clew.protocol.events import (
    ArgumentsDelta,
    Ask,
    AttemptEnded,
    BatchLabelled,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Envelope,
    HookCalled,
    HookRan,
    ModelChanged,
    Notice,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    ReasoningDelta,
    RecapReady,
    ReplyBegan,
    ReplyReceived,
    ReplyWithdrawn,
    RetryScheduled,
    SessionStarted,
    StepStarted,
    TextDelta,
    TitleChanged,
    ToolEnded,
    ToolProgress,
    ToolStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, new_uuid
from clew.protocol.invocables import InvocableRow
from clew.streaming.content import content_of, input_of
from clew.streaming.replies import Follower, ReplyLines
from clew.streaming.shapes.stream import (
    BoundaryLine,
    CompactMetadata,
    HookLine,
    InitLine,
    NoticeLine,
    RecapLine,
    RetryLine,
    ServerStatus,
    StateLine,
    StatusLine,
    StreamLine,
    TitleLine,
    ToolProgressLine,
    ToolSummaryLine,
    UserLine,
    WithdrawnLine,
)
from clew.streaming.shapes.stream_content import InputMessage
from clew.streaming.states import ActivityFold
from clew.streaming.tasks import TaskLines, seconds_between

SERVER_STATES: dict[McpState, str] = {
    "ready": "connected",
    "failed": "failed",
    "needs_auth": "needs-auth",
    "waiting": "pending",
    "connecting": "pending",
    "unapproved": "pending",
    "untrusted": "disabled",
    "off": "disabled",
}
"""Our states in the words that programs know."""
ASKS = (Ask, HookCalled)
"""What a host may pass on as a request of its own: the call that it is about must have been told by then."""
PROGRESS_EVERY_S = 10.0


class Names(NamedTuple):
    """What the user brought, as the first line tells it."""

    slash_commands: tuple[str, ...]
    skills: tuple[str, ...]


def names_of(rows: tuple[InvocableRow, ...]) -> Names:
    """All slash names, and those of skills once more."""
    return Names(tuple(row.name for row in rows), tuple(row.name for row in rows if row.kind == "skill"))


class StreamLines:
    """`lines(envelope)` for every envelope, in order. It writes no result: that is the outcome's."""

    def __init__(
        self,
        *,
        partial: bool = False,
        hooks: bool = False,
        replay_prompts: bool = False,
        session_state: bool = False,
        nobody_is_asked: bool = False,
        slash_commands: tuple[str, ...] = (),
    ) -> None:
        """`partial`: how replies grow; `hooks`: what hooks said; `replay_prompts`: each prompt that was taken;
        `session_state`: whether work is under way; `nobody_is_asked`: no request about a call goes the same way, so
        that its line need not be there first."""
        self._partial = partial
        self._hooks = hooks
        self._replay_prompts = replay_prompts
        self._activity = ActivityFold() if session_state else None
        self._asks = () if nobody_is_asked else ASKS
        self._slash_commands = slash_commands
        self._replies: dict[AgentId, ReplyLines] = {}
        self._running: dict[tuple[AgentId, CallId], tuple[str, str, float]] = {}
        """Name and start of calls that run, and for how long when it was last told."""
        self._tasks = TaskLines()

    def lines(self, envelope: Envelope) -> Iterator[StreamLine]:
        """What one event is to a reader: usually nothing or one line."""
        if envelope.agent != MAIN_AGENT and envelope.parent_call is None:
            return  # nothing a reader could attach it to
        if isinstance(envelope.event, SessionStarted):
            self._replies.clear()
        replies = self._replies_of(envelope)
        event = envelope.event
        match event:
            case ReplyBegan():
                yield from replies.began(event)
            case TextDelta() | ReasoningDelta() | ArgumentsDelta():
                yield from replies.grew(event)
            case PartCompleted():
                yield from replies.completed(event)
            case ReplyReceived():
                yield from replies.received(event)
            case AttemptEnded():
                yield from replies.ended(event)
                yield from self._tasks.lines(envelope)
            case ReplyWithdrawn():
                yield from replies.broken_off()
                yield self._withdrawn(envelope, event)
            case StepStarted():
                replies.model = event.model
            case _:
                if isinstance(event, self._asks):
                    yield from replies.settled()
                for line in self._conversation(envelope):
                    yield from replies.followed(line)
                if envelope.agent == MAIN_AGENT:
                    yield from self._about_the_session(envelope)
                    yield from self._remarks(envelope)
                yield from self._tasks.lines(envelope)
                yield from self._state(envelope)

    def _replies_of(self, envelope: Envelope) -> ReplyLines:
        known = self._replies.get(envelope.agent)
        if known is None:
            known = ReplyLines(envelope.session_id, envelope.parent_call, partial=self._partial)
            self._replies[envelope.agent] = known
        return known

    def _withdrawn(self, envelope: Envelope, event: ReplyWithdrawn) -> WithdrawnLine:
        return WithdrawnLine(
            session_id=envelope.session_id,
            uuid=new_uuid(),
            message_id=event.reply_id,
            uuids=event.entry_ids,
            reason=event.reason,
        )

    def _conversation(self, envelope: Envelope) -> Iterator[Follower]:
        """What stands between replies; all that is told of an agent which a call started, but for its replies."""
        event, session, parent = envelope.event, envelope.session_id, envelope.parent_call
        match event:
            case ToolStarted():
                self._running[envelope.agent, event.call.id] = (event.call.name, envelope.at, 0.0)
            case ToolProgress():
                yield from self._progress(envelope, event)
            case ToolEnded():
                self._running.pop((envelope.agent, event.result.call_id), None)
                yield UserLine(
                    session_id=session,
                    uuid=event.entry_id,
                    message=InputMessage(content=(content_of(event.result),)),
                    parent_tool_use_id=parent,
                    tool_use_result=ResultDetails(
                        display=event.display,
                        name=event.name,
                        duration_ms=event.duration_ms,
                        refused=event.refused,
                        stopped=event.stopped,
                    ),
                )
            case PromptAccepted() if event.hidden or event.queued or self._replay_prompts:
                replayed = self._replay_prompts and not event.hidden
                yield UserLine(
                    session_id=session,
                    uuid=event.entry_id,
                    message=InputMessage(content=input_of(event.content)),
                    parent_tool_use_id=parent,
                    is_meta=event.hidden,
                    is_replay=True if replayed else UNSET,
                    prompt_id=event.prompt_id or UNSET,
                )
            case _:
                pass

    def _progress(self, envelope: Envelope, event: ToolProgress) -> Iterator[ToolProgressLine]:
        name, started, told_s = self._running.get((envelope.agent, event.call_id), ("", envelope.at, 0.0))
        elapsed_s = seconds_between(started, envelope.at)
        if not self._partial and elapsed_s - told_s < PROGRESS_EVERY_S:
            return
        self._running[envelope.agent, event.call_id] = (name, started, elapsed_s)
        yield ToolProgressLine(
            session_id=envelope.session_id,
            uuid=new_uuid(),
            tool_use_id=event.call_id,
            tool_name=name,
            elapsed_time_seconds=elapsed_s,
            parent_tool_use_id=envelope.parent_call,
            text=event.text if self._partial else "",
        )

    def _about_the_session(self, envelope: Envelope) -> Iterator[StreamLine]:
        event, session = envelope.event, envelope.session_id
        match event:
            case SessionStarted():
                names = names_of(event.invocables)
                yield InitLine(
                    session_id=event.session_id,
                    uuid=new_uuid(),
                    cwd=event.cwd,
                    model=event.model,
                    permission_mode=event.permission_mode,
                    tools=event.tools,
                    clew_version=event.version,
                    slash_commands=(*self._slash_commands, *names.slash_commands),
                    skills=names.skills,
                    agents=event.agents,
                    api_key_source=event.key_source or "none",
                    output_style=event.output_style or "default",
                    mcp_servers=tuple(
                        ServerStatus(name=row.name, status=SERVER_STATES[row.state]) for row in event.servers
                    ),
                )
            case ModelChanged():
                yield StatusLine(session_id=session, uuid=new_uuid(), model=event.model)
            case PermissionModeChanged():
                yield StatusLine(session_id=session, uuid=new_uuid(), permission_mode=event.mode)
            case CompactionStarted():
                yield StatusLine(session_id=session, uuid=new_uuid(), status="compacting")
            case CompactionEnded():
                yield StatusLine(session_id=session, uuid=new_uuid())
                metadata = CompactMetadata(
                    trigger="manual" if event.kind in ("manual", "clear") else "auto",
                    pre_tokens=event.tokens_before,
                    post_tokens=event.tokens_after,
                    kind=event.kind,
                )
                yield BoundaryLine(session_id=session, uuid=event.entry_id, compact_metadata=metadata)
            case CompactionFailed():
                yield StatusLine(session_id=session, uuid=new_uuid())
                yield NoticeLine(
                    session_id=session, uuid=new_uuid(), level="warning", text=event.reason, code="compaction"
                )
            case HookRan() if self._hooks:
                yield HookLine(
                    session_id=session,
                    uuid=new_uuid(),
                    hook_event=event.moment,
                    hook_name=event.hook,
                    outcome=event.outcome,
                    output=event.detail,
                    duration_ms=event.duration_ms,
                )
            case _:
                pass

    def _remarks(self, envelope: Envelope) -> Iterator[StreamLine]:
        event, session = envelope.event, envelope.session_id
        match event:
            case RetryScheduled():
                yield RetryLine(
                    session_id=session,
                    uuid=new_uuid(),
                    attempt=event.attempt,
                    max_retries=event.max_attempts,
                    retry_delay_ms=int(event.delay_s * 1000),
                    error=event.reason,
                )
            case Notice():
                yield NoticeLine(
                    session_id=session, uuid=new_uuid(), level=event.level, text=event.text, code=event.code
                )
            case BatchLabelled():
                yield ToolSummaryLine(
                    session_id=session,
                    uuid=new_uuid(),
                    summary=event.label,
                    preceding_tool_use_ids=event.call_ids,
                    source=event.source,
                )
            case TitleChanged():
                yield TitleLine(session_id=session, uuid=new_uuid(), title=event.title, source=event.source)
            case RecapReady():
                yield RecapLine(
                    session_id=session,
                    uuid=event.entry_id or new_uuid(),
                    content=event.text,
                    away=event.away,
                    source=event.source,
                )
            case _:
                pass

    def _state(self, envelope: Envelope) -> Iterator[StreamLine]:
        changed = self._activity.after(envelope) if self._activity is not None else None
        if changed is not None:
            yield StateLine(session_id=envelope.session_id, uuid=new_uuid(), state=changed)


def init_without_session() -> InitLine:
    """The first line of a run for which no session could be opened; what would be known of one is empty."""
    return InitLine(
        session_id="",
        uuid=new_uuid(),
        cwd=current_directory(),
        model="",
        permission_mode="",
        tools=(),
        clew_version=__version__,
    )


def current_directory() -> str:
    """Where this process stands; empty when that place is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
