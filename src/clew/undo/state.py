"""What is written down: the state of a path, a change of it, and the checkpoint of a call. Plain data, safe as JSON."""

import os
import re
from typing import Literal

from msgspec import Struct

from clew.protocol.display import ChangesBlock
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, SessionId

Kind = Literal["missing", "file", "link", "directory", "special"]
Source = Literal["tool", "shell", "background", "restore"]


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A path at one moment."""

    kind: Kind = "missing"
    digest: str = ""
    """Of a file's content or a link's target; empty when it was not kept, and `why` says the reason."""
    mode: int = 0
    """Permission bits; 0 for links."""
    size: int = 0
    mtime_ns: int = 0
    """Of files: where a content was not read, size and time are all that is left to tell two states apart."""
    inode: int = 0
    """Only of a file with several names: those with the same number are made one file again."""
    twin: str = ""
    """Another name of it that the change did not touch, written by `path_text`."""
    why: str = ""

    @property
    def restorable(self) -> bool:
        """Whether a restore can bring this state back."""
        return self.kind in ("missing", "directory") or bool(self.digest)

    def same(self, other: "State") -> bool:
        """Whether a person would see no difference. Two contents that nobody read are told apart by size and time."""
        if self.kind != other.kind:
            return False
        if self.kind in ("missing", "special"):
            return True
        if self.mode != other.mode:
            return False
        if self.kind == "directory" or (self.digest and other.digest):
            return self.digest == other.digest
        return (self.size, self.mtime_ns) == (other.size, other.mtime_ns)


MISSING = State()
MAX_NAMED = 5


class Change(Struct, frozen=True, kw_only=True):
    """A path that a call changed."""

    path: str
    """Absolute, written by `path_text`."""
    before: State
    after: State


def did_to(before: State, after: State) -> Literal["restored", "changed", "deleted"]:
    """What taking a path from one state to the other is for a person."""
    if after.kind == "missing":
        return "deleted"
    return "restored" if before.kind == "missing" else "changed"


class ChangingCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose doing it is."""

    session: SessionId
    turn: int
    call: CallId | None = None
    agent: AgentId = MAIN_AGENT
    """Whose call it was: two agents may have calls of one id."""
    entry: EntryId | None = None
    """The prompt of the turn."""
    tool: str = ""
    subject: str = ""
    """The command or the file, for people; bounded by `bounded`."""


class Checkpoint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one call changed, or what one restore changed back. One line of the journal."""

    id: str
    at: str
    """When it was complete: ISO 8601, UTC, milliseconds."""
    began: str
    source: Source
    call: ChangingCall
    roots: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()
    """What happened and cannot be brought back, one line each."""
    unseen: tuple[str, ...] = ()
    """A shell command: parts of the workspace that are not covered, so that nobody knows what it did there."""
    undoes: tuple[str, ...] = ()
    """A restore: the checkpoints it took back whole."""
    unfinished: bool = False
    """A restore: what it is about to do. Once it has done so, a line of the same id says what it did."""

    @property
    def restorable(self) -> bool:
        """Whether everything this call did, as far as it could be seen, can be brought back."""
        return not self.warnings and all(change.before.restorable for change in self.changes)

    def left_changed(self) -> list[str]:
        """Paths that it changed and that are there."""
        return [path_of(change.path) for change in self.changes if change.after.kind != "missing"]

    def summary(self) -> str:
        """`3 files changed, 1 created, 2 deleted`; for a label or an entry of the transcript."""
        created = sum(change.before.kind == "missing" for change in self.changes)
        deleted = sum(change.after.kind == "missing" for change in self.changes)
        changed = len(self.changes) - created - deleted
        named = ((changed, "changed"), (created, "created"), (deleted, "deleted"))
        return ", ".join(f"{count:,} {word}" for count, word in named if count) or "no files changed"

    def told(self) -> ChangesBlock:
        """For people, with the result of the call. Directories are not counted where files are."""
        files = [
            item for item in self.changes if "directory" not in (item.before.kind, item.after.kind)
        ] or self.changes
        gone = [change.path for change in files if change.after.kind == "missing"]
        created = sum(change.before.kind == "missing" for change in files)
        return ChangesBlock(
            changed=len(files) - created - len(gone),
            created=created,
            deleted=len(gone),
            gone=tuple(gone[:MAX_NAMED]),
            lost=self.warnings,
        )


class RestoreStep(Struct, frozen=True, kw_only=True):
    """How far a restore is with one path: a line of the journal before it touches the path, and one after."""

    restore: str
    """The id of its checkpoint."""
    path: str
    done: bool
    unfinished: bool = True
    """The last words of its line, as of the checkpoint's own: whoever reads only the end sees a restore under way."""


_ESCAPED = re.compile(rb"%([0-9A-F]{2})")


def path_text(path: str) -> str:
    """A path as valid Unicode that `path_of` turns back exactly: `%` and bytes that are no UTF-8 become `%XX`."""
    raw = os.fsencode(path).replace(b"%", b"%25")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        kept = raw.decode("utf-8", "surrogateescape")
        return "".join(f"%{ord(char) - 0xDC00:02X}" if 0xDC80 <= ord(char) <= 0xDCFF else char for char in kept)


def path_of(text: str) -> str:
    """The path as the system has it."""
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), text.encode()))


def bounded(text: str, limit: int = 200) -> str:
    """One line of at most `limit` characters."""
    words = " ".join(text.split())
    return words if len(words) <= limit else words[: limit - 1] + "…"
