"""The keys of vi on a buffer of lines. `|` is the caret; `<` in the keys is Escape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.composing.vim import Vim
from clew.composing.vim_motions import Place


class Lines:
    """A buffer that keeps its past."""

    def __init__(self, text: str) -> None:
        before, _, after = text.partition("|")
        self.text = before + after
        self._caret = (before.count("\n"), len(before.rpartition("\n")[2]))
        self._past: list[tuple[str, Place]] = []
        self._undone: list[tuple[str, Place]] = []

    @property
    def count(self) -> int:
        return self.text.count("\n") + 1

    def line(self, row: int) -> str:
        return self.text.split("\n")[row]

    @property
    def caret(self) -> Place:
        return self._caret

    def move(self, place: Place) -> None:
        row, column = place
        assert 0 <= row < self.count
        assert 0 <= column <= len(self.line(row)), "the caret left the text"
        self._caret = place

    def at(self, place: Place) -> int:
        return sum(len(self.line(row)) + 1 for row in range(place[0])) + place[1]

    def replace(self, text: str, start: Place, end: Place) -> None:
        assert start <= end
        self._past.append((self.text, self._caret))
        first, last = self.at(start), self.at(end)
        before = self.text[:first] + text
        self.text = before + self.text[last:]
        self._caret = (before.count("\n"), len(before.rpartition("\n")[2]))

    def undo(self, *, redo: bool = False) -> None:
        taken, kept = (self._undone, self._past) if redo else (self._past, self._undone)
        if taken:
            kept.append((self.text, self._caret))
            self.text, self._caret = taken.pop()

    @property
    def shown(self) -> str:
        at = self.at(self._caret)
        return self.text[:at] + "|" + self.text[at:]


def played(text: str, keys: str) -> tuple[Lines, Vim]:
    buffer = Lines(text)
    vim = Vim(buffer)
    vim.mode = "normal"
    for key in keys:
        if key == "<":
            vim.escape()
        elif not vim.press(key):
            buffer.replace(key, buffer.caret, buffer.caret)
    return buffer, vim


@pytest.mark.parametrize(
    ("text", "keys", "shown"),
    [
        ("|one two", "l", "o|ne two"),
        ("|one", "lllll", "on|e"),
        ("on|e", "h", "o|ne"),
        ("|one", "h", "|one"),
        ("one\nt|wo", "k", "o|ne\ntwo"),
        ("on|e\nt", "j", "one\n|t"),
        ("|one two", "w", "one |two"),
        ("|one.two", "w", "one|.two"),
        ("one tw|o", "w", "one tw|o"),
        ("|one\n\ntwo", "w", "one\n|\ntwo"),
        ("|one\n  two", "w", "one\n  |two"),
        ("|a b c d", "3w", "a b c |d"),
        ("one tw|o", "b", "one |two"),
        ("one |two", "b", "|one two"),
        ("one\n|two", "b", "|one\ntwo"),
        ("|one two", "e", "on|e two"),
        ("on|e two", "e", "one tw|o"),
        ("one tw|o", "e", "one tw|o"),
        ("  on|e", "0", "|  one"),
        ("  on|e", "^", "  |one"),
        ("|one two", "$", "one tw|o"),
        ("on|e\ntwo\nsix", "G", "one\ntwo\n|six"),
        ("one\ntwo\nsi|x", "gg", "|one\ntwo\nsix"),
        ("one\ntwo\nsi|x", "2G", "one\n|two\nsix"),
        ("|one\ntwo\nsix", "3gg", "one\ntwo\n|six"),
    ],
)
def test_motions(text: str, keys: str, shown: str) -> None:
    assert played(text, keys)[0].shown == shown


@pytest.mark.parametrize(
    ("text", "keys", "shown"),
    [
        ("a|bc", "x", "a|c"),
        ("ab|c", "x", "a|b"),
        ("|abcd", "3x", "|d"),
        ("|", "x", "|"),
        ("ab|c", "X", "a|c"),
        ("one\nt|wo\nsix", "dd", "one\n|six"),
        ("one\nt|wo", "dd", "|one"),
        ("on|e", "dd", "|"),
        ("|a\nb\nc\nd", "2dd", "|c\nd"),
        ("|one two", "dw", "|two"),
        ("one |two", "dw", "one| "),
        ("ab |c", "dw", "ab| "),
        ("|ab c", "dw", "|c"),
        ("one |two\nsix", "dw", "one| \nsix"),
        ("|a b c d", "d2w", "|c d"),
        ("|a b c d", "2dw", "|c d"),
        ("|one two", "de", "| two"),
        ("one t|wo", "db", "one |wo"),
        ("one |two", "d0", "|two"),
        ("one |two x", "d$", "one| "),
        ("one |two", "D", "one| "),
        ("|a\nb\nc", "dj", "|c"),
        ("a\n|b\nc", "dk", "|c"),
        ("a\n|b\nc", "dG", "|a"),
        ("a\nb|\nc", "dgg", "|c"),
        ("o|ne two", "dz", "o|ne two"),
        ("|one\ntwo", "J", "one| two"),
    ],
)
def test_deleting(text: str, keys: str, shown: str) -> None:
    assert played(text, keys)[0].shown == shown


@pytest.mark.parametrize(
    ("text", "keys", "shown"),
    [
        ("a|b", "ix<", "a|xb"),
        ("a|b", "ax<", "ab|x"),
        ("  a|b", "Ix<", "  |xab"),
        ("|ab", "Ax<", "ab|x"),
        ("|a\nb", "ox<", "a\n|x\nb"),
        ("a\n|b", "Ox<", "a\n|x\nb"),
        ("|one two", "cwsix<", "si|x two"),
        ("o|ne two", "cwX<", "o|X two"),
        ("|a b", "cwX<", "|X b"),
        ("|one two", "cex<", "|x two"),
        ("one |two", "Cx<", "one |x"),
        ("one\nt|wo", "ccx<", "one\n|x"),
        ("one\nt|wo", "Sx<", "one\n|x"),
        ("|ab", "sx<", "|xb"),
        ("a |b", "cwword<", "a wor|d"),
    ],
)
def test_inserting(text: str, keys: str, shown: str) -> None:
    assert played(text, keys)[0].shown == shown


@pytest.mark.parametrize(
    ("text", "keys", "shown"),
    [
        ("|one\ntwo", "ddp", "two\n|one"),
        ("|one\ntwo", "yyjp", "one\ntwo\n|one"),
        ("one\n|two", "ddP", "|two\none"),
        ("|one two", "dwP", "one| two"),
        ("|ab", "xp", "b|a"),
        ("|one two", "yw$p", "one twoone| "),
        ("|a", "x3p", "aa|a"),
        ("|one two six", "dwu", "|one two six"),
        ("|one two six", "dw.", "|six"),
        ("|aaaa", "x..", "|a"),
        ("|one one", "cwtwo<w.", "two tw|o"),
        ("|a\nb", "A!<j.", "a!\nb|!"),
        ("|a b c d e", "2dw.", "|e"),
        ("|abcdef", "x3.", "|ef"),
        ("|a", "ox<.", "a\nx\n|x"),
    ],
)
def test_putting_undoing_and_doing_again(text: str, keys: str, shown: str) -> None:
    assert played(text, keys)[0].shown == shown


def test_modes_and_half_commands() -> None:
    buffer, vim = played("|ab", "i")
    assert vim.mode == "insert"
    assert vim.escape()
    assert not vim.escape(), "in normal mode with nothing begun, Escape is for others"
    vim.press("2")
    vim.press("d")
    assert vim.pending == "2d"
    assert vim.escape(), "half a command is forgotten"
    assert buffer.text == "ab"
    vim.reset()
    assert vim.mode == "insert"
    assert not vim.press("x"), "in insert mode a key is text"


def test_redo() -> None:
    buffer, vim = played("|abc", "xu")
    assert buffer.text == "abc"
    vim.redo()
    assert buffer.text == "bc"


@given(
    st.text(alphabet="ab .\n", max_size=25),
    st.lists(st.sampled_from([*"hjklwbe0^$GgxXdcyiaAIoOsSCDpPuJY.23<", "dd", "dw", "cw", "gg"]), max_size=25),
)
def test_any_keys_leave_a_text_and_a_caret_in_it(text: str, keys: list[str]) -> None:
    buffer, vim = played("|" + text, "".join(keys))
    vim.escape()
    row, column = buffer.caret
    assert 0 <= column <= max(0, len(buffer.line(row)))
