"""What a process left open when it ended: a turn, a question, queued prompts, work beside it, a restore of files."""

import os
from pathlib import Path

from clew.host.past import Past, interrupted_words
from clew.protocol.state import AgentState
from clew.transcript.log.store import sidecar_dir

UNFINISHED = b'"unfinished":true}'
"""How the line of a restore ends that did not come to its end (`Checkpoint` in undo/state.py)."""
RESTORE_CUT_OFF = (
    "files were being restored when the process ended, and only some are: /undo completes it, /redo takes it back"
)


def left_words(past: Past, state: AgentState) -> tuple[str, ...]:
    """What people are told of how the session was left: a turn that was cut off, prompts that were queued."""
    told: list[str] = []
    if (go_on := past.continue_prompt) is not None:
        asks = " and asks the open question again" if go_on.reopens else ""
        told.append(f"the last turn was cut off: /reopen goes on with it{asks}")
    if count := len(state.queued):
        are = "1 prompt is" if count == 1 else f"{count} prompts are"
        told.append(f"{are} still queued and not sent: Enter on an empty prompt sends, Up takes the last one back")
    return tuple(told)


def cut_off_words(past: Past, state: AgentState) -> tuple[str, ...]:
    """What people and the model are told of work that ended with its process, a line each."""
    return (*((RESTORE_CUT_OFF,) if restore_cut_off(past.path) else ()), *interrupted_words(state))


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
