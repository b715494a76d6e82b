"""Reading well: Markdown in every theme, a readable width, what a dialog is about in sight, the first screen."""

import pytest

from clew.presentation.rows.markdown import markdown_rows
from clew.presentation.rows.spans import Row, copied, plain, width_of
from clew.protocol.display import DiffBlock
from clew.protocol.events import ApprovalRequested, PlanProposed, SessionRow
from clew.protocol.ids import CallId, RequestId
from clew.protocol.lookups.place import SessionsListed
from clew.protocol.lookups.session import EditPreviewed, PreviewEdit
from clew.tui.themes import THEMES, mixed, styles_of
from tui.screen_lab import call, over, prompt, runs, screen, turn, words

PROSE = "so many words " * 40


def styles(rows: list[Row], word: str) -> str:
    return next(span.style for row in rows for span in row if word in span.text)


@pytest.mark.parametrize("theme", sorted(THEMES))
@pytest.mark.parametrize("colour", [True, False])
def test_code_links_and_headings_have_looks_of_their_own_in_every_theme(theme: str, colour: bool) -> None:
    rows = markdown_rows("# one\n\n## two\n\n### three\n\n#### four\n\nwords `code` https://example.org/x end", 80)
    table = styles_of(THEMES[theme], colour=colour)
    looks = [
        str(mixed(table, styles(rows, word))) for word in ("one", "two", "three", "four", "words", "code", "https")
    ]
    assert len(set(looks)) == len(looks)


def test_tasks_are_boxes_and_are_copied_as_they_were_written() -> None:
    rows = markdown_rows("- [x] done\n- [ ] open\n- plain", 40)
    assert [plain(row) for row in rows] == ["☑ done", "☐ open", "• plain"]
    assert "\n".join(copied(row) for row in rows) == "- [x] done\n- [ ] open\n- plain"


def test_an_address_in_words_is_a_link_without_the_full_stop() -> None:
    rows = markdown_rows("see https://example.org/a?b=1. Then", 80)
    (link,) = [span for row in rows for span in row if span.link]
    assert link.text == link.link == "https://example.org/a?b=1"


async def test_prose_is_set_to_a_readable_width_and_code_is_not() -> None:
    async with screen((200, 50)) as lab:
        code = "x = " + " + ".join(["value"] * 20)
        await lab.tell(turn(), prompt(PROSE), words(f"{PROSE}\n\n```python\n{code}\n```"), over())
        rows = [row for row in lab.rows() if "so many words" in row]
        assert max(map(len, rows)) <= 102
        assert any(code in row for row in lab.rows())
    long = markdown_rows(PROSE, 100_000)  # no screen, no end of a row
    assert len(long) == 1
    assert width_of(long[0]) > 500


async def test_at_60_by_20_a_plan_shows_twelve_of_its_lines() -> None:
    async with screen((60, 20)) as lab:
        plan = "# Round\n\n" + "\n".join(f"{number}. step {number}" for number in range(1, 30))
        made = call("ExitPlanMode", plan=plan)
        asked = PlanProposed(request_id=RequestId("p"), call_id=CallId("c1"), plan=plan, path="/h/s/plan.md")
        await lab.tell(turn(), prompt("x"), made, runs(made), asked)
        rows = lab.rows()
        seen = [row for row in rows if "step " in row or row.strip() == "Round"]
        assert len(seen) >= 11  # and the empty row under its heading
        await lab.later(1)  # keys count now, and the hint has them
        assert any("y a n e x" in row for row in lab.rows())
        assert "asks: edits, unconfined" in lab.rows()[-1]
        assert lab.rows()[0].startswith(" clew")


async def test_an_edit_is_asked_about_with_short_path_line_numbers_and_context() -> None:
    async with screen() as lab:
        path = "/work/parcels/weights.py"
        made = call("Edit", file_path=path, old_string="b", new_string="B")
        asks = ApprovalRequested(
            request_id=RequestId("a"), call_id=CallId("c1"), tool="Edit", subject=f"write {path}", why="no rule"
        )
        await lab.tell(turn(), prompt("x"), made, runs(made), asks)
        assert lab.client.asked(PreviewEdit) == [
            PreviewEdit(tool="Edit", arguments={"file_path": path, "old_string": "b", "new_string": "B"})
        ]
        patch = "@@ -9,7 +9,7 @@\n nine\n ten\n eleven\n-b\n+B\n thirteen\n fourteen\n fifteen"
        await lab.tell(EditPreviewed(change=DiffBlock(path=path, patch=patch, added=1, removed=1)))
        text = "\n".join(row.strip() for row in lab.rows())
        assert "│ write weights.py" in text
        assert "│  9   nine\n│ 10   ten\n│ 11   eleven\n│ 12 − b\n│ 12 + B\n│ 13   thirteen" in text
        assert path not in text


async def test_the_first_screen_is_one_line_until_something_is_said() -> None:
    async with screen() as lab:
        row = SessionRow(session_id="s", agent="clew", title="Round the weights", project="parcels", age_s=7_200.0)
        await lab.tell(SessionsListed(sessions=(row,)))
        assert lab.rows()[1].strip() == "/work/parcels · last here: Round the weights, 2 h ago · F1 help"
        assert not any(lab.rows()[2:-3])
        await lab.tell(turn(), prompt("hello"), words("hi"), over())
        assert "last here" not in lab.text()
