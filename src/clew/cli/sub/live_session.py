"""Finding and reaching a session that lives in another process, for `clew attach` and `clew answer`."""

from pathlib import Path

from clew.cli.own_state_commands import below_session
from clew.cli.sub.agent_homes import OWN, chosen_homes, named_session
from clew.host import remote_client
from clew.host.remote_client import NotReached, RemoteClient
from clew.protocol.base import Rights
from clew.protocol.lookups.catalog import NamedSession
from clew.system.peers import has_peer_credentials

__all__ = ["NotReached", "live_session", "reach_session", "refused_here"]


def refused_here() -> str:
    """Why this process may not reach any session; empty: it may."""
    if not has_peer_credentials():
        return "this system does not tell who connects to a socket, so sessions serve none (see clew doctor)"
    above = below_session()
    return f"{above}: only a person answers or drives" if above else ""


def live_session(name: str) -> NamedSession:
    """The session that is meant. Raises LookupRefused, or NotReached for another agent's."""
    found = named_session(name, chosen_homes([]))
    if found.agent != OWN:
        raise NotReached(f"{found.session_id} is a session of {found.agent}; only clew's own can be reached")
    return found


async def reach_session(found: NamedSession, rights: Rights, name: str) -> RemoteClient:
    """Connect to it. Raises NotReached, which names the way on for a session that nobody runs."""
    return await remote_client.reach_session(Path(found.path), found.session_id, rights, name)
