"""What one session is asked: its history, status, changes and window, its plan, its slash names, and what going back
would do.
"""

from typing import Any, ClassVar, Literal

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.display import DiffBlock
from clew.protocol.event_kinds.asks import PlanStanding
from clew.protocol.event_kinds.context import CompactionEnded, ContextMeasured, FileRestore, RewindScope
from clew.protocol.events import Recorded
from clew.protocol.ids import MAIN_AGENT, AgentId, EntryId
from clew.protocol.invocables import InvocableKind, InvocableRow
from clew.protocol.lookups.base import Answer, Lookup


class InvocablesListed(Answer, frozen=True, kw_only=True, tag="invocables.listed"):
    """All of one kind, hidden ones too."""

    kinds: tuple[InvocableKind, ...]
    invocables: tuple[InvocableRow, ...]
    problems: tuple[str, ...] = ()
    """Files that could not be understood, a line each."""


class ListInvocables(Lookup[InvocablesListed], frozen=True, kw_only=True, tag="invocables.list"):
    """Ask what there is."""

    kinds: tuple[InvocableKind, ...] = ("command", "skill", "prompt")
    name: str = ""
    """Somebody looks for this name: answered once whoever may still bring it was waited for."""


ExportFormat = Literal["markdown", "json", "jsonl", "claude-code"]


class HistoryLoaded(Answer, frozen=True, kw_only=True, tag="history.loaded"):
    """A piece of the past, oldest first, in answer to `LoadHistory`; `before`: ask with it for the piece before."""

    events: tuple[Recorded, ...]
    before: EntryId | None


class LoadHistory(Lookup[HistoryLoaded], frozen=True, kw_only=True, tag="history.load"):
    """Ask for a piece of the past, newest first."""

    before: EntryId | None = None
    """The piece that ends before this entry; None: the newest."""
    limit: int = 200
    agent: AgentId = MAIN_AGENT
    """Whose past; that of a child agent is its own log."""


class StatusRow(Struct, frozen=True, kw_only=True):
    """One thing that is in force, or a place."""

    name: str
    value: str


class StatusShown(Answer, frozen=True, kw_only=True, tag="status.shown"):
    """What is in force and where things lie."""

    rows: tuple[StatusRow, ...]


class RequestStatus(Lookup[StatusShown], frozen=True, kw_only=True, tag="status.request"):
    """Ask what is in force here and where things lie."""


class DiffShown(Answer, frozen=True, kw_only=True, tag="diff.shown"):
    """What this session changed, from before its first change to the files as they are now."""

    files: tuple[DiffBlock, ...]
    left_out: int = 0
    """Changed files that are not shown because there are too many."""
    ignored: int = 0
    """Changed files that are not shown because git ignores them."""
    warnings: tuple[str, ...] = ()
    """What was changed and is not known, one line each."""


class ShowDiff(Lookup[DiffShown], frozen=True, kw_only=True, tag="diff.show"):
    """Ask what this session changed in files, as they are now."""

    path: str = ""
    """Only files whose path holds this; then also those that git ignores."""


class SessionExported(Answer, frozen=True, kw_only=True, tag="session.exported"):
    """The session was written to a file."""

    path: str
    to: str
    bytes: int


class ExportSession(Lookup[SessionExported], frozen=True, kw_only=True, tag="session.export"):
    """Write this session to a file, without secrets. An existing file is left alone."""

    needs: ClassVar[Rights] = Rights.DRIVE

    path: str = ""
    """Relative to where the session works; empty: a name made from the title, in `$CLEW_HOME/exports`."""
    to: ExportFormat = "markdown"


class ContextShown(Answer, frozen=True, kw_only=True, tag="context.shown"):
    """What fills the window, with the largest items."""

    measured: ContextMeasured


class RequestContext(Lookup[ContextShown], frozen=True, kw_only=True, tag="context.request"):
    """Ask what fills the window."""


class ReceiptShown(Answer, frozen=True, kw_only=True, tag="receipt.shown"):
    """The receipt of the last compaction, as it was asked for."""

    receipt: CompactionEnded


class RequestReceipt(Lookup[ReceiptShown], frozen=True, kw_only=True, tag="context.receipt"):
    """Ask what the last compaction did."""


class EditPreviewed(Answer, frozen=True, kw_only=True, tag="edit.previewed"):
    """What a call that changes a file would change in it as it is now; nothing was changed."""

    change: DiffBlock


class PreviewEdit(Lookup[EditPreviewed], frozen=True, kw_only=True, tag="edit.preview"):
    """Ask what a call would change, for whoever is to allow it. Refused where that cannot be told."""

    needs: ClassVar[Rights] = Rights.ANSWER

    tool: str
    arguments: dict[str, Any]


class RewindPreviewed(Answer, frozen=True, kw_only=True, tag="rewind.previewed"):
    """What a rewind, undo or redo would do; nothing was changed."""

    to: EntryId | None
    files: tuple[FileRestore, ...] = ()
    warnings: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    """Prompts that would leave the view."""
    windows: tuple[int, ...] = ()
    """The numbers of those that a window which /clear emptied begins with: going back to before one of them brings back
    what was in the window until then."""


class PreviewRewind(Lookup[RewindPreviewed], frozen=True, kw_only=True, tag="rewind.preview"):
    """Ask what `Rewind` would do."""

    to: EntryId = EntryId("")
    """An entry, the start of its id, or the number of a prompt. Empty: list the prompts."""
    scope: RewindScope = "both"
    only: tuple[str, ...] = ()
    """Only these files; empty: all."""


class PreviewUndo(Lookup[RewindPreviewed], frozen=True, kw_only=True, tag="undo.preview"):
    """Ask what `Undo` would do."""


class PreviewRedo(Lookup[RewindPreviewed], frozen=True, kw_only=True, tag="redo.preview"):
    """Ask what `Redo` would do."""


class PlanShown(Answer, frozen=True, kw_only=True, tag="plan.shown"):
    """The plan of the session."""

    plan: str
    path: str
    standing: PlanStanding = ""
    saved: bool = False
    """A person changed it just now."""


class ShowPlan(Lookup[PlanShown], frozen=True, kw_only=True, tag="plan.show"):
    """Ask for the plan of this session."""


class SavePlan(Lookup[PlanShown], frozen=True, kw_only=True, tag="plan.save"):
    """A person's own text of the plan."""

    needs: ClassVar[Rights] = Rights.DRIVE

    plan: str


class PlanOpened(Answer, frozen=True, kw_only=True, tag="plan.opened"):
    """The plan as it is now, for a person's editor."""

    plan: str
    path: str


class OpenPlan(Lookup[PlanOpened], frozen=True, kw_only=True, tag="plan.open"):
    """Ask for the plan to be edited by a person; answered by PlanOpened, and saved with SavePlan."""

    needs: ClassVar[Rights] = Rights.DRIVE
