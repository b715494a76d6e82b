"""Words to agents: of other agents, of a person, of the program. One at work reads them before its next step; one that
has ended goes on from its log."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from clew.agents.report import escaped, short
from clew.engine.turn import Notices, Prompt
from clew.protocol.ids import MAIN_AGENT, AgentId, PromptId, new_uuid

if TYPE_CHECKING:
    from clew.agents.children import Children
    from clew.agents.factory import AgentFactory


class Talking:
    """One per session. Two who write to one agent that has ended open one run of it, not two."""

    def __init__(self, children: "Children", factory: "AgentFactory") -> None:
        self._children = children
        self._factory = factory
        self._locks: defaultdict[AgentId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def message(self, wanted: str, text: str, *, sender: AgentId) -> tuple[AgentId, str]:
        """Data from one agent to another: it joins at the next step of one that works, and goes on with one that has
        ended. Who got it, and what happens now. Raises ValueError with the reason why nobody did."""
        children = self._children
        upward = wanted in ("main", "parent") and sender != MAIN_AGENT
        agent = MAIN_AGENT if upward else children.files.find(wanted)
        if wanted == "parent" and (own := children.run(sender)) is not None:
            agent = own.parent
        if agent == sender:
            raise ValueError("an agent does not write to itself")
        name = self._called(sender)
        words = f'<agent-message from="{escaped(name)}">\n{escaped(text)}\n</agent-message>'
        async with self._locks[agent]:
            runner = self._factory.find_runner(agent)
            if runner is not None and not runner.closed:
                if agent == MAIN_AGENT:
                    told = f"the agent {name} wrote to the conversation: {short(text)}"
                    children.session.notice("info", told, code="agent")
                runner.submit(asked(words))
                return agent, "it reads this before its next step"
            await children.reopen(agent, words, parent=sender)
        return agent, "it had ended and goes on in the background from its log; you are told when it is done"

    async def say(self, wanted: str, text: str) -> AgentId:
        """Words of a person to a child. One that has ended goes on from its log; its parent is told nothing, because
        the person hears it. Raises ValueError with the reason why nobody got them."""
        agent = self._children.files.find(wanted)
        async with self._locks[agent]:
            runner = self._factory.find_runner(agent)
            if runner is not None and not runner.closed:
                runner.submit(Prompt(content=text, prompt_id=PromptId(new_uuid()), origin="user"))
            else:
                self._children.refusal = ""
                await self._children.reopen(agent, text, parent=MAIN_AGENT, background=False)
        return agent

    async def wake(self, agent: AgentId, words: str, notices: "Callable[[], Notices] | None" = None) -> None:
        """Words of the program to a child of the main agent, or what is to be told to it when it joins. Raises
        ValueError where it cannot go on."""
        async with self._locks[agent]:
            runner = self._factory.find_runner(agent)
            if runner is not None and not runner.closed:
                runner.submit(Prompt(content=words, origin="task", notices=notices))
            else:
                await self._children.reopen(agent, words, parent=MAIN_AGENT, notices=notices)

    def _called(self, agent: AgentId) -> str:
        run = self._children.run(agent)
        return "main" if run is None else run.errand.name or run.agent


def asked(prompt: str) -> Prompt:
    """The words with which a run begins."""
    return Prompt(content=prompt, prompt_id=PromptId(new_uuid()), origin="agent")
