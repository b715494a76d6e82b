"""What every entry of a session has in common."""

import time
from typing import TypedDict

from msgspec import Struct

from clew import __version__
from clew.protocol.ids import AgentId, EntryId, SessionId


class KeyedFields(TypedDict):
    """Fields of every line."""

    session_id: SessionId
    timestamp: str


class ChainFields(KeyedFields):
    """Fields of every line of the conversation."""

    parent_uuid: EntryId | None
    is_sidechain: bool
    user_type: str
    cwd: str
    version: str
    git_branch: str
    agent_id: AgentId | None


class Stamp(Struct, kw_only=True):
    """Who writes, from where. `cwd` and `git_branch` follow the session as it moves."""

    session_id: SessionId
    cwd: str
    git_branch: str = ""
    agent_id: AgentId | None = None
    """Set for a sub-agent: its transcript is a sidechain."""

    def keyed(self) -> KeyedFields:
        """For entries outside the chain."""
        return {"session_id": self.session_id, "timestamp": utc_now()}

    def chain(self, parent: EntryId | None) -> ChainFields:
        """For entries of the chain."""
        return {
            "session_id": self.session_id,
            "timestamp": utc_now(),
            "parent_uuid": parent,
            "is_sidechain": self.agent_id is not None,
            "user_type": "external",
            "cwd": self.cwd,
            "version": __version__,
            "git_branch": self.git_branch,
            "agent_id": self.agent_id,
        }


def utc_now() -> str:
    """Now, as entries write it: UTC, milliseconds, a final Z."""
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
