"""What a compaction must carry and only the running session knows: mode, shells, agents, files as they are now."""

from collections.abc import Callable, Mapping, Sequence

from clew.agents.runner import AgentRunner
from clew.agents.toolbox import AgentTools
from clew.engine.compaction.live_state import FileLook, RunningAgent, RunningShell, look_at_in_thread
from clew.protocol.ids import MAIN_AGENT, AgentId


class SessionLiveState:
    """Of the main agent. Its children are told by their ids and what they were asked."""

    def __init__(self, toolbox: AgentTools, runners: Callable[[], Mapping[AgentId, AgentRunner]]) -> None:
        self._toolbox = toolbox
        self._runners = runners

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
        """Children at work."""
        return [
            RunningAgent(id=agent_id, task=runner.asked)
            for agent_id, runner in self._runners().items()
            if agent_id != MAIN_AGENT and runner.working
        ]

    def discovered_tools(self) -> Sequence[str]:
        """None yet: every tool is on offer from the first request on."""
        return ()

    async def read_file(self, path: str, max_tokens: int) -> FileLook:
        """A file of the workspace, if the model may read it."""
        session = self._toolbox.session
        return await look_at_in_thread(
            path, cwd=session.cwd, roots=session.roots, max_tokens=max_tokens, may_read=self._toolbox.shared.may_read
        )
