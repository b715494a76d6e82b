"""Choosing a way to a model: what is written, what of the last way is taken back, and what the status says."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from clew.config.errors import SettingsError
from clew.config.load import load_settings
from clew.host.workspace import open_workspace
from clew.llm.keys.saved_keys import KeyedEnvironment, SavedKeys, read_saved, save_key
from clew.llm.models.connect import configured_providers, key_variables, target_of
from clew.parts.models.auth_status import AuthStatus, auth_status
from clew.parts.models.provider_ways import ProviderWay, forget, take, tried
from clew.system.environment import tool_environment
from clew.text.redact import redact

KEY = "k-first-0123456789abcdef"
OTHER = "k-other-0123456789abcdef"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def file(home: Path) -> dict[str, Any]:
    path = home / "settings.json"
    return json.loads(path.read_text()) if path.exists() else {}


def status(home: Path, **env: str) -> AuthStatus:
    place = home.parent / "project"
    place.mkdir(exist_ok=True)
    return auth_status(open_workspace(place, {"CLEW_HOME": str(home), **env}, lenient=True))


def way(provider: str, model: str = "m", key: str = "", **more: Any) -> ProviderWay:
    return ProviderWay(provider=provider, model=model, key=key, **more)


def test_a_key_is_kept_for_this_user_only_and_found_again(home: Path):
    told = take(way("anthropic", "claude-opus-5-5", KEY), home)
    path = home / "credentials.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert KEY not in "".join(told)
    assert KEY not in (home / "settings.json").read_text()
    assert file(home) == {"model": "anthropic/claude-opus-5-5"}
    found = status(home)
    assert (found.ready, found.method, found.model) == (True, "saved", "anthropic/claude-opus-5-5")
    assert KEY not in repr(found)
    assert KEY not in repr(read_saved(home))
    assert KEY not in redact(f"something printed {KEY}")


def test_switching_takes_back_what_was_made_for_the_last_way(home: Path):
    take(way("corp", "big", KEY, base_url="https://llm.corp.example/v1"), home)
    (home / "settings.json").write_text(
        json.dumps(file(home) | {"fastModel": "corp/small", "fallbackModel": "openai/x", "effort": "low"})
    )
    assert status(home).address == "https://llm.corp.example/v1"
    told = " ".join(take(way("anthropic", "claude-opus-5-5", OTHER), home))
    assert file(home) == {"fallbackModel": "openai/x", "effort": "low", "model": "anthropic/claude-opus-5-5"}
    assert read_saved(home).keys == {"anthropic": OTHER}
    assert "saved key of corp" in told
    assert "providers.corp.baseUrl" in told
    assert "fastModel" in told


def test_what_the_user_wrote_by_hand_stays(home: Path):
    home.mkdir()
    mine = {"providers": {"corp": {"headers": {"x-team": "a"}, "models": {"big": {"window": 9000}}}}}
    (home / "settings.json").write_text(json.dumps(mine))
    take(way("corp", "big", KEY, base_url="https://llm.corp.example/v1"), home)
    take(way("ollama", "tiny"), home)
    assert file(home) == mine | {"model": "ollama/tiny"}
    assert not (home / "credentials.json").exists() or read_saved(home).keys == {}


def test_only_saving_leaves_the_way_in_use_alone(home: Path):
    take(way("anthropic", "claude-opus-5-5", KEY), home)
    take(ProviderWay(provider="openai", key=OTHER), home)
    assert read_saved(home).keys == {"anthropic": KEY, "openai": OTHER}
    assert file(home)["model"] == "anthropic/claude-opus-5-5"


def test_a_command_and_a_saved_key_never_stand_beside_each_other(home: Path):
    take(way("openai", "gpt-6.1-sol", KEY), home)
    told = take(way("openai", "gpt-6.1-sol", command=("vault", "read")), home)
    assert "saved key" in " ".join(told)
    assert read_saved(home).keys == {}
    assert status(home).method == "command"
    assert "vault" in status(home).key
    told = take(way("openai", "gpt-6.1-sol", OTHER), home)
    assert "command" in " ".join(told)
    assert file(home) == {"model": "openai/gpt-6.1-sol"}
    assert status(home).method == "saved"


def test_forgetting_leaves_nothing(home: Path):
    take(way("corp", "big", KEY, base_url="https://llm.corp.example/v1"), home)
    assert forget("corp", home)
    assert file(home) == {}
    assert not (home / "credentials.json").exists()
    assert forget("corp", home) == []


def test_a_variable_goes_before_a_saved_key_and_that_is_told(home: Path):
    take(way("anthropic", "claude-opus-5-5", KEY), home)
    found = status(home, ANTHROPIC_API_KEY=OTHER, CLEW_MODEL="anthropic/claude-opus-5")
    assert found.method == "variable"
    assert "ANTHROPIC_API_KEY goes before the saved key" in " ".join(found.notes)
    assert "CLEW_MODEL" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("settings", "env", "words"),
    [
        ({}, {}, "run `clew auth`"),
        ({"model": "anthropic/claude-opus-5-5"}, {}, "ANTHROPIC_API_KEY"),
        ({"model": "nowhere/x"}, {}, "no provider 'nowhere'"),
        ({"model": "corp/x", "providers": {"corp": {}}}, {}, "baseUrl"),
        ({"model": "vertex/gemini-3.8-flash"}, {"GOOGLE_OAUTH_ACCESS_TOKEN": KEY}, "GOOGLE_CLOUD_PROJECT"),
        ({"model": "azure/prod"}, {"AZURE_OPENAI_API_KEY": KEY}, "AZURE_OPENAI_ENDPOINT"),
        ({"model": "bedrock/x-v1"}, {"AWS_ACCESS_KEY_ID": KEY, "AWS_REGION": "eu-west-1"}, "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_what_is_missing_is_said(home: Path, settings: dict[str, Any], env: dict[str, str], words: str):
    home.mkdir()
    (home / "settings.json").write_text(json.dumps(settings))
    found = status(home, **env)
    assert not found.ready
    assert words in " ".join(found.problems)


def test_a_key_of_a_provider_that_is_gone_is_told(home: Path):
    save_key(home, "gone", KEY)
    take(way("ollama", "tiny"), home)
    assert "gone" in " ".join(status(home).notes)


@pytest.mark.parametrize("broken", ["mode", "json", "link", "directory", "version"])
def test_a_file_that_cannot_be_relied_on_is_told_and_not_used(home: Path, broken: str):
    save_key(home, "anthropic", KEY)
    path = home / "credentials.json"
    match broken:
        case "mode":
            path.chmod(0o644)
        case "json":
            path.write_text('{"keys": {"anthropic": "' + KEY)
        case "link":
            path.rename(home / "elsewhere")
            path.symlink_to(home / "elsewhere")
        case "directory":
            path.unlink()
            path.mkdir()
        case _:
            path.write_text('{"version": 99}')
    with pytest.raises(SettingsError, match=r"credentials\.json") as caught:
        read_saved(home)
    assert KEY not in str(caught.value)
    place = home.parent / "project"
    place.mkdir()
    with pytest.raises(SettingsError):
        open_workspace(place, {"CLEW_HOME": str(home)})
    assert "credentials.json" in " ".join(status(home).problems)


def test_saved_keys_are_found_by_who_needs_them_and_never_listed(home: Path):
    env = KeyedEnvironment({"PATH": "/bin", "MY_VARIABLE": "x"}, {"anthropic": KEY})
    assert target_of("anthropic/claude-opus-5-5", providers={}, env=env).key.reveal() == KEY
    assert target_of("anthropic/claude-opus-5-5", providers={}, env=env).auth_headers() == [("x-api-key", KEY)]
    assert KEY not in str(dict(env)) + repr(env) + str(list(env.items())) + str({**env})
    for keep in ((), ("clew*", "MY_*", "c*")):
        assert KEY not in str(tool_environment(env, key_variables=key_variables({}), keep=keep))
    (listed,) = [one for one in configured_providers(env, {}) if one.name == "anthropic"]
    assert (listed.ready, listed.method) == (True, "saved")


def test_a_provider_of_ones_own_needs_no_variable_for_its_key(home: Path):
    take(way("corp", "big", KEY, base_url="https://llm.corp.example/v1"), home)
    place = home.parent / "p"
    place.mkdir()
    workspace = open_workspace(place, {"CLEW_HOME": str(home)})
    target = target_of("corp/big", providers=workspace.settings.providers, env=workspace.env)
    assert target.auth_headers() == [("authorization", f"Bearer {KEY}")]
    assert "clew auth set corp" in target.key_advice


def test_trying_uses_the_given_key_and_writes_nothing(home: Path):
    save_key(home, "anthropic", OTHER)
    place = home.parent / "p"
    place.mkdir()
    workspace = open_workspace(place, {"CLEW_HOME": str(home), "ANTHROPIC_API_KEY": "from-environment"})
    providers, env = tried(way("anthropic", "x", KEY), workspace.settings, workspace.env)
    assert target_of("anthropic/claude-opus-5-5", providers=providers, env=env).key.reveal() == KEY
    assert read_saved(home).keys == {"anthropic": OTHER}
    assert not (home / "settings.json").exists()


def test_two_at_once_lose_nothing(home: Path):
    children: list[int] = []
    home.mkdir()
    for number in range(6):
        child = os.fork()
        if not child:
            save_key(home, f"p{number}", f"{KEY}{number}")
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    assert len(read_saved(home).keys) == 6


def test_an_empty_file_of_keys_is_no_file(home: Path):
    save_key(home, "anthropic", KEY)
    assert save_key(home, "anthropic", KEY) is False
    save_key(home, "anthropic", None)
    assert not (home / "credentials.json").exists()
    assert read_saved(home) == SavedKeys()


def test_commands_of_two_layers_do_not_add_up(tmp_path: Path):
    (tmp_path / "settings.json").write_text('{"providers": {"corp": {"auth": {"command": ["a", "b"]}}}}')
    loaded = load_settings(
        home=tmp_path,
        project_root=None,
        trusted=False,
        env={},
        settings_arg='{"providers": {"corp": {"auth": {"command": ["c", "b"]}}}}',
    )
    assert loaded.settings.providers["corp"].auth.command == ("c", "b")


def test_a_project_cannot_name_a_command(tmp_path: Path):
    (tmp_path / ".clew").mkdir()
    (tmp_path / ".clew" / "settings.json").write_text('{"providers": {"anthropic": {"auth": {"command": ["evil"]}}}}')
    loaded = load_settings(home=tmp_path / "home", project_root=tmp_path, trusted=True, env={})
    assert not loaded.settings.providers
    assert loaded.refused
