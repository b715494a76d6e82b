"""The main agent's own items as the conversation has them: what the list goes back to after a rewind."""

from collections.abc import Iterable

from clew.protocol.display import TodoBlock, TodoItem
from clew.protocol.entries import Entry, UserEntry
from clew.teams.names import LEAD
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import is_boundary
from clew.transcript.mapping.retelling import details_of


def written_items(entries: Iterable[Entry], session_id: str) -> tuple[TodoItem, ...] | None:
    """What TodoWrite wrote last in the conversation that goes on; None: that stands before what these entries hold."""
    chain = build_chain(tuple(entries), session_id=session_id, past_boundaries=True).entries
    for entry in reversed(chain):
        if not isinstance(entry, UserEntry):
            continue
        for block in reversed(details_of(entry.tool_use_result).display):
            if isinstance(block, TodoBlock):
                return tuple(item for item in block.items if item.todo_of == LEAD or not item.number)
    return None if chain and is_boundary(chain[0]) else ()
