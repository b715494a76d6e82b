"""The session of a member in a pane: its mail, its tools, and what it tells its lead."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

from clew.agents.child_files import last_words
from clew.config.errors import SettingsError
from clew.engine.turn import Prompt
from clew.host.part import Part, PartSession, PartSetup
from clew.parts.teams.part import HookAsk, no_hook
from clew.parts.teams.tools import PlanReply, ShutdownReply, TeamCreate, TeamDelete, TeamShutdown
from clew.protocol.entries import UserEntry
from clew.protocol.event_kinds.asks import Answered, ApprovalRequested, Ask, PlanProposed
from clew.protocol.events import Event, PermissionModeChanged, PromptAccepted, ToolEnded, TurnEnded, TurnStarted
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.teams.live_team import member_words
from clew.teams.member_team import MemberMail, MemberTeam, TeamSeenByMember
from clew.teams.pane_life import process_name
from clew.teams.roster import Member, Roster, Team, TeamError
from clew.tools.base import Tool


def seat_of(setup: PartSetup) -> tuple[Roster, Team, Member]:
    """The team and the member that the request names. Raises SettingsError."""
    team_name, _, name = setup.request.teammate.partition("/")
    roster = Roster(setup.workspace.home, team_name)
    try:
        team = roster.read()
    except TeamError as error:
        raise SettingsError(str(error)) from error
    member = team.find(name)
    if member is None:
        raise SettingsError(f"there is no {name!r} in the team {team.name} (--teammate)")
    return roster, team, member


def lead_of(setup: PartSetup) -> str:
    """The session that leads the team: its list of work is the team's. Raises SettingsError."""
    return seat_of(setup)[1].lead_session


class MemberPart(Part):
    """One per session that is a member of a team led elsewhere."""

    def __init__(self, setup: PartSetup, *, work_tools: tuple[Tool[Any], ...], ask: HookAsk | None = None) -> None:
        """`work_tools`: those of the team's list of work. `ask`: the user's hooks. Raises SettingsError."""
        self._roster, team, self._member = seat_of(setup)
        self._team_name = team.name
        self._home = setup.workspace.home
        self._past = setup.past
        self._ask = ask or no_hook
        self.tools = (*work_tools, ShutdownReply(MAIN_AGENT, lambda: self._team))
        others = ", ".join(one.name for one in team.members if one.name != self._member.name and one.state != "stopped")
        self.words = member_words(self._member.name, team, others)
        self._begun = False
        self._watching: asyncio.Task[None] | None = None
        self._beside: set[asyncio.Task[None]] = set()
        self._asks: set[str] = set()
        self._rests = asyncio.Lock()

    def start(self, own: PartSession) -> None:
        """Belong to a session, and take the member's place in the team."""
        self._own = own
        self._session = own.session
        told = {str(task) for entry in self._past.entries if isinstance(entry, UserEntry) for task in entry.notices}
        known = TeamSeenByMember(self._home, self._roster, own.agents, self._member.name)
        permits = own.toolbox.permits
        self._team = MemberTeam(
            known, MemberMail(known, told=told, mode=lambda: permits.policy.mode, use_mode=self._use_mode)
        )
        own.agents.team = self._team

    async def _use_mode(self, mode: str) -> None:
        self._own.toolbox.permits.set_mode(mode)
        self._session.publish(PermissionModeChanged(mode=mode))
        self._session.pending.reconsider()
        await asyncio.to_thread(self._roster.note, self._member.name, mode=mode)

    def begin(self) -> None:
        """A front end listens: the team is told that this member is there, and its mail is read."""
        if not self._begun:
            self._begun = True
            self._later(self._arrive())

    async def _arrive(self) -> None:
        here = process_name(os.getpid())
        session = self._session.started.session_id
        await self._team.note("active", session=session, process=here, stopped_by="")
        postman = self._team.mail.postman
        self._watching = asyncio.create_task(postman.watch())
        postman.pump(self._member.name)
        if not self._session.main.working:
            await self._rested()

    async def stop(self) -> None:
        """What is being written down is, before the session ends."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        self._team.mail.postman.close()
        await self._team.mail.postman.settled()

    def on(self, event: Event, agent: AgentId) -> None:
        """What the lead must know of this session is told to it."""
        if isinstance(event, Ask):
            self._asks.add(event.request_id)
            self._later(self._waits(event))
        elif isinstance(event, Answered):
            self._asks.discard(event.request_id)
            if not self._asks:
                self._later(self._team.note("active"))
        if agent != MAIN_AGENT:
            return
        match event:
            case PromptAccepted(notices=notices) if notices:
                step = self._session.journal.main.state.steps
                self._team.mail.postman.joined(self._member.name, map(str, notices), step)
            case TurnStarted():
                self._later(self._team.note("active"))
            case TurnEnded():
                self._later(self._rested(told=True))
            case ToolEnded() if self._team.leaving is not None and event.result.call_id == self._team.leaving:
                self._later(self._session.close())
            case _:
                pass

    async def _waits(self, ask: Ask) -> None:
        """The lead's screen says who waits, for what, and where to answer."""
        what = f"{ask.tool}: {ask.subject}" if isinstance(ask, ApprovalRequested) else "an answer of a person"
        await self._team.note("waiting")
        kind = "plan_request" if isinstance(ask, PlanProposed) else "permission_request"
        await self._team.tell_lead(kind, what, self._session.started.session_id)

    async def _rested(self, *, told: bool = False) -> None:
        """The turn is over and nothing is left: hooks may send the member on, else it is idle. `told`: the lead is
        told its last words."""
        async with self._rests:
            runner = self._session.main
            await runner.settled()
            if self._session.closed or runner.closed or self._team.leaving is not None or runner.working:
                return
            fields = {"teammate_name": self._member.name, "team_name": self._team_name}
            if told and (why := await self._ask("TeammateIdle", fields, self._member.name)):
                runner.submit(Prompt(content=f"[A hook does not let you be idle:] {why}", origin="task"))
                return
            if await self._team.state() == "idle" or runner.working:
                return
            await self._team.note("idle")
            if told:
                await self._team.tell_lead("idle", self._last_words(), self._session.started.session_id)

    def _last_words(self) -> str:
        return last_words(self._own.agent.conversation.chain())

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this beside what happens now; what cannot be written is told to the person."""

        async def done() -> None:
            try:
                await work
            except ValueError as error:
                if not self._session.closed:
                    self._session.notice("warning", str(error), code="team")

        task = asyncio.ensure_future(done())
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    # What the list of work needs of the team.

    def member(self, agent: AgentId) -> str:
        """The name that an agent of this session has in the team; empty: it is in none."""
        return self._member.name if agent == MAIN_AGENT else ""

    def address(self, name: str) -> str:
        """How whoever is meant is written in the team."""
        return self._team.mail.address(name)

    async def assign(self, by: str, to: str, item: int, subject: str) -> str:
        """Tell somebody of the team that an item is its own; why it is not told, or nothing."""
        try:
            await self._team.mail.assign(by, to, item, subject)
        except ValueError as error:
            self._session.notice("warning", f"{to} was not told of #{item}: {error}", code="team")
            return str(error)
        return ""

    # Tools of the lead, which answer that they are the lead's.

    def deferred(self, name: str, agent: AgentId) -> Tool[Any] | None:
        """The lead's tools answer with the reason."""
        match name:
            case "TeamCreate":
                return TeamCreate(self._refuse)
            case "TeamDelete":
                return TeamDelete(self._refuse)
            case "TeamShutdown":
                return TeamShutdown(self._refused)
            case "PlanReply":
                return PlanReply(self._refused)
            case _:
                return None

    async def _refuse(self, wanted: object) -> str:
        raise TeamError(self._not_lead())

    def _refused(self) -> Any:
        raise TeamError(self._not_lead())

    def _not_lead(self) -> str:
        return f"you are a member of the team {self._team_name}: only its lead makes, ends and steers teams"
