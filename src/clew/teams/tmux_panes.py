"""Members in tmux panes: each is another clew with a session and a lease of its own, started by the tmux server."""

import asyncio
import contextlib
import hashlib
import os
import signal
import sys
from pathlib import Path

from msgspec.structs import replace

from clew.protocol.standing import Standing
from clew.system.tmux import NoTmux, close_pane, open_pane
from clew.teams.pane_life import PaneStart, forget_start, hand_over, pane_lives, pane_standing, process_name
from clew.teams.roster import Member, Roster, TeamError

POLL_S = 0.1
PATIENCE_S = 5.0
"""How long the process of a pane has to end in order before it is killed."""


class TmuxPanes:
    """The backend of members in panes (`MemberBackend`)."""

    def __init__(self, home: Path, start: PaneStart) -> None:
        """`start`: what members are started with."""
        self._home = home
        self._start = start

    async def start(self, roster: Roster, member: Member) -> Member:
        """Start a member in a new pane, or one that is gone again; returns when its process is there. Raises
        ValueError."""
        if await asyncio.to_thread(pane_lives, self._home, member):
            raise TeamError(f"{member.name} runs already")
        try:
            await asyncio.to_thread(hand_over, roster, member.name, self._start)
            pane = await open_pane(
                [sys.executable, "-m", "clew", "--teammate", f"{roster.slug}/{member.name}"],
                name=member.name,
                cwd=member.cwd,
                env=self._start.env,
                variables={"CLEW_HOME": str(self._home)},
                server=self._server(roster),
            )
        except OSError as error:
            raise TeamError(f"{member.name} cannot be started: {error}") from error
        except NoTmux:
            forget_start(roster, member.name)
            raise
        return replace(member, pane=pane.id, socket=pane.socket, process=process_name(pane.pid))

    def _server(self, roster: Roster) -> str:
        """The name of our own tmux server: one per team and home."""
        return f"clew-{roster.slug}-{hashlib.sha256(str(self._home).encode()).hexdigest()[:6]}"

    def inside(self) -> bool:
        """Whether the lead itself runs in tmux, so that its members get windows beside it."""
        return bool(self._start.env.get("TMUX"))

    def how_to_look(self, member: Member) -> str:
        """Where a person finds the pane."""
        if self.inside():
            return f"tmux window {member.name} (pane {member.pane})"
        return f"pane {member.pane}; to look at it: tmux -S {member.socket} attach"

    async def stop(self, member: Member) -> None:
        """End a member's process and its pane; returns when no process holds its session. Raises ValueError."""
        if member.socket and member.pane and await asyncio.to_thread(pane_lives, self._home, member):
            with contextlib.suppress(NoTmux):  # tmux may be dead: the process is ended by its number below
                await close_pane(member.socket, member.pane, self._start.env)
        loop = asyncio.get_running_loop()
        until, sent = loop.time() + PATIENCE_S, False
        while await asyncio.to_thread(pane_lives, self._home, member):
            pid, _, _ = member.process.partition(" ")
            if loop.time() > until and pid.isdigit() and process_name(int(pid)) == member.process:
                if sent:
                    raise TeamError(f"{member.name} does not end (process {pid})")
                os.kill(int(pid), signal.SIGKILL)
                sent, until = True, loop.time() + PATIENCE_S
            elif loop.time() > until:
                raise TeamError(f"{member.name} does not end: its session {member.session} is still held")
            await asyncio.sleep(POLL_S)

    def standing(self, member: Member) -> Standing:
        """How it stands, by its process, its lease and what it wrote down."""
        return pane_standing(self._home, member)
