"""`/context` as a grid of letters and as data: fits its columns, hides nothing, obeys nobody."""

import json

import pytest

from clew.commands.context_view import FREE, MARKS, context_data, context_lines
from clew.engine.compaction import contents
from clew.protocol.event_kinds.context import ContextItem, ContextMeasured, ContextShare
from clew.protocol.ids import EntryId
from clew.text.terminal_text import display_width

SHARES = (
    ContextShare(name="system prompt", tokens=4_000),
    ContextShare(name="tools", tokens=6_000),
    ContextShare(name="your words", tokens=2_000),
    ContextShare(name="results: Read", tokens=60_000),
    ContextShare(name="results: Bash", tokens=28_000),
    ContextShare(name=FREE, tokens=100_000),
)
FULL = ContextMeasured(
    tokens=100_000,
    window=200_000,
    estimated=False,
    next_cost_usd=0.3,
    warn_at=147_000,
    auto_at=167_000,
    model="anthropic/claude",
    shares=SHARES,
    largest=(
        ContextItem(name="Read src/app.py", tokens=40_000, source=EntryId("0a1b2c3d-1111-4222-8333-444455556666")),
    ),
)


def test_it_says_how_full_by_what_and_what_comes() -> None:
    lines = context_lines(FULL)
    assert lines[0] == "Context: 100,000 of 200,000 tokens (50 %), anthropic/claude"
    text = "\n".join(lines)
    assert "  O results: Read" in text
    assert "60,000   30 %" in text
    assert "4,000  2.0 %" in text
    assert "Read src/app.py" in text
    assert "  0a1b2c3d\n" in text
    assert "Room is made by itself at 167,000 tokens (84 %)" in text
    assert "Sending it again costs $0.3000." in text


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
def test_the_grid_shows_each_share_by_its_part(columns: int) -> None:
    grid = "".join(line[2:] for line in context_lines(FULL, columns=columns)[2:6])
    assert len(grid) == 4 * (columns - 2)
    assert grid.count(".") == pytest.approx(len(grid) / 2, abs=1)
    assert grid.count("O") == pytest.approx(len(grid) * 0.44, abs=2)
    assert "S" in grid
    assert "T" in grid


def test_unknown_is_unknown_and_not_zero() -> None:
    unknown = ContextMeasured(tokens=None, window=32_000)
    assert context_lines(unknown)[0] == "Context: unknown, of 32,000 tokens"
    assert "costs" not in "\n".join(context_lines(unknown))
    assert context_data(unknown)["tokens"] is None
    assert context_data(unknown)["share"] is None
    windowless = context_lines(ContextMeasured(tokens=5, window=0, shares=(ContextShare(name="tools", tokens=5),)))
    assert windowless[0] == "Context: about 5 tokens, window unknown"


def test_without_automatic_compaction_it_says_so() -> None:
    assert "Room is made only when you ask: /compact, or /clear." in context_lines(ContextMeasured(tokens=1, window=9))


@pytest.mark.parametrize("columns", [1, 40, 60, 80])
@pytest.mark.parametrize(
    "name",
    [
        "请把这个函数重构成更小的部分，并保持测试通过" * 4,
        "x" * 500,
        "\x1b[31mred\x1b[0m\x1b]0;title\x07",
        "two\nlines\r\nand\ttabs",
        "👩‍👩‍👧‍👦" * 40,
        "\u202egnp.exe",
        "",
    ],
)
def test_no_name_breaks_a_line(name: str, columns: int) -> None:
    measured = ContextMeasured(
        tokens=10**9,
        window=200_000,
        model=name,
        shares=(ContextShare(name=f"results: {name}", tokens=10**9), ContextShare(name=FREE, tokens=0)),
        largest=(ContextItem(name=name, tokens=10**9, source=EntryId(name or "e")), ContextItem(name=name, tokens=3)),
    )
    for line in context_lines(measured, columns=columns):
        assert display_width(line) <= max(40, columns)
        assert not set(line) & {"\x1b", "\n", "\r", "\x07", "\u202e"}


def test_the_same_as_data() -> None:
    data = json.loads(json.dumps(context_data(FULL)))
    assert (data["tokens"], data["window"], data["share"], data["estimated"]) == (100_000, 200_000, 0.5, False)
    assert data["shares"][3] == {"name": "results: Read", "tokens": 60_000}
    assert data["largest"] == [
        {"name": "Read src/app.py", "tokens": 40_000, "source": "0a1b2c3d-1111-4222-8333-444455556666"}
    ]


def test_every_kind_of_content_has_a_letter_of_its_own() -> None:
    kinds = {
        value for name, value in vars(contents).items() if name.isupper() and isinstance(value, str) and value[0] > " "
    } - {contents.RESULTS, contents.MEMORY_MARK}
    assert kinds == set(MARKS)
    assert len(set(MARKS.values())) == len(MARKS)
