"""Agents this session started: running, finished, failed."""

import re

from clew.ledger.calls import Outcome
from clew.ledger.facts import AgentFact
from clew.protocol.ids import CallId, EntryId

KEPT = 60
_LAUNCHED = re.compile(
    r"(?:launched|started|running) (?:successfully )?in (?:the )?background|Async agent launched", re.IGNORECASE
)
_NOTICE_ID = re.compile(r"<(?:tool-use-id|tool_use_id)>([^<]+)<")
_NOTICE_STATUS = re.compile(r"<status>([^<]+)<")


class AgentsFold:
    """One fact per call that started an agent."""

    def __init__(self) -> None:
        self._agents: dict[CallId, AgentFact] = {}

    def started(self, call_id: CallId, arguments: dict[str, object], source: EntryId) -> None:
        """A call asks for an agent."""
        task = arguments.get("description") or arguments.get("prompt") or ""
        name = arguments.get("subagent_type") or arguments.get("agent") or arguments.get("name") or "agent"
        self._agents[call_id] = AgentFact(
            name=str(name)[:80],
            task=str(task)[:200].split("\n")[0],
            status="running",
            call_id=call_id,
            source=(source,),
        )
        if len(self._agents) > KEPT:
            del self._agents[next(iter(self._agents))]

    def settle(self, call_id: CallId, outcome: Outcome) -> None:
        """The call has its result; an agent in the background goes on."""
        agent = self._agents.get(call_id)
        if agent is None or (not outcome.is_error and _LAUNCHED.search(outcome.text[:300])):
            return
        self._close(agent, failed=outcome.is_error, source=outcome.source)

    def notice(self, text: str, source: EntryId) -> None:
        """A notification that an agent in the background ended."""
        found = _NOTICE_ID.search(text)
        agent = self._agents.get(CallId(found.group(1).strip())) if found else None
        if agent and agent.status == "running":
            status = _NOTICE_STATUS.search(text)
            self._close(
                agent,
                failed=bool(status and status.group(1) in ("failed", "killed", "error")),
                source=(*agent.source, source),
            )

    def _close(self, agent: AgentFact, *, failed: bool, source: tuple[EntryId, ...]) -> None:
        self._agents[agent.call_id] = AgentFact(
            name=agent.name,
            task=agent.task,
            status="failed" if failed else "finished",
            call_id=agent.call_id,
            source=source,
        )

    def facts(self) -> tuple[AgentFact, ...]:
        """In order of their start."""
        return tuple(self._agents.values())
