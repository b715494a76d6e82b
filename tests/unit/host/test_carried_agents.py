"""What a compaction carries of children: who works, who waits for the user, whose end was not told yet."""

from typing import Any, cast

from clew.parts.window.live_state import SessionLiveState
from clew.protocol.events import AgentChanged, AgentEnded, AgentStarted
from clew.protocol.ids import AgentId
from clew.protocol.standing import Standing
from clew.protocol.state import AgentState, agent_after


def test_children_are_carried_with_how_they_stand() -> None:
    state = AgentState()
    for event in (
        AgentStarted(child=AgentId("a1"), kind="Explore", task="look"),
        AgentStarted(child=AgentId("a2"), kind="worker", name="bob", task="sort", background=True),
        AgentStarted(child=AgentId("a3"), kind="worker", task="count", background=True),
        AgentStarted(child=AgentId("a4"), kind="worker", task="wait", queued=True),
        AgentChanged(child=AgentId("a2"), standing=Standing.WAITING),
        AgentEnded(child=AgentId("a3"), standing=Standing.COMPLETED, kind="worker", task="count", background=True),
    ):
        state = agent_after(event, state)
    live = SessionLiveState(cast("Any", None), lambda: state)
    assert [(agent.id, agent.task) for agent in live.running_agents()] == [
        ("a1", "Explore: look"),
        ("a2", "worker bob: sort (waits for an approval of the user)"),
        ("a4", "worker: wait (waits for its turn to begin)"),
        ("a3", "worker: count (has ended; a notice of it follows)"),
    ]
