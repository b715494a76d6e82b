"""Events about agents, tasks and the tools that came or went."""

from typing import Literal

from msgspec import Struct

from clew.protocol.event_base import DurableEvent, LiveEvent
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, TaskId
from clew.protocol.standing import Standing
from clew.protocol.tally import Tally

Actor = Literal["itself", "user", "agent", "session"]
"""Who brought a change about: the work by its own end, a person by a front end, an agent by a tool, or the session that
was closed."""


class TaskRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task: work that runs beside the turns of its owner, and how it stands."""

    task_id: TaskId
    kind: str
    """`shell`: a command in the background. `agent`: a child agent; then the id is its agent's."""
    title: str
    owner: AgentId = MAIN_AGENT
    standing: Standing = Standing.WORKING
    by: Actor | Literal[""] = ""
    """Who brought it to stand so; empty: it has not changed since it began."""
    exit_code: int | None = None
    doing: str = ""
    age_s: float = 0.0
    """Since it was started; only in answers."""
    tail: tuple[str, ...] = ()
    """Its last lines, without secrets; only in answers."""
    output_file: str = ""
    """Where all of its output is; empty: nowhere."""


class AgentStarted(DurableEvent, frozen=True, kw_only=True, tag="agent.started"):
    """A child agent began; told by its parent. It has a transcript of its own."""

    child: AgentId
    kind: str
    task: str
    background: bool = False
    call_id: CallId | None = None
    """The call that started it."""


class AgentChanged(LiveEvent, frozen=True, kw_only=True, tag="agent.changed"):
    """How a child agent stands now."""

    child: AgentId
    standing: Standing
    doing: str = ""


class AgentEnded(DurableEvent, frozen=True, kw_only=True, tag="agent.ended"):
    """A child agent is done; told by its parent. One per AgentStarted; none, where the process died before."""

    child: AgentId
    standing: Standing
    by: Actor = "itself"
    reason: str = ""
    """How its last turn ended (`TurnEndReason`)."""
    result: str = ""
    """Its last words."""
    tally: Tally = Tally()
    """What it used, its own children included."""


class TaskStarted(DurableEvent, frozen=True, kw_only=True, tag="task.started"):
    """Work beside the conversation began (a background command). Told by the main agent, whoever owns it."""

    task_id: TaskId
    kind: str
    title: str
    owner: AgentId = MAIN_AGENT
    output_file: str = ""


class TaskChanged(LiveEvent, frozen=True, kw_only=True, tag="task.changed"):
    """How it stands now."""

    task_id: TaskId
    standing: Standing
    by: Actor = "itself"
    doing: str = ""


class TaskEnded(DurableEvent, frozen=True, kw_only=True, tag="task.ended"):
    """It is over. One per TaskStarted; none, where the process died before: then it counts as interrupted."""

    task_id: TaskId
    standing: Standing
    by: Actor = "itself"
    exit_code: int | None = None


class ToolsChanged(LiveEvent, frozen=True, kw_only=True, tag="tools.changed"):
    """Tools came or went; what the model is told at the start of each request stays as it was."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
