"""What a compaction must carry and only the running session knows: mode, shells, agents, files as they are now."""

from collections.abc import Callable, Sequence

from clew.agents.toolbox import AgentTools
from clew.engine.compaction.live_state import FileLook, RunningAgent, RunningShell, look_at_in_thread
from clew.protocol.standing import Standing
from clew.protocol.state import AgentState

STANDS = {
    Standing.STARTING: " (waits for its turn to begin)",
    Standing.WAITING: " (waits for an approval of the user)",
    Standing.ASKING: " (waits for an answer of the user)",
}
ENDED = " (has ended; a notice of it follows)"


class SessionLiveState:
    """Of the main agent. Its children are told by their ids and what they were asked."""

    def __init__(self, toolbox: AgentTools, state: Callable[[], AgentState]) -> None:
        self._toolbox = toolbox
        self._state = state

    @property
    def plan(self) -> str:
        """The plan that is worked on or carried out."""
        plan = self._toolbox.session.plan
        return plan.carried if plan is not None else ""

    @property
    def permission_mode(self) -> str:
        """The mode in force."""
        return self._toolbox.permits.policy.mode

    def running_shells(self) -> Sequence[RunningShell]:
        """Commands in the background that have not ended."""
        return [RunningShell(id=shell.id, command=shell.command) for shell in self._toolbox.session.shells_at_work()]

    def running_agents(self) -> Sequence[RunningAgent]:
        """Children that have not ended, with how one stands that does not simply work; then those whose end the
        conversation has not been told of yet."""
        state = self._state()
        found = [
            RunningAgent(
                id=row.task_id, task=f"{_who(row.agent_kind, row.name)}: {row.title}{STANDS.get(row.standing, '')}"
            )
            for row in state.tasks
            if row.kind == "agent" and row.standing.open
        ]
        ended = [
            RunningAgent(id=end.child, task=f"{_who(end.kind, end.name)}: {end.task}{ENDED}") for end in state.owed
        ]
        return [*found, *ended]

    def discovered_tools(self) -> Sequence[str]:
        """None yet: every tool is on offer from the first request on."""
        return ()

    async def read_file(self, path: str, max_tokens: int) -> FileLook:
        """A file of the workspace, if the model may read it."""
        session = self._toolbox.session
        return await look_at_in_thread(
            path, cwd=session.cwd, roots=session.roots, max_tokens=max_tokens, may_read=self._toolbox.shared.may_read
        )


def _who(kind: str, name: str) -> str:
    return f"{kind} {name}".strip() or "agent"
