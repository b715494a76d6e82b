"""`set` and `--unset`: typed, checked, whole, and gentle to the rest of the file."""

import json
import multiprocessing
import stat
from pathlib import Path
from typing import Any

import pytest

from clew.config.edit import remove_value, typed_value, write_value
from clew.config.errors import SettingsError, SettingsKeyError


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("model", "anthropic/x", "anthropic/x"),
        ("model", "123", "123"),
        ("model", "null", "null"),
        ("limits.maxTurns", "12", 12),
        ("limits.maxTurns", "null", None),
        ("limits.maxBudgetUsd", "1", 1.0),
        ("recap.enabled", "off", False),
        ("recap.enabled", "true", True),
        ("recap.model", "off", "off"),
        ("effort", "high", "high"),
        ("effort", "null", None),
        ("permissions.deny", '["a", "b"]', ["a", "b"]),
        ("providers.x", '{"baseUrl": "http://h/v1"}', {"baseUrl": "http://h/v1"}),
    ],
)
def test_a_word_becomes_what_the_key_takes(key: str, text: str, value: Any) -> None:
    found = typed_value(tuple(key.split(".")), text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("modle", "x", 'unknown key "modle"; did you mean "model"?'),
        ("limits", "5", '"limits": expected an object'),
        ("limits.maxTurns", "x", '"limits.maxTurns": expected integer'),
        ("limits.maxTurns", "0", '"limits.maxTurns": expected integer >= 1'),
        ("effort", "big", "\"effort\": invalid value 'big'; one of low"),
        ("permissions.deny", "Bash", '"permissions.deny": expected list, got string; give a JSON list, e.g. \'["a"'),
        ("providers.x.dialect", "soap", '"providers.x.dialect": invalid value'),
    ],
)
def test_a_word_that_does_not_fit_is_refused(key: str, text: str, words: str) -> None:
    with pytest.raises(SettingsKeyError) as caught:
        typed_value(tuple(key.split(".")), text)
    assert str(caught.value).startswith(words)


def test_other_keys_their_order_and_the_indentation_stay(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{\n    "titles": {"model": "on"},\n    "model": "ä/b",\n    "limits": {"maxSteps": 9}\n}')
    write_value(file, ("limits", "maxTurns"), 3)
    text = file.read_text(encoding="utf-8")
    assert list(json.loads(text)) == ["titles", "model", "limits"]
    assert json.loads(text)["limits"] == {"maxSteps": 9, "maxTurns": 3}
    assert '\n    "model": "ä/b"' in text
    assert text.endswith("}\n")


def test_a_new_file_is_private_and_no_draft_is_left(tmp_path: Path) -> None:
    file = tmp_path / "home" / "settings.json"
    write_value(file, ("model",), "a/b")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_a_file_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    file.chmod(0o666)
    write_value(file, ("model",), "a/b")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "clew.json"
    real.parent.mkdir()
    real.write_text("{}")
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    write_value(link, ("model",), "a/b")
    assert link.is_symlink()
    assert json.loads(real.read_text()) == {"model": "a/b"}


def test_a_project_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    file.chmod(0o644)
    write_value(file, ("limits", "maxTurns"), 3, private=False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


@pytest.mark.parametrize("linked", ["file", "directory"])
def test_a_link_inside_a_project_is_not_written_through(tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "project" / ".clew"
    file = folder / "settings.json"
    folder.parent.mkdir()
    if linked == "file":
        folder.mkdir()
        file.symlink_to(outside / "settings.json")
    else:
        folder.symlink_to(outside)
    with pytest.raises(SettingsError, match="behind a link"):
        write_value(file, ("limits", "maxTurns"), 3, private=False)
    assert list(outside.iterdir()) == []


def test_a_broken_file_is_left_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    for content in ('{"model": ', '{"modle": "x"}', '{"limits": 3}'):
        file.write_text(content)
        with pytest.raises(SettingsError):
            write_value(file, ("limits", "maxTurns"), 3)
        assert file.read_text() == content
        assert len(list(tmp_path.iterdir())) == 1


def test_unset_takes_out_the_key_and_empty_sections(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"modle": 1, "limits": {"maxTurns": 3}, "model": "x"}')
    assert remove_value(file, ("limits", "maxTurns"))
    assert remove_value(file, ("modle",))
    assert not remove_value(file, ("recap", "enabled"))
    assert json.loads(file.read_text()) == {"model": "x"}


def _set_provider(file: Path, name: str) -> None:
    write_value(file, ("providers", name, "baseUrl"), f"http://{name}")


def test_changes_made_at_once_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    names = [f"p{number}" for number in range(8)]
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_set_provider, args=(file, name)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(json.loads(file.read_text())["providers"]) == names
