"""Properties: keys do not depend on chunks, lines are never lost, the picture on the screen is always the right one."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.plain.line.editor import Editor
from clew.plain.line.keys import KeyDecoder
from clew.plain.line.prompt_line import Composer
from clew.plain.line.screen import Screen
from clew.plain.line.typed_lines import LineInput
from clew.plain.line.wrap import wrap
from clew.text.terminal_text import display_width
from unit.plain.play import PlayedTerminal
from unit.plain.vt import Screen as Emulator

EDITING = ("\x7f", "\x01", "\x05", "\x17", "\x15", "\x19", "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x1b[3~", "\x1b[H")
PIECES = st.sampled_from(["a", "b c", "漢", "🎉", "é", "w" * 17, "\x1b\r", "\x1b[200~x\ny\x1b[201~", *EDITING])
WORDS = st.text(alphabet="ab 漢字🎉é.", min_size=0, max_size=40)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=60), cuts=st.lists(st.integers(0, 60), max_size=6))
def test_keys_do_not_depend_on_how_bytes_arrive(data: bytes, cuts: list[int]) -> None:
    whole = KeyDecoder().feed(data)
    decoder = KeyDecoder()
    edges = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    parts = [decoder.feed(data[start:end]) for start, end in pairwise(edges)]
    assert [key for keys in parts for key in keys] == whole


@settings(max_examples=150, deadline=None)
@given(
    columns=st.integers(10, 70),
    script=st.lists(st.one_of(PIECES.map(lambda keys: ("keys", keys)), WORDS.map(lambda text: ("line", text)))),
)
def test_the_picture_is_output_above_and_the_typed_line_below(columns: int, script: list[tuple[str, str]]) -> None:
    terminal = PlayedTerminal(editing=True, columns=columns)
    editor = Editor(lambda: ["older line", "newer 漢字 line"])
    screen, decoder = Screen(terminal, editor), KeyDecoder()
    expected: list[str] = []
    screen.open_input("> ")
    for kind, text in script:
        if kind == "keys":
            for key in decoder.feed(text.encode()):
                editor.press(key)
        else:
            screen.text(text)
            expected += Emulator(columns).feed(text).lines
        screen.redraw_input()
    layout = editor.layout("> ", columns)
    seen = Emulator(columns).feed(terminal.output)
    rows = [*expected, *(row.rstrip() for row in layout.rows)]
    while rows and len(seen.lines) < len(rows):
        seen.cells.append([])
    if script:
        assert seen.lines[: len(rows)] == rows
        assert not any(seen.lines[len(rows) :])
        assert (seen.row, seen.column) == (len(expected) + layout.cursor_row, layout.cursor_column)


@settings(max_examples=200, deadline=None)
@given(
    text=st.text(alphabet="ab 漢字🎉\t\n-", max_size=120),
    columns=st.integers(14, 60),
    hang=st.sampled_from(["", "  ", "  : "]),
)
def test_wrapping_fits_and_loses_nothing(text: str, columns: int, hang: str) -> None:
    for line in text.split("\n"):
        first, *rest = wrap(line, columns, hang).split("\n")
        assert all(row.startswith(hang) for row in rest)
        assert first + "".join(row[len(hang) :] for row in rest) == line
        widths = [display_width(row.replace("\t", " " * 8)) for row in (first, *rest)]
        assert max(widths) < columns


@settings(max_examples=200, deadline=None)
@given(lines=st.lists(st.text(alphabet="ab \\", max_size=12).filter(lambda line: '"""' not in line), max_size=8))
def test_no_typed_word_is_lost_on_the_way_to_a_prompt(lines: list[str]) -> None:
    composer = Composer()
    whole = [text for line in lines if (text := composer.add(line)) is not None]
    rest = composer.rest()
    sent = "\n".join([*whole, *([rest] if rest else [])])
    assert sent.replace("\\", "").split() == " ".join(lines).replace("\\", "").split()


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=80), cut=st.integers(0, 80))
def test_piped_lines_do_not_depend_on_how_bytes_arrive(data: bytes, cut: int) -> None:
    one, two = LineInput(interactive=False), LineInput(interactive=False)
    whole = [*(one.feed(data) if data else ()), *one.feed(b"")]
    parts = [item for part in (data[:cut], data[cut:]) if part for item in two.feed(part)]
    assert [*parts, *two.feed(b"")] == whole
