"""Whether the last turn was cut off, and the words that let it go on."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from clew.protocol.entries import AssistantEntry, AttachmentEntry, Entry, TurnResultEntry, UserEntry
from clew.protocol.ids import EntryId
from clew.protocol.meant_calls import meant_calls
from clew.protocol.messages import ToolCallPart, tool_calls
from clew.transcript.chain.links import result_calls
from clew.transcript.log.store import sidecar_dir

Interruption = Literal["none", "prompt", "turn"]
"""`prompt`: the user's words were never answered. `turn`: the agent was cut off while it worked."""

CONTINUE_PROMPT = (
    "[The session stopped while you were working and was opened again. Go on from where you were. Calls marked "
    "[interrupted] may have run in part: look before you repeat them.]"
)
"""A hidden prompt that turns an interrupted turn into one that can go on."""
UNFINISHED = b'"unfinished":true}'
"""How the line of a restore ends that did not come to its end (`Checkpoint` in undo/state.py)."""


def interruption(
    entries: Sequence[Entry], chain: Sequence[Entry], *, ending_tools: frozenset[str] = frozenset()
) -> Interruption:
    """How the session stopped. `entries` in file order, `chain` as built from them.

    A turn whose result was recorded after its last entry ended in order, also when the user stopped it.
    `ending_tools` are tools after which a turn may rightly end.
    """
    last = next((entry for entry in reversed(chain) if counts(entry)), None)
    if last is None or _turn_recorded(entries, last):
        return "none"
    if isinstance(last, AttachmentEntry):
        return "turn"
    if isinstance(last, AssistantEntry):
        return "turn" if tool_calls(last.message.content) else "none"
    if not isinstance(last, UserEntry) or last.is_compact_summary:
        return "none"
    answered = result_calls(last)
    if answered:
        return "none" if _names(chain, answered) <= ending_tools else "turn"
    return "none" if last.is_meta else "prompt"


def counts(entry: Entry) -> bool:
    """Whether an entry tells how the conversation stands: something was asked, said or done."""
    if isinstance(entry, AssistantEntry):
        return not entry.is_api_error_message
    # A command the user typed waits for no answer: what stands before it tells.
    return isinstance(entry, UserEntry | AttachmentEntry) and not (
        isinstance(entry, UserEntry) and entry.origin == "shell"
    )


def unanswered_calls(chain: Sequence[Entry]) -> list[tuple[ToolCallPart, EntryId]]:
    """The calls of the last reply that have no result, with the entries that hold them; none once something was said
    after it."""
    answered: set[str] = set()
    reply = None
    found: list[tuple[ToolCallPart, EntryId]] = []
    for entry in reversed(chain):
        if isinstance(entry, AssistantEntry):
            if reply is not None and entry.message.id != reply:
                break
            reply = entry.message.id
            found = [(call, entry.uuid) for call in tool_calls(entry.message.content)] + found
        elif isinstance(entry, UserEntry) and (results := result_calls(entry)):
            answered.update(results)
        elif reply is not None:
            break
        elif counts(entry):
            return []
    return [(call, entry_id) for call, entry_id in found if call.id not in answered]


def _turn_recorded(entries: Sequence[Entry], last: Entry) -> bool:
    for entry in reversed(entries):
        if isinstance(entry, TurnResultEntry):
            return True
        if entry is last or entry == last:
            return False
    return False


def _names(chain: Sequence[Entry], calls: tuple[str, ...]) -> set[str]:
    names: set[str] = set()
    for entry in chain:
        if isinstance(entry, AssistantEntry):
            names |= {call.name for call in meant_calls(entry.message.content) if call.id in calls}
    return names


def restore_cut_off(transcript: Path | None) -> bool:
    """Whether the last thing that was done to kept files is a restore that did not come to its end. Only the last
    bytes of the journal are read: what knows journals is loaded by whoever takes something back."""
    if transcript is None:
        return False
    try:
        with (sidecar_dir(transcript) / "undo.jsonl").open("rb") as journal:
            journal.seek(-min(len(UNFINISHED) + 1, os.fstat(journal.fileno()).st_size), os.SEEK_END)
            return journal.read().rstrip(b"\n").endswith(UNFINISHED)
    except OSError:
        return False
