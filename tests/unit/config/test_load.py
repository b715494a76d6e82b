"""Layers: which one wins, where a value came from, what is read before trust."""

import json
import os

import pytest

from clew.config import SettingOrigin, Settings, SettingsError

from .conftest import Layers


def test_without_any_file_the_defaults_hold(layers: Layers) -> None:
    loaded = layers.load()
    assert loaded.settings == Settings()
    assert loaded.sources == {}
    assert loaded.warnings == ()


def test_each_layer_beats_the_one_below(layers: Layers) -> None:
    def turns(**more: object) -> int | None:
        return layers.load(**more).settings.limits.max_turns  # pyright: ignore[reportArgumentType] - keywords of mixed types, checked at run time

    layers.user({"limits": {"maxTurns": 90}})
    assert turns() == 90
    layers.project({"limits": {"maxTurns": 80}})
    assert turns() == 80
    layers.local({"limits": {"maxTurns": 70}})
    assert turns() == 70
    assert turns(env={"CLEW_MAX_TURNS": "60"}) == 60
    assert turns(env={"CLEW_MAX_TURNS": "60"}, settings_arg='{"limits": {"maxTurns": 50}}') == 50
    assert turns(settings_arg='{"limits": {"maxTurns": 50}}', flags={"limits.maxTurns": 40}) == 40


def test_sources_name_layer_and_place(layers: Layers) -> None:
    layers.user({"model": "anthropic/a", "permissions": {"deny": ["Bash(rm *)"]}})
    layers.project({"permissions": {"deny": ["Read(.env)"]}})
    loaded = layers.load(env={"CLEW_EFFORT": "low"}, flags={"model": "openai/b", "fallbackModel": None})
    user, project = str(layers.user_file), str(layers.project_file)
    assert loaded.sources == {
        "model": (SettingOrigin(layer="flag", place="command line"),),
        "permissions.deny": (SettingOrigin(layer="user", place=user), SettingOrigin(layer="project", place=project)),
        "effort": (SettingOrigin(layer="env", place="CLEW_EFFORT"),),
    }


def test_lists_of_all_layers_add_up_without_repeats(layers: Layers) -> None:
    layers.user({"permissions": {"deny": ["A", "B"], "allow": ["C"]}})
    layers.project({"permissions": {"deny": ["B", "D"], "ask": ["E"]}})
    loaded = layers.load(flags={"permissions.allow": ("F",)})
    rules = loaded.settings.permissions
    assert (rules.deny, rules.ask, rules.allow) == (("A", "B", "D"), ("E",), ("C", "F"))


def test_maps_are_merged_by_key(layers: Layers) -> None:
    layers.user({"providers": {"mine": {"baseUrl": "http://127.0.0.1:1/v1", "headers": {"x-a": "1"}}}})
    more = {"providers": {"mine": {"headers": {"x-b": "2"}}, "other": {"dialect": "gemini"}}}
    providers = layers.load(settings_arg=json.dumps(more)).settings.providers
    assert providers["mine"].base_url == "http://127.0.0.1:1/v1"
    assert providers["mine"].headers == {"x-a": "1", "x-b": "2"}
    assert providers["other"].dialect == "gemini"


def test_before_trust_project_files_are_listed_and_not_read(layers: Layers) -> None:
    layers.project("this is not even JSON")
    os.mkfifo(layers.local_file)
    loaded = layers.load(trusted=False)
    assert loaded.settings == Settings()
    assert loaded.unread == (str(layers.project_file), str(layers.local_file))
    with pytest.raises(SettingsError):
        layers.load(trusted=True)


def test_home_directory_as_project_does_not_demote_the_user_file(layers: Layers) -> None:
    layers.root = layers.home.parent
    layers.home = layers.root / ".clew"
    layers.home.mkdir()
    (layers.home / "settings.json").write_text('{"model": "anthropic/a"}')
    loaded = layers.load()
    assert loaded.settings.model == "anthropic/a"
    assert loaded.refused == ()


def test_settings_argument_may_be_a_file(layers: Layers) -> None:
    extra = layers.root / "extra.json"
    extra.write_text('{"model": "openai/x"}')
    loaded = layers.load(settings_arg=str(extra))
    assert loaded.settings.model == "openai/x"
    assert loaded.sources["model"] == (SettingOrigin(layer="settings", place=str(extra)),)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("missing.json", "--settings missing.json: no such file"),
        ('{"modle": 1}', '--settings:1: unknown key "modle"; did you mean "model"?'),
        ('{"model": 1', "--settings:1:12: malformed JSON: the text ends too early"),
    ],
)
def test_bad_settings_argument(layers: Layers, argument: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        layers.load(settings_arg=argument)
    assert str(caught.value).startswith(words)


def test_a_bad_flag_value_is_named(layers: Layers) -> None:
    with pytest.raises(SettingsError, match='command line: "effort": invalid value'):
        layers.load(flags={"effort": "enormous"})


def test_lenient_leaves_out_what_is_broken_and_says_so(layers: Layers) -> None:
    layers.user('{"modle": "x"}')
    layers.project({"limits": {"maxTurns": 3}})
    loaded = layers.load(lenient=True, env={"CLEW_EFFORT": "silly"})
    assert loaded.settings.limits.max_turns == 3
    assert len(loaded.problems) == 2
    assert str(layers.user_file) in loaded.problems[0]
    assert "CLEW_EFFORT" in loaded.problems[1]


def test_a_user_file_that_others_can_write_gives_a_warning(layers: Layers) -> None:
    layers.user({})
    layers.user_file.chmod(0o666)
    assert "others can change it" in layers.load().warnings[0]


def test_hooks_of_user_and_argument_add_up_and_those_given_stay_apart(layers: Layers) -> None:
    def stop(command: str, **more: object) -> dict[str, object]:
        return {"Stop": [{"hooks": [{"type": "command", "command": command, **more}]}]}

    layers.user({"hooks": stop("mine")})
    given = stop("given", statusMessage="as it was written")
    loaded = layers.load(settings_arg=json.dumps({"hooks": given}))
    assert [handler.command for group in loaded.settings.hooks["Stop"] for handler in group.hooks] == ["mine", "given"]
    assert loaded.given_hooks == given
    path = layers.home / "given.json"
    path.write_text(json.dumps({"hooks": given}))
    assert layers.load(settings_arg=str(path)).given_hooks == given
    assert layers.load(settings_arg='{"disableAllHooks": true}').settings.disable_all_hooks


def test_no_minutes_away_are_the_default(layers: Layers) -> None:
    layers.user('{"recap": {"awayMinutes": 0}}')
    assert layers.load().settings.recap.away_minutes == Settings().recap.away_minutes == 5
    layers.user('{"recap": {"awayMinutes": 0.5}}')
    assert layers.load().settings.recap.away_minutes == 0.5
    layers.user('{"recap": {"awayMinutes": -1}}')
    with pytest.raises(SettingsError, match="awayMinutes"):
        layers.load()
