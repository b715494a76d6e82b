"""What an ended call came to, told from its display blocks; from name and arguments where it has none."""

from collections.abc import Sequence

from clew.orient.deeds import Deed, cut_off, of_blocks, refused, used
from clew.protocol.display import TerminalBlock
from clew.protocol.events import ToolEnded
from clew.protocol.messages import ToolCallPart, result_text

_VERBS = {
    "Read": "Read",
    "Edit": "Edited",
    "Write": "Edited",
    "MultiEdit": "Edited",
    "Grep": "Searched",
    "Glob": "Searched",
    "WebFetch": "Fetched",
    "Agent": "Agent",
}


def call_deeds(event: ToolEnded, call: ToolCallPart | None, cwd: str, *, denied: str | None = None) -> Sequence[Deed]:
    """Nearly always one deed, more for a call with several blocks. `denied`: why it was not allowed, if so."""
    call = call or ToolCallPart(id=event.result.call_id, name=event.name, arguments={})
    if denied is not None:
        return [refused(call, denied, cwd)]
    if event.stopped:
        return [cut_off(call, cwd)]
    failed = event.result.is_error
    if failed and not any(isinstance(block, TerminalBlock) for block in event.display):
        return [used(call, _VERBS.get(event.name, "Used"), result_text(event.result), failed=True, cwd=cwd)]
    return of_blocks(call, event.display, cwd) or [
        used(call, _VERBS.get(event.name, "Used"), "", failed=False, cwd=cwd)
    ]
