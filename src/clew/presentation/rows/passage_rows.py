"""Passages as rows at a width. The first two columns are clew's own: marks stand there, and no other text ever does."""

from collections.abc import Iterator
from functools import singledispatch

from msgspec import Struct

from clew.commands.answers import answer_lines
from clew.commands.diff import nothing_words
from clew.commands.plan import plan_heading
from clew.config.schema import Density
from clew.presentation.plan_text import plan_name
from clew.presentation.rows import late
from clew.presentation.rows.spans import EMPTY, Row, Span, clipped, preformatted, prose_columns, said, width_of, wrapped
from clew.presentation.story.passages import (
    AgentPassage,
    AnswerPassage,
    BatchPassage,
    DiffPassage,
    LinesPassage,
    NotePassage,
    Passage,
    PassageBase,
    PlanPassage,
    PromptPassage,
    ReasoningPassage,
    RecapPassage,
    SeenPassage,
    ShellPassage,
    TurnPassage,
    WordsPassage,
)
from clew.protocol.events import CompactionEnded
from clew.protocol.lookups.session import PlanShown
from clew.protocol.standing import Standing
from clew.text.figures import count
from clew.text.terminal_text import attachment_label, display_width, sanitize

GUTTER = 2
MIN_TEXT_COLUMNS = 8
MARGIN: Row = (Span(" " * GUTTER, source=""),)
USER_MARK, SHELL_MARK, RECAP_MARK, CLEW_MARK, PLAN_MARK = "▌ ", "! ", "※ ", "┆ ", "☑ "
TRACE_ROWS = 2
"""Of words that do not count."""
SHELL_LINES = 12
FULL_LINES = 2_000
_ENDED = {None: (CLEW_MARK, "dim"), Standing.COMPLETED: ("● ", "success"), Standing.FAILED: ("✗ ", "error")}
"""The mark of an agent's line, by how it stands; any other standing has been stopped by somebody."""
_LEVELS = {"info": "notice", "warning": "warning", "error": "error"}
_WORDS = {"info": "", "warning": "Warning: ", "error": "Error: "}


class View(Struct, frozen=True, kw_only=True):
    """How a passage is to be shown."""

    columns: int
    density: Density = "labels"
    tools: dict[str, Density] = {}
    """Tools that are shown more or less closely than the rest."""
    opened: int | None = None
    """How far a person opened this very passage; None: as the density says."""
    reasoning: bool = False
    cwd: str = ""
    """Paths below it are told as one there would write them."""

    @property
    def text_columns(self) -> int:
        """What is left beside the gutter and a free column at the right."""
        return max(self.columns - GUTTER - 1, MIN_TEXT_COLUMNS)

    @property
    def prose_columns(self) -> int:
        """The same for words, which are set no wider than reads well."""
        return prose_columns(self.text_columns)


def passage_rows(passage: Passage, view: View) -> list[Row]:
    """The rows of a passage, without blank ones around it."""
    return _rows(passage, view)


def marked(rows: list[Row], mark: str, style: str, *, every: bool = False) -> list[Row]:
    """Rows behind the gutter; the mark stands before the first, or before every one."""
    return [
        (Span(mark, style, source="") if every or number == 0 else MARGIN[0], *row) if row or every else EMPTY
        for number, row in enumerate(rows)
    ]


def behind_gutter(rows: list[Row]) -> list[Row]:
    """Rows of somebody else's text."""
    return [(*MARGIN, *row) if row else EMPTY for row in rows]


@singledispatch
def _rows(passage: PassageBase, view: View) -> list[Row]:
    return []


@_rows.register
def _(passage: PromptPassage, view: View) -> list[Row]:
    spans = [Span(sanitize(passage.text).strip("\n"), "bold")]
    rows = wrapped(spans, view.prose_columns)
    rows += [said(attachment_label(kind, ""), "dim") for kind in passage.media]
    return marked(rows, USER_MARK, "user", every=True)


@_rows.register
def _(passage: WordsPassage, view: View) -> list[Row]:
    if passage.withdrawn:
        return _withdrawn(passage, view)
    return behind_gutter(late.markdown_rows(passage.text, view.text_columns))


def _withdrawn(passage: WordsPassage, view: View) -> list[Row]:
    """A dim trace: that these words do not count, and how they began; all of them where it is open."""
    head = "withdrawn, the stream broke off:"
    text = sanitize(passage.text).strip()
    rows = wrapped([Span(f"{head} ", "dim italic"), Span(text, "dim")], view.prose_columns)
    if len(rows) > TRACE_ROWS and not view.opened:
        more = f" … {count(len(text.split()), 'word')}"
        rows = [
            *rows[: TRACE_ROWS - 1],
            (*clipped(rows[TRACE_ROWS - 1], view.text_columns - len(more)), Span(more, "dim")),
        ]
    return marked(rows, CLEW_MARK, "dim", every=True)


@_rows.register
def _(passage: PlanPassage, view: View) -> list[Row]:
    """The outcome and the plan's heading on one line; the plan itself where it is open."""
    name = sanitize(plan_name(passage.plan), one_line=True)
    outcome = sanitize(passage.outcome, one_line=True) or "Plan proposed"
    sign = Span(" ▾" if view.opened else " ▸", "dim", source="")
    style = "success" if passage.accepted else "" if passage.outcome else "dim"
    rows = wrapped([Span(outcome, style), Span(" · ", "dim"), Span(name, "bold"), sign], view.text_columns)
    head = marked(rows, PLAN_MARK, "accent")
    return [*head, *behind_gutter(late.markdown_rows(passage.plan, view.text_columns))] if view.opened else head


@_rows.register
def _(passage: ReasoningPassage, view: View) -> list[Row]:
    text = sanitize(passage.text).strip()
    if not (view.opened if view.opened is not None else view.reasoning):
        words = len(text.split())
        return marked([said(f"thought, {words:,} words" if words != 1 else "thought, 1 word", "dim")], "∴ ", "dim")
    return marked(wrapped([Span(text, "dim italic")], view.prose_columns), "∴ ", "dim")


@_rows.register
def _(passage: BatchPassage, view: View) -> list[Row]:
    return late.batch_rows(
        passage, view.columns, density=view.density, tools=view.tools, opened=view.opened, cwd=view.cwd
    )


@_rows.register
def _(passage: ShellPassage, view: View) -> list[Row]:
    rows = marked(wrapped([Span(sanitize(passage.command), "bold")], view.text_columns), SHELL_MARK, "user")
    limit = FULL_LINES if view.opened or view.density == "full" else SHELL_LINES
    lines = sanitize(passage.output).rstrip("\n").split("\n") if passage.output.strip() else []
    hidden = max(len(lines) - limit, 0)
    shown = [said(line, "dim") for line in lines[hidden:]]
    if hidden:
        rows += behind_gutter([said(f"… {hidden:,} lines before", "dim")])
    rows += behind_gutter(preformatted(shown, view.text_columns))
    if passage.exit_code not in (0, None) and not passage.running:
        rows += behind_gutter([said(f"exit {passage.exit_code}", "error")])
    for block in passage.made:
        full = bool(view.opened) or view.density == "full"
        rows += late.block_rows(block, view.columns - 1, indent=MARGIN, full=full, cwd=passage.cwd)
    return rows


@_rows.register
def _(passage: NotePassage, view: View) -> list[Row]:
    text = f"{_WORDS[passage.level]}{sanitize(passage.text).strip()}"
    return marked(wrapped([Span(text, _LEVELS[passage.level])], view.prose_columns), CLEW_MARK, "dim", every=True)


@_rows.register
def _(passage: LinesPassage, view: View) -> list[Row]:
    typed = wrapped([Span(sanitize(passage.command), "bold")], view.text_columns) if passage.command else []
    return [*marked(typed, CLEW_MARK, "dim", every=True), *_clew_lines(passage.lines, view, _LEVELS[passage.level])]


@_rows.register
def _(passage: AnswerPassage, view: View) -> list[Row]:
    if isinstance(passage.event, PlanShown) and not passage.event.saved:
        heading = (plan_heading(passage.event, passage.facts.cwd),)
        shown = late.markdown_rows(passage.event.plan, view.text_columns)
        return [*_clew_lines(heading, view, _LEVELS[passage.level]), *behind_gutter(shown)]
    if isinstance(passage.event, CompactionEnded) and passage.event.kind == "clear":
        return [_rule("a new window begins here · the log keeps what is above · /compact undo brings it back", view)]
    lines = tuple(answer_lines(passage.event, passage.facts, view.text_columns))
    return _clew_lines(lines, view, _LEVELS[passage.level])


def _whole_parts(words: str, columns: int) -> str:
    """The words between dots, as many as fit, the first ones in any case, and a sign that there are more."""
    parts = words.split(" · ")
    while len(parts) > 1 and display_width(words) > columns:
        parts.pop()
        words = " · ".join(parts) + " …"
    return words


def _rule(words: str, view: View) -> Row:
    """A line across the screen that says why it is there."""
    line = clipped(said(words, "dim"), view.columns - 6)
    rest = max(view.columns - 5 - width_of(line), 0)
    return (Span("── ", "dim", source=""), *line, Span(" " + "─" * rest, "dim", source=""))


def _clew_lines(lines: tuple[str, ...], view: View, style: str) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        safe = sanitize(line).replace("\t", "    ")
        indent = " " * (len(safe) - len(safe.lstrip(" ")))
        rows += wrapped([Span(safe, style)], view.text_columns, hang=said(indent + "  "))
    return marked(rows, CLEW_MARK, "dim", every=True)


@_rows.register
def _(passage: DiffPassage, view: View) -> list[Row]:
    rows: list[Row] = []
    full = bool(view.opened) or view.density == "full"
    for block in passage.files:
        rows += [EMPTY] if rows else []
        rows += late.block_rows(block, view.columns - 1, indent=MARGIN, full=full, cwd=passage.cwd)
    return [*rows, *_clew_lines(tuple(diff_remarks(passage)), view, "notice")]


def diff_remarks(passage: DiffPassage) -> Iterator[str]:
    """What the changes themselves do not say."""
    if not passage.files:
        yield nothing_words(warned=bool(passage.warnings), ignored=bool(passage.ignored))
    if passage.left_out:
        yield f"… and {count(passage.left_out, 'more file')}"
    if passage.ignored:
        yield f"{count(passage.ignored, 'file')} that git ignores: not shown (/diff PATH shows them)"
    yield from (f"Not known: {' '.join(line.split())}" for line in passage.warnings)


@_rows.register
def _(passage: RecapPassage, view: View) -> list[Row]:
    rows: list[Row] = []
    if passage.away:
        label, colon, news = sanitize(passage.away, one_line=True).partition(": ")  # it begins in the user's language
        rows += wrapped([Span(label + colon, "recap bold"), Span(news, "recap")], view.prose_columns)
    text = sanitize(passage.text).strip()
    rows += wrapped([Span("recap: ", "recap bold"), Span(text, "recap")], view.prose_columns)
    return marked(rows, RECAP_MARK, "accent")


@_rows.register
def _(passage: SeenPassage, view: View) -> list[Row]:
    return [_rule("new since you looked", view)]


@_rows.register
def _(passage: AgentPassage, view: View) -> list[Row]:
    mark, style = _ENDED.get(passage.standing, ("◌ ", "warning"))
    rows = wrapped(agent_spans(passage), view.text_columns)
    return marked(rows, mark, style, every=passage.standing is None)


def agent_spans(passage: AgentPassage) -> list[Span]:
    """How it ended first, then what is not borne out, then what code read in its log, and the figures."""
    style = {Standing.FAILED: "error", None: "notice"}.get(passage.standing, "")
    spans = [Span(sanitize(passage.text, one_line=True), style)]
    for mark in passage.against:
        words = f"NOT BORNE OUT by its log: {sanitize(mark, one_line=True)}"
        spans += [Span(" · ", "dim"), Span(words, "error bold")]
    rest = [sanitize(part, one_line=True) for part in (*passage.facts, passage.figures) if part]
    return [*spans, *([Span(f" · {' · '.join(rest)}", "dim")] if rest else [])]


@_rows.register
def _(passage: TurnPassage, view: View) -> list[Row]:
    rows: list[Row] = []
    if passage.ending:
        style = "error" if passage.error else "warning"
        ending = wrapped([Span(sanitize(passage.ending).strip(), style)], view.text_columns)
        rows += marked(ending, CLEW_MARK, "dim", every=True)
    words = " · ".join(filter(None, (passage.figures, sanitize(passage.done, one_line=True))))
    words = _whole_parts(words, view.columns - 6)
    return [*rows, _rule(words, view)]
