"""Environment variables as a layer."""

from typing import Any

import pytest

from clew.config import SettingsError
from clew.config.effective import value_at
from clew.config.load import VARIABLES
from clew.config.walk import type_at

from .conftest import Layers


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("CLEW_MODEL", "openai/x", "openai/x"),
        ("CLEW_FALLBACK_MODEL", "openai/y", "openai/y"),
        ("CLEW_FAST_MODEL", "none", "none"),
        ("CLEW_EFFORT", "xhigh", "xhigh"),
        ("CLEW_MAX_OUTPUT_TOKENS", "4096", 4096),
        ("CLEW_PERMISSION_MODE", "plan", "plan"),
        ("CLEW_SANDBOX", "required", "required"),
        ("CLEW_MAX_TURNS", " 7 ", 7),
        ("CLEW_MAX_STEPS", "8", 8),
        ("CLEW_MAX_BUDGET_USD", "0.25", 0.25),
        ("CLEW_TOOL_BATCH_SUMMARIES", "off", "off"),
        ("CLEW_RECAP", "off", False),
        ("CLEW_NO_BACKGROUND_MODEL_CALLS", "1", False),
        ("CLEW_FOREIGN_SESSIONS", "no", False),
        ("CLEW_MEMORY_FILES", "0", False),
    ],
)
def test_each_variable_sets_its_key(layers: Layers, variable: str, text: str, value: Any) -> None:
    path = VARIABLES[variable][0]
    before = value_at(layers.load().settings, path)
    assert before != value
    assert value_at(layers.load(env={variable: text}).settings, path) == value


def test_every_variable_names_a_real_key() -> None:
    assert all(type_at(path) is not None for path, _ in VARIABLES.values())


def test_zero_means_off_not_on(layers: Layers) -> None:
    assert layers.load(env={"CLEW_NO_BACKGROUND_MODEL_CALLS": "0"}).settings.side_queries.enabled is True


def test_auto_effort_sends_nothing_whatever_the_files_say(layers: Layers) -> None:
    layers.user({"effort": "high"})
    assert layers.load(env={"CLEW_EFFORT": "auto"}).settings.effort is None


def test_an_empty_variable_sets_nothing(layers: Layers) -> None:
    layers.user({"model": "a/b"})
    assert layers.load(env={"CLEW_MODEL": "", "CLEW_MAX_TURNS": " "}).settings.model == "a/b"


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("CLEW_MAX_TURNS", "many", "expected integer"),
        ("CLEW_MAX_TURNS", "0", "expected integer >= 1"),
        ("CLEW_MAX_BUDGET_USD", "5$", "expected number"),
        ("CLEW_MAX_BUDGET_USD", "inf", "expected number < "),
        ("CLEW_MAX_BUDGET_USD", "nan", "expected number"),
        ("CLEW_EFFORT", "huge", "use one of low, medium, high, xhigh, max"),
        ("CLEW_PERMISSION_MODE", "yolo", "use one of default, plan, acceptEdits, bypassPermissions"),
        ("CLEW_RECAP", "maybe", "expected 1 or 0"),
    ],
)
def test_a_bad_value_names_the_variable(layers: Layers, variable: str, text: str, words: str) -> None:
    """Falling back in silence would drop a budget somebody counts on."""
    with pytest.raises(SettingsError) as caught:
        layers.load(env={variable: text})
    assert str(caught.value).startswith(f"environment variable {variable}={text!r}: {words}")


def test_a_near_miss_is_told_and_others_are_left_alone(layers: Layers) -> None:
    env = {"CLEW_MODLE": "x", "CLEW_HOME": "/h", "CLEW_SOMETHING_ELSE": "1", "CLEWMODEL": "x"}
    assert layers.load(env=env).warnings == ("environment variable CLEW_MODLE is not known; did you mean CLEW_MODEL?",)
