"""The budget of a session: one ledger of what all its agents have used and of what their requests under way may use."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from clew.config.schema import Settings
from clew.engine.middleware.limits import Limits
from clew.engine.ports import Reserved
from clew.protocol.ids import AgentId
from clew.protocol.state import AgentState
from clew.protocol.tally import Tally

StateOf = Callable[[], AgentState]


class _Account(Struct):
    state: StateOf
    at_step: Tally
    """What it had used when its request began."""
    last: Reserved = Reserved()
    """What its last request used."""
    held: Reserved | None = None
    """What is reserved for the request under way; None: there is none."""


class TreeBudget:
    """One per session. The limits of the session hold for the sum over its agents.

    An agent reserves before each request what its last one used (before its first one: the dearest last request of any
    agent), and settles when the request is booked. So agents that work side by side go over a limit by no more than one
    request each.
    """

    def __init__(self) -> None:
        self._accounts: dict[AgentId, _Account] = {}

    def join(self, agent: AgentId, state: StateOf) -> None:
        """One more agent spends. `state`: the fold of its log."""
        self._accounts[agent] = _Account(state=state, at_step=used_by(state()))

    def leave(self, agent: AgentId) -> None:
        """It has ended; what it used is in its parent's books."""
        self._accounts.pop(agent, None)

    def spent(self) -> Tally:
        """What all agents used, children that have ended included. Time is that of the agent that worked longest: those
        that work side by side are not added up."""
        used = [used_by(account.state()) for account in self._accounts.values()]
        total = sum(used, Tally())
        return replace(total, work_ms=max((tally.work_ms for tally in used), default=0))

    def used(self, agent: AgentId) -> Tally:
        """What one agent used, with its children that have ended."""
        return used_by(self._accounts[agent].state())

    def reserved_besides(self, agent: AgentId) -> Reserved:
        """What the requests of all others that are under way may use."""
        held = [known.held for other, known in self._accounts.items() if other != agent and known.held is not None]
        return Reserved(cost_usd=sum(one.cost_usd for one in held), tokens=sum(one.tokens for one in held))

    def reserve(self, agent: AgentId) -> None:
        """A request of this agent is about to leave."""
        account = self._accounts[agent]
        account.at_step = used_by(account.state())
        account.held = account.last
        if account.last == Reserved():
            account.held = max((known.last for known in self._accounts.values()), key=lambda last: last.cost_usd)

    def settle(self, agent: AgentId) -> None:
        """Its request is booked, or its turn is over."""
        account = self._accounts.get(agent)
        if account is None or account.held is None:
            return
        account.held = None
        now, before = used_by(account.state()), account.at_step
        used = Reserved(cost_usd=now.cost_usd - before.cost_usd, tokens=now.tokens - before.tokens)
        if used.tokens > 0:
            account.last = used

    def of(self, agent: AgentId) -> "AgentPurse":
        """The ledger as one agent's limits see it."""
        return AgentPurse(self, agent)


class AgentPurse:
    """One agent's part in the ledger."""

    def __init__(self, budget: TreeBudget, agent: AgentId) -> None:
        self._budget = budget
        self._agent = agent

    def reserved(self) -> Reserved:
        """What others' requests under way may use."""
        return self._budget.reserved_besides(self._agent)

    def reserve(self) -> None:
        """The next request is about to leave."""
        self._budget.reserve(self._agent)


def used_by(state: AgentState) -> Tally:
    """What an agent used, with its children that have ended; their time is no time of its own."""
    return replace(state.tally + state.children, work_ms=state.tally.work_ms)


def bounds_of(settings: Settings, *, headless: bool) -> Limits:
    """The limits of the session."""
    limits = settings.limits
    return Limits(
        max_steps=limits.step_limit(headless=headless),
        max_budget_usd=limits.max_budget_usd,
        tells_overspending=headless,
        max_tokens=limits.max_tokens,
        max_minutes=limits.max_minutes,
    )


def with_steps_of(limits: Limits, own: Limits) -> Limits:
    """The limits with the smaller number of steps for one turn."""
    steps = min((one.max_steps for one in (limits, own) if one.max_steps is not None), default=None)
    return replace(limits, max_steps=steps)
