"""What an edit would change, from its arguments."""

import pytest

from clew.presentation.edit_preview import TextReplacement, change_lines, changes_of, counted
from clew.presentation.rows.spans import Span, plain
from clew.protocol.ids import CallId
from clew.protocol.messages import ToolCallPart


def lines(old: str, new: str) -> list[str]:
    return [plain(row) for row in change_lines(TextReplacement(old=old, new=new))]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("Edit", {"old_string": "a", "new_string": "b"}, [TextReplacement(old="a", new="b")]),
        ("Edit", {"old_string": "a", "replace_all": True}, [TextReplacement(old="a", everywhere=True)]),
        ("Edit", {"edits": [{"old_string": "a", "new_string": "b"}, 7]}, [TextReplacement(old="a", new="b")]),
        (
            "MultiEdit",
            {"edits": [{"old_string": "a"}, {"new_string": "b"}]},
            [TextReplacement(old="a"), TextReplacement(new="b")],
        ),
        ("Write", {"content": "x\ny"}, [TextReplacement(new="x\ny", whole=True)]),
        ("NotebookEdit", {"new_source": "x"}, [TextReplacement(new="x", whole=True)]),
        ("Edit", {"old_string": 3, "new_string": None}, [TextReplacement()]),
        ("Bash", {"content": "x"}, []),
    ],
)
def test_the_changes_of_a_call(name: str, arguments: dict[str, object], expected: list[TextReplacement]) -> None:
    assert list(changes_of(ToolCallPart(id=CallId("c"), name=name, arguments=arguments))) == expected


def test_lines_far_from_a_change_are_left_out_and_that_is_seen() -> None:
    old = "\n".join(str(number) for number in range(20))
    shown = lines(old, old.replace("10", "ten"))
    assert shown == ["  ⋯", "  7", "  8", "  9", "− 10", "+ ten", "  11", "  12", "  13"]


def test_changed_words_are_marked_in_lines_that_became_each_other() -> None:
    rows = change_lines(TextReplacement(old="    best = 0", new='    """New."""\n    best = None'))
    assert rows[0] == (Span("− ", "removed"), Span("    best = ", "removed"), Span("0", "removed-word"))
    assert rows[1] == (Span("+ ", "added"), Span('    """New."""', "added"))
    assert rows[2] == (Span("+ ", "added"), Span("    best = ", "added"), Span("None", "added-word"))


def test_only_added_or_only_removed() -> None:
    assert lines("", "a\nb") == ["+ a", "+ b"]
    assert lines("a\nb", "") == ["− a", "− b"]
    assert lines("", "") == []


def test_nothing_unseen_stays_unseen() -> None:
    assert lines("", "a\u202eb\x1b[2K") == ["+ a\\u{202E}b\\e[2K"]


def test_what_is_cut_is_told() -> None:
    shown = [plain(row) for row in change_lines(TextReplacement(new="x" * 500), max_chars=100)]
    assert any("characters not shown" in line for line in shown)


def test_long_texts_are_not_compared() -> None:
    old = "\n".join(str(number) for number in range(3000))
    assert counted([TextReplacement(old=old, new=old)]) == (3000, 3000)
