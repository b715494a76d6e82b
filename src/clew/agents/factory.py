"""The one way to an agent: the main one and every child come from the factory of their session."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from clew.agents.budget import TreeBudget
from clew.agents.log import AgentLog, SessionPort
from clew.agents.runner import GENERAL, AgentBody, AgentRunner, AgentSpec
from clew.agents.toolbox import SessionTools
from clew.config.schema import Compaction
from clew.engine.gate import PendingAnswers
from clew.engine.loop import StepRunner
from clew.engine.ports import Limits
from clew.llm.model import Model
from clew.protocol.events import AttemptEnded, Event, TurnEnded
from clew.protocol.ids import AgentId, CallId
from clew.tools.base import AgentPort, ChildAgent

if TYPE_CHECKING:
    from clew.agents.children import Children


class AgentSession(SessionPort, Protocol):
    """What the factory needs of the session besides."""

    @property
    def pending(self) -> PendingAnswers:
        """The open asks of all its agents."""
        ...

    def add_agent(self, runner: AgentRunner, log: AgentLog | None = None, *, call: CallId | None = None) -> None:
        """One more agent; `log`: not for the main one, whose log the session has already."""
        ...

    def remove_agent(self, agent: AgentId) -> None:
        """It has ended: it takes no more ops, and its log is closed."""
        ...


class AgentFactory:
    """One per session. Every agent that it makes is in the journal, in the budget, and reached by its address."""

    def __init__(
        self,
        session: AgentSession,
        shared: SessionTools,
        budget: TreeBudget,
        *,
        connect: Callable[[str], Model],
        transcript: Path | None = None,
        limits: Limits,
        compaction: Compaction,
        make_children: "Callable[[AgentFactory], Children]",
        kinds: Sequence[AgentSpec] = (),
    ) -> None:
        """`limits`: the session's. `transcript`: its file; None: nothing is kept. `make_children`: loads what makes,
        runs and ends children. `kinds`: which children there are besides the general one."""
        self.session = session
        self.shared = shared
        self.budget = budget
        self.connect = connect
        self.transcript = transcript
        self.limits = limits
        self.compaction = compaction
        self._make_children = make_children
        self._kinds = {spec.kind: spec for spec in (GENERAL, *kinds)}
        self._bodies: dict[AgentId, AgentBody] = {}
        self._runners: dict[AgentId, AgentRunner] = {}
        self._children: Children | None = None
        shared.open_ports(session, self.port)

    def make(
        self,
        spec: AgentSpec,
        parent: AgentRunner | None = None,
        *,
        body: AgentBody | None = None,
        call: CallId | None = None,
    ) -> AgentRunner:
        """The runner of a new agent of this kind below `parent`; the main one brings its `body` and has no parent.
        `call`: what started it. Raises LLMError for a model that cannot be had."""
        if body is None:
            assert parent is not None, "only the main agent is made without a parent"
            body = self.children.body_of(spec, self._bodies[parent.agent.id])
        agent, log = body.agent, body.log
        self._bodies[agent.id] = body
        self.budget.join(agent.id, lambda: log.state)
        runner = AgentRunner(
            agent=agent,
            steps=StepRunner(host=body.tools.host, pending=self.session.pending),
            middlewares=body.middlewares,
            publish=self._publisher(agent.id),
            spent=self.budget.spent,
            first_turn=log.state.turns + 1,
            look=body.look,
        )
        self._runners[agent.id] = runner
        self.session.add_agent(runner, log if spec.sidechain else None, call=call)
        return runner

    @property
    def children(self) -> "Children":
        """What makes, runs and ends children; loaded with the first one."""
        if self._children is None:
            self._children = self._make_children(self)
        return self._children

    def spec(self, kind: str) -> AgentSpec:
        """A kind of child by its name; empty: the general one. Raises ValueError."""
        found = self._kinds.get(kind or GENERAL.kind)
        if found is None:
            raise ValueError(f"there is no agent of the kind {kind!r}; kinds are {', '.join(self._kinds)}")
        return found

    def body(self, agent: AgentId) -> AgentBody:
        """What an agent is made of."""
        return self._bodies[agent]

    def runner(self, agent: AgentId) -> AgentRunner:
        """An agent that has not ended."""
        return self._runners[agent]

    def port(self, agent: AgentId, call: CallId) -> AgentPort:
        """Through which a call of this agent starts children."""
        return CallPort(self, agent, call)

    async def close(self) -> None:
        """The session ends: until every child that was stopped has been told of."""
        if self._children is not None:
            await self._children.settled()

    def forget(self, agent: AgentId) -> None:
        """It has ended, and is in its parent's books."""
        self._bodies.pop(agent, None)
        self._runners.pop(agent, None)
        self.budget.leave(agent)
        self.session.remove_agent(agent)

    def _publisher(self, agent: AgentId) -> Callable[[Event], None]:
        def publish(event: Event) -> None:
            self.session.publish(event, agent=agent)
            if isinstance(event, AttemptEnded | TurnEnded):
                self.budget.settle(agent)

        return publish


class CallPort:
    """Starts children for one call."""

    def __init__(self, factory: AgentFactory, agent: AgentId, call: CallId) -> None:
        self._factory = factory
        self._agent = agent
        self._call = call

    async def start(self, prompt: str, *, kind: str = "", title: str = "", background: bool = False) -> ChildAgent:
        """A child of this kind, at work on the prompt. Raises ValueError for a kind that there is not."""
        spec = self._factory.spec(kind)
        return self._factory.children.start(
            spec, prompt, parent=self._agent, call=self._call, title=title, background=background
        )
