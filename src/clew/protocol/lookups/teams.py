"""Lookups about the team of a session: who is in it, and its mail."""

from typing import Any, ClassVar

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.event_kinds.agents import TeamRow
from clew.protocol.lookups.base import Answer, Lookup


class MailRow(Struct, frozen=True, kw_only=True):
    """One letter and what became of it."""

    id: str
    kind: str
    sender: str
    to: str
    at: str
    text: str = ""
    became: str = "stored"
    """`stored`, `delivered`, `handled`, `refused` or `dead`."""
    step: int = 0
    why: str = ""


class TeamShown(Answer, frozen=True, kw_only=True, tag="team.shown"):
    """A team, its mail (the newest last) and its open work."""

    team: TeamRow | None = None
    mail: tuple[MailRow, ...] = ()
    left_out: int = 0
    """Older letters that are not listed."""
    notes: tuple[str, ...] = ()
    """What is wrong with its files."""
    folder: str = ""
    work: tuple[dict[str, Any], ...] = ()


class ShowTeam(Lookup[TeamShown], frozen=True, kw_only=True, tag="team.show"):
    """Ask for the team of the session."""

    letters: int = 50


class ShowTeamFiles(Lookup[TeamShown], frozen=True, kw_only=True, tag="team.files"):
    """Ask for a team by its name, as its files tell; no session is needed."""

    name: str
    letters: int = 50


class TeamsListed(Answer, frozen=True, kw_only=True, tag="teams.listed"):
    """The teams of the user."""

    teams: tuple[TeamRow, ...] = ()
    problems: tuple[str, ...] = ()
    """Files that cannot be read."""


class ListTeams(Lookup[TeamsListed], frozen=True, kw_only=True, tag="teams.list"):
    """Ask which teams there are."""


class DeleteTeam(Lookup[TeamsListed], frozen=True, kw_only=True, tag="team.delete"):
    """Take away the files of a team that nobody lives in. Refused while a session of it runs."""

    needs: ClassVar[Rights] = Rights.DRIVE

    name: str
