"""Finding and reaching a session that lives in another process, for `clew attach` and `clew answer`."""

import contextlib
from pathlib import Path

from clew.catalog.found_session import OWN, FoundSession
from clew.cli.own_state_commands import below_session
from clew.cli.sub.agent_homes import chosen_homes, named_session
from clew.host.remote_client import NotReached, RemoteClient, reach, remove_dead
from clew.protocol.rights import Rights
from clew.system.peers import has_peer_credentials
from clew.transcript.log.lease import holder_of, lock_path, read_owner

__all__ = ["NotReached", "live_session", "reach_session", "refused_here"]


def refused_here() -> str:
    """Why this process may not reach any session; empty: it may."""
    if not has_peer_credentials():
        return "this system does not tell who connects to a socket, so sessions serve none (see clew doctor)"
    above = below_session()
    return f"{above}: only a person answers or drives" if above else ""


def live_session(name: str) -> FoundSession:
    """The session that is meant. Raises TranscriptError, ValueError, or NotReached for another agent's."""
    found = named_session(name, chosen_homes([]))
    if found.agent != OWN:
        raise NotReached(f"{found.session_id} is a session of {found.agent}; only clew's own can be reached")
    return found


async def reach_session(found: FoundSession, rights: Rights, name: str) -> RemoteClient:
    """Connect to it. Raises NotReached, which names the way on for a session that nobody runs."""
    owner = holder_of(found.path)
    if owner is None:
        forget_dead_socket(found.path)
        raise NotReached(f"no process runs it now; clew -r {found.session_id} goes on with it")
    return await reach(owner, rights, name)


def forget_dead_socket(transcript: Path) -> None:
    """Remove the socket that the last, dead owner of a session left behind."""
    with contextlib.suppress(OSError):
        owner = read_owner(lock_path(transcript).read_bytes())
        if owner is not None:
            remove_dead(owner)
