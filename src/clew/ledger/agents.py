"""Agents this session started, and how each stands by what its calls and notices tell."""

import re

from msgspec.structs import replace

from clew.ledger.calls import EndedCall
from clew.ledger.facts import AgentFact
from clew.protocol.event_kinds.agents import AgentChanged, AgentEnded, AgentStarted
from clew.protocol.ids import CallId, EntryId
from clew.protocol.standing import Standing

KEPT = 60
_LAUNCHED = re.compile(
    r"(?:launched|started|running) (?:successfully )?in (?:the )?background|Async agent launched|^\s*\{\"agent_id\"",
    re.IGNORECASE,
)
_NOTICE_CALL = re.compile(r"<(?:tool-use-id|tool_use_id)>([^<]+)<")
_NOTICE_AGENT = re.compile(r"<(?:task-id|task_id)>([^<]+)<|\"agent_id\"\s*:\s*\"([^\"]+)\"")
_LAUNCH_AGENT = re.compile(r"agent_?id\"?\s*:\s*\"?([\w-]+)", re.IGNORECASE)
_NOTICE_STATUS = re.compile(r"<status>\s*([^<]+?)\s*<|\"status\"\s*:\s*\{?\s*\"([^\"]+)\"")
_FAILED = {"failed", "killed", "error", "errored", "not_found", "shutdown"}
_ENDED = _FAILED | {"completed", "finished", "done", "success", "stopped"}
NOTICES = ("<task-notification", "<subagent_notification")
"""How a text begins that tells of an agent in the background."""
TASK = re.compile(r"<task[-_]id>\s*([^<\s]+)")
"""Which of them it tells of."""
ASKED = frozenset({"TaskOutput", "AgentOutputTool", "wait", "wait_agent", "close_agent"})
"""Tools whose result tells how an agent stands."""


class AgentsFold:
    """One fact per call that started an agent."""

    def __init__(self) -> None:
        self._agents: dict[CallId, AgentFact] = {}
        self._in_background: set[CallId] = set()
        self._told: set[CallId] = set()
        """Those whose start is an event of our own log: their end is one, too."""
        self._calls: dict[str, CallId] = {}
        """The call that started an agent, by the agent's own id: notices name either."""

    def started(self, call_id: CallId, arguments: dict[str, object], source: EntryId, turn: int) -> None:
        """A call asks for an agent."""
        task = arguments.get("description") or arguments.get("prompt") or ""
        name = arguments.get("subagent_type") or arguments.get("agent") or arguments.get("name") or "agent"
        self._agents[call_id] = AgentFact(
            name=str(name)[:80],
            task=str(task)[:200].split("\n")[0],
            standing=Standing.WORKING,
            call_id=call_id,
            source=(source,),
            turn=turn,
        )
        if len(self._agents) > KEPT:
            ended = next((call for call, agent in self._agents.items() if not agent.standing.open), None)
            if ended is not None:  # who is at work is never forgotten
                del self._agents[ended]

    def told(self, event: AgentStarted | AgentChanged | AgentEnded, source: EntryId, turn: int) -> None:
        """A line of our own log says how a child stands: it counts more than what calls and notices say."""
        call = self._calls.get(event.child)
        if isinstance(event, AgentStarted):
            call = event.call_id or call or CallId(f"agent:{event.child}")
            self._calls[event.child] = call
            if call not in self._agents:
                self.started(call, {"description": event.task, "name": event.name or event.kind}, source, turn)
            fact = self._agents[call]
            self._told.add(call)
            named = {"name": event.name, "team": event.team} if event.team and event.name else {}
            self._agents[call] = replace(
                fact, standing=Standing.WORKING, background=event.background, ended_turn=-1, **named
            )
        elif call is None or call not in self._agents:
            return
        elif isinstance(event, AgentEnded):
            fact = self._agents[call]
            self._agents[call] = replace(
                fact,
                standing=event.standing,
                background=event.background,
                source=(*fact.source, source),
                ended_turn=turn,
            )
        else:
            fact = self._agents[call]
            beside = fact.background or event.background
            self._agents[call] = replace(fact, standing=event.standing, background=beside)

    def settle(self, call_id: CallId, outcome: EndedCall) -> None:
        """The call has its result; an agent in the background goes on."""
        agent = self._agents.get(call_id)
        if agent is None or call_id in self._told:
            return
        if outcome.is_error or not _LAUNCHED.search(outcome.text[:300]):
            self._close(agent, failed=outcome.is_error, source=outcome.source)
            return
        self._in_background.add(call_id)
        if named := _LAUNCH_AGENT.search(outcome.text[:600]):
            self._calls[named.group(1)] = call_id

    def refused(self, call_id: CallId) -> None:
        """It was never started."""
        self._agents.pop(call_id, None)

    def turned(self) -> None:
        """A new request: an agent that was waited for, and did not end, was stopped with its turn."""
        for call_id, agent in self._agents.items():
            if agent.standing.open and call_id not in self._in_background and call_id not in self._told:
                self._agents[call_id] = replace(agent, standing=Standing.STOPPED)

    def notice(self, text: str, source: EntryId) -> None:
        """A text that tells how an agent in the background stands; only an end changes anything."""
        agent = self._meant(text)
        if agent is not None and agent.call_id in self._told:
            return
        status = _NOTICE_STATUS.search(text)
        word = (status.group(1) or status.group(2)).lower() if status else "completed"
        if agent and agent.standing not in (Standing.COMPLETED, Standing.FAILED) and word in _ENDED:
            self._close(agent, failed=word in _FAILED, source=(*agent.source, source))

    def _meant(self, text: str) -> AgentFact | None:
        if (found := _NOTICE_CALL.search(text)) and (agent := self._agents.get(CallId(found.group(1).strip()))):
            return agent
        if found := _NOTICE_AGENT.search(text):
            return self._agents.get(self._calls.get((found.group(1) or found.group(2)).strip(), CallId("")))
        known = [call for name, call in self._calls.items() if f'"{name}"' in text]
        return self._agents.get(known[0]) if len(known) == 1 else None

    def lost(self) -> None:
        """The process that ran them is gone."""
        self._in_background.clear()
        self._agents = {call_id: _interrupted(agent) for call_id, agent in self._agents.items()}

    def _close(self, agent: AgentFact, *, failed: bool, source: tuple[EntryId, ...]) -> None:
        self._agents[agent.call_id] = replace(
            agent, standing=Standing.FAILED if failed else Standing.COMPLETED, source=source
        )

    def facts(self, *, held: bool) -> tuple[AgentFact, ...]:
        """In order of their start. Where nobody writes the session any more (`held`), nobody runs its agents."""
        found = tuple(self._agents.values())
        if held:
            return found
        return tuple(_interrupted(agent) for agent in found)


def _interrupted(agent: AgentFact) -> AgentFact:
    return replace(agent, standing=Standing.INTERRUPTED) if agent.standing.open else agent


def each_notice(text: str) -> list[str]:
    """The notices that one message holds: several agents that ended together are told of together."""
    found = [f"<task-notification{piece}" for piece in text.split("<task-notification")[1:]]
    return found if len(found) > 1 else [text]
