"""Events about agents, tasks and the tools that came or went."""

from typing import Literal

from clew.protocol.event_base import DurableEvent, LiveEvent
from clew.protocol.ids import AgentId, TaskId

WorkState = Literal["running", "waiting", "idle", "completed", "failed", "stopped"]


class AgentStarted(DurableEvent, frozen=True, kw_only=True, tag="agent.started"):
    """A child agent began. It has a transcript of its own; the envelope names the parent and the call."""

    child: AgentId
    kind: str
    task: str
    background: bool = False


class AgentChanged(LiveEvent, frozen=True, kw_only=True, tag="agent.changed"):
    """What a child agent does now."""

    child: AgentId
    state: WorkState
    doing: str = ""


class AgentEnded(DurableEvent, frozen=True, kw_only=True, tag="agent.ended"):
    """A child agent is done. Exactly one per AgentStarted."""

    child: AgentId
    state: WorkState
    result: str = ""


class TaskStarted(DurableEvent, frozen=True, kw_only=True, tag="task.started"):
    """Work beside the conversation began (a background command, a workflow)."""

    task_id: TaskId
    kind: str
    title: str


class TaskChanged(LiveEvent, frozen=True, kw_only=True, tag="task.changed"):
    """How it goes."""

    task_id: TaskId
    state: WorkState
    doing: str = ""


class TaskEnded(DurableEvent, frozen=True, kw_only=True, tag="task.ended"):
    """It is over. Exactly one per TaskStarted."""

    task_id: TaskId
    state: WorkState
    result: str = ""


class ToolsChanged(LiveEvent, frozen=True, kw_only=True, tag="tools.changed"):
    """Tools came or went; what the model is told at the start of each request stays as it was."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
