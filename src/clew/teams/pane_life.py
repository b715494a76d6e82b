"""What the lead and a member in a pane know of each other's processes: the start file, and whether a process lives."""

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from clew.protocol.standing import Standing
from clew.system.private_files import private_dir, replace_private
from clew.teams.names import slug_of
from clew.teams.roster import Member, Roster
from clew.transcript.log.lease import holder_of, process_start
from clew.transcript.log.store import SessionStore

PANE_ONLY = frozenset(
    {
        "TMUX",
        "TMUX_PANE",
        "TERM",
        "TERM_PROGRAM",
        "TERM_PROGRAM_VERSION",
        "COLORTERM",
        "COLUMNS",
        "LINES",
        "SHLVL",
        "PWD",
        "OLDPWD",
        "STY",
        "WINDOW",
        "WINDOWID",
        "_",
    }
)
"""Variables that tell of a terminal: a pane has its own."""
MODES_BY_WIDTH = ("plan", "default", "acceptEdits", "bypassPermissions")


class PaneStart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the lead was started with, handed to a member once, in a private file."""

    env: dict[str, str] = {}
    settings: str | None = None
    flags: dict[str, Any] = {}


def start_file(roster: Roster, name: str) -> Path:
    """Where a member finds what it is started with."""
    return roster.folder / "start" / f"{slug_of(name)}.json"


def hand_over(roster: Roster, name: str, start: PaneStart) -> None:
    """Write it for the member. Raises OSError."""
    private_dir(roster.folder / "start")
    kept = {key: value for key, value in start.env.items() if key not in PANE_ONLY}
    replace_private(start_file(roster, name), msgspec.json.encode(msgspec.structs.replace(start, env=kept)))


def taken_over(roster: Roster, name: str) -> PaneStart:
    """What was handed to this member; the file is gone then. Nothing where a person starts it by hand."""
    file = start_file(roster, name)
    try:
        raw = file.read_bytes()
        os.unlink(file)
        return msgspec.json.decode(raw, type=PaneStart)
    except (OSError, msgspec.DecodeError):
        return PaneStart()


def forget_start(roster: Roster, name: str) -> None:
    """Nobody takes it any more."""
    with contextlib.suppress(OSError):
        os.unlink(start_file(roster, name))


def process_name(pid: int) -> str:
    """A process in a way that outlives its number; empty: there is none."""
    started = process_start(pid)
    return f"{pid} {started}" if started else ""


def process_lives(process: str) -> bool:
    """Whether that very process runs."""
    pid, _, started = process.partition(" ")
    return bool(started) and pid.isdigit() and process_start(int(pid)) == started


def pane_lives(home: Path, member: Member) -> bool:
    """Whether a member in a pane has a process: by what is written down of it, or by the lease of its session."""
    if process_lives(member.process):
        return True
    found = SessionStore(home).find(member.session) if member.session else None
    return found is not None and holder_of(found) is not None


def pane_standing(home: Path, member: Member) -> Standing:
    """How a member in a pane stands: as it wrote down itself, while its process lives."""
    if member.state == "stopped":
        return Standing.STOPPED
    if not pane_lives(home, member):
        return Standing.INTERRUPTED
    if not member.session:
        return Standing.STARTING
    return {"idle": Standing.IDLE, "waiting": Standing.WAITING}.get(member.state, Standing.WORKING)


def narrower(one: str, other: str) -> str:
    """The mode of two that allows less."""
    known = [mode for mode in (one, other) if mode in MODES_BY_WIDTH]
    return min(known, key=MODES_BY_WIDTH.index, default="default")
