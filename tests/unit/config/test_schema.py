"""The settings file is an interface: its keys, types and defaults are pinned, and all of them are documented."""

import re
from pathlib import Path

import msgspec

from clew.config.load import VARIABLES
from clew.config.schema import LimitSettings, Settings
from clew.config.walk import dotted, edits, leaf_keys, nearest, split_key

ROOT = Path(__file__).parents[3]
PINNED = Path(__file__).with_name("settings_schema.json")


def test_the_schema_is_pinned() -> None:
    """Changed on purpose? Write the new text to settings_schema.json and the change into docs/settings.md."""
    schema = msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Settings), order="sorted"), indent=1)
    assert schema.decode() + "\n" == PINNED.read_text(encoding="utf-8")


def test_every_key_and_variable_is_documented() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    for path in leaf_keys():
        assert f"`{dotted(path)}`" in page, dotted(path)
    for variable in VARIABLES:
        assert f"`{variable}`" in page, variable


def test_documented_keys_exist() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([a-z][A-Za-z.]*)`", page, re.MULTILINE)
    known = {dotted(path) for path in leaf_keys()}
    assert len(named) >= len(known)
    assert not [key for key in named if key not in known and not key.startswith("providers.")]


def test_the_smallest_limit_counts() -> None:
    assert LimitSettings().step_limit(headless=True) is None
    assert LimitSettings(max_turns=3).step_limit(headless=False) is None
    assert LimitSettings(max_turns=3, max_steps=9).step_limit(headless=True) == 3
    assert LimitSettings(max_turns=9, max_steps=3).step_limit(headless=True) == 3
    assert LimitSettings(max_turns=3, max_steps=9).step_limit(headless=False) == 9


def test_dotted_keys_round_trip() -> None:
    for path in [("a",), ("a", "b.c", "d"), ("x.y",), ("a", "", "b"), ("a", 'q"\n\\', "é-_1")]:
        assert split_key(dotted(path)) == path
        assert "\n" not in dotted(path)
    assert split_key('a."b') == ("a", '"b')


def test_edit_distance() -> None:
    assert edits("", "abc") == 3
    assert edits("modle", "model") == 1
    assert edits("kitten", "sitting") == 3
    assert nearest("qqqq", ["model", "effort"]) == ""
