"""Keys by context: the defaults hold together, the user's changes count, and a bad one is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew.composing.default_keys import ACTIONS, DEFAULTS
from clew.composing.keymap import Keymap, KeymapError, key_lines, key_problem, load_keymap, shown, strokes_of


def test_every_default_is_a_key_and_an_action_of_its_context() -> None:
    assert DEFAULTS.keys() == ACTIONS.keys()
    for context, keys in DEFAULTS.items():
        assert len({strokes_of(key) for key in keys}) == len(keys), context
        for key, action in keys.items():
            assert key_problem(key) == "", key
            assert action in ACTIONS[context], (context, action)


def test_no_default_hides_the_beginning_of_another() -> None:
    keymap = Keymap()
    for context, keys in DEFAULTS.items():
        for key in keys:
            strokes = strokes_of(key)
            for count in range(1, len(strokes)):
                assert keymap.action((context,), strokes[:count]) is None


def test_the_first_context_that_knows_a_key_decides() -> None:
    keymap = Keymap()
    assert keymap.action(("completion", "prompt"), ("enter",)) == "accept_or_send"
    assert keymap.action(("prompt",), ("enter",)) == "send"
    assert keymap.action(("completion", "prompt"), ("ctrl+w",)) == "cut_blank_left"
    assert keymap.action(("prompt",), ("f12",)) is None


def test_a_key_of_two_strokes() -> None:
    keymap = Keymap()
    assert keymap.begins(("prompt",), ("ctrl+x",))
    assert keymap.action(("prompt",), ("ctrl+x", "ctrl+e")) == "edit_outside"
    assert not keymap.begins(("prompt",), ("ctrl+x", "ctrl+e"))


def written(home: Path, tree: Any) -> Path:
    home.mkdir(exist_ok=True)
    (home / "keys.json").write_text(tree if isinstance(tree, str) else json.dumps(tree))
    return home


def test_the_users_changes_count(tmp_path: Path) -> None:
    home = written(tmp_path, {"prompt": {"enter": "newline", "Ctrl+S": "send", "ctrl+r": "none", "alt+/": "yank"}})
    keymap = load_keymap(home)
    assert keymap.action(("prompt",), ("enter",)) == "newline"
    assert keymap.action(("prompt",), ("ctrl+s",)) == "send"
    assert keymap.action(("prompt",), ("ctrl+r",)) is None
    assert keymap.action(("prompt",), ("alt+slash",)) == "yank"
    assert keymap.action(("prompt",), ("alt+enter",)) == "newline"


@pytest.mark.parametrize(
    ("key", "strokes"),
    [
        ("shift+ctrl+Z", ("ctrl+shift+z",)),
        ("alt+B", ("alt+shift+b",)),
        ("G", ("G",)),
        ("Alt+Enter", ("alt+enter",)),
        ("ctrl++", ("ctrl+plus",)),
        ("+", ("plus",)),
        ("?", ("question_mark",)),
        ("ctrl+x ctrl+e", ("ctrl+x", "ctrl+e")),
    ],
)
def test_keys_are_read_as_they_arrive(key: str, strokes: tuple[str, ...]) -> None:
    assert key_problem(key) == ""
    assert strokes_of(key) == strokes


def test_without_a_file_the_defaults(tmp_path: Path) -> None:
    assert load_keymap(tmp_path).action(("prompt",), ("enter",)) == "send"


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ("{not json", "is not JSON"),
        ([], "must have the form"),
        ({"prompt": {"enter": 3}}, "must have the form"),
        ({"promt": {}}, 'there is no context "promt"'),
        ({"prompt": {"enter": "sned"}}, 'key "enter" in "prompt": there is no action "sned"'),
        ({"prompt": {"crtl+a": "send"}}, '"crtl" is no modifier'),
        ({"prompt": {"ctrl+entre": "send"}}, 'there is no key "entre"'),
        ({"prompt": {"": "send"}}, "it is empty"),
        ({"prompt": {"a b": "send"}}, "a plain character cannot begin a sequence"),
        ({"prompt": {"ctrl+a b c d": "send"}}, "at most 3 strokes"),
    ],
)
def test_a_bad_file_is_named_with_the_key(tmp_path: Path, tree: Any, said: str) -> None:
    with pytest.raises(KeymapError) as error:
        load_keymap(written(tmp_path, tree))
    assert str(tmp_path / "keys.json") in str(error.value)
    assert said in str(error.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "keys.json").mkdir()
    with pytest.raises(KeymapError, match=r"keys\.json: cannot be read"):
        load_keymap(tmp_path)


def test_the_list_shows_every_action_with_its_keys_as_people_read_them() -> None:
    rows = list(Keymap({"prompt": {"ctrl+s": "send", "enter": "newline", "ctrl+y": "none"}}).rows())
    assert {(row.context, row.action) for row in rows} == {
        (context, action) for context, actions in ACTIONS.items() for action in actions
    }
    by_action = {row.action: row for row in rows if row.context == "prompt"}
    assert by_action["send"].keys == ("Ctrl-S",)
    assert by_action["send"].changed
    assert by_action["yank"].keys == ()
    assert by_action["yank"].changed
    assert by_action["edit_outside"].keys == ("Ctrl-G", "Ctrl-X Ctrl-E")
    assert not by_action["edit_outside"].changed
    assert by_action["undo"].keys[0] == "Ctrl-_"


def test_the_list_as_lines() -> None:
    lines = key_lines(Keymap({"prompt": {"ctrl+s": "send", "ctrl+y": "none"}}))
    assert "Prompt:" in lines
    assert "  Enter, Ctrl-S - send (send, yours)" in lines
    assert "  no key - insert what was cut last (yank, yours)" in lines
    assert "keys.json" in lines[-1]


def test_letters_are_told_as_they_are_typed() -> None:
    assert shown(("n",)) == "n"
    assert shown(("N",)) == "N"
    assert shown(("ctrl+x", "ctrl+e")) == "Ctrl-X Ctrl-E"
    assert shown(("alt+enter",)) == "Alt-Enter"
    assert shown(("pagedown",)) == "PageDown"
