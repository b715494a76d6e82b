"""Answers to ops that ask about the place a session works in: one event for each question."""

from typing import Literal

from msgspec import Struct

from clew.protocol.display import DiffBlock
from clew.protocol.event_base import LiveEvent
from clew.protocol.ids import OpId

MemoryScope = Literal["user", "project"]


class ModelRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model that can be named."""

    name: str
    """`provider/model`: what `SetModel` takes."""
    provider: str
    """The provider as people call it."""
    aliases: tuple[str, ...] = ()
    """Short names that mean this model now."""
    window: int = 0
    input_usd: float | None = None
    output_usd: float | None = None
    """Per million tokens; None where no price is known."""
    local: bool = False
    """It runs on this machine."""
    probed: str = ""
    """What `clew doctor --probe` found out about it, in a few words; empty: it was not probed."""


class ModelsListed(LiveEvent, frozen=True, kw_only=True, tag="models.listed"):
    """The models that can be named, in answer to `ListModels`."""

    op_id: OpId
    models: tuple[str, ...]
    """Their names, in the order of the rows."""
    rows: tuple[ModelRow, ...] = ()


class RuleRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One permission rule in force."""

    decision: str
    rule: str
    scope: str
    removable: bool = False


class RulesListed(LiveEvent, frozen=True, kw_only=True, tag="rules.listed"):
    """The rules in force, in answer to `ListRules`, and after one was added or removed."""

    op_id: OpId
    mode: str
    rules: tuple[RuleRow, ...]


class SessionRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One session in a list."""

    session_id: str
    agent: str
    title: str
    project: str = ""
    path: str = ""
    age_s: float = 0.0
    state: str = ""
    recap: str = ""


class SessionsListed(LiveEvent, frozen=True, kw_only=True, tag="sessions.listed"):
    """Sessions that fit, newest first, in answer to `ListSessions`."""

    op_id: OpId
    sessions: tuple[SessionRow, ...]


class SessionPreviewed(LiveEvent, frozen=True, kw_only=True, tag="session.previewed"):
    """The last exchange of a session, in answer to `PreviewSession`."""

    op_id: OpId
    session: str
    lines: tuple[str, ...]
    """The last prompt, its first line beginning with "> ", then the last answer; bounded."""
    recap: str = ""
    """Where the session stands in a model's words, if these were asked for and may be written."""


class FilesFound(LiveEvent, frozen=True, kw_only=True, tag="files.found"):
    """Paths that fit, best first, in answer to `FindFiles`. Names are data: they may hold control characters."""

    op_id: OpId
    query: str
    rows: tuple[str, ...]
    """Relative to the project root; a directory ends with "/"."""


class LineRemembered(LiveEvent, frozen=True, kw_only=True, tag="memory.remembered"):
    """A line stands in a memory file now, in answer to `Remember`."""

    op_id: OpId
    line: str
    path: str
    scope: MemoryScope
    created: bool = False
    """The file is new."""
    removed: bool = False
    """It was taken out again, in answer to `ForgetLine`."""


class MemoryRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory file in force."""

    path: str
    scope: MemoryScope
    chars: int
    """Of its text that is used."""
    imported_by: str = ""


class MemoryListed(LiveEvent, frozen=True, kw_only=True, tag="memory.listed"):
    """The memory files in force, in the order the model reads them, in answer to `ListMemory`."""

    op_id: OpId
    files: tuple[MemoryRow, ...]
    adds_to: str
    """Where `Remember` would write; empty: memory is off."""
    notes: tuple[str, ...] = ()
    """One line for every file that was cut, cleaned or left out."""


PlanStanding = Literal["", "draft", "proposed", "accepted", "sent_back"]
"""None; written and not shown yet; shown and not answered; accepted; sent back."""


class PlanShown(LiveEvent, frozen=True, kw_only=True, tag="plan.shown"):
    """The plan of the session, in answer to `ShowPlan`, and after it was saved."""

    op_id: OpId
    plan: str
    path: str
    standing: PlanStanding = ""
    saved: bool = False
    """A person changed it just now."""


class PlanOpened(LiveEvent, frozen=True, kw_only=True, tag="plan.opened"):
    """The plan as it is now, for a person's editor, in answer to `OpenPlan`."""

    op_id: OpId
    plan: str
    path: str


class DiffShown(LiveEvent, frozen=True, kw_only=True, tag="diff.shown"):
    """What this session changed, from before its first change to the files as they are now."""

    op_id: OpId
    files: tuple[DiffBlock, ...]
    left_out: int = 0
    """Changed files that are not shown because there are too many."""
    warnings: tuple[str, ...] = ()
    """What was changed and is not known, one line each."""


class SessionExported(LiveEvent, frozen=True, kw_only=True, tag="session.exported"):
    """The session was written to a file."""

    op_id: OpId
    path: str
    to: str
    bytes: int


class StatusRow(Struct, frozen=True, kw_only=True):
    """One thing that is in force, or a place."""

    name: str
    value: str


class StatusShown(LiveEvent, frozen=True, kw_only=True, tag="status.shown"):
    """What is in force and where things lie, in answer to `RequestStatus`."""

    op_id: OpId
    rows: tuple[StatusRow, ...]


class CheckRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was tested just now."""

    name: str
    state: Literal["ok", "info", "warning", "problem"]
    summary: str
    details: tuple[str, ...] = ()


class ChecksShown(LiveEvent, frozen=True, kw_only=True, tag="checks.shown"):
    """What works here and what is enforced, in answer to `RunChecks`."""

    op_id: OpId
    checks: tuple[CheckRow, ...]
