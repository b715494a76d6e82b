"""Bad files: each complaint is one line with the file, the place and the key."""

import os
from typing import Any

import pytest

from clew.config import SettingsError
from clew.config.errors import UnknownKey

from .conftest import Layers

BAD: list[tuple[Any, str]] = [
    ('{\n  "model": "a",\n  "modle": "b"\n}', ':3: unknown key "modle"; did you mean "model"?'),
    ('{"Model": "b"}', ':1: unknown key "Model"; did you mean "model"?'),
    ('{"fallback_model": "b"}', ':1: unknown key "fallback_model"; did you mean "fallbackModel"?'),
    ('{"maxTurns": 3}', ':1: unknown key "maxTurns"; did you mean "limits.maxTurns"?'),
    ('{\n"limits":\n{"maxTurn": 3}}', ':3: unknown key "limits.maxTurn"; did you mean "limits.maxTurns"?'),
    ('{"permissions": {"denny": []}}', ':1: unknown key "permissions.denny"; did you mean "permissions.deny"?'),
    (
        '{"providers": {"my.x": {"baseURL": "h"}}}',
        ':1: unknown key "providers."my.x".baseURL"; did you mean "providers."my.x".baseUrl"?',
    ),
    ('{"zzzzzzzz": 1}', ':1: unknown key "zzzzzzzz"; known keys here: model, fallbackModel'),
    ('{"limits": {"maxTurns": "3"}}', ':1: "limits.maxTurns": expected integer | null, got string'),
    ('{"limits": {"maxTurns": 0}}', ':1: "limits.maxTurns": expected integer >= 1'),
    ('{"limits": {"maxTurns": 1.5}}', ':1: "limits.maxTurns": expected integer | null, got number'),
    ('{"limits": 7}', ':1: "limits": expected an object {...}, got a number'),
    ('{"sideQueries": {"timeoutS": 0}}', ':1: "sideQueries.timeoutS": expected number > 0'),
    ('{"effort": "hgih"}', ":1: \"effort\": invalid value 'hgih'; one of low, medium, high, xhigh, max"),
    ('{"permissions": {"deny": ["a", 7]}}', ':1: "permissions.deny": item 2: expected string, got integer'),
    ('{"hooks": 5}', ':1: "hooks": expected an object {...}, got a number'),
    ('{"hooks": {"Stop": {}}}', ':1: "hooks.Stop": expected list, got object'),
    ('{"hooks": {"Stop": [{"matchr": "x", "hooks": []}]}}', ':1: "hooks.Stop": item 1: unknown key matchr'),
    (
        '{"hooks": {"Stop": [{"hooks": [{"type": "command"}, {"type": "command", "command": 5}]}]}}',
        ':1: "hooks.Stop": item 1, hooks, item 2, command: expected string, got integer',
    ),
    ('{"permissions": {"deny": "a"}}', ':1: "permissions.deny": expected list, got string'),
    ('{"model": "a",\n "model": "b"}', ':2:2: "model" stands here a second time; keep one'),
    ('{"model": "a",}', ":1:15: malformed JSON: "),
    ("{\n  // mine\n}", ":2:3: malformed JSON: object keys must be strings; comments are not allowed"),
    ("{'model': 1}", ":1:2: malformed JSON: object keys must be strings; use double quotes"),
    ('{"model": "é", x}', ":1:16: malformed JSON"),
    ('{"model": "a"', ":1:14: malformed JSON: the text ends too early"),
    ("[]", ": settings are a JSON object {...}, not a list"),
    ("null", ": settings are a JSON object {...}, not null"),
    (b'{"model": "\xff"}', ":1: byte 11 is not UTF-8; save it as UTF-8"),
    ('{"model": "a"}'.encode("utf-16"), ": is UTF-16; save it as UTF-8"),
    (b" " * 1_000_001, ": has 1000001 bytes; settings may have at most 1000000"),
    ("[" * 100_000, ""),
]


@pytest.mark.parametrize(("content", "words"), BAD)
def test_bad_files_are_named_with_the_place(layers: Layers, content: Any, words: str) -> None:
    layers.user(content)
    with pytest.raises(SettingsError) as caught:
        layers.load()
    message = str(caught.value)
    assert message.startswith(f"{layers.user_file}{words}")
    assert "\n" not in message


def test_unknown_keys_have_an_error_of_their_own(layers: Layers) -> None:
    layers.user('{"permissions": {"denny": []}}')
    with pytest.raises(UnknownKey) as caught:
        layers.load()
    assert caught.value.key == "permissions.denny"


def test_project_files_are_as_strict(layers: Layers) -> None:
    """A deny rule with a typo must not silently protect nothing."""
    layers.project('{"permissions": {"denny": ["Bash"]}}')
    with pytest.raises(UnknownKey, match="did you mean"):
        layers.load()


@pytest.mark.parametrize("content", ["", "  \n", "{}", b"\xef\xbb\xbf{}", b'\xef\xbb\xbf{"model": ""}'])
def test_empty_files_and_byte_order_marks_are_fine(layers: Layers, content: Any) -> None:
    layers.user(content)
    assert layers.load().settings.model == ""


def test_directory_pipe_and_unreadable_file(layers: Layers) -> None:
    layers.user_file.mkdir()
    with pytest.raises(SettingsError, match="is a directory"):
        layers.load()
    layers.user_file.rmdir()
    os.mkfifo(layers.user_file)
    with pytest.raises(SettingsError, match="not a regular file"):
        layers.load()
    layers.user_file.unlink()
    layers.user_file.symlink_to(layers.user_file)
    with pytest.raises(SettingsError, match="cannot be read"):
        layers.load()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_read_permission(layers: Layers) -> None:
    layers.user({})
    layers.user_file.chmod(0)
    with pytest.raises(SettingsError, match=r"cannot be read .permission denied"):
        layers.load()
