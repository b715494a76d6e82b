"""Pasts that the list of all sessions is needed for: one meant by words, another agent's, the title of a branch.

Going on with another agent's session makes a new one of ours that starts from its words and links to its file.
"""

from pathlib import Path

from clew.catalog.agent_places import agent_places
from clew.catalog.branch_title import title_of_branch
from clew.catalog.find_session import find_session
from clew.catalog.found_session import FoundSession
from clew.foreign.registry import identify, read
from clew.foreign.seed import to_clew_session
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace
from clew.protocol.ids import SessionId
from clew.transcript.chain.chain import build_chain
from clew.transcript.errors import SessionNotFound
from clew.transcript.log.codec import encode
from clew.transcript.log.store import SessionStore
from clew.transcript.past.fork import Fork

__all__ = ["adopt", "found", "title_of_branch"]


def found(wanted: str, request: SessionRequest, workspace: Workspace, store: SessionStore) -> FoundSession:
    """The session that is meant by anything that a list prints. Raises TranscriptError."""
    places = agent_places(workspace.settings.foreign)
    return find_session(
        store,
        wanted,
        request.cwd,
        homes=places.homes,
        env=request.env,
        agents=places.agents,
        choose=request.choose,
    )


def adopt(path: Path, session_id: SessionId, cwd: Path, *, agent: str = "", source_session: str = "") -> Fork:
    """Read the file (never written) and make a session of it, of several in it the one named. Raises SessionNotFound
    for a file that is none, and for a session without a word."""
    if identify(path) is None:
        raise SessionNotFound(f"{path} is no session of any agent we can read; see docs/other-agents.md")
    transcript = read(path, agent or None, session_id=source_session)
    if source_session and not transcript.entries:
        why = next((problem.detail for problem in transcript.problems if problem.detail), "nothing was said in it")
        raise SessionNotFound(f"session {source_session} in {path} cannot be gone on with: {why}")
    entries = tuple(to_clew_session(transcript, session_id, str(cwd)))
    chain = build_chain(entries, session_id=session_id)
    lines = tuple(encode(entry) for entry in entries)
    return Fork(session_id=session_id, lines=lines, entries=entries, chain=chain.entries, leaf=chain.leaf)
