"""The checkpoints of a session: one JSON line each, in `undo.jsonl` beside its transcript, only ever added to.

The file goes where the session goes (archive, trash, restore). A fork reads the journal of the session it came from.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from clew.system.private_files import private_dir, write_all
from clew.transcript.errors import UnsafeTranscript
from clew.transcript.log.files import open_append, open_read
from clew.transcript.log.store import sidecar_dir
from clew.undo.lineage import ForkPoint
from clew.undo.state import Checkpoint

_decoder = msgspec.json.Decoder(Checkpoint)


def journal_path(transcript: Path) -> Path:
    """Where a session's checkpoints lie."""
    return sidecar_dir(transcript) / "undo.jsonl"


class FileJournal:
    """The file history of a session: linear in time, whatever branches the conversation took."""

    def __init__(self, transcript: Path, *, forked_from: Sequence[ForkPoint] = ()) -> None:
        """`forked_from`: oldest first, as `lineage` gives it; read, never written."""
        self.path = journal_path(transcript)
        self._checkpoints: dict[str, Checkpoint] = {}
        self.damaged = 0
        for point in forked_from:
            self._read(journal_path(point.transcript), until=point.until)
        self._read(self.path, until="")

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """Oldest first."""
        return tuple(self._checkpoints.values())

    def add(self, checkpoint: Checkpoint) -> None:
        """Remember it, then write it. A line of the same id takes the place of the earlier one.

        Raises OSError or UnsafeTranscript; it is remembered for this session even so."""
        self._checkpoints[checkpoint.id] = checkpoint
        private_dir(self.path.parent)
        fd = open_append(self.path, create=True)
        try:
            end = os.fstat(fd).st_size
            line = msgspec.json.encode(checkpoint) + b"\n"
            if end and os.pread(fd, 1, end - 1) != b"\n":
                line = b"\n" + line  # a writer was cut off: its half line stays alone
            try:
                write_all(fd, line)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, end)
                raise
        finally:
            os.close(fd)

    def since(self, moment: str) -> tuple[Checkpoint, ...]:
        """Everything that was done after a moment of the conversation, restores included: together they lead back."""
        items = self.checkpoints
        first = next((number for number, item in enumerate(items) if item.at > moment), len(items))
        return items[first:]

    def standing(self) -> tuple[Checkpoint, ...]:
        """The checkpoints that no restore took back; a restore that was itself taken back counts for nothing."""
        undone: set[str] = set()
        for item in reversed(self.checkpoints):
            if item.id not in undone:
                undone.update(item.undoes)
        return tuple(item for item in self.checkpoints if item.id not in undone)

    def last_turn(self) -> tuple[Checkpoint, ...]:
        """What `/undo` takes back: the changes of the newest turn that still stand."""
        calls = [item for item in self.standing() if item.source != "restore" and item.changes]
        return tuple(item for item in calls if turn_key(item) == turn_key(calls[-1])) if calls else ()

    def last_restore(self) -> tuple[Checkpoint, ...]:
        """What `/redo` takes back: the newest undo that still stands, if no call changed files after it."""
        restores = {item.id for item in self.checkpoints if item.source == "restore"}
        for item in reversed(self.standing()):
            if item.undoes and restores.issuperset(item.undoes):
                continue  # itself a redo: the one before it may be redone too
            if item.changes:
                return (item,) if item.source == "restore" else ()
        return ()

    def unfinished(self) -> Checkpoint | None:
        """A restore whose process died in it, unless it was taken back or something changed files since."""
        last = next((item for item in reversed(self.standing()) if item.changes), None)
        return last if last is not None and last.unfinished else None

    def _read(self, path: Path, *, until: str) -> None:
        try:
            fd = open_read(path)
        except (OSError, UnsafeTranscript):
            return
        with os.fdopen(fd, "rb") as file:
            for line in file:
                if not line.strip():
                    continue
                try:
                    item = _decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    self.damaged += 1
                else:
                    if not until or item.at <= until:
                        self._checkpoints[item.id] = item


def turn_key(checkpoint: Checkpoint) -> tuple[str, str]:
    """Which turn of which session: the prompt's entry, or the number where there is none."""
    return checkpoint.call.session, checkpoint.call.entry or str(checkpoint.call.turn)


def digests(checkpoints: Iterable[Checkpoint]) -> set[bytes]:
    """Every content that these checkpoints need."""
    return {
        bytes.fromhex(state.digest)
        for item in checkpoints
        for change in item.changes
        for state in (change.before, change.after)
        if state.digest
    }
