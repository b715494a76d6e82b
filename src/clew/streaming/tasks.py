"""Lines about work beside the conversation: child agents and commands in the background."""

from collections.abc import Iterator
from datetime import datetime

from msgspec import UNSET, Struct

from clew.protocol.events import (
    AgentEnded,
    AgentStarted,
    AttemptEnded,
    Envelope,
    TaskEnded,
    TaskStarted,
    ToolStarted,
)
from clew.protocol.ids import AgentId, TaskId, new_uuid
from clew.protocol.standing import WIRE_WORDS
from clew.protocol.tally import Tally
from clew.streaming.shapes.stream import (
    AssistantLine,
    PartialLine,
    StreamLine,
    TaskNotificationLine,
    TaskProgressLine,
    TaskStartedLine,
    TaskUsage,
)
from clew.streaming.shapes.stream_content import ToolUseContent

PROGRESS_EVERY_S = 3.0
MAX_SUMMARY_CHARS = 300


class _AtWork(Struct):
    """A child agent, as far as its lines tell."""

    started: AgentStarted
    at: str
    told: str
    """When its progress was last told."""
    tally: Tally = Tally()
    tools: int = 0


class TaskLines:
    """Fed with every envelope, in order."""

    def __init__(self) -> None:
        self._agents: dict[AgentId, _AtWork] = {}
        self._shells: dict[TaskId, TaskStarted] = {}

    def lines(self, envelope: Envelope) -> Iterator[TaskStartedLine | TaskProgressLine | TaskNotificationLine]:
        """What an event tells of a task."""
        event, session = envelope.event, envelope.session_id
        match event:
            case AgentStarted():
                self._agents[event.child] = _AtWork(started=event, at=envelope.at, told=envelope.at)
                yield TaskStartedLine(
                    session_id=session,
                    uuid=new_uuid(),
                    task_id=event.child,
                    description=event.task,
                    task_type="local_agent",
                    tool_use_id=event.call_id or UNSET,
                    parent_tool_use_id=envelope.parent_call,
                    agent_type=event.kind,
                    background=event.background,
                )
            case AgentEnded():
                known = self._agents.pop(event.child, None)
                yield self._over(envelope, event, known)
            case TaskStarted():
                self._shells[event.task_id] = event
                yield TaskStartedLine(
                    session_id=session,
                    uuid=new_uuid(),
                    task_id=event.task_id,
                    description=event.title,
                    task_type="local_bash",
                    background=True,
                )
            case TaskEnded() if event.task_id in self._shells:
                shell = self._shells.pop(event.task_id)
                code = f" (exit code {event.exit_code})" if event.exit_code is not None else ""
                status = WIRE_WORDS[event.standing].task or "failed"
                yield TaskNotificationLine(
                    session_id=session,
                    uuid=new_uuid(),
                    task_id=event.task_id,
                    status=status,
                    output_file=shell.output_file,
                    summary=f"{shell.title[:MAX_SUMMARY_CHARS]}: {status}{code}",
                )
            case AttemptEnded() if (own := self._agents.get(envelope.agent)) is not None:
                own.tally = own.tally.after(event)
            case ToolStarted() if (own := self._agents.get(envelope.agent)) is not None:
                own.tools += 1
                if seconds_between(own.told, envelope.at) >= PROGRESS_EVERY_S:
                    own.told = envelope.at
                    yield TaskProgressLine(
                        session_id=session,
                        uuid=new_uuid(),
                        task_id=envelope.agent,
                        description=own.started.task,
                        usage=_usage(own.tally, own, envelope.at),
                        tool_use_id=own.started.call_id or UNSET,
                        last_tool_name=event.call.name,
                    )
            case _:
                pass

    def _over(self, envelope: Envelope, event: AgentEnded, known: _AtWork | None) -> TaskNotificationLine:
        status = WIRE_WORDS[event.standing].task or "failed"
        said = event.result.strip().splitlines()
        words = said[0] if said else event.error or event.reason
        return TaskNotificationLine(
            session_id=envelope.session_id,
            uuid=new_uuid(),
            task_id=event.child,
            status=status,
            output_file=event.output_file,
            summary=f"{event.task}: {status}{f'. {words}' if words else ''}"[:MAX_SUMMARY_CHARS],
            tool_use_id=event.call_id or UNSET,
            usage=_usage(event.tally, known, envelope.at),
            total_cost_usd=event.tally.cost_usd,
        )


def seconds_between(start: str, end: str) -> float:
    """Between two moments as envelopes have them."""
    return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


def _usage(tally: Tally, known: _AtWork | None, now: str) -> TaskUsage:
    return TaskUsage(
        total_tokens=tally.tokens,
        tool_uses=known.tools if known is not None else 0,
        duration_ms=int(seconds_between(known.at, now) * 1000) if known is not None else tally.work_ms,
    )


def is_words_of_child(line: StreamLine) -> bool:
    """Whether a line tells what a child agent says or thinks, whole or as it grows, and no call of it."""
    match line:
        case AssistantLine(parent_tool_use_id=str()):
            return not any(isinstance(block, ToolUseContent) for block in line.message.content)
        case PartialLine(parent_tool_use_id=str()):
            return True
        case _:
            return False
