"""What `clew rewind` asks about the kept files of a session on disk. Answered for a place, never by a session."""

from typing import ClassVar, Literal

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.display import DiffBlock
from clew.protocol.ids import EntryId
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.lookups.catalog import NamedSession


class RewindMoment(Struct, frozen=True, kw_only=True):
    """A prompt, and what was done to files from it to the next one."""

    turn: int
    entry: EntryId
    at: str
    prompt: str
    changes: int
    paths: int
    """Different paths among the changes."""
    warnings: tuple[str, ...]


class MomentsListed(Answer, frozen=True, kw_only=True, tag="moments.listed"):
    """The moments that files can go back to, oldest first."""

    session_id: str
    moments: tuple[RewindMoment, ...]
    notes: tuple[str, ...] = ()
    """What was wrong with the kept files, a line each."""


class ListMoments(Lookup[MomentsListed], frozen=True, kw_only=True, tag="moments.list"):
    """Ask which moments a session on disk has."""

    session: NamedSession


class MomentFound(Answer, frozen=True, kw_only=True, tag="moment.found"):
    """Where the conversation goes on after going back to a moment."""

    session_id: str
    resume_at: EntryId | None
    """None: nothing was said before it."""
    notes: tuple[str, ...] = ()


class FindMoment(Lookup[MomentFound], frozen=True, kw_only=True, tag="moment.find"):
    """Ask where a moment is in the conversation."""

    session: NamedSession
    to: str
    """The number of a turn, or an entry's id or its start."""


class PlannedFile(Struct, frozen=True, kw_only=True):
    """What a restore does, or would do, to one path."""

    path: str
    action: str
    did: Literal["restored", "changed", "deleted"]
    """What that is for a person."""
    conflict: str
    impossible: str


class RestorePreviewed(Answer, frozen=True, kw_only=True, tag="restore.previewed"):
    """What a restore would do; nothing was changed."""

    session_id: str
    files: tuple[PlannedFile, ...]
    diffs: tuple[DiffBlock, ...]
    warnings: tuple[str, ...]
    """What the calls did that no restore brings back."""
    roots: tuple[str, ...]
    not_covered: str
    """What no restore ever brings back."""
    resume_at: EntryId | None = None
    notes: tuple[str, ...] = ()


class PreviewRestore(Lookup[RestorePreviewed], frozen=True, kw_only=True, tag="restore.preview"):
    """Ask what `RestoreFiles` would do."""

    session: NamedSession
    to: str = ""
    """The moment; empty: take the last restore back."""
    only: tuple[str, ...] = ()
    """Only these paths and what is below them; empty: all."""


class FilesRestored(Answer, frozen=True, kw_only=True, tag="files.restored"):
    """What came of a restore, path by path."""

    session_id: str
    files: tuple[PlannedFile, ...]
    done: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    failed: tuple[tuple[str, str], ...]
    planned: tuple[str, ...]
    """What the calls did that no restore brings back."""
    warnings: tuple[str, ...]
    """What went wrong on the way."""
    roots: tuple[str, ...]
    not_covered: str
    """What no restore ever brings back."""
    checkpoint: str | None = None
    """Taking this one back is the redo; None when nothing was changed."""
    resume_at: EntryId | None = None
    notes: tuple[str, ...] = ()


class RestoreFiles(Lookup[FilesRestored], frozen=True, kw_only=True, tag="files.restore"):
    """Bring the files of a session back to a moment, or take the last restore back, and write that into its log."""

    needs: ClassVar[Rights] = Rights.DRIVE

    session: NamedSession
    to: str = ""
    only: tuple[str, ...] = ()
    force: bool = False
    """Also overwrite what others changed since."""
