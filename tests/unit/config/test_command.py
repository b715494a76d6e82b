"""`clew config` as people use it."""

import json
from pathlib import Path

import pytest

from clew.cli.main import run
from clew.permissions.trust import TrustStore

from .conftest import Layers


@pytest.fixture
def here(layers: Layers, monkeypatch: pytest.MonkeyPatch) -> Layers:
    for name in ("CLEW_MODEL", "CLEW_EFFORT", "CLEW_MAX_TURNS"):
        monkeypatch.delenv(name, raising=False)
    (layers.root / ".git").mkdir()
    (layers.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    below = layers.root / "src"
    below.mkdir()
    monkeypatch.setenv("CLEW_HOME", str(layers.home))
    monkeypatch.chdir(below)
    return layers


def test_set_then_get(here: Layers, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "set", "limits.maxTurns", "12"]) == 0
    assert run(["config", "set", "model", "openai/x"]) == 0
    assert run(["config", "get", "limits.maxTurns"]) == 0
    assert run(["config", "get", "model"]) == 0
    assert run(["config", "get", "limits"]) == 0
    assert (
        capsys.readouterr().out
        == '12\nopenai/x\n{"maxTurns":12,"maxSteps":null,"maxBudgetUsd":null,"maxTokens":null,"maxMinutes":null}\n'
    )
    assert json.loads(here.user_file.read_text()) == {"limits": {"maxTurns": 12}, "model": "openai/x"}


def test_list_shows_value_and_source(
    here: Layers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here.user({"model": "a/b", "providers": {"x": {"headers": {"Authorization": "Bearer hush"}}}})
    monkeypatch.setenv("CLEW_EFFORT", "low")
    assert run(["config", "list"]) == 0
    lines = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert lines["model"] == ['"a/b"', "user", str(here.user_file)]
    assert lines["effort"] == ['"low"', "env", "CLEW_EFFORT"]
    assert lines["recap.enabled"] == ["true", "default"]
    assert lines["providers.x.headers.Authorization"][0] == '"[hidden]"'


def test_list_as_json(here: Layers, capsys: pytest.CaptureFixture[str]) -> None:
    here.user({"model": "a/b"})
    assert run(["config", "list", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert table["model"] == {"value": "a/b", "sources": [{"layer": "user", "place": str(here.user_file)}]}
    assert table["limits.maxTurns"] == {"value": None, "sources": [{"layer": "default", "place": ""}]}


def test_path_of_each_scope(here: Layers, capsys: pytest.CaptureFixture[str]) -> None:
    for scope in ("user", "project", "local"):
        assert run(["config", "path", "--scope", scope]) == 0
    files = (here.user_file, here.project_file, here.local_file)
    assert capsys.readouterr().out.splitlines() == [str(file) for file in files]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["get", "modle"], 'unknown key "modle"; did you mean "model"?'),
        (["set", "modle", "x"], 'unknown key "modle"; did you mean "model"?'),
        (["set", "limits.maxTurns", "x"], '"limits.maxTurns": expected integer'),
        (["set", "limits.maxTurns"], "give a key and a value, or a key and --unset"),
        (["set", "limits.maxTurns", "3", "--unset"], "give a key and a value, or a key and --unset"),
        (["set", "effort", "--unset"], '"effort" is not set in'),
        (["set", "model", "x", "--scope", "project"], '"model" cannot stand in a project file'),
        (["set", "sandbox.mode", "off", "--scope", "local"], '"sandbox.mode": "off" would widen what is in force'),
        (["frob"], "invalid choice"),
        ([], "required"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(
    here: Layers, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert run(["config", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert complaint in err
    assert err.count("\n") == 1
    assert not here.user_file.exists()
    assert not here.project_file.exists()


def test_project_scope_takes_what_narrows(here: Layers) -> None:
    assert run(["config", "set", "permissions.deny", '["Bash(git push *)"]', "--scope", "project"]) == 0
    assert json.loads(here.project_file.read_text()) == {"permissions": {"deny": ["Bash(git push *)"]}}


def test_refused_project_values_are_an_error_here(here: Layers, capsys: pytest.CaptureFixture[str]) -> None:
    here.project({"permissionMode": "bypassPermissions"})
    assert run(["config", "list", "--trust"]) == 1
    out, err = capsys.readouterr()
    assert f'{here.project_file}: "permissionMode" ignored' in err
    assert '"default"' in next(line for line in out.splitlines() if line.startswith("permissionMode"))


def test_an_untrusted_project_is_mentioned_not_read(here: Layers, capsys: pytest.CaptureFixture[str]) -> None:
    here.project("garbage")
    assert run(["config", "get", "model"]) == 0
    assert "not trusted" in capsys.readouterr().err


def test_a_trusted_project_is_read(here: Layers, capsys: pytest.CaptureFixture[str]) -> None:
    here.project({"limits": {"maxTurns": 4}})
    TrustStore(here.home).remember(here.root)
    assert run(["config", "get", "limits.maxTurns"]) == 0
    assert capsys.readouterr() == ("4\n", "")


def test_a_broken_user_file_is_named_and_can_be_mended(here: Layers, capsys: pytest.CaptureFixture[str]) -> None:
    here.user('{"modle": "x"}')
    assert run(["config", "list"]) == 2
    assert f'{here.user_file}:1: unknown key "modle"' in capsys.readouterr().err
    assert run(["config", "set", "modle", "--unset"]) == 0
    assert run(["config", "list"]) == 0


def test_a_home_that_cannot_be_written(
    here: Layers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "file" / "home"))
    assert run(["config", "set", "model", "ollama/b"]) == 1
    assert "not a directory" in capsys.readouterr().err


def test_values_cannot_steer_the_terminal(here: Layers, capsys: pytest.CaptureFixture[str]) -> None:
    here.user({"model": "a\u001b[31m\u202eb"})
    assert run(["config", "list"]) == 0
    out = capsys.readouterr().out
    assert "\u001b" not in out
    assert "\u202e" not in out
