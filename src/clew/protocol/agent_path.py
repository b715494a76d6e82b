"""Who an agent is, in words for people: its kind or name, its task, and the agents above it."""

from collections.abc import Iterator

from clew.protocol.event_kinds.agents import TaskRow
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.state import SessionState

MAX_TASK_CHARS = 60


def called(kind: str, name: str, task: str) -> str:
    """An agent as lists and lines call it: `Explore "count files"`, by its name where it has one."""
    words = " ".join(task.split())
    clipped = words if len(words) <= MAX_TASK_CHARS else f"{words[: MAX_TASK_CHARS - 1]}…"
    return f'{name or kind or "agent"} "{clipped}"' if clipped else name or kind or "agent"


def rows_above(state: SessionState, agent: AgentId) -> tuple[TaskRow, ...]:
    """The rows of an agent and of those above it, the outermost first. Empty for the main agent, and for one that no
    agent tells of."""
    parents = {AgentId(row.task_id): (owner, row) for owner, row in _children(state)}
    found: list[TaskRow] = []
    while agent in parents and len(found) <= len(parents):
        agent, row = parents[agent]
        found.insert(0, row)
    return tuple(found)


def path_words(state: SessionState, agent: AgentId) -> str:
    """The way to an agent: `main > Explore > worker "count files"`; empty for the main one."""
    if agent == MAIN_AGENT:
        return ""
    rows = rows_above(state, agent)
    if not rows:
        return f"agent {agent}"
    last = rows[-1]
    above = (row.name or row.agent_kind or "agent" for row in rows[:-1])
    return " > ".join(("main", *above, called(last.agent_kind, last.name, last.title)))


def below(state: SessionState, agent: AgentId) -> Iterator[AgentId]:
    """An agent and all that work below it."""
    yield agent
    for row in state.of(agent).tasks:
        if row.kind == "agent" and row.standing.open and AgentId(row.task_id) != agent:
            yield from below(state, AgentId(row.task_id))


def _children(state: SessionState) -> Iterator[tuple[AgentId, TaskRow]]:
    for owner, rows in ((MAIN_AGENT, state.tasks), *((agent, one.tasks) for agent, one in state.agents.items())):
        yield from ((owner, row) for row in rows if row.kind == "agent")
