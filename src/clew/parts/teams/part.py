"""The team of a session: made and ended by tools, shown and steered by people, found again after a restart."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.host.request import SessionRequest
from clew.parts.teams.at_place import shown
from clew.parts.teams.tools import (
    MemberPlan,
    PlanReply,
    ShutdownReply,
    TeamCreate,
    TeamCreateParams,
    TeamDelete,
    TeamShutdown,
)
from clew.protocol.entries import UserEntry
from clew.protocol.event_kinds.agents import TeamChanged
from clew.protocol.ids import AgentId
from clew.protocol.lookups.teams import ShowTeam, TeamShown
from clew.protocol.ops import SetMemberMode, StartMember, StopMember
from clew.protocol.standing import Standing
from clew.teams.live_team import LiveTeam
from clew.teams.names import LEAD, checked_name
from clew.teams.pane_life import PaneStart
from clew.teams.roster import Roster, Team, TeamError, team_of_session
from clew.teams.stopping import WorkBooks
from clew.teams.tmux_panes import TmuxPanes
from clew.teams.work_list import WorkList, list_folder
from clew.tools.base import Tool
from clew.transcript.log.stamp import utc_now

OFF = "teams are off here (teams.enabled); start agents with Agent, and write to them with SendMessage"
NONE = "there is no team: TeamCreate makes one"
HookAsk = Callable[[str, dict[str, Any], str], Awaitable[str]]
"""Asks the user's hooks of a moment, with fields and a subject: why not, or nothing."""


async def no_hook(moment: str, fields: dict[str, Any], subject: str) -> str:
    """Nobody has hooks."""
    return ""


def settings_of(request: SessionRequest) -> str | None:
    """The layer of settings that the session was given, as a process elsewhere finds it."""
    given = request.settings
    return given if not given or given.lstrip().startswith("{") else str((request.cwd / given).absolute())


def flags_of(request: SessionRequest) -> dict[str, Any]:
    """The settings that the session was started with by flags, model and mode apart: a member has its own."""
    return {key: value for key, value in request.flags.items() if value and key not in ("model", "permissionMode")}


class TeamPart(Part):
    """One per session. It has a team when its model made one, or when it led one before it was opened again."""

    def __init__(
        self,
        setup: PartSetup,
        *,
        work: WorkBooks,
        work_tools: Callable[[AgentId], tuple[Tool[Any], ...]],
        ask: HookAsk | None = None,
    ) -> None:
        """`work`: the list of work; `work_tools`: its tools, for a member. `ask`: the user's hooks."""
        self._work = work
        self._home = setup.workspace.home
        self._settings = setup.workspace.settings
        self._past = setup.past
        request = setup.request
        start = PaneStart(env=dict(request.env), settings=settings_of(request), flags=flags_of(request))
        self._panes = TmuxPanes(self._home, start)
        self._ask = ask or no_hook
        self._work_tools = work_tools
        self._team: LiveTeam | None = None
        self._watching: asyncio.Task[None] | None = None
        self._told_lost = False

    def start(self, own: PartSession) -> None:
        """Belong to a session; a team that it led before is found again."""
        self._own = own
        self._session_id = own.session.started.session_id
        if self._settings.teams.enabled and (team := team_of_session(self._home, self._session_id)) is not None:
            self._open(team)

    def begin(self) -> None:
        """A front end listens: mail that waits for the lead joins with its next turn, and what died is told."""
        team = self._team
        if team is None:
            self._tell_lost()
            return
        if self._watching is not None:
            return
        self._watching = asyncio.create_task(team.watch())
        team.known.later(self._welcome(team))

    def _tell_lost(self) -> None:
        """The log knows a team whose file cannot be read, or is gone: a person is told once."""
        row = self._own.session.journal.main.state.team
        if row is None or self._told_lost or not self._settings.teams.enabled:
            return
        self._told_lost = True
        try:
            Roster(self._home, row.name).read()
        except TeamError as error:
            words = f"this session leads no team now: {error}"
            notice = self._own.session.notice
            asyncio.get_running_loop().call_soon(
                lambda: notice("warning", words, code="team")
            )  # a front end hears it then

    async def _welcome(self, team: LiveTeam) -> None:
        """After a restart: what a dead member had open is nobody's again; mail of the lead is read."""
        for member in team.known.team().members:
            if member.backend == "in-process" and team.known.standing(member) is Standing.INTERRUPTED:
                await self._work.release(member.name)
        team.known.tell()
        for name in team.mail.postman.addresses:
            team.mail.postman.pump(name, wake=name == LEAD, quietly=True)

    def _open(self, team: Team) -> LiveTeam:
        told = {str(task) for entry in self._past.entries if isinstance(entry, UserEntry) for task in entry.notices}
        self._team = LiveTeam(
            Roster(self._home, team.name),
            self._own.agents,
            work=self._work,
            more_tools=self._member_tools,
            idle_hook=lambda name: self._ask("TeammateIdle", {"teammate_name": name, "team_name": team.name}, name),
            panes=self._panes,
            in_panes=self._wants_panes(),
            lead_approves=self._settings.teams.lead_approves_plans,
            told=told,
        )
        self._own.agents.team = self._team
        return self._team

    def _wants_panes(self) -> bool:
        """Whether new members get panes."""
        backend = self._settings.teams.backend
        return backend == "tmux" or (backend == "auto" and self._panes.inside())

    async def stop(self) -> None:
        """What is being written down is, before the session ends."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        if self._team is not None:
            await self._team.close()

    # Tools.

    def deferred(self, name: str, agent: AgentId) -> Tool[Any] | None:
        """The tools of the lead."""
        match name:
            case "TeamCreate":
                return TeamCreate(self._create)
            case "TeamDelete":
                return TeamDelete(self._delete)
            case "TeamShutdown":
                return TeamShutdown(self._live)
            case "PlanReply":
                return PlanReply(self._live)
            case _:
                return None

    def _member_tools(self, agent: AgentId) -> tuple[Tool[Any], ...]:
        return (
            *self._work_tools(agent),
            ShutdownReply(agent, lambda: self._live().stopping),
            MemberPlan(agent, self._live),
        )

    def _live(self) -> LiveTeam:
        if self._team is None:
            raise TeamError(NONE)
        return self._team

    async def _create(self, wanted: TeamCreateParams) -> str:
        if not self._settings.teams.enabled:
            raise TeamError(OFF)
        if self._team is not None:
            there = self._team.known.team().name
            raise TeamError(f"this session leads the team {there} already: TeamDelete ends it")
        if not self._past.path:
            raise TeamError("this session keeps no files, so it cannot lead a team")
        name = checked_name(wanted.team_name, "a team")
        team = Team(
            name=name,
            description=wanted.description,
            created_at=utc_now(),
            lead_session=self._session_id,
            lead_kind=wanted.agent_type,
        )
        await asyncio.to_thread(Roster(self._home, name).create, team)
        live = self._open(team)
        self._watching = asyncio.create_task(live.watch())
        live.known.tell()
        return (
            f"The team {name} is there, and you lead it. Start members with Agent(name=..., prompt=...): they work in "
            "the background and answer by SendMessage, not by their last words. They share your work list: add items "
            "with CallTool TaskCreate, give one to a member with TaskUpdate(owner). SendMessage to * writes to all."
        )

    async def _delete(self, wait_s: float) -> str:
        team = self._live()
        left = await team.stopping.all_stopped(wait_s)
        if left:
            named = "; ".join(f"{name}: {why}" for name, why in left.items())
            raise TeamError(f"the team stays: not everybody has stopped ({named})")
        name = team.known.team().name
        await self._close_team(team)
        await asyncio.to_thread(team.known.roster.remove)
        self._own.session.publish(TeamChanged(team=None))
        return f"The team {name} is gone. Its work list stays yours."

    async def _close_team(self, team: LiveTeam) -> None:
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None
        self._own.agents.team = None
        self._team = None
        await team.close()

    # What the list of work needs of the team.

    def member(self, agent: AgentId) -> str:
        """The name that an agent has in the team; empty: it is in none."""
        return self._team.known.quietly_named(agent) if self._team is not None else ""

    def address(self, name: str) -> str:
        """How whoever is meant is written in the team."""
        return self._team.mail.address(name) if self._team is not None else name

    async def assign(self, by: str, to: str, item: int, subject: str) -> str:
        """Tell a member that an item is its own; why it is not told, or nothing."""
        if self._team is None:
            return NONE
        try:
            await self._team.mail.assign(by, to, item, subject)
        except ValueError as error:
            self._own.session.notice("warning", f"{to} was not told of #{item}: {error}", code="team")
            return str(error)
        return ""

    # What people ask.

    def ops(self) -> OpHandlers:
        """Stopping, starting again, another mode."""
        return {StopMember: self._stop_member, StartMember: self._start_member, SetMemberMode: self._set_mode}

    def lookups(self) -> Answerers:
        """The team and its mail."""
        return {ShowTeam: self._show}

    async def _stop_member(self, op: StopMember) -> Effect:
        team = self._asked_team()
        try:
            team.known.known(op.name)
        except ValueError as error:
            raise OpRefused(str(error)) from error

        async def stop() -> None:
            try:
                if op.ask:
                    await team.stopping.ask_to_stop(op.name, "the user wants it")
                else:
                    await team.stopping.kill(op.name, "user")
            except ValueError as error:
                self._own.session.notice("warning", str(error), code="team")

        return stop

    async def _start_member(self, op: StartMember) -> Effect:
        team = self._asked_team()
        try:
            await team.again(op.name)
        except ValueError as error:
            raise OpRefused(str(error)) from error
        return lambda: None

    async def _set_mode(self, op: SetMemberMode) -> Effect:
        try:
            self._asked_team().set_mode(op.name, op.mode)
        except ValueError as error:
            raise OpRefused(str(error)) from error
        return lambda: None

    def _asked_team(self) -> LiveTeam:
        if self._team is None:
            raise OpRefused("this session has no team")
        return self._team

    async def _show(self, lookup: ShowTeam) -> TeamShown:
        if self._team is None:
            return TeamShown(notes=(OFF,) if not self._settings.teams.enabled else ())
        known = self._team.known
        try:
            row = known.row()
        except TeamError as error:
            raise OpRefused(str(error)) from error
        work = WorkList(list_folder(self._home, self._session_id))
        return await asyncio.to_thread(shown, known.roster, row, lookup.letters, work)
