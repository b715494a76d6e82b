"""Growing Markdown for a printer: nothing is lost, doubled or changed after it was given out, however it arrives."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.presentation.rows.markdown import markdown_rows
from clew.presentation.rows.markdown_feed import MarkdownFeed
from clew.presentation.rows.spans import Row, plain

BLOCKS = [
    "A paragraph with **bold words**, `code()` and *a little* more, long enough to be wrapped at every width.",
    "Two lines of one\nparagraph with a [link](https://example.test/a) in them.",
    "## A heading",
    "- one\n- two with **bold\n  over lines**\n- three",
    "1. first\n2. second\n   - inner\n   - more\n3. third",
    "```python\ndef f():\n    '''Docs.'''\n\n    return 1\n```",
    "~~~\nno language\n~~~",
    "> quoted words that go on for a while, so that they are wrapped\n> and go on",
    "Before a table:\n| a | b |\n|---|---|\n| 1 | 2 |",
    "| File | Why |\n|---|---|\n| a.py | it was wrong |\n| 测试 | 没有空格的中文 |",
    "中文没有空格，所以每个字后面都可以换行，这是一个很长的句子。👍 done",
    "2 * 3 * 4 and a_b_c and an open ` tick and [a bracket",
    "---",
    "A title\n=======",
]


def words(rows: list[Row]) -> list[str]:
    return [plain(row).strip() for row in rows if plain(row).strip()]


def fed(text: str, columns: int, seed: int) -> list[Row]:
    chance, feed = random.Random(seed), MarkdownFeed(columns)
    rows: list[Row] = []
    at = 0
    while at < len(text):
        at = min(len(text), at + chance.choice((1, 2, 5, 9, 40, 200)))
        rows += feed.more(text[:at])
    return rows + feed.end(text)


@settings(max_examples=150, deadline=None)
@given(
    blocks=st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=6),
    columns=st.sampled_from((24, 40, 77, 100_000)),
    seed=st.integers(0, 1000),
)
def test_what_is_given_out_piece_by_piece_is_the_whole_text(blocks: list[str], columns: int, seed: int) -> None:
    # A line of text between them, so that lists and quotes do not become one with the next.
    text = "\n\nAnd then:\n\n".join(blocks)
    assert words(fed(text, columns, seed)) == words(markdown_rows(text, columns))


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet="ab *_`[]()|-#>1.\n中~", max_size=120), seed=st.integers(0, 1000))
def test_no_letter_is_lost_whatever_a_model_writes(text: str, seed: int) -> None:
    seen = "".join(words(fed(text, 30, seed)))
    for letter in "ab中":
        assert seen.count(letter) >= "".join(words(markdown_rows(text, 30))).count(letter)


def test_blank_rows_stand_between_blocks_and_not_inside_them() -> None:
    text = "one\n\n- a\n- b\n\n```\nx\n\ny\n```\n\nend"
    rows = [plain(row) for row in fed(text, 40, 3)]
    assert rows == ["one", "", "• a", "• b", "", "  x", "  ", "  y", "", "end"]


def test_rows_of_a_long_paragraph_come_before_it_ends() -> None:
    feed = MarkdownFeed(20)
    assert words(feed.more("the quick brown fox jumps over the lazy dog and runs")) == [
        "the quick brown fox",
        "jumps over the lazy",
    ]
    assert words(feed.pending()) == ["dog and runs"]
    assert words(feed.end("the quick brown fox jumps over the lazy dog and runs off")) == ["dog and runs off"]


def test_words_that_may_become_bold_wait_for_it() -> None:
    feed = MarkdownFeed(20)
    start = "the quick **brown fox jumps over the lazy dog"
    assert feed.more(start) == []
    assert words(feed.more(start + " and runs off** home and further on")) == [
        "the quick brown fox",
        "jumps over the lazy",
        "dog and runs off",
    ]


def test_another_width_holds_from_the_next_block_on() -> None:
    feed = MarkdownFeed(20)
    first = "the quick brown fox jumps over the lazy dog and runs"
    feed.more(first)
    feed.resize(40)
    assert words(feed.end(f"{first}\n\n{first}")) == [
        "dog and runs",
        "the quick brown fox jumps over the lazy",
        "dog and runs",
    ]


def test_lines_of_code_come_one_by_one() -> None:
    feed = MarkdownFeed(40)
    assert words(feed.more("```python\nx = 1\ny = [\n")) == ["x = 1", "y = ["]
    assert words(feed.more("```python\nx = 1\ny = [\n    2]\n```\n\nThat is it, and here is more to read\n")) == ["2]"]


def test_a_table_comes_when_it_is_whole() -> None:
    feed = MarkdownFeed(60)
    table = "| a | b |\n|---|---|\n" + "| 1 | a longer cell than the one before |\n" * 5
    assert feed.more(table) == []
    assert len(words(feed.more(table + "\nAnd now something else, long enough to be looked at.\n"))) == 7


@pytest.mark.parametrize("piece", ["word ", "* ", "`x ", "[a](b) ", "| c ", "- i\n", "x\n"])
def test_a_very_long_block_costs_no_more_than_its_length(piece: str) -> None:
    """Counted in looks at the text: each is as long as the tail, so they must become rare as it grows."""
    feed, text, looked = MarkdownFeed(77), "", 0
    for _ in range(400):
        text += piece
        before = feed._looked_at
        feed.more(text)
        looked += len(feed._rest) if feed._looked_at != before else 0
    assert looked < 60 * len(text)


@pytest.mark.parametrize("seed", range(5))
def test_no_address_is_lost_wherever_it_is_defined(seed: int) -> None:
    text = "See [the docs][1] now.\n\nMore.\n\n[1]: https://docs.test/a\n[2]: https://unused.test\n\nThen [again][1].\n"
    told = words(fed(text, 60, seed))
    assert told[0] == "See [the docs][1] now."
    assert [line for line in told if line == "[1]: https://docs.test/a"], told
    assert told[-1] == words(markdown_rows(text, 60))[-1]
    assert not [line for line in told if "unused" in line]


def test_an_address_that_is_known_in_time_is_in_the_link() -> None:
    text = "[1]: https://docs.test/a\n\nSee [the docs][1] now.\n\nThen [again][1].\n"
    assert words(fed(text, 60, 1)) == words(markdown_rows(text, 60))
