"""Agents this session started: running, finished, failed."""

import re

from msgspec.structs import replace

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
        self._in_background: set[CallId] = set()

    def started(self, call_id: CallId, arguments: dict[str, object], source: EntryId, turn: int) -> None:
        """A call asks for an agent."""
        task = arguments.get("description") or arguments.get("prompt") or ""
        name = arguments.get("subagent_type") or arguments.get("agent") or arguments.get("name") or "agent"
        self._agents[call_id] = AgentFact(
            name=str(name)[:80],
            task=str(task)[:200].split("\n")[0],
            status="running",
            call_id=call_id,
            source=(source,),
            turn=turn,
        )
        if len(self._agents) > KEPT:
            del self._agents[next(iter(self._agents))]

    def settle(self, call_id: CallId, outcome: Outcome) -> None:
        """The call has its result; an agent in the background goes on."""
        agent = self._agents.get(call_id)
        if agent is not None and not outcome.is_error and _LAUNCHED.search(outcome.text[:300]):
            self._in_background.add(call_id)
        elif agent is not None:
            self._close(agent, failed=outcome.is_error, source=outcome.source)

    def refused(self, call_id: CallId) -> None:
        """It was never started."""
        self._agents.pop(call_id, None)

    def turned(self) -> None:
        """A new request: an agent that was waited for, and did not end, was stopped with its turn."""
        for call_id, agent in self._agents.items():
            if agent.status == "running" and call_id not in self._in_background:
                self._agents[call_id] = replace(agent, status="stopped")

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

    def lost(self) -> None:
        """The process that ran them is gone."""
        self._in_background.clear()
        self.turned()

    def _close(self, agent: AgentFact, *, failed: bool, source: tuple[EntryId, ...]) -> None:
        self._agents[agent.call_id] = replace(agent, status="failed" if failed else "finished", source=source)

    def facts(self, *, held: bool) -> tuple[AgentFact, ...]:
        """In order of their start. Where nobody writes the session any more (`held`), nobody runs its agents."""
        found = tuple(self._agents.values())
        if held:
            return found
        return tuple(replace(agent, status="stopped") if agent.status == "running" else agent for agent in found)
