"""Where input joins the conversation."""

from clew.engine.agent import Content
from clew.engine.turn import Turn
from clew.protocol.events import PromptAccepted
from clew.protocol.ids import EntryId, new_uuid
from clew.protocol.messages import UserMessage


def accept(turn: Turn, content: Content, *, hidden: bool = False, queued: bool = False) -> PromptAccepted:
    """Add input; yielding the event puts it on disk before anything is asked with it."""
    turn.agent.messages.append(UserMessage(content=content))
    return PromptAccepted(
        agent=turn.agent.id, entry_id=EntryId(new_uuid()), content=content, hidden=hidden, queued=queued
    )
