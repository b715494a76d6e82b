"""The prompt under real key events: editing, sending, history, search, completion, pastes."""

from pathlib import Path

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot

from clew.composing.default_keys import ACTIONS
from clew.composing.draft import DraftFile
from clew.composing.history import History
from clew.composing.keymap import Keymap
from clew.composing.meaning import CommandLine, MemoryLine, PromptWords, ShellLine
from clew.tui.prompt.editing_actions import EDITING as EDITING_ACTIONS
from tui.prompt_app import PromptApp

SIZE = (60, 20)


async def keys(pilot: Pilot[None], *pressed: str) -> None:
    """Words are typed letter by letter; names in angle brackets are keys."""
    for item in pressed:
        if item.startswith("<") and item.endswith(">"):
            await pilot.press(item[1:-1])
        else:
            await pilot.press(*(NAMES.get(char, char) for char in item))
    await pilot.pause()


NAMES = {" ": "space", "/": "slash", "@": "at", "!": "exclamation_mark", "#": "number_sign", ".": "full_stop"}


def rows(app: PromptApp) -> list[str]:
    """The screen as text."""
    return ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]


EDITING = [
    (("one two", "<ctrl+w>", "six"), "one six"),
    (("one.two", "<alt+backspace>", "six"), "one.six"),
    (("one two", "<ctrl+u>", "six"), "six"),
    (("one two", "<ctrl+a>", "<ctrl+k>", "x", "<ctrl+y>"), "xone two"),
    (("one two", "<ctrl+w>", "<ctrl+w>", "<ctrl+y>"), "one two"),
    (("one two", "<ctrl+w>", "<left>", "<right>", "<ctrl+w>", "<ctrl+y>"), "one "),
    (("one two", "<alt+b>", "x"), "one xtwo"),
    (("one two", "<ctrl+left>", "<ctrl+left>", "x"), "xone two"),
    (("one two", "<home>", "<alt+f>", "x"), "onex two"),
    (("one two", "<home>", "<alt+d>"), " two"),
    (("one", "<home>", "x", "<end>", "y"), "xoney"),
    (("one", "<ctrl+underscore>"), ""),
    (("one", "<ctrl+underscore>", "<alt+underscore>"), "one"),
    (("one", "<alt+enter>", "two"), "one\ntwo"),
    (("one", "<shift+enter>", "two"), "one\ntwo"),
    (("one", "<ctrl+j>", "<ctrl+u>", "two"), "onetwo"),
    (("one", "<ctrl+j>", "<up>", "x"), "xone\n"),
    (("ab", "<shift+left>", "x"), "ax"),
    (("one two", "<ctrl+shift+left>", "x"), "one x"),
    (("one two", "<shift+home>", "x"), "x"),
    (("one two", "<alt+a>", "<ctrl+w>", "x", "<ctrl+y>"), "xone two"),
    (("one", "<ctrl+j>", "two", "<up>", "<ctrl+e>", "<ctrl+k>"), "onetwo"),
    (("ab", "<left>", "<ctrl+d>"), "a"),
]


async def test_editing_keys() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        for pressed, text in EDITING:
            await keys(pilot, *pressed)
            assert app.prompt.text == text, pressed
            app.prompt.load_text("")


async def test_enter_sends_and_a_backslash_before_it_does_not() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "one", "<backslash>", "<enter>", "two", "<enter>")
        assert [typed.meaning for typed in app.entries] == [PromptWords("one\ntwo")]
        assert app.prompt.text == ""
        await keys(pilot, "<enter>", " ", "<enter>")
        assert len(app.entries) == 1, "nothing is sent of nothing"


async def test_what_a_first_character_means_is_seen_at_the_left_and_sent() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        assert rows(app)[-1].startswith("▌ ask for something")
        for typed, mark in (("!ls", "›"), ("#tabs", "›"), ("/help ", "›"), ("hi", "▌")):
            await keys(pilot, typed)
            assert rows(app)[-1].rstrip() == f"{mark} {typed}".rstrip()
            await keys(pilot, "<enter>")
        assert [typed.meaning for typed in app.entries] == [
            ShellLine("ls"),
            MemoryLine("tabs"),
            CommandLine("/help "),
            PromptWords("hi"),
        ]


async def test_keys_that_are_not_about_the_text_go_on_to_the_app() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "<escape>", "<ctrl+c>", "<f1>", "<ctrl+d>", "x", "<ctrl+d>")
        assert app.bubbled == ["escape", "ctrl+c", "f1", "ctrl+d"]


async def test_it_grows_to_its_share_then_scrolls_and_the_cursor_is_where_the_caret_is() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        assert app.cursor_position == Offset(2, 19)
        await keys(pilot, "ab日", "<ctrl+j>", "x")
        assert app.prompt.region.height == 2
        assert app.cursor_position == Offset(3, 19)
        await keys(pilot, "<up>")
        assert app.cursor_position == Offset(3, 18)
        await keys(pilot, "<ctrl+e>")
        assert app.cursor_position == Offset(2 + 4, 18), "wide characters take two columns"
        await keys(pilot, "<ctrl+end>", *["<ctrl+j>"] * 30)
        assert app.prompt.region.height == 8
        assert app.cursor_position == Offset(2, 19)
        app.prompt.clear_draft()
        await pilot.pause()
        assert app.cursor_position == Offset(2, 19)
        assert app.prompt.region.height == 1


async def test_the_caret_and_a_folded_paste_are_told_from_words() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        app.prompt.paste("x\n" * 20)
        await keys(pilot, " ab", "<left>")
        drawn = {segment.text: segment.style for segment in app.prompt.render_line(0) if segment.style}
        words, caret, token = drawn[" a"], drawn["b"], drawn["[pasted #1: 21 lines]"]
        assert caret.reverse
        assert (caret.color, caret.bgcolor) == (words.color, words.bgcolor), (
            "turned around it is seen on any background"
        )
        assert token.italic
        assert not words.italic


async def test_cleared_text_is_not_lost() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        assert not app.prompt.clear_draft()
        await keys(pilot, "a thought")
        assert app.prompt.clear_draft()
        assert app.prompt.text == ""
        await keys(pilot, "<up>")
        assert app.prompt.text == "a thought"
        app.prompt.clear_draft()
        await keys(pilot, "<ctrl+y>")
        assert app.prompt.text == "a thought"
        app.prompt.clear_draft()
        await keys(pilot, "<ctrl+underscore>")
        assert app.prompt.text == "a thought"


async def test_history_at_the_edges_and_back_to_what_was_typed(tmp_path: Path) -> None:
    history = History(tmp_path)
    for item in ("first", "two\nlines", "last"):
        history.add(item)
    app = PromptApp(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "<up>")
        assert app.prompt.text == "last"
        await keys(pilot, "<up>", "<up>")
        assert app.prompt.text == "first"
        await keys(pilot, "<down>")
        assert app.prompt.text == "two\nlines"
        await keys(pilot, "<down>", "<down>")
        assert app.prompt.text == ""
        await keys(pilot, "tw", "<up>")
        assert app.prompt.text == "two\nlines", "with something typed, what starts with it"
        await keys(pilot, "<ctrl+end>", "<down>")
        assert app.prompt.text == "tw"


async def test_the_search_shows_takes_and_gives_back(tmp_path: Path) -> None:
    history = History(tmp_path)
    for item in ("fix the parser", "run the tests", "explain the parser"):
        history.add(item)
    app = PromptApp(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "half typed", "<left>", "<ctrl+r>", "parser")
        assert app.prompt.text == "explain the parser"
        assert any("search: parser" in row for row in rows(app))
        assert app.prompt.unsent == "half typed"
        await keys(pilot, "<ctrl+r>")
        assert app.prompt.text == "fix the parser"
        await keys(pilot, "<escape>")
        assert app.prompt.text == "half typed"
        assert app.prompt.cursor_location == (0, 9)
        assert app.bubbled == [], "the Escape was the search's"
        await keys(pilot, "<ctrl+r>", "tests", "<enter>")
        assert app.prompt.text == "run the tests"
        assert app.entries == [], "taken, not sent"
        await keys(pilot, "<ctrl+underscore>")
        assert app.prompt.text == "half typed", "one undo goes back over the whole search"
        await keys(pilot, "<ctrl+r>", "tests", "<left>", "x")
        assert app.prompt.text == "run the testxs", "a key that means nothing to the search ends it and is done"


async def test_commands_are_completed_with_tab_and_enter() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "/re")
        listed = app.panel.completions
        assert listed.display
        assert len(listed.rows) > 2
        first, second = listed.rows[0].text, listed.rows[1].text
        assert any(first in row and listed.rows[0].detail[:10] in row for row in rows(app))
        await keys(pilot, "<down>", "<tab>")
        assert app.prompt.text == f"{second} "
        assert not listed.display
        await keys(pilot, "<ctrl+u>", "/re", "<escape>")
        assert not listed.display
        await keys(pilot, "c")
        assert not listed.display, "closed by the person, it stays closed for this word"
        await keys(pilot, "<tab>")
        assert listed.display, "until it is asked for"
        await keys(pilot, "<ctrl+u>", "/hel", "<enter>")
        assert app.prompt.text == "/help "
        await keys(pilot, "<ctrl+u>", "/help", "<enter>")
        assert [typed.meaning for typed in app.entries] == [CommandLine("/help")], "a whole name is sent"
        await keys(pilot, "/exit", "<enter>")
        assert app.entries[-1].meaning == CommandLine("/exit")


async def test_files_are_asked_for_and_a_late_answer_is_dropped() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "see @sr")
        assert app.asked == ["", "s", "sr"]
        app.prompt.show_files("s", ("old.py",))
        assert not app.panel.completions.is_open
        app.prompt.show_files("sr", ("src/", "my src.py", "bad\x1b[31mname"))
        await pilot.pause()
        assert all("\x1b" not in row for row in rows(app)), "names of files are data"
        await keys(pilot, "<tab>")
        assert app.prompt.text == "see @src/"
        assert app.asked[-1] == "src/"
        app.prompt.show_files("src/", ("src/a b.py",))
        await keys(pilot, "<enter>")
        assert app.prompt.text == 'see @"src/a b.py" '
        assert not app.panel.completions.is_open
        await keys(pilot, "<enter>")
        assert app.entries[0].content == 'see @"src/a b.py" '


async def test_a_row_can_be_clicked() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "/re")
        wanted = app.panel.completions.rows[2].text
        await pilot.click(app.panel.completions, offset=(4, 2))
        await pilot.pause()
        assert app.prompt.text == f"{wanted} "
        assert app.prompt.has_focus


async def test_a_long_paste_is_folded_one_piece_for_every_key_and_whole_when_sent(tmp_path: Path) -> None:
    long = "\n".join(f"line {number}" for number in range(4812))
    app = PromptApp(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        token = "[pasted #1: 4,812 lines]"
        await keys(pilot, "why ")
        app.prompt.paste(long.replace("\n", "\r"))
        assert app.prompt.text == f"why {token}"
        await keys(pilot, "<left>", "x", "<right>", "y")
        assert app.prompt.text == f"why x{token}y"
        await keys(pilot, "<left>", "<backspace>")
        assert app.prompt.text == "why xy"
        await keys(pilot, "<ctrl+underscore>", "<end>", "<left>", "<ctrl+w>")
        assert app.prompt.text == "why y", "the blank inside a token is no blank"
        await keys(pilot, "<ctrl+y>", "<enter>")
        assert app.entries[0].content == f"why x{long}y"
        await keys(pilot, "<up>")
        assert app.prompt.text == f"why x{token}y", "it comes back as it was"


async def test_a_short_paste_is_text_and_what_a_terminal_would_obey_is_folded() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        app.prompt.paste("two\r\nlines ")
        app.prompt.paste("\x1b]0;evil\x07")
        await pilot.pause()
        assert app.prompt.text == "two\nlines [pasted #1: 9 characters]"
        await keys(pilot, "<enter>")
        assert app.entries[0].content == "two\nlines \x1b]0;evil\x07"


async def test_pictures_go_along_or_the_text_stays(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 20)
    (tmp_path / "bad.png").write_text("no picture")
    app = PromptApp(project=str(tmp_path))
    async with app.run_test(size=SIZE) as pilot:
        app.prompt.paste(f"{tmp_path}/bad.png")
        await keys(pilot, "<enter>")
        assert "is named like a picture" in app.refused[0]
        assert app.prompt.text == f"@{tmp_path}/bad.png "
        await keys(pilot, "<ctrl+u>", "@shot.png", "<enter>")
        assert isinstance(app.entries[0].content, tuple)


async def test_a_picture_from_the_clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "copied.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 20)
    program = tmp_path / "xclip"
    program.write_text(f'#!/bin/sh\ncat "{tmp_path}/copied.png"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    app = PromptApp(tmp_path / "home")
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "<ctrl+v>")
        await app.workers.wait_for_complete()
        assert app.prompt.text.startswith(f"@{tmp_path}/home/pictures/pasted-")
        await keys(pilot, "<enter>")
        assert isinstance(app.entries[0].content, tuple)
        program.write_text("#!/bin/sh\nexit 1\n")
        app.copy_to_clipboard("copied words")
        await keys(pilot, "<ctrl+v>")
        await app.workers.wait_for_complete()
        assert app.prompt.text == "copied words"


async def test_the_draft_outlives_the_app(tmp_path: Path) -> None:
    long = "x\n" * 50
    app = PromptApp(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        assert not app.prompt.keep_draft(DraftFile(tmp_path, "/p", "one"), now_s=tmp_path.stat().st_mtime)
        await keys(pilot, "half a ")
        app.prompt.paste(long)
    again = PromptApp(tmp_path)
    async with again.run_test(size=SIZE) as pilot:
        await keys(pilot, "early")
        assert again.prompt.keep_draft(DraftFile(tmp_path, "/p", "two"), now_s=tmp_path.stat().st_mtime)
        assert again.prompt.text == "half a [pasted #1: 51 lines]\nearly", "what was typed early stays too"
        await keys(pilot, "<enter>")
        assert again.entries[0].content == f"half a {long}\nearly"
    last = PromptApp(tmp_path)
    async with last.run_test(size=SIZE):
        assert not last.prompt.keep_draft(DraftFile(tmp_path, "/p", "three"), now_s=tmp_path.stat().st_mtime)


async def test_up_in_an_empty_prompt_takes_the_queued_one_back() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        app.prompt.queued = True
        await keys(pilot, "<up>")
        assert len(app.messages) == 1
        app.prompt.bring_back("queued words")
        await keys(pilot, "!")
        assert app.prompt.text == "queued words!"
        await keys(pilot, "<alt+up>")
        assert len(app.messages) == 2


async def test_the_persons_own_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "and more" >> "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "typed ", "<ctrl+x>", "<ctrl+e>")
        await app.workers.wait_for_complete()
        assert app.prompt.text == "typed and more"
        monkeypatch.setenv("VISUAL", "/no/such/editor")
        await keys(pilot, "<ctrl+g>")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "could not be started" in app.refused[0]
        assert app.prompt.text == "typed and more"


async def test_a_sequence_that_leads_nowhere_is_two_keys() -> None:
    app = PromptApp()
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "<ctrl+x>", "a", "<ctrl+x>", "<ctrl+a>", "b")
        assert app.prompt.text == "ba"


async def test_the_users_own_keys() -> None:
    app = PromptApp(keymap=Keymap({"prompt": {"enter": "newline", "ctrl+s": "send"}}))
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "a", "<enter>", "b", "<ctrl+s>")
        assert app.entries[0].content == "a\nb"


async def test_vi_keys() -> None:
    app = PromptApp(vim=True)
    async with app.run_test(size=SIZE) as pilot:
        await keys(pilot, "one two", "<escape>")
        assert app.prompt.vim_mode == "normal"
        assert app.bubbled == []
        await keys(pilot, "b", "c", "w", "six", "<escape>", "0", "x")
        assert app.prompt.text == "ne six"
        await keys(pilot, "u")
        assert app.prompt.text == "one six"
        await keys(pilot, "<escape>")
        assert app.bubbled == ["escape"], "with nothing to leave, Escape is the app's"
        await keys(pilot, "<enter>")
        assert app.entries[0].content == "one six"
        assert app.prompt.vim_mode == "insert"
        await keys(pilot, "<escape>", "k")
        assert app.prompt.text == "one six", "k at the top goes into the history"


def test_every_action_of_the_keymap_is_done_somewhere() -> None:
    app = PromptApp()
    done = set(EDITING_ACTIONS) | app.prompt.own_actions
    assert set(ACTIONS["prompt"]) == done
