"""Markdown in rows: every kind of block, widths, wide characters, and a text that grows told like one that is whole."""

import os
import random

import pytest

from clew.presentation.rows.markdown import GrowingMarkdown, markdown_rows
from clew.presentation.rows.spans import plain, width_of

TEXT = """# Title here

Some *text* with **bold** and `code`, see [the docs](https://example.com/x) and <https://a.b>. 中文字符没有空格。

1. one
2. two with a long line that has to be wrapped somewhere because it is long
   - nested
   - more

Words and nothing else, in a long paragraph that goes on and on, and  has  two blanks here and there , so that its rows
fill one after the other without any mark at all in it. Then a mark * and more words that follow it to the end.

```python
def f(x):
	return 1
```

| Name | What it does | Cost |
|---|---|---:|
| a | does a thing with very many words so that it must wrap | 3 |
| 中文 | x 👩‍👩‍👧 | 4 |

> quote
> more

---
<b>html</b> end & so on
"""


def shown(text: str, columns: int = 40) -> list[str]:
    return [plain(row) for row in markdown_rows(text, columns)]


@pytest.mark.parametrize("seed", range(int(os.environ.get("CLEW_FUZZ_SEEDS", "30"))))
def test_what_grows_is_told_like_what_is_whole(seed: int) -> None:
    chance = random.Random(seed)
    blocks = TEXT.split("\n\n")
    text = "\n\n".join(chance.choice(blocks) for _ in range(chance.randrange(1, 8)))
    columns = chance.choice([8, 20, 40, 77, 120])
    growing, at = GrowingMarkdown(columns), 0
    rows = growing.rows("")
    while at < len(text):
        at = min(len(text), at + chance.choice([1, 3, 7, 40]))
        rows = growing.rows(text[:at])
    assert [plain(row).rstrip() for row in rows] == [plain(row).rstrip() for row in markdown_rows(text, columns)]


@pytest.mark.parametrize("columns", [8, 20, 60, 120])
def test_no_row_is_wider_than_it_may_be(columns: int) -> None:
    assert all(width_of(row) <= max(columns, 12) for row in markdown_rows(TEXT, columns))


def test_a_table_without_room_is_told_line_by_line() -> None:
    assert shown("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |", 12) == ["a: 1", "b: 2", "c: 3"]


def test_links_tell_where_they_lead_and_only_safe_ones_can_be_clicked() -> None:
    rows = markdown_rows("[docs](https://a.b/c) [run](javascript:x)", 80)
    links = {span.text: span.link for row in rows for span in row if span.text.strip()}
    assert links["docs"] == "https://a.b/c"
    assert "(https://a.b/c)" in plain(rows[0])
    assert not any("javascript" in link for link in links.values())


def test_html_and_controls_stay_words() -> None:
    assert shown("<script>x</script> \x1b[31mred") == ["<script>x</script> red"]


def test_nesting_without_end_is_bounded() -> None:
    assert len(shown("> " * 3_000 + "deep", 60)) < 10_000
    assert shown("- " * 500 + "deep", 60)


REFERENCES = """See [the docs][1], [guide] and [2][none] first; `a[1]` is code.

- an item with [the docs][1]
- [ ] a box

Early: [later][early].

[early]: https://early.test/x

More words with [later][early] in them.

[1]: https://docs.test/a "Docs"
[Guide]: <https://guide.test>
[1]: https://ignored.test
"""


@pytest.mark.parametrize("step", [1, 2, 7, 40, 1000])
def test_links_that_are_defined_later_end_as_in_the_whole_text(step: int) -> None:
    growing = GrowingMarkdown(60)
    for end in range(0, len(REFERENCES) + step, step):
        seen = REFERENCES[:end]
        rows = growing.rows(seen)
        assert [plain(row).rstrip() for row in rows] == [plain(row).rstrip() for row in markdown_rows(seen, 60)], seen
    assert "https://docs.test/a" in plain(growing.rows(REFERENCES)[0])
