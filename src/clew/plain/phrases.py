"""Passages in lines: words where the screen has marks. What clew says begins at the left edge; all else is set in."""

from collections.abc import Iterator, Sequence
from functools import singledispatch

from msgspec import Struct

from clew.commands.answers import answer_lines
from clew.config.schema import Density
from clew.orient.deeds import lined
from clew.plain.dialogs.dialog import Shown
from clew.presentation.rows.batch_rows import call_details, level_of
from clew.presentation.rows.block_rows import block_rows
from clew.presentation.rows.passage_rows import FULL_LINES, SHELL_LINES, agent_spans, diff_remarks
from clew.presentation.rows.spans import Row, Span, preformatted, said, wrapped
from clew.presentation.story.passages import (
    AgentPassage,
    AnswerPassage,
    CallShown,
    DiffPassage,
    LinesPassage,
    NotePassage,
    Passage,
    PassageBase,
    PlanPassage,
    PromptPassage,
    ReasoningPassage,
    RecapPassage,
    ShellPassage,
    TurnPassage,
)
from clew.protocol.display import DiffBlock
from clew.protocol.events import Rewound
from clew.protocol.lookups.session import RewindPreviewed
from clew.protocol.standing import Standing
from clew.text.terminal_text import attachment_label, clip, sanitize

Piece = Shown | Row
GUTTER = "  "
"""Before everything that somebody else wrote: no line of it can pose as one of clew's or of the person's."""
ENDLESS = 100_000
"""Columns where there is no screen: nothing is broken into rows."""
MIN_COLUMNS = 12
LEVELS = {"info": "dim", "warning": "warning", "error": "error"}
WORDS = {"info": "Note: ", "warning": "Warning: ", "error": "Error: "}
HANG = "      "
_PLAIN_MARKS = str.maketrans({"•": "-", "│": "|", "─": "-", "┼": "+", "−": "-", "⋮": ":", "▸": ">", "☑": "x", "☐": "-"})
_MARKS = frozenset("•│─┼−⋮▸☑☐ ")


class Look(Struct, frozen=True, kw_only=True):
    """How passages are to be told."""

    columns: int
    """0: there is no screen."""
    density: Density = "labels"
    tools: dict[str, Density] = {}

    def room(self, used: int = 0) -> int:
        """What is left of a line of ours; 0: as much as one likes."""
        return max(self.columns - 1 - used, 20) if self.columns else 0

    @property
    def text_columns(self) -> int:
        """For what stands behind the gutter."""
        return max(self.columns - 1 - len(GUTTER), MIN_COLUMNS) if self.columns else ENDLESS


def one_line(text: str) -> str:
    """Untrusted text for the middle of a line."""
    return sanitize(text, one_line=True)


def clipped_line(text: str, look: Look, used: int) -> str:
    """Untrusted text as the rest of a line of ours."""
    return clip(one_line(" ".join(text.split())), look.room(used) or 200)


def behind_gutter(rows: Sequence[Row]) -> list[Row]:
    """Rows of somebody else's text, their marks in plain characters."""
    return [(Span(GUTTER), *map(in_words, row)) if row else row for row in rows]


def in_words(span: Span) -> Span:
    """A mark as a character that every terminal has; other text as it is."""
    return span._replace(text=span.text.translate(_PLAIN_MARKS)) if _MARKS.issuperset(span.text) else span


def phrased(passage: Passage, look: Look) -> list[Piece]:
    """A passage that is whole. Words of the model and calls have ways of their own."""
    return list(_phrased(passage, look))


def phrased_call(shown: CallShown, look: Look, *, seen: bool = False) -> list[Piece]:
    """A call that has ended: one line, and what it shows. `seen`: its change was looked at before it was allowed."""
    who = f"[{one_line(shown.agent)}] " if shown.agent else ""
    line = lined(shown.deeds, look.room(2 + len(who)))
    pieces: list[Piece] = [Shown(f"* {who}{line}", "error" if shown.failed or shown.refused else "dim")]
    level = level_of(shown, look.density, look.tools)
    if seen and level < 2 and any(isinstance(block, DiffBlock) for block in shown.display):
        return pieces
    rows = call_details(shown, look.columns or ENDLESS, level)
    return [*pieces, *(tuple(map(in_words, row)) for row in rows)]


@singledispatch
def _phrased(passage: PassageBase, look: Look) -> Iterator[Piece]:
    yield from ()


@_phrased.register
def _(passage: PromptPassage, look: Look) -> Iterator[Piece]:
    """What was typed here is on the screen already; what joined later is told when it does."""
    if passage.queued:
        yield Shown(f"> joined: {clipped_line(passage.text, look, 10)}", "dim")


@_phrased.register
def _(passage: ReasoningPassage, look: Look) -> Iterator[Piece]:
    yield Shown("Thinking:", "dim")
    text = sanitize(passage.text).strip()
    yield from behind_gutter(wrapped([Span(text, "dim")], look.text_columns))


@_phrased.register
def _(passage: ShellPassage, look: Look) -> Iterator[Piece]:
    limit = FULL_LINES if look.density == "full" else SHELL_LINES
    lines = sanitize(passage.output).replace("\t", "    ").rstrip("\n").split("\n") if passage.output.strip() else []
    hidden = max(len(lines) - limit, 0)
    if hidden:
        yield Shown(f"({hidden:,} lines before)", "dim")
    yield from behind_gutter(preformatted([said(line) for line in lines[hidden:]], look.text_columns))
    if passage.exit_code is None:
        yield Shown(f"Stopped: {clipped_line(passage.command, look, 9)}", "warning")
    elif passage.exit_code:
        yield Shown(f"Ended with {passage.exit_code}: {clipped_line(passage.command, look, 15)}", "error")
    elif not lines:
        yield Shown(f"Done, no output: {clipped_line(passage.command, look, 17)}", "dim")
    for block in passage.made:
        full = look.density == "full"
        yield from behind_gutter(block_rows(block, look.text_columns, indent=(), full=full, cwd=passage.cwd))


@_phrased.register
def _(passage: NotePassage, look: Look) -> Iterator[Piece]:
    lead = "" if passage.minor else WORDS[passage.level]
    text = one_line(passage.text) if passage.minor else passage.text
    yield Shown(f"{lead}{text}", LEVELS[passage.level], hang="  ")


@_phrased.register
def _(passage: LinesPassage, look: Look) -> Iterator[Piece]:
    for line in passage.lines:
        yield Shown(line, LEVELS[passage.level] if passage.level != "info" else "", hang=HANG)


@_phrased.register
def _(passage: AnswerPassage, look: Look) -> Iterator[Piece]:
    lines = answer_lines(passage.event, passage.facts, look.room() or 80)
    if isinstance(passage.event, RewindPreviewed | Rewound):
        # Patches stand in them, whose lines must stay lines.
        for line in lines:
            yield Shown(clip(one_line(line), look.room() or 400), "dim" if line.startswith("    ") else "")
        return
    style = LEVELS[passage.level] if passage.level != "info" else ""
    yield from (Shown(line, style, hang=HANG) for line in lines)


@_phrased.register
def _(passage: DiffPassage, look: Look) -> Iterator[Piece]:
    for block in passage.files:
        yield from behind_gutter(block_rows(block, look.text_columns, indent=(), full=True, cwd=passage.cwd))
    for line in diff_remarks(passage):
        yield Shown(line, hang="  ")


@_phrased.register
def _(passage: PlanPassage, look: Look) -> Iterator[Piece]:
    """The plan itself was shown where it was asked about."""
    if passage.outcome:
        yield Shown(f"{WORDS['info']}{passage.outcome}", LEVELS["info"], hang="  ")


@_phrased.register
def _(passage: RecapPassage, look: Look) -> Iterator[Piece]:
    if passage.away:
        yield Shown(one_line(passage.away), hang="  ")
    yield Shown(f"Recap: {one_line(passage.text)}", hang="  ")


@_phrased.register
def _(passage: AgentPassage, look: Look) -> Iterator[Piece]:
    good = passage.standing in (None, Standing.COMPLETED) and not passage.against
    words = "".join(span.text for span in agent_spans(passage))
    yield Shown(f"{WORDS['info']}{words}", "dim" if good else "warning", hang="  ")


@_phrased.register
def _(passage: TurnPassage, look: Look) -> Iterator[Piece]:
    if passage.ending:
        yield Shown(passage.ending, "error" if passage.error else "warning", hang="  ")
    yield Shown(f"-- {' · '.join(filter(None, (passage.figures, passage.done)))}", "dim", hang="  ")


def retold_prompt(passage: PromptPassage, look: Look, max_rows: int) -> list[Piece]:
    """What a person said in the past."""
    rows = wrapped([Span(sanitize(passage.text).strip("\n"))], look.text_columns)
    rows += [said(attachment_label(kind, ""), "dim") for kind in passage.media]
    more: list[Piece] = [Shown(f"({len(rows) - max_rows:,} more rows)", "dim")] if len(rows) > max_rows else []
    return [Shown("You said:", "bold"), *behind_gutter(rows[:max_rows]), *more]
