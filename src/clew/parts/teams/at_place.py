"""The teams of a user as their files tell, without a session: which there are, who is in one, its mail, its end."""

import asyncio
from pathlib import Path
from typing import Any

from clew.host.workspace import Workspace
from clew.protocol.event_kinds.agents import MemberRow, TeamRow
from clew.protocol.ids import AgentId
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused, NothingFits
from clew.protocol.lookups.teams import DeleteTeam, ListTeams, MailRow, ShowTeamFiles, TeamShown, TeamsListed
from clew.protocol.standing import Standing
from clew.teams.names import LEAD, slug_of
from clew.teams.pane_life import pane_lives, pane_standing
from clew.teams.roster import Member, Roster, Team, TeamError, all_teams
from clew.teams.work_list import WorkList, list_folder
from clew.transcript.log.lease import holder_of
from clew.transcript.log.store import SessionStore


async def answer(lookup: Lookup[Any], workspace: Workspace) -> Answer:
    """What the files say. Raises LookupRefused."""
    assert isinstance(lookup, ListTeams | ShowTeamFiles | DeleteTeam)
    return await asyncio.to_thread(_answer, lookup, workspace.home)


def _answer(lookup: ListTeams | ShowTeamFiles | DeleteTeam, home: Path) -> Answer:
    if isinstance(lookup, ListTeams):
        return listed(home)
    roster = Roster(home, lookup.name)
    if slug_of(lookup.name) != roster.folder.name or not roster.folder.is_dir():
        known = ", ".join(team.name for team in all_teams(home)[0]) or "none"
        raise NothingFits(f"there is no team {lookup.name!r}; teams are {known}")
    try:
        team = roster.read()
    except TeamError as error:
        raise LookupRefused(str(error)) from error
    if isinstance(lookup, DeleteTeam):
        return deleted(home, roster, team)
    return shown(roster, team_row(home, team), lookup.letters, WorkList(list_folder(home, team.lead_session)))


def listed(home: Path) -> TeamsListed:
    """All teams, and what is wrong with others."""
    teams, problems = all_teams(home)
    return TeamsListed(teams=tuple(team_row(home, team) for team in teams), problems=tuple(problems))


def deleted(home: Path, roster: Roster, team: Team) -> TeamsListed:
    """Take a team's files away, unless somebody of it lives."""
    if lives(home, team.lead_session):
        raise LookupRefused(f"the session that leads {team.name} runs: end the team there")
    for member in team.members:
        if member.backend == "pane" and pane_lives(home, member):
            raise LookupRefused(f"{member.name} runs in a pane ({member.pane}): end it first")
    try:
        roster.remove()
    except TeamError as error:
        raise LookupRefused(str(error)) from error
    return listed(home)


def lives(home: Path, session: str) -> bool:
    """Whether a process holds this session."""
    found = SessionStore(home).find(session) if session else None
    return found is not None and holder_of(found) is not None


def team_row(home: Path, team: Team) -> TeamRow:
    """A team, with each member as its file and the leases tell."""
    led = lives(home, team.lead_session)
    rows = tuple(
        MemberRow(
            name=member.name,
            kind=member.kind,
            model=member.model,
            color=member.color,
            backend=member.backend,
            mode=member.mode,
            standing=standing_of(home, member, led=led),
            agent=AgentId(member.agent),
            session=member.session,
            pane=member.pane,
        )
        for member in team.members
    )
    return TeamRow(name=team.name, description=team.description, members=rows)


def standing_of(home: Path, member: Member, *, led: bool) -> Standing:
    """How a member stands: what its file says, if the process that it lives in is there."""
    if member.state == "stopped":
        return Standing.STOPPED
    if member.backend == "pane":
        return pane_standing(home, member)
    if not led:
        return Standing.IDLE if member.state == "idle" else Standing.INTERRUPTED
    return Standing.IDLE if member.state == "idle" else Standing.WORKING


def shown(roster: Roster, row: TeamRow, letters: int, work: WorkList) -> TeamShown:
    """A team with its newest letters and its open work."""
    rows: list[MailRow] = []
    notes: list[str] = []
    for name in (LEAD, *(member.name for member in row.members)):
        box = roster.box(name)
        rows += [
            MailRow(
                id=one.letter.id,
                kind=one.letter.kind,
                sender=one.letter.sender,
                to=one.letter.to,
                at=one.letter.at,
                text=one.letter.text,
                became=one.word,
                step=one.receipt.step if one.receipt is not None else 0,
                why=one.receipt.why if one.receipt is not None else "",
            )
            for one in box.all()
        ]
        if box.bad_lines:
            notes.append(f"{box.bad_lines} lines in the inbox of {name} cannot be read; they are left there")
    rows.sort(key=lambda mail: mail.at)
    kept = rows[max(0, len(rows) - letters) :] if letters else []
    items = tuple(
        {"id": item.id, "subject": item.subject, "status": item.status, "owner": item.owner} for item in work.items()
    )
    return TeamShown(
        team=row,
        mail=tuple(kept),
        left_out=len(rows) - len(kept),
        notes=tuple(notes),
        folder=str(roster.folder),
        work=items,
    )
