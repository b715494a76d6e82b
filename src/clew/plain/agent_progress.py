"""What agents do that a call waits for, told in lines now and then."""

from clew.plain.dialogs.dialog import Shown
from clew.plain.phrases import Look, clipped_line
from clew.presentation.story.activity import seconds
from clew.presentation.story.story import Story
from clew.presentation.story.story_of_agents import work_figures
from clew.protocol.events import Envelope
from clew.protocol.ids import AgentId

PROGRESS_S = 10.0
"""So long at least between two lines about one agent."""


class AgentProgress:
    """Remembers when each agent was last told of. Time is that of the events: what says nothing is told nothing of."""

    def __init__(self) -> None:
        self._told_s: dict[AgentId, float] = {}

    def lines(self, envelope: Envelope, story: Story, look: Look) -> list[Shown]:
        """Those that are due after an event of an agent beside the main one."""
        now_s = seconds(envelope.at)
        self._told_s = {agent: at_s for agent, at_s in self._told_s.items() if agent in story.children}
        found: list[Shown] = []
        for agent, known in story.children.items():
            since_s = seconds(known.since)
            if not known.doing or now_s - self._told_s.get(agent, since_s) < PROGRESS_S:
                continue
            self._told_s[agent] = now_s
            words = f"{known.doing} · {work_figures(story, agent, now_s - since_s)}"
            found.append(Shown(f"  agent: {clipped_line(words, look, 9)}", "dim"))
        return found
