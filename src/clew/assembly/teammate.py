"""`clew --teammate TEAM/NAME`: the request of a member in a pane, completed by what its team says of it."""

import os

from msgspec.structs import replace

from clew.agents.runner import GENERAL, MAIN
from clew.config.errors import SettingsError
from clew.host.request import SessionRequest
from clew.system.home import clew_home
from clew.teams.pane_life import pane_lives, process_name, taken_over
from clew.teams.roster import Roster, TeamError
from clew.transcript.log.store import SessionStore


def as_teammate(request: SessionRequest) -> SessionRequest:
    """The request with the member's kind, model, mode and session, and with what its lead was started with. Raises
    SettingsError."""
    team_name, _, name = request.teammate.partition("/")
    home = clew_home(request.env)
    roster = Roster(home, team_name)
    try:
        team = roster.read()
    except TeamError as error:
        raise SettingsError(str(error)) from error
    member = team.find(name)
    if member is None or member.backend != "pane":
        raise SettingsError(f"the team {team.name} has no member {name!r} in a pane (--teammate)")
    if member.process != process_name(os.getpid()) and pane_lives(home, member):
        raise SettingsError(f"{member.name} runs already, in the pane {member.pane}")
    start = taken_over(roster, member.name)
    os.environ.update(start.env)
    own = {"model": member.model or None, "permissionMode": member.mode or None}
    given = {key: value for key, value in request.flags.items() if value is not None}
    resume = request.resume
    if resume is None and member.session and SessionStore(home).find(member.session) is not None:
        resume = member.session
    return replace(
        request,
        env=os.environ,
        settings=request.settings or start.settings,
        flags={**start.flags, **{key: value for key, value in own.items() if value is not None}, **given},
        agent=request.agent or (member.kind if member.kind not in (GENERAL.kind, MAIN.kind) else ""),
        resume=resume,
    )
