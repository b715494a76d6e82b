"""The words of a passage without their looks: what is copied and what is searched."""

from functools import singledispatch

import msgspec

from clew.commands.answers import answer_lines
from clew.orient.deeds import named_call
from clew.presentation.story.call_line import call_line
from clew.presentation.story.passages import (
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
    ShellPassage,
    TurnPassage,
    WordsPassage,
)

WIDE = 400


def passage_words(passage: Passage) -> str:
    """All of its text as it came; the caller makes it safe where it is shown."""
    return _words(passage)


def searched_words(passage: Passage) -> str:
    """All that it can show, also what only an open one does: changes, lists, outputs."""
    if not isinstance(passage, BatchPassage):
        return _words(passage)
    blocks = [str(msgspec.to_builtins(block)) for shown in passage.calls for block in shown.display]
    return "\n".join((_words(passage), *blocks, *(shown.tail for shown in passage.calls)))


@singledispatch
def _words(passage: PassageBase) -> str:
    return ""


@_words.register(PromptPassage)
@_words.register(WordsPassage)
@_words.register(ReasoningPassage)
@_words.register(NotePassage)
def _(passage: PromptPassage | WordsPassage | ReasoningPassage | NotePassage) -> str:
    return passage.text


@_words.register
def _(passage: BatchPassage) -> str:
    lines = [passage.label] if passage.label else []
    for shown in passage.calls:
        line = call_line(shown, WIDE)
        lines += [named_call(shown.call), *([line] if line != named_call(shown.call) else []), shown.text]
    return "\n".join(filter(None, lines))


@_words.register
def _(passage: PlanPassage) -> str:
    return "\n\n".join(filter(None, (passage.outcome, passage.plan)))


@_words.register
def _(passage: ShellPassage) -> str:
    return f"$ {passage.command}\n{passage.output}"


@_words.register
def _(passage: LinesPassage) -> str:
    return "\n".join(filter(None, (passage.command, *passage.lines)))


@_words.register
def _(passage: AnswerPassage) -> str:
    return "\n".join(answer_lines(passage.event, passage.facts, WIDE))


@_words.register
def _(passage: DiffPassage) -> str:
    return "\n".join(f"{block.path}\n{block.patch}" for block in passage.files)


@_words.register
def _(passage: RecapPassage) -> str:
    return "\n".join(filter(None, (passage.away, passage.text)))


@_words.register
def _(passage: TurnPassage) -> str:
    return "\n".join(filter(None, (passage.ending, passage.done, passage.figures)))
