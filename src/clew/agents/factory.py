"""The one way to an agent: the main one and every child come from the factory of their session."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from clew.agents.budget import TreeBudget
from clew.agents.log import AgentLog, SessionPort
from clew.agents.runner import GENERAL, WORKER, AgentBody, AgentRunner, AgentSpec
from clew.agents.toolbox import SessionTools
from clew.config.schema import AgentSettings, Compaction
from clew.engine.agent import Agent
from clew.engine.gate import PendingAnswers
from clew.engine.loop import StepRunner
from clew.engine.ports import Limits
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.prompts.system_prompt import prompt_text
from clew.protocol.events import AttemptEnded, Event, TurnEnded
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId
from clew.system.private_files import private_dir
from clew.tools.base import ORDINARY, AgentPort, ChildAgent, ChildOrder, Tool
from clew.transcript.log.store import sidecar_dir

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


class TreeRules(Struct, frozen=True, kw_only=True):
    """What holds for all children of a session together (`agents` in the settings)."""

    max_depth: int = 3
    max_at_once: int = 6
    auto_background_s: float = 0.0
    """A call waits so long for its child and then lets it go on in the background; 0: until its end."""
    wake_parent: bool = True
    result_bytes: int = 8_192
    limit_pause_s: float = 0.0
    """How long a child that a provider's limit stopped waits before it goes on, longer each time; 0: it ends."""


LIMIT_PAUSE_S = 60.0
NO_TEAM = "there is no team: TeamCreate (found by SearchTools) makes one"


def rules_of(settings: AgentSettings, *, headless: bool = False) -> TreeRules:
    """The rules that the settings give. Where nobody is there, a limit ends a child."""
    return TreeRules(
        max_depth=settings.max_depth,
        max_at_once=settings.max_concurrent,
        auto_background_s=settings.auto_background_s,
        wake_parent=settings.wake_parent,
        result_bytes=settings.result_bytes,
        limit_pause_s=0.0 if headless else LIMIT_PAUSE_S,
    )


class TeamPort(Protocol):
    """What agents need of the team that their session belongs to."""

    leads: bool
    """Whether the session leads the team: then its main agent starts members."""

    async def start(self, prompt: str, order: ChildOrder, *, call: CallId) -> ChildAgent:
        """A new member at work on the prompt. Raises ValueError."""
        ...

    async def post(self, sender: AgentId, to: str, text: str) -> str | None:
        """Words to a member, the lead, or everybody (`*`); what became of them. None: nobody of the team is meant.
        Raises ValueError with the reason why nobody gets them."""
        ...

    def is_outside(self, name: str) -> bool:
        """Whether this is a member that runs in another process: words to it go by mail."""
        ...

    def member_spec(self, spec: AgentSpec, name: str) -> AgentSpec:
        """A kind of agent, as this member is one."""
        ...

    def member_tools(self, agent: AgentId) -> "tuple[Tool[Any], ...]":
        """Tools that only members have."""
        ...


class AgentKinds(Protocol):
    """Which kinds of agents there are."""

    def find(self, name: str) -> AgentSpec:
        """A kind by its name; empty: the general one. Raises ValueError, in words for the model."""
        ...


class GivenKinds:
    """The general kind and some more."""

    def __init__(self, more: Sequence[AgentSpec] = ()) -> None:
        self._kinds = {spec.kind: spec for spec in (GENERAL, *more)}

    def find(self, name: str) -> AgentSpec:
        """One of them."""
        found = self._kinds.get(name or GENERAL.kind)
        if found is None:
            raise ValueError(f"there is no agent of the kind {name!r}; kinds are {', '.join(self._kinds)}")
        return found


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
        kinds: Callable[[], AgentKinds] | None = None,
        rules: TreeRules | None = None,
    ) -> None:
        """`limits`: the session's. `transcript`: its file; None: nothing is kept. `make_children`: loads what makes,
        runs and ends children. `kinds`: which children there are, read by the first who asks;
        None: the general one. `rules`: for all of them."""
        self.session = session
        self.shared = shared
        self.budget = budget
        self.connect = connect
        self.transcript = transcript
        self.limits = limits
        self.compaction = compaction
        self._make_children = make_children
        self._kinds = kinds or GivenKinds
        self.rules = rules or TreeRules()
        self._bodies: dict[AgentId, AgentBody] = {}
        self._runners: dict[AgentId, AgentRunner] = {}
        self._children: Children | None = None
        self.coordinates = False
        """The main agent gives all work to workers in the background."""
        self.team: TeamPort | None = None
        """The team that the session leads or is a member of; None: there is none."""
        self._objections: list[Callable[[AgentSpec], str]] = []
        self._seen_to: frozenset[str] = frozenset()
        shared.open_ports(session, self.port)

    def coordinate(self, on: bool) -> None:
        """Whether the main agent coordinates from now on. Its workers share a directory: nobody is asked about it."""
        self.coordinates = on
        if on and self.transcript is not None:
            self.shared.permits.use_scratch(scratch_dir(self.transcript))

    def admit_by(self, objection: Callable[[AgentSpec], str], sees_to: frozenset[str]) -> None:
        """Ask before each child is started. `sees_to`: what of the programs that definitions bring it runs."""
        self._objections.append(objection)
        self._seen_to |= sees_to

    def check(self, spec: AgentSpec) -> None:
        """Raises ValueError with why a child of this kind is not started, in words for the model."""
        said = [words for objection in self._objections if (words := objection(spec))]
        if not said and (left := sorted(spec.brings - self._seen_to)):
            said = [f"this session began without its {' and '.join(left)}; start clew again to use it"]
        if said:
            raise ValueError(f"the agent {spec.kind} was not started: {said[0]}")

    def words_above(self, agent: Agent) -> tuple[str, ...]:
        """The prompt that a child's is made from: its parent's, but a coordinator's words are nobody else's."""
        if self.coordinates and agent.id == MAIN_AGENT:
            return (prompt_text("system"), *agent.system[1:])
        return agent.system

    @property
    def shared_words(self) -> tuple[str, ...]:
        """What every worker is told of the directory that they share; none where nobody coordinates."""
        if not self.coordinates or self.transcript is None:
            return ()
        return (scratch_words(self.transcript),)

    def make(
        self,
        spec: AgentSpec,
        *,
        body: AgentBody,
        call: CallId | None = None,
    ) -> AgentRunner:
        """The runner of an agent of this kind, made of `body`. `call`: what started it."""
        made, log = body.agent, body.log
        self._bodies[made.id] = body
        self.budget.join(made.id, lambda: log.state)
        runner = AgentRunner(
            agent=made,
            steps=StepRunner(host=body.tools.host, pending=self.session.pending),
            middlewares=body.middlewares,
            publish=self._publisher(made.id),
            spent=self.budget.spent,
            first_turn=log.state.turns + 1,
            look=body.look,
        )
        self._runners[made.id] = runner
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
        return self._kinds().find(kind)

    def body(self, agent: AgentId) -> AgentBody:
        """What an agent is made of."""
        return self._bodies[agent]

    def find_runner(self, agent: AgentId) -> AgentRunner | None:
        """An agent that has not ended; None: it has, or never was."""
        return self._runners.get(agent)

    def port(self, agent: AgentId, call: CallId) -> AgentPort:
        """Through which a call of this agent starts children."""
        return CallPort(self, agent, call)

    def sent_to_background(self, agent: str = "") -> int:
        """Let the calls that wait for this child, or for any of the main agent's, wait no longer; how many did."""
        if self._children is None:
            return 0
        waited = self._children.waited_for()
        waiting = [run for run in waited if (run.agent == agent if agent else run.parent == MAIN_AGENT)]
        for run in waiting:
            run.to_background()
        return len(waiting)

    def closing(self) -> None:
        """The session is about to end: no child is started any more, and nobody is woken."""
        if self._children is not None:
            self._children.close()

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


def scratch_words(transcript: Path) -> str:
    """What is told of the directory that the workers of a coordinator share."""
    folder = scratch_dir(transcript)
    return (
        f"# Shared notes\nWorkers share {folder}: Read, Write and Edit there need no approval. Commands do not see it."
    )


def scratch_dir(transcript: Path) -> Path:
    """The directory that the workers of a session share: made with its first use."""
    folder = sidecar_dir(transcript) / "scratch"
    with contextlib.suppress(OSError):  # a full disk: whoever writes there is told
        private_dir(folder)
    return folder


class CallPort:
    """The children of a session, as one call of one agent reaches them."""

    def __init__(self, factory: AgentFactory, agent: AgentId, call: CallId) -> None:
        self._factory = factory
        self._agent = agent
        self._call = call

    async def start(self, prompt: str, order: ChildOrder = ORDINARY) -> ChildAgent:
        """A child at work on the prompt, or in line for it. Raises ValueError for what cannot be."""
        team = self._factory.team
        if order.name and team is not None and team.leads and self._agent == MAIN_AGENT and not order.fork:
            return await team.start(prompt, order, call=self._call)
        if order.team:
            raise ValueError("only the lead of a team starts members" if team else NO_TEAM)
        children, delegated = self._factory.children, self._factory.coordinates and self._agent == MAIN_AGENT
        if delegated and order.fork:
            raise ValueError("a coordinator does not fork: give the work to a worker, with all that it must know")
        kind = order.kind or (WORKER if delegated else "")
        spec = children.spec("fork") if order.fork else self._factory.spec(kind)
        shares = bool(self._factory.body(self._agent).tools.session.checkout)
        isolation = order.isolation or (spec.isolation if not shares else "")
        return children.start(
            spec,
            prompt,
            parent=self._agent,
            call=self._call,
            title=order.title,
            background=order.background or spec.background or delegated,
            name=order.name,
            model=order.model,
            checkout=await children.checkout(self._agent, isolation, fork=order.fork) if isolation else None,
        )

    def meant(self, order: ChildOrder) -> tuple[str, str]:
        """The kind as its definition calls it, and the model that the child would use. What is unknown stays as it was
        given: starting it says what is wrong."""
        own = self._factory.body(self._agent).agent.own_model
        try:
            spec = self._factory.children.spec("fork") if order.fork else self._factory.spec(order.kind)
        except ValueError:
            return order.kind, order.model or own.name
        name = "" if order.fork else order.model or spec.model
        if name in ("", "inherit") or name == own.name:
            return spec.kind, own.name
        try:
            model = self._factory.connect(name)
        except LLMError:
            return spec.kind, name
        self._factory.session.retire(model)
        return spec.kind, model.name

    @property
    def auto_background_s(self) -> float:
        """How long a call waits before its child goes on in the background; 0: until its end."""
        return self._factory.rules.auto_background_s

    @property
    def result_bytes(self) -> int:
        """How much of a child's words a call gives back."""
        return self._factory.rules.result_bytes

    async def message(self, wanted: str, text: str) -> str:
        """Write to another agent; who got it, and what happens now. Raises ValueError with why nobody did."""
        team = self._factory.team
        told = await team.post(self._agent, wanted, text) if team is not None else None
        if told is not None:
            return told
        if "@" in wanted[1:]:
            raise ValueError(f"{wanted!r} is no address: use the bare name or id of an agent")
        if wanted == "*":
            raise ValueError(f"nobody is meant by *: {NO_TEAM}")
        agent, what = await self._factory.children.talk.message(wanted, text, sender=self._agent)
        return f"Delivered to {agent}: {what}."

    def words_of(self, agent: AgentId) -> str:
        """All of an agent's last words. Raises ValueError."""
        return self._factory.children.words_of(agent)
