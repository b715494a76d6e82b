"""Passages: what a session looks like to a person, piece by piece. Plain data, the same for live, late and replayed."""

from typing import Literal

from msgspec import Struct

from clew.commands.base import SessionFacts
from clew.orient.deeds import Deed
from clew.protocol.display import Block, ChangesBlock, DiffBlock, TableBlock
from clew.protocol.events import Event
from clew.protocol.ids import AgentId, EntryId
from clew.protocol.lookups.base import Answer
from clew.protocol.messages import ToolCallPart
from clew.protocol.standing import Standing

CallState = Literal["announced", "asking", "running", "ended"]
Level = Literal["info", "warning", "error"]


class PassageBase(Struct, frozen=True, kw_only=True):
    """Texts are as they came: whoever makes rows of them makes them safe."""

    key: str
    """Stays the same while the passage grows."""
    entry_id: EntryId = EntryId("")
    """Where it stands in the log; empty for what is not part of the conversation."""
    at: str = ""


class PromptPassage(PassageBase, frozen=True, kw_only=True):
    """What a person said."""

    text: str
    media: tuple[str, ...] = ()
    """Media types of what came with it."""
    queued: bool = False
    """It joined while the agent worked."""


class WordsPassage(PassageBase, frozen=True, kw_only=True):
    """What the model says, as Markdown."""

    text: str
    growing: bool = False
    withdrawn: bool = False
    """It was shown and does not count: its stream broke off before it was whole."""


class ReasoningPassage(PassageBase, frozen=True, kw_only=True):
    """What the model thinks; folded unless a person wants to see it."""

    text: str
    growing: bool = False


class CallShown(Struct, frozen=True, kw_only=True):
    """One call of a batch and what it came to."""

    call: ToolCallPart
    state: CallState = "announced"
    entry_id: EntryId = EntryId("")
    since: str = ""
    """When it began to run."""
    tail: str = ""
    """The newest of what it printed while it runs."""
    deeds: tuple[Deed, ...] = ()
    display: tuple[Block, ...] = ()
    text: str = ""
    """What the model was told."""
    duration_ms: int = 0
    failed: bool = False
    refused: bool = False
    cut: bool = False
    """It was stopped, or its process died, before it ended."""
    agent: AgentId = AgentId("")
    """The child agent that made it; empty: the main one."""
    changed_by: Literal["", "hook", "user"] = ""
    """Who gave it another input than the model wrote."""
    planned: bool = False
    """It proposed a plan, which is a passage of its own."""
    unanswered: TableBlock | None = None
    """Its questions, where nobody answered them, with why."""


class BatchPassage(PassageBase, frozen=True, kw_only=True):
    """The calls of one step."""

    calls: tuple[CallShown, ...]
    reply_id: str = ""
    label: str = ""
    by_model: bool = False


class ShellPassage(PassageBase, frozen=True, kw_only=True):
    """A command the person ran, and what it printed."""

    command: str
    output: str
    exit_code: int | None = None
    running: bool = False
    made: tuple[DiffBlock | ChangesBlock, ...] = ()
    """What it did to files."""
    cwd: str = ""


class NotePassage(PassageBase, frozen=True, kw_only=True):
    """A line of clew's own."""

    text: str
    level: Level = "info"
    minor: bool = False
    """A front end that shows it elsewhere leaves it out."""


class LinesPassage(PassageBase, frozen=True, kw_only=True):
    """What a command printed by itself."""

    lines: tuple[str, ...]
    level: Level = "info"
    command: str = ""
    """What was typed."""


class AnswerPassage(PassageBase, frozen=True, kw_only=True):
    """An event that answers a command, put into words where it is shown."""

    event: Event | Answer
    facts: SessionFacts
    level: Level = "info"


class DiffPassage(PassageBase, frozen=True, kw_only=True):
    """What the session changed in files."""

    files: tuple[DiffBlock, ...]
    left_out: int = 0
    ignored: int = 0
    """Changed files that git ignores; not among the others."""
    warnings: tuple[str, ...] = ()
    cwd: str = ""


class PlanPassage(PassageBase, frozen=True, kw_only=True):
    """A plan that was put to a person, and what became of it."""

    plan: str
    outcome: str = ""
    """What was said to it; empty: nothing yet."""
    accepted: bool = False


class RecapPassage(PassageBase, frozen=True, kw_only=True):
    """Where you are."""

    text: str
    away: str = ""
    by_model: bool = False


class TurnPassage(PassageBase, frozen=True, kw_only=True):
    """How a turn ended and what it did."""

    done: str
    """What its calls came to."""
    figures: str
    """How long it took, what it cost."""
    ending: str = ""
    """Empty when it ended well."""
    error: bool = False


class SeenPassage(PassageBase, frozen=True, kw_only=True):
    """Where the part begins that came since somebody looked last."""


class AgentPassage(PassageBase, frozen=True, kw_only=True):
    """How a child agent began or ended, or that its end woke the conversation."""

    text: str
    standing: Standing | None = None
    """How it ended; None: it goes on."""
    against: tuple[str, ...] = ()
    """What it says and its log speaks against."""
    facts: tuple[str, ...] = ()
    """What its log says that it did."""
    figures: str = ""


Passage = (
    PromptPassage
    | WordsPassage
    | ReasoningPassage
    | BatchPassage
    | ShellPassage
    | NotePassage
    | LinesPassage
    | AnswerPassage
    | DiffPassage
    | PlanPassage
    | RecapPassage
    | TurnPassage
    | AgentPassage
    | SeenPassage
)
