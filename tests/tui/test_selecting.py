"""What is selected is the source text: no breaks for want of room, no marks or blanks of clew's own."""

import random
from collections.abc import Iterator

import pytest

from clew.presentation.story.passages import BatchPassage, CallShown, Passage, PromptPassage, ShellPassage, WordsPassage
from clew.protocol.display import DiffBlock
from clew.protocol.ids import CallId
from clew.protocol.messages import ToolCallPart
from clew.text.terminal_text import clusters
from clew.tui.reading.selection import Selection, line_at, word_at
from clew.tui.reading.strips import StripMaker
from clew.tui.reading.viewport import Place, Viewport

WORDS = [
    *("a", "parcel", "weights.py:12", "https://example.org/a/very/long/way/to/somewhere?x=1", "über", "naïve"),
    *("日本語の文章です", "e\u0301te\u0301", "שלום", "مرحبا", "👩‍👩‍👧", "🇫🇷", "x" * 90, "--flag=value", "(so)", "…"),
]
"""Words of several scripts, some wider than a screen."""
ROUNDS = 10_000


def shown(*passages: Passage, columns: int = 40, height: int = 400) -> Viewport:
    port = Viewport(StripMaker({}))
    port.resize(columns, height)
    port.opened = {passage.key: 2 for passage in passages if isinstance(passage, ShellPassage)}
    port.show(passages, ())
    port.lines()
    return port


def visible(port: Viewport) -> Iterator[tuple[str, Place, int]]:
    """Every mark on the screen that is not a blank, with where it stands; clew's own two columns are left out."""
    for index in range(port.count):
        for row, content in enumerate(port.rows_of(index)):
            column = 0
            for span in content:
                for cluster, width in clusters(span.text):
                    if column >= 2 and not cluster.isspace():
                        yield cluster, Place(port.passage(index).key, row), column
                    column += width


def written(source: str) -> Iterator[tuple[str, int, int]]:
    """The same of the source, with where it begins and ends."""
    at = 0
    for line in source.split("\n"):
        place = at
        for cluster, _ in clusters(line):
            if not cluster.isspace():
                yield cluster, place, place + len(cluster)
            place += len(cluster)
        at += len(line) + 1


def prose(rng: random.Random, *, blanks: tuple[str, ...] = (" ",)) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(blanks) for _ in range(rng.randint(1, 40))).strip()


def output(rng: random.Random) -> str:
    """Lines whose blanks and tabs count."""
    lines = [rng.choice(("", "\t", "    ")) + prose(rng, blanks=(" ", "  ", "\t")) for _ in range(rng.randint(1, 8))]
    return "\n".join(lines)


def document(rng: random.Random, number: int) -> tuple[tuple[Passage, ...], str]:
    """A conversation, and what a person would have typed to make it."""
    said = "\n".join(prose(rng, blanks=(" ", "   ", "\t")) for _ in range(rng.randint(1, 4)))
    printed = output(rng)
    code = output(rng)
    first, second, item, quoted = (prose(rng) for _ in range(4))
    answer = f"{first}\n\n```text\n{code}\n```\n\n- {item}\n- {second}\n\n> {quoted}"
    source = "\n\n".join(
        (said, f"ls\n{printed}", first, code, f"- {item}\n- {second}", f"> {quoted}"),
    )
    passages: tuple[Passage, ...] = (
        PromptPassage(key=f"p{number}", text=said),
        ShellPassage(key=f"s{number}", command="ls", output=printed, exit_code=0),
        WordsPassage(key=f"w{number}", text=answer),
    )
    return passages, source


STANDS_FOR = {"•": "-", "│": ">"}


@pytest.mark.parametrize("columns", [24, 60, 100, 200])
def test_ten_thousand_random_selections_equal_the_source(columns: int) -> None:
    rng = random.Random(f"selections {columns}")
    documents = 10
    for number in range(documents):
        passages, source = document(rng, number)
        port = shown(*passages, columns=columns)
        cells, marks = list(visible(port)), list(written(source))
        if "│" in {cell[0] for cell in cells}:  # a quoted line has its bar on every row, and its sign once
            cells = [cell for at, cell in enumerate(cells) if cell[0] != "│" or first_bar(cells, at)]
        assert [STANDS_FOR.get(cell[0], cell[0]) for cell in cells] == [mark[0] for mark in marks]
        for _ in range(ROUNDS // documents // 4):
            one, other = sorted(rng.sample(range(len(marks)), 2))
            (_, start, from_column), (_, end, to_column) = cells[one], cells[other]
            begun = Selection.starting(start, from_column) if rng.random() < 0.5 else None
            chosen = begun or Selection.starting(end, to_column)
            chosen = chosen.extended(*((end, to_column) if begun else (start, from_column))).ended()
            assert chosen.text(port) == source[marks[one][1] : marks[other][2]]


def first_bar(cells: list[tuple[str, Place, int]], at: int) -> bool:
    return all(cell[0] != "│" for cell in cells[:at])


def test_a_double_click_takes_a_word_over_the_rows_it_is_broken_into() -> None:
    address = "https://example.org/" + "x" * 60
    port = shown(PromptPassage(key="p", text=f"see {address}, then go"), columns=40)
    chosen = word_at(Place("p", 1), 5, port)
    assert chosen is not None
    assert chosen.text(port).rstrip(",") == address
    assert word_at(Place("p", 0), 5, port) is None  # the blank between two words
    first = word_at(Place("p", 0), 3, port)
    assert first is not None
    assert first.text(port) == "see"


def test_a_triple_click_takes_the_line_of_the_text() -> None:
    long = "word " * 30
    port = shown(PromptPassage(key="p", text=f"one\n{long.strip()}\nthree"), columns=40)
    assert line_at(Place("p", 3), port).text(port) == long.strip()
    assert line_at(Place("p", 0), port).text(port) == "one"


def test_of_a_change_the_lines_are_copied_and_not_their_numbers_and_signs() -> None:
    patch = "@@ -1,2 +1,2 @@\n def f():\n-\treturn 0\n+\treturn " + "1 + " * 20 + "1"
    shown_call = CallShown(
        call=ToolCallPart(id=CallId("c"), name="Edit", arguments={}),
        state="ended",
        display=(DiffBlock(path="/x/y.py", patch=patch, added=1, removed=1),),
    )
    port = shown(BatchPassage(key="b", calls=(shown_call,)), columns=50)
    port.opened = {"b": 2}
    port.lines()
    rows = port.rows_of(0)
    everything = Selection(start=Place("b", 2), end=Place("b", len(rows) - 1), end_column=999).text(port)
    assert everything == "def f():\n\treturn 0\n\treturn " + "1 + " * 20 + "1"


def test_a_wide_table_is_copied_row_by_row_with_whole_cells() -> None:
    text = "| name | what it does |\n| --- | ---: |\n| one | " + "many words " * 8 + "end |\n| two | few |"
    port = shown(WordsPassage(key="w", text=text), columns=40)
    last = len(port.rows_of(0)) - 1
    copied = Selection(start=Place("w", 0), end=Place("w", last), end_column=999).text(port)
    assert copied.split("\n") == [
        "name | what it does",
        "--- | ---",
        "one | " + "many words " * 8 + "end",
        "two | few",
    ]
