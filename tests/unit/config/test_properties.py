"""Whatever the files hold: an answer or one clear error, and a project never widens anything."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.config import Settings, SettingsError, load_settings
from clew.config.text import line_of, repeated_key

RULES = st.lists(st.sampled_from(["Bash", "Bash(git diff *)", "Read(src/**)", "WebFetch"]), max_size=3)
STRICT_SANDBOX = ["off", "auto", "required"]


def section(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keys)


CONTENT = section(
    model=st.sampled_from(["", "a/b", "evil/x"]),
    fastModel=st.sampled_from(["none", "evil/x"]),
    effort=st.sampled_from([None, "low", "max"]),
    permissionMode=st.sampled_from(["default", "plan", "acceptEdits", "bypassPermissions"]),
    permissions=section(allow=RULES, ask=RULES, deny=RULES, additionalDirectories=RULES),
    providers=st.dictionaries(st.sampled_from(["x", "anthropic"]), section(baseUrl=st.text(max_size=5)), max_size=2),
    sandbox=section(mode=st.sampled_from(STRICT_SANDBOX), network=st.booleans(), writablePaths=RULES),
    limits=section(maxTurns=st.none() | st.integers(1, 50), maxBudgetUsd=st.none() | st.floats(0, 50)),
    sideQueries=section(enabled=st.booleans(), dailyCapUsd=st.floats(0, 50)),
    recap=section(enabled=st.booleans(), model=st.sampled_from(["on", "off"])),
    toolEnvironment=section(keep=RULES),
)


def load(user: Any, project: Any) -> tuple[Settings, Settings]:
    """What the user has alone, and together with the project."""
    with tempfile.TemporaryDirectory() as base:
        root = Path(base) / "p"
        (root / ".clew").mkdir(parents=True)
        for path, content in ((Path(base) / "settings.json", user), (root / ".clew" / "settings.json", project)):
            path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        alone = load_settings(home=Path(base), project_root=None, trusted=False, env={}).settings
        return alone, load_settings(home=Path(base), project_root=root, trusted=True, env={}).settings


def at_most(new: float | None, old: float | None) -> bool:
    return old is None or (new is not None and new <= old)


@settings(max_examples=150, deadline=None)
@given(user=CONTENT, project=CONTENT)
def test_a_project_never_widens(user: dict[str, Any], project: dict[str, Any]) -> None:
    alone, both = load(user, project)
    for name in ("model", "fast_model", "effort", "permission_mode", "providers", "tool_environment", "foreign"):
        assert getattr(alone, name) == getattr(both, name)
    assert both.permissions.allow == alone.permissions.allow
    assert both.permissions.additional_directories == alone.permissions.additional_directories
    assert set(both.permissions.deny) >= set(alone.permissions.deny)
    assert set(both.permissions.ask) >= set(alone.permissions.ask)
    assert set(both.permissions.deny) >= set(project.get("permissions", {}).get("deny", ()))
    assert STRICT_SANDBOX.index(both.sandbox.mode) >= STRICT_SANDBOX.index(alone.sandbox.mode)
    assert both.sandbox.network <= alone.sandbox.network
    assert both.sandbox.writable_paths == alone.sandbox.writable_paths
    assert at_most(both.limits.max_turns, alone.limits.max_turns)
    assert at_most(both.limits.max_budget_usd, alone.limits.max_budget_usd)
    assert both.side_queries.enabled <= alone.side_queries.enabled
    assert at_most(both.side_queries.daily_cap_usd, alone.side_queries.daily_cap_usd)
    assert both.recap.enabled == alone.recap.enabled
    assert (both.recap.model == "on") <= (alone.recap.model == "on")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEYED = st.dictionaries(st.sampled_from(["model", "limits", "permissions", "providers", "recap", "effort"]), JSON)


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=60) | JSON | KEYED)
def test_any_file_gives_settings_or_one_clear_line(content: Any) -> None:
    complaint = ""
    try:
        load(content, {})
    except SettingsError as error:
        complaint = str(error)
    assert complaint == "" or "settings.json" in complaint
    assert complaint.isprintable()


@settings(max_examples=100, deadline=None)
@given(content=st.dictionaries(st.text(max_size=6), JSON, min_size=1, max_size=4), indent=st.sampled_from([None, 2]))
def test_every_key_of_valid_json_is_found(content: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(content, indent=indent)
    assert repeated_key(text) is None
    assert all(line_of(text, (key,)) >= 1 for key in content)
