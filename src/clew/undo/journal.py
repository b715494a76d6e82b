"""The checkpoints of a session: one JSON line each, in `undo.jsonl` beside its transcript, only ever added to.

A restore adds a line before and after each path that it touches (`RestoreStep`), between its own two lines.
The file goes where the session goes (archive, trash, restore). A fork reads the journal of the session it came from.
"""

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from clew.system.private_files import private_dir, write_all
from clew.transcript.errors import UnsafeTranscript
from clew.transcript.log.files import open_append, open_read
from clew.transcript.log.store import sidecar_dir
from clew.undo.lineage import ForkPoint
from clew.undo.state import Checkpoint, RestoreStep

_decoder = msgspec.json.Decoder(Checkpoint)
_steps = msgspec.json.Decoder(RestoreStep)
_STEP = b'{"restore":'


def journal_path(transcript: Path) -> Path:
    """Where a session's checkpoints lie."""
    return sidecar_dir(transcript) / "undo.jsonl"


class FileJournal:
    """The file history of a session: linear in time, whatever branches the conversation took."""

    def __init__(self, transcript: Path, *, forked_from: Sequence[ForkPoint] = ()) -> None:
        """`forked_from`: oldest first, as `lineage` gives it; read, never written."""
        self.path = journal_path(transcript)
        self._checkpoints: dict[str, Checkpoint] = {}
        self._steps: dict[str, dict[str, bool]] = {}
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
            _append(fd, msgspec.json.encode(checkpoint))
        finally:
            os.close(fd)

    @property
    def steps(self) -> Mapping[str, Mapping[str, bool]]:
        """Of each restore the paths that it has begun with, and whether it was done with them."""
        return self._steps

    def step(self, step: RestoreStep) -> None:
        """Remember how far a restore is; `StepLines` writes it."""
        self._steps.setdefault(step.restore, {})[step.path] = step.done

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
                    if line.startswith(_STEP):
                        self.step(_steps.decode(line))
                        continue
                    item = _decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    self.damaged += 1
                else:
                    if not until or item.at <= until:
                        self._checkpoints[item.id] = item


class StepLines:
    """Writes the steps of one restore into its journal. A disk that refuses a line gets no more of them: what a restore
    did is found out by looking at the files then."""

    def __init__(self, journal: FileJournal, restore: str) -> None:
        self._journal, self._restore = journal, restore
        self._fd: int | None = None

    def __enter__(self) -> "StepLines":
        with contextlib.suppress(OSError, UnsafeTranscript):
            self._fd = open_append(self._journal.path, create=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def begin(self, path: str) -> None:
        """The next thing is to touch this path; said once, however many steps it takes."""
        if path not in self._journal.steps.get(self._restore, ()):
            self._write(RestoreStep(restore=self._restore, path=path, done=False))

    def done(self, path: str) -> None:
        """The path is as wanted."""
        self._write(RestoreStep(restore=self._restore, path=path, done=True))

    def _write(self, step: RestoreStep) -> None:
        self._journal.step(step)
        if self._fd is None:
            return
        try:
            _append(self._fd, msgspec.json.encode(step))
        except OSError:
            self._close()

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _append(fd: int, line: bytes) -> None:
    """One line, whole or not at all. Raises OSError."""
    end = os.fstat(fd).st_size
    cut = end and os.pread(fd, 1, end - 1) != b"\n"  # a writer was cut off: its half line stays alone
    try:
        write_all(fd, (b"\n" if cut else b"") + line + b"\n")
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(fd, end)
        raise


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
