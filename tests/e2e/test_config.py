"""`clew config`: values that no session could use are refused with those that one could, and can be taken out again."""

import json
from pathlib import Path

import pytest

from e2e.command import Place


def stored(place: Place) -> dict[str, object]:
    file = Path(place.env["CLEW_HOME"]) / "settings.json"
    return json.loads(file.read_text()) if file.exists() else {}


def test_unset_takes_a_value_out_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.run("config", "set", "limits.maxTurns", "40").code == 0
    assert place.run("config", "set", "effort", "high").code == 0
    assert place.run("config", "unset", "limits.maxTurns").code == 0
    assert stored(place) == {"effort": "high"}
    again = place.run("config", "unset", "limits.maxTurns")
    assert (again.code, "is not set in" in again.err) == (2, True)
    unknown = place.run("config", "unset", "limits.maxTurn")
    assert (unknown.code, "limits.maxTurns" in unknown.err) == (2, True)


def test_unset_in_the_files_of_a_project(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.run("config", "set", "limits.maxTurns", "10", "--scope", "project").code == 0
    assert place.run("config", "unset", "limits.maxTurns", "--scope", "project").code == 0
    assert json.loads((place.project / ".clew" / "settings.json").read_text()) == {}


@pytest.mark.parametrize(
    ("key", "value", "known"),
    [
        ("effort", "huge", ["low", "medium", "high", "xhigh", "max"]),
        ("screen.theme", "pink", ["clew-dark", "clew-light", "clew-high-contrast", "terminal"]),
        ("toolSearch", "sometimes", ["on", "off", "auto", "auto:N"]),
        ("model", "nobody/x", ["anthropic", "openai", "gemini", "ollama"]),
        ("fallbackModel", "gtp-5", ["anthropic", "openai"]),
        ("outputStyle", "pirate", ["default", "Explanatory", "Learning"]),
        ("permissions.deny", '["Bsh(rm *)"]', ["Bash", "Read"]),
        ("permissions.allow", '["Bash(git status"]', ["Bash", "Read"]),
        ("permissions.ask", '["Bsh"]', ["did you mean Bash", "Read"]),
    ],
)
def test_unknown_values_are_refused_with_the_known_ones(tmp_path: Path, key: str, value: str, known: list[str]) -> None:
    place = Place(tmp_path)
    done = place.run("config", "set", key, value)
    assert done.code == 2, done.out
    assert [word for word in known if word not in done.err] == []
    assert "regex" not in done.err
    assert stored(place) == {}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", "haiku"),
        ("model", "ollama/whatever:8b"),
        ("fastModel", "none"),
        ("toolSearch", "auto:20"),
        ("outputStyle", "explanatory"),
        ("permissions.allow", '["Bash(git status *)", "mcp__slack", "WebSearch", "Skill(pdf)"]'),
    ],
)
def test_values_that_a_session_can_use_are_taken(tmp_path: Path, key: str, value: str) -> None:
    place = Place(tmp_path)
    done = place.run("config", "set", key, value)
    assert done.code == 0, done.err
    assert stored(place)


def test_a_style_of_your_own_is_known(tmp_path: Path) -> None:
    place = Place(tmp_path)
    folder = Path(place.env["CLEW_HOME"]) / "output-styles"
    folder.mkdir(parents=True)
    (folder / "pirate.md").write_text("Speak like a pirate.")
    assert place.run("config", "set", "outputStyle", "pirate").code == 0
    assert "pirate" in place.run("config", "set", "outputStyle", "sailor").err
