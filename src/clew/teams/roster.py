"""Who is in a team: one file, written whole under one lock, and where the team's other files are."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clew.system.private_files import private_dir, replace_private
from clew.system.shared_log import LogBusy, locked
from clew.teams.mailbox import Mailbox
from clew.teams.names import LEAD, checked_name, slug_of
from clew.transcript.log.stamp import utc_now

VERSION = 1
Backend = Literal["in-process", "pane"]
COLORS = ("cyan", "green", "yellow", "magenta", "blue", "red")
MAX_MEMBERS = 32


class Member(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of a team."""

    name: str
    kind: str = ""
    """The kind of agent that it is."""
    model: str = ""
    color: str = ""
    backend: Backend = "in-process"
    mode: str = ""
    """The permission mode that it was started with; empty: its lead's."""
    agent: str = ""
    """In the lead's process: the id of the agent, and of its log."""
    session: str = ""
    """In a pane: the session that it is."""
    pane: str = ""
    socket: str = ""
    """The tmux server of the pane."""
    process: str = ""
    """The process in the pane: its number, and what outlives that number (`process_start`)."""
    cwd: str = ""
    created_at: str = ""
    state: Literal["active", "idle", "waiting", "stopping", "stopped"] = "active"
    """How it stood when somebody last wrote it down; whether its process lives is asked, not kept."""
    stopped_by: str = ""


class Team(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A team as its file says."""

    version: int = VERSION
    name: str
    description: str = ""
    created_at: str = ""
    lead_session: str = ""
    lead_kind: str = ""
    members: tuple[Member, ...] = ()

    def find(self, name: str) -> Member | None:
        """A member by its name."""
        slug = slug_of(name)
        return next((member for member in self.members if slug_of(member.name) == slug), None)


class TeamError(ValueError):
    """What cannot be done with a team; the words are for a person or a model."""


def teams_dir(home: Path) -> Path:
    """Where the teams of this user are."""
    return home / "teams"


class Roster:
    """The files of one team."""

    def __init__(self, home: Path, name: str) -> None:
        self.slug = slug_of(name)
        self.folder = teams_dir(home) / self.slug
        self._file = self.folder / "team.json"
        self._boxes: dict[str, Mailbox] = {}

    def read(self) -> Team:
        """As the file says now. Raises TeamError."""
        try:
            raw = self._file.read_bytes()
        except FileNotFoundError:
            raise TeamError(f"there is no team {self.slug} any more: {self._file} is gone") from None
        except OSError as error:
            raise TeamError(f"the team {self.slug} cannot be read: {error}") from error
        return decoded(raw, self._file)

    @property
    def written(self) -> int:
        """When the file was last written; 0: it is not there."""
        try:
            return os.stat(self._file).st_mtime_ns
        except OSError:
            return 0

    def create(self, team: Team) -> Team:
        """The files of a new team. Raises TeamError where there is one of this name."""
        private_dir(self.folder)
        with self._alone():
            if self._file.exists():
                there = self.read()
                raise TeamError(
                    f"there is a team {there.name} already (led by the session {there.lead_session[:8]}): choose "
                    f"another name, or delete it with `clew team delete {self.slug}`"
                )
            private_dir(self.folder / "inbox")
            self._write(team)
        return team

    def change(self, change: Callable[[Team], Team]) -> Team:
        """Change it as one step. Raises TeamError."""
        with self._alone():
            team = change(self.read())
            self._write(team)
        return team

    def add(self, member: Member) -> Team:
        """One more member, with an inbox of its own. Raises TeamError, or BadName for its name."""

        def added(team: Team) -> Team:
            checked_name(member.name, "a member", [one.name for one in team.members])
            if sum(one.state != "stopped" for one in team.members) >= MAX_MEMBERS:
                raise TeamError(f"the team has {MAX_MEMBERS} members already")
            kept = team.members
            color = member.color or COLORS[len(kept) % len(COLORS)]
            return replace(
                team, members=(*kept, replace(member, color=color, created_at=member.created_at or utc_now()))
            )

        return self.change(added)

    def drop(self, name: str) -> Team:
        """Forget a member that never began. Raises TeamError."""
        slug = slug_of(name)
        return self.change(
            lambda team: replace(team, members=tuple(member for member in team.members if slug_of(member.name) != slug))
        )

    def note(self, name: str, **changes: object) -> Team:
        """Write down that a member stands otherwise. Raises TeamError."""
        slug = slug_of(name)

        def noted(team: Team) -> Team:
            if team.find(name) is None:
                raise TeamError(f"there is no {name} in the team {team.name}")
            return replace(
                team,
                members=tuple(
                    replace(member, **changes) if slug_of(member.name) == slug else member for member in team.members
                ),
            )

        return self.change(noted)

    def remove(self) -> None:
        """Take the team's files away; what stands in its directory and is not ours stays. Raises TeamError."""
        with self._alone():
            for folder in ("inbox", "archive", "start"):
                place = self.folder / folder
                names = sorted(os.listdir(place)) if place.is_dir() else []
                for name in names:
                    if name.endswith((".jsonl", ".lock", ".json")):
                        with contextlib.suppress(OSError):
                            os.unlink(place / name)
                with contextlib.suppress(OSError):
                    os.rmdir(place)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._file)
        with contextlib.suppress(OSError):
            os.unlink(self.folder / "team.lock")
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)

    def box(self, name: str) -> Mailbox:
        """The inbox of a member, or of the lead."""
        slug = LEAD if name == LEAD else slug_of(name)
        if slug not in self._boxes:
            self._boxes[slug] = Mailbox(
                self.folder / "inbox" / f"{slug}.jsonl", archive=self.folder / "archive" / f"{slug}.jsonl"
            )
        return self._boxes[slug]

    @contextlib.contextmanager
    def _alone(self):
        if not self.folder.is_dir():
            raise TeamError(f"there is no team {self.slug} any more: {self.folder} is gone")
        try:
            with locked(self.folder / "team.lock"):
                yield
        except LogBusy as busy:
            raise TeamError(f"the team {self.slug} is busy; try again") from busy
        except OSError as error:
            raise TeamError(f"the team {self.slug} cannot be written: {error}") from error

    def _write(self, team: Team) -> None:
        replace_private(self._file, msgspec.json.format(msgspec.json.encode(team), indent=2) + b"\n")


def decoded(raw: bytes, file: Path) -> Team:
    """A team from its file. Raises TeamError that names the file."""
    try:
        version = msgspec.json.decode(raw, type=_OnlyVersion).version
    except msgspec.DecodeError as error:
        raise TeamError(f"{file} is damaged ({error}); repair it or move it away") from error
    if version > VERSION:
        raise TeamError(f"{file} was written by a newer clew (version {version}): use that one, nothing was changed")
    try:
        return msgspec.json.decode(raw, type=Team)
    except msgspec.DecodeError as error:
        raise TeamError(f"{file} is damaged ({error}); repair it or move it away") from error


class _OnlyVersion(Struct):
    version: int = VERSION


def all_teams(home: Path) -> tuple[list[Team], list[str]]:
    """The teams of this user by their names, and what is wrong with the others, a line each."""
    folder = teams_dir(home)
    found: list[Team] = []
    wrong: list[str] = []
    for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
        file = folder / name / "team.json"
        if not file.is_file():
            continue
        try:
            found.append(decoded(file.read_bytes(), file))
        except (OSError, TeamError) as error:
            wrong.append(str(error))
    return found, wrong


def team_of_session(home: Path, session: str) -> Team | None:
    """The team that this session leads, if any."""
    return next((team for team in all_teams(home)[0] if team.lead_session == session), None)
