"""The story of one agent in lines, as its log tells it: what it was told, what it did, and the words between."""

from collections.abc import Iterator

from clew.orient.deeds import running
from clew.plain.dialogs.dialog import Shown
from clew.plain.phrases import Look, Piece, behind_gutter, phrased, phrased_call, retold_prompt
from clew.presentation.rows.spans import Span, wrapped
from clew.presentation.story.passages import BatchPassage, Passage, PromptPassage, ReasoningPassage, WordsPassage
from clew.presentation.story.story_of_agents import as_directive, under_way
from clew.presentation.story.telling import retold
from clew.protocol.lookups.session import HistoryLoaded
from clew.text.terminal_text import sanitize

STORY_EVENTS = 200
"""Events of its log that are read back."""
MAX_PIECES = 80
"""Lines and rows that are shown of them, the newest."""
PROMPT_ROWS = 6
WORDS_ROWS = 8


def story_of_agent(history: HistoryLoaded, cwd: str, look: Look, *, working: bool) -> list[Piece]:
    """The newest of what an agent did, without its last words: whoever shows the story shows them below it."""
    told = retold(history.events, cwd)
    passages = list(map(as_directive, under_way(told) if working else told))
    last = next((at for at in range(len(passages) - 1, -1, -1) if isinstance(passages[at], WordsPassage)), None)
    if last is not None:
        del passages[last]
    pieces = [piece for passage in passages for piece in _told(passage, cwd, look)]
    left_out = len(pieces) > MAX_PIECES or history.before is not None
    before: list[Piece] = [Shown("(what came before is left out)", "dim")] if left_out else []
    return [*before, *pieces[-MAX_PIECES:]]


def _told(passage: Passage, cwd: str, look: Look) -> Iterator[Piece]:
    match passage:
        case PromptPassage():
            _, *rest = retold_prompt(passage, look, PROMPT_ROWS)
            yield Shown("It was told:", "bold")
            yield from rest
        case WordsPassage():
            rows = wrapped([Span(sanitize(passage.text).strip())], look.text_columns)
            yield from behind_gutter(rows[:WORDS_ROWS])
            if len(rows) > WORDS_ROWS:
                yield Shown(f"({len(rows) - WORDS_ROWS:,} more rows)", "dim")
        case BatchPassage():
            for shown in passage.calls:
                if shown.deeds:
                    yield from phrased_call(shown, look)
                else:
                    yield Shown(f"* {running(shown.call, cwd).line(look.room(2))}", "dim")
        case ReasoningPassage():
            pass
        case _:
            yield from phrased(passage, look)
