"""Ops about the place a session works in: its files, its commands in the background, its memory, its state."""

from typing import Literal

from clew.protocol.ids import EntryId
from clew.protocol.op_base import OpBase

ExportFormat = Literal["markdown", "json", "jsonl", "claude-code"]


class LoadHistory(OpBase, frozen=True, kw_only=True, tag="history.load"):
    """Ask for a piece of the past; answered by HistoryLoaded, to the one who asked and everybody else alike."""

    before: EntryId | None = None
    """The piece that ends before this entry; None: the newest."""
    limit: int = 200


class ListModels(OpBase, frozen=True, kw_only=True, tag="models.list"):
    """Ask which models can be named; servers on this machine are asked too."""


class ListRules(OpBase, frozen=True, kw_only=True, tag="rules.list"):
    """Ask which permission rules are in force."""


class AllowRule(OpBase, frozen=True, kw_only=True, tag="rule.allow"):
    """Save an allow rule for this project, exactly as a person wrote it."""

    rule: str


class RemoveRule(OpBase, frozen=True, kw_only=True, tag="rule.remove"):
    """Forget a rule that was saved with "always", or given for this session."""

    rule: str


class ListSessions(OpBase, frozen=True, kw_only=True, tag="sessions.list"):
    """Ask for sessions, all agents' included; `query` filters by title and words."""

    query: str = ""
    limit: int = 20


class PreviewSession(OpBase, frozen=True, kw_only=True, tag="session.preview"):
    """Ask for the last exchange of a session of a list; answered by SessionPreviewed. Reads only its end."""

    session: str
    """The `session_id` of a row."""
    words: bool = False
    """Ask for its recap in a model's words instead, where automatic ones may be written for it; this takes a while."""


class FindFiles(OpBase, frozen=True, kw_only=True, tag="files.find"):
    """Ask which files of the project fit some letters; answered by FilesFound."""

    query: str
    limit: int = 20


class ListShells(OpBase, frozen=True, kw_only=True, tag="shells.list"):
    """Ask which commands run in the background, and which did; answered by ShellsListed."""


class ShowShell(OpBase, frozen=True, kw_only=True, tag="shell.show"):
    """Ask what a command in the background has printed; answered by ShellShown. For the model it stays unread."""

    shell_id: str


class StopShell(OpBase, frozen=True, kw_only=True, tag="shell.stop"):
    """End a command in the background and everything it started; answered by ShellsListed."""

    shell_id: str


class Remember(OpBase, frozen=True, kw_only=True, tag="memory.remember"):
    """Add a line to a memory file: the project's where a trusted project has one, else the user's own. Answered by
    LineRemembered, which names the file."""

    line: str


class ForgetLine(OpBase, frozen=True, kw_only=True, tag="memory.forget"):
    """Take the last line that this session added to a memory file out again; answered by LineRemembered."""


class ListMemory(OpBase, frozen=True, kw_only=True, tag="memory.list"):
    """Ask which memory files are in force; answered by MemoryListed."""


class ShowPlan(OpBase, frozen=True, kw_only=True, tag="plan.show"):
    """Ask for the plan of this session; answered by PlanShown."""


class OpenPlan(OpBase, frozen=True, kw_only=True, tag="plan.open"):
    """Ask for the plan to be edited by a person; answered by PlanOpened, and saved with SavePlan."""


class SavePlan(OpBase, frozen=True, kw_only=True, tag="plan.save"):
    """A person's own text of the plan; answered by PlanShown."""

    plan: str


class ShowDiff(OpBase, frozen=True, kw_only=True, tag="diff.show"):
    """Ask what this session changed in files, as they are now; answered by DiffShown."""

    path: str = ""
    """Only files whose path holds this."""


class ExportSession(OpBase, frozen=True, kw_only=True, tag="session.export"):
    """Write this session to a file, without secrets; answered by SessionExported. An existing file is left alone."""

    path: str = ""
    """Relative to where the session works; empty: a name made from the title."""
    to: ExportFormat = "markdown"


class RequestStatus(OpBase, frozen=True, kw_only=True, tag="status.request"):
    """Ask what is in force here and where things lie; answered by StatusShown."""


class RunChecks(OpBase, frozen=True, kw_only=True, tag="checks.run"):
    """Ask what works here and what is enforced; answered by ChecksShown."""


class SetTheme(OpBase, frozen=True, kw_only=True, tag="theme.set"):
    """Use other colours from now on, here and in later sessions; answered by ThemeChanged."""

    theme: str


LookupOp = (
    LoadHistory
    | ListModels
    | ListRules
    | AllowRule
    | RemoveRule
    | ListSessions
    | PreviewSession
    | FindFiles
    | ListShells
    | ShowShell
    | StopShell
    | Remember
    | ListMemory
    | ForgetLine
    | ShowPlan
    | OpenPlan
    | SavePlan
    | ShowDiff
    | ExportSession
    | RequestStatus
    | RunChecks
    | SetTheme
)
"""Ops that are answered by one event and leave the conversation alone."""
