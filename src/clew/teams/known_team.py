"""A team as the session that leads it has it: what its file says, and how each member stands now."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol

from clew.agents.child_run import ChildRun
from clew.agents.factory import AgentFactory
from clew.protocol.event_kinds.agents import MemberRow, TeamChanged, TeamRow
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.standing import Standing
from clew.teams.names import LEAD
from clew.teams.roster import Member, Roster, Team, TeamError


class MemberBackend(Protocol):
    """Members that run outside of the lead's process: in panes of a terminal; later other products' agents over ACP."""

    async def start(self, roster: Roster, member: Member) -> Member:
        """Start one, or one that is gone again; the member as it is known from then on. Raises ValueError."""
        ...

    async def stop(self, member: Member) -> None:
        """End one and its pane; returns when it has ended."""
        ...

    def standing(self, member: Member) -> Standing:
        """How it stands, by its lease."""
        ...

    def how_to_look(self, member: Member) -> str:
        """Where a person finds it, in words."""
        ...


class KnownTeam:
    """What the parts of a live team share. The file is the truth; what is shown is made from it."""

    def __init__(
        self, roster: Roster, factory: AgentFactory, panes: MemberBackend | None = None, *, main: str = LEAD
    ) -> None:
        """`panes`: how members get panes; None: they are agents of this process. `main`: the address of the session's
        main conversation."""
        self.main = main
        self.roster = roster
        self.factory = factory
        self.session = factory.session
        self.panes = panes
        self.asked: dict[str, str] = {}
        """Members that were asked to stop, with the id of the request."""
        self.ended: dict[str, Standing] = {}
        """How the last run of a member ended, in this process."""
        self.changed = asyncio.Event()
        self._shown: TeamRow | None = None
        self._beside: set[asyncio.Task[Any]] = set()

    def team(self) -> Team:
        """As the file says. Raises TeamError."""
        return self.roster.read()

    def row(self) -> TeamRow:
        """As people see it."""
        team = self.team()
        return TeamRow(
            name=team.name,
            description=team.description,
            members=tuple(self._member_row(member) for member in team.members),
        )

    def _member_row(self, member: Member) -> MemberRow:
        return MemberRow(
            name=member.name,
            kind=member.kind,
            model=member.model,
            color=member.color,
            backend=member.backend,
            mode=member.mode,
            standing=self.standing(member),
            agent=AgentId(member.agent),
            session=member.session,
            pane=member.pane,
            leaving=member.name in self.asked,
        )

    def standing(self, member: Member) -> Standing:
        """How a member stands now: by its run or its lease, and where it has neither, by what its file says."""
        if member.state == "stopped":
            return Standing.STOPPED
        if member.backend == "pane":
            return self.panes.standing(member) if self.panes is not None else Standing.INTERRUPTED
        run = self.run(member)
        if run is not None:
            return run.standing
        ended = self.ended.get(member.name, Standing.COMPLETED if member.state == "idle" else Standing.INTERRUPTED)
        return Standing.IDLE if ended is Standing.COMPLETED else ended

    def run(self, member: Member) -> ChildRun | None:
        """Its run in this process, while it works."""
        return self.factory.children.run(AgentId(member.agent)) if member.agent else None

    def tell(self) -> None:
        """The team as it is now goes into the log and to front ends, where it is not what they know."""
        try:
            row: TeamRow | None = self.row()
        except TeamError as error:
            self.session.notice("warning", str(error), code="team")
            return
        if row != self._shown and not self.session.closed:
            self._shown = row
            self.session.publish(TeamChanged(team=row))
        self.changed.set()

    def named(self, agent: AgentId) -> str:
        """The address of an agent of this process; empty: it is not in the team."""
        if agent == MAIN_AGENT:
            return self.main
        return next((member.name for member in self.team().members if member.agent == agent), "")

    def quietly_named(self, agent: AgentId) -> str:
        """The same, and nothing where the files of the team are gone."""
        try:
            return self.named(agent)
        except TeamError:
            return ""

    def known(self, name: str) -> Member:
        """A member by its name. Raises TeamError that names those there are."""
        team = self.team()
        member = team.find(name)
        if member is None:
            known = ", ".join(one.name for one in team.members) or "nobody yet"
            raise TeamError(f"there is no {name!r} in the team {team.name}; members are {known}")
        return member

    def later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do this beside what happens now."""
        if self.session.closed:
            work.close()
            return
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def settled(self) -> None:
        """Until what was begun beside is done."""
        while self._beside:
            await asyncio.gather(*self._beside, return_exceptions=True)
