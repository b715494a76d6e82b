"""The edited line on a capable terminal: keys, drawing around output, drafts, paste."""

from pathlib import Path

import pytest

from clew.plain.line.editor import Editor
from clew.plain.line.keys import KeyDecoder
from clew.plain.line.screen import Screen
from clew.protocol.events import Notice, TextDelta, TurnStarted
from clew.protocol.ids import MessageId
from clew.protocol.messages import ImagePart, TextPart
from clew.protocol.ops import SubmitPrompt
from fakes.effort import HANG_S
from unit.plain.play import PlayedTerminal, Stage, asks, call, says, turn
from unit.plain.vt import Screen as Emulator


def editing(columns: int = 60) -> PlayedTerminal:
    return PlayedTerminal(editing=True, columns=columns)


def picture(stage: Stage) -> Emulator:
    return Emulator(stage.terminal.columns()).feed(stage.output)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("hello", "hello"),
        ("helo\x1b[Dl", "hello"),
        ("ello\x01h", "hello"),
        ("ello\x1b[Hh\x1b[F!", "hello!"),
        ("helllo\x7f\x7fo", "hello"),
        ("one two\x17three", "one three"),
        ("one two\x1b\x7fthree", "one three"),
        ("one two\x1bbX", "one Xtwo"),
        ("one two\x1b[1;5D\x1b[1;5DX", "Xone two"),
        ("one\x01\x1bf two", "one two"),
        ("wrong\x15right", "right"),
        ("keep drop\x02\x02\x02\x02\x0b", "keep "),
        ("cut me\x15\x19\x19", "cut mecut me"),
        ("abc\x01\x1b[3~", "bc"),
        ("a\x1b\rb", "a\nb"),
        ("日本\x7f語", "日語"),
        ("\x1b[200~two\r\nlines\x1b[201~", "two\nlines"),
        ("\x1bxy", "xy"),
        ("a\x1b[99;5ub", "ab"),
        ("a\x1b[1;2Pb\x07", "ab"),
    ],
)
def test_keys_edit_the_line(keys: str, text: str) -> None:
    for chunk in (1, 3, 1000):
        editor, decoder = Editor(list), KeyDecoder()
        data = keys.encode()
        for start in range(0, len(data), chunk):
            for key in decoder.feed(data[start : start + chunk]):
                editor.press(key)
        assert editor.text == text


def test_an_invalid_byte_is_told_apart() -> None:
    assert [key.name for key in KeyDecoder().feed(b"a\xffb")] == ["char", "invalid", "char"]


def test_history_goes_back_by_what_was_typed_and_returns_to_the_draft() -> None:
    editor = Editor(lambda: ["git status", "make", "git push"])
    decoder = KeyDecoder()

    def press(text: str) -> str:
        for key in decoder.feed(text.encode()):
            editor.press(key)
        return editor.text

    assert press("\x1b[A") == "git push"
    assert press("\x1b[A") == "make"
    assert press("\x1b[B\x1b[B") == ""
    assert press("git") == "git"
    assert press("\x1b[A\x1b[A") == "git status"
    assert press("\x1b[A") == "git status"
    assert press("\x1b[B\x1b[B") == "git"


@pytest.mark.parametrize("columns", [12, 20, 60])
@pytest.mark.parametrize("text", ["short", "a" * 100, "漢字とemoji 🎉 混ざる" * 5, "tab\there", "a\nb"])
def test_the_drawn_line_matches_the_layout(columns: int, text: str) -> None:
    terminal = editing(columns)
    editor = Editor(list)
    screen = Screen(terminal, editor)
    screen.open_input("> ")
    decoder = KeyDecoder()
    for key in decoder.feed(text.replace("\n", "\x1b\r").replace("\t", "").encode() + b"\x1b[D\x1b[DX"):
        editor.press(key)
        screen.redraw_input()
    layout = editor.layout("> ", columns)
    seen = Emulator(columns).feed(terminal.output)
    assert seen.lines[: len(layout.rows)] == [row.rstrip() for row in layout.rows]
    assert (seen.row, seen.column) == (layout.cursor_row, layout.cursor_column)


async def test_a_key_at_the_end_of_the_line_writes_its_character_and_nothing_else() -> None:
    """A screen reader speaks what is written."""
    async with Stage(terminal=editing()) as stage:
        await stage.shows("> ")
        await stage.settled()
        before = len(stage.output)
        for letter in "hello wörld 漢字":
            stage.terminal.type(letter)
            await stage.settled()
        assert stage.output[before:] == "hello wörld 漢字"


async def test_what_was_typed_stays_on_the_screen() -> None:
    async with Stage(terminal=editing()) as stage:
        stage.terminal.type("hel")
        stage.terminal.type("lo\r")
        stage.client.push(*turn(1, *says("Hi")))
        await stage.shows("-- ")
        await stage.settled()
        assert picture(stage).lines[2:] == ["> hello", "  Hi", "-- 1.2 s", ">"]


async def test_lines_that_arrive_in_one_chunk_all_stay_on_the_screen() -> None:
    async with Stage(terminal=editing()) as stage:
        await stage.shows("> ")
        stage.terminal.type("/version\r/title\r/tit")
        await stage.settled()
        assert picture(stage).lines[2:] == ["> /version", "clew 0.1", "> /title", "No title yet.", "> /tit"]


async def test_output_does_not_corrupt_a_line_that_is_being_typed() -> None:
    async with Stage(terminal=editing(30), wait_s=HANG_S, pulse_s=HANG_S) as stage:
        stage.client.push(TurnStarted(turn=1), TextDelta(reply_id=MessageId("m1"), part=0, text="first line\n\nseco"))
        await stage.shows("first line")
        stage.terminal.type("please use tabs, and a much longer sentence than fits")
        await stage.settled()
        stage.client.push(TextDelta(reply_id=MessageId("m1"), part=0, text="nd one of them\n\nthird"))
        stage.client.push(Notice(level="info", text="n"))
        await stage.settled()
        lines = picture(stage).lines
        assert lines[:4] == ["clew 0.1 · local/scripted ·", "  default", "/project · /help lists", "  commands"]
        assert lines[4:8] == ["  first line", "", "  second one of them", "Note: n"]
        assert lines[8].startswith("Writing · ")
        assert lines[9:] == ["to the agent > please use tab", "s, and a much longer sentence", " than fits"]
        stage.terminal.type("\r")
        await stage.until(lambda: len(stage.ops) == 1)
        assert stage.ops[-1] == SubmitPrompt(content="please use tabs, and a much longer sentence than fits")


async def test_a_draft_survives_the_end_of_the_turn_and_an_approval() -> None:
    async with Stage(terminal=editing()) as stage:
        stage.client.push(TurnStarted(turn=1), call(1, command="git push"))
        await stage.settled()
        stage.terminal.type("half a thou")
        await stage.settled()
        stage.client.push(asks(1))
        await stage.shows("Allow?")
        assert "half a thou" not in picture(stage).lines[-1]
        stage.terminal.type("n\r")
        await stage.until(lambda: len(stage.ops) == 1)
        stage.client.push(*turn(1)[1:])
        await stage.settled()
        assert picture(stage).lines[-1] == "> half a thou"
        stage.terminal.type("ght\r")
        await stage.until(lambda: SubmitPrompt(content="half a thought") in stage.ops)


async def test_a_long_paste_is_one_note_and_is_sent_whole() -> None:
    async with Stage(terminal=editing()) as stage:
        await stage.shows("> ")
        log = "\n".join(f"line {number}" for number in range(500))
        stage.terminal.type(f"look: \x1b[200~{log}\x1b[201~")
        await stage.settled()
        assert picture(stage).lines[-1] == "> look: [pasted #1: 500 lines]"
        stage.terminal.type("\r")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content=f"look: {log}")])


async def test_ctrl_c_clears_a_typed_line_first_and_ctrl_d_quits_only_an_empty_one() -> None:
    async with Stage(terminal=editing()) as stage:
        await stage.shows("> ")
        stage.terminal.type("abc\x01\x04")
        await stage.settled()
        assert picture(stage).lines[-1] == "> bc"
        stage.session.post("interrupt")
        await stage.settled()
        assert picture(stage).lines[-2:] == ["> bc", ">"]
        stage.terminal.type("\x04")
        assert await stage.code() == 0


async def test_a_named_picture_goes_along_and_one_that_cannot_is_told(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 20)
    (tmp_path / "bad.png").write_text("no picture")
    async with Stage(terminal=editing(columns=200)) as stage:
        await stage.shows("> ")
        stage.terminal.type(f"what is @{tmp_path}/bad.png\r")
        await stage.shows("is named like a picture")
        assert stage.ops == []
        stage.terminal.type(f"what is @{tmp_path}/shot.png\r")
        await stage.until(lambda: bool(stage.ops))
        (op,) = stage.ops
        assert isinstance(op, SubmitPrompt)
        assert [type(part) for part in op.content] == [TextPart, ImagePart]
