"""Where hooks are found, in which order, and what is said about files that cannot be read."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.config.load import load_settings
from clew.hooks.definitions import MOMENTS
from clew.hooks.settings import find_hooks, hooks_in_force

from .conftest import Files, one

ORDER = ["user", "given", "claude_user", "project", "local", "claude_project", "claude_local"]


def test_nothing_there_is_nothing_found(files: Files) -> None:
    found = files.find()
    assert (found.hooks, found.problems) == ((), ())


def test_every_file_is_read_the_users_first(files: Files) -> None:
    for scope in files.files:
        files.write(scope, one(f"echo {scope}"))
    found = files.find(given=one("echo given")["hooks"])
    assert [hook.scope for hook in found.hooks] == ORDER
    assert [hook.command for hook in found.hooks] == [f"echo {scope}" for scope in ORDER]
    assert [hook.source for hook in found.hooks if hook.scope == "claude_local"] == [str(files.files["claude_local"])]
    assert [hook.source for hook in found.hooks if hook.scope == "given"] == ["--settings"]
    assert not found.problems


def test_without_trust_nothing_of_the_project_is_read(files: Files) -> None:
    for scope in files.files:
        files.write(scope, one(f"echo {scope}") if scope.endswith("user") else b"{ not json")
    found = files.find(trusted=False)
    assert [hook.scope for hook in found.hooks] == ["user", "claude_user"]
    assert not found.problems


@pytest.mark.parametrize("sources", [["user"], ["project"], ["local"], ["user", "local"], []])
def test_only_the_sources_that_are_wanted(files: Files, sources: list[str]) -> None:
    belongs = {"user": "user", "claude_user": "user", "project": "project", "claude_project": "project"}
    for scope in files.files:
        files.write(scope, one("true"))
    found = files.find(sources=sources)
    assert {hook.scope for hook in found.hooks} == {s for s in files.files if belongs.get(s, "local") in sources}


def test_a_project_that_is_the_home_directory_has_the_users_own_files(files: Files) -> None:
    files.write("claude_user", one("true"))
    found = files.find(trusted=True)
    home = files.person
    again = find_hooks(home=home / ".clew", root=home, trusted=True, env=files.env)
    assert [hook.scope for hook in again.hooks] == ["claude_user"] == [hook.scope for hook in found.hooks]


def test_the_home_of_claude_code_can_be_elsewhere(files: Files, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "settings.json").write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}')
    files.env["CLAUDE_CONFIG_DIR"] = str(elsewhere)
    assert [hook.command for hook in files.find().hooks] == ["x"]


def test_other_keys_of_claude_code_are_not_ours(files: Files) -> None:
    content = {"model": "opus", "permissions": {"allow": ["Bash"]}, "statusLine": {"type": "command"}, **one("true")}
    files.write("claude_project", content)
    found = files.find()
    assert len(found.hooks) == 1
    assert not found.problems


def test_a_byte_order_mark_is_harmless(files: Files) -> None:
    files.write(
        "claude_project", b'\xef\xbb\xbf{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}'
    )
    assert [hook.command for hook in files.find().hooks] == ["x"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{ not json", "not JSON"),
        (b'{"hooks": {}} // no comments', "not JSON"),
        (b"[1, 2]", "not a JSON object"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"hooks": "' + b"x" * 1_100_000 + b'"}', "at most 1,000,000"),
    ],
)
def test_a_file_that_is_none_is_one_line_and_the_others_count(files: Files, content: bytes, words: str) -> None:
    path = files.write("claude_project", content)
    files.write("claude_local", one("true"))
    found = files.find()
    assert [hook.scope for hook in found.hooks] == ["claude_local"]
    assert len(found.problems) == 1
    assert str(path) in found.problems[0]
    assert words in found.problems[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,hoks\\ u0 \n', max_size=60).map(str.encode))
def test_whatever_stands_in_a_file_is_hooks_or_lines(files: Files, content: bytes) -> None:
    files.write("claude_project", content)
    found = files.find()
    assert not found.hooks
    assert len(found.problems) <= 1


def test_an_empty_file_says_nothing(files: Files) -> None:
    files.write("claude_project", b"  \n")
    assert files.find().problems == ()


def test_what_is_no_regular_file_is_not_waited_for(files: Files) -> None:
    os.mkfifo(files.files["claude_project"])
    files.files["claude_local"].mkdir()
    problems = files.find().problems
    assert len(problems) == 2
    assert all("not a regular file" in problem for problem in problems)


@pytest.mark.parametrize("way", ["file", "folder"])
def test_a_link_that_leads_out_of_the_project_is_refused(files: Files, tmp_path: Path, way: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}')
    if way == "file":
        files.files["claude_project"].symlink_to(outside / "settings.json")
    else:
        files.files["claude_project"].parent.rmdir()
        files.files["claude_project"].parent.symlink_to(outside)
    found = files.find()
    assert not found.hooks
    assert ["leads out of the project" in problem for problem in found.problems] == [True]


def test_a_link_inside_the_project_is_followed(files: Files) -> None:
    (files.root / "shared.json").write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}')
    files.files["claude_project"].symlink_to(files.root / "shared.json")
    assert [hook.command for hook in files.find().hooks] == ["x"]


def test_a_link_of_the_user_is_the_users(files: Files, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.json").write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}')
    files.files["claude_user"].symlink_to(tmp_path / "dotfiles.json")
    assert [hook.command for hook in files.find().hooks] == ["x"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_one_line(files: Files) -> None:
    files.write("claude_project", one("true")).chmod(0)
    assert ["cannot be read" in problem for problem in files.find().problems] == [True]


@pytest.mark.parametrize(
    ("scope", "left"),
    [
        ("user", set[str]()),
        ("claude_user", {"user", "project", "local"}),
        ("project", {"user", "claude_user", "local", "claude_project", "claude_local"}),
        ("claude_local", {"user", "claude_user", "project", "local", "claude_project"}),
    ],
)
def test_who_may_switch_off_what(files: Files, scope: str, left: set[str]) -> None:
    for other in files.files:
        files.write(other, one("true"))
    files.write(scope, {"disableAllHooks": True, **one("true")})
    found = files.find()
    assert {hook.scope for hook in found.hooks} == left
    assert bool(found.problems) == (scope == "user")


def test_disabled_by_settings_in_force(files: Files) -> None:
    files.write("claude_project", one("true"))
    found = files.find(disabled=True)
    assert not found.hooks
    assert found.problems == ("no hook runs: disableAllHooks is set",)
    files.write("claude_project", {})
    assert files.find(disabled=True).problems == ()


def test_every_moment_is_understood(files: Files) -> None:
    hooks = {moment: [{"hooks": [{"type": "command", "command": "x"}]}] for moment in MOMENTS}
    files.write("user", {"hooks": hooks})
    found = files.find()
    assert not found.problems
    assert {hook.moment for hook in found.hooks} == set(MOMENTS)


def test_a_users_hook_that_runs_a_file_of_an_untrusted_project_is_left_out(files: Files) -> None:
    (files.root / "check.sh").write_text("echo hi")
    own = f"{files.person}/check.sh"
    commands = ["$CLAUDE_PROJECT_DIR/check.sh", "bash ./check.sh", f"{files.root}/check.sh -x", own, "echo check.sh"]
    groups = [{"hooks": [{"type": "command", "command": command}]} for command in commands]
    files.write("user", {"hooks": {"Stop": groups}})
    found = files.find(trusted=False)
    assert [hook.command for hook in found.hooks] == [own, "echo check.sh"]
    assert len(found.problems) == 3
    assert all("not trusted" in problem for problem in found.problems)
    assert len(files.find(trusted=True).hooks) == 5


def in_force(files: Files, settings_arg: str | None = None) -> Any:
    loaded = load_settings(home=files.home, project_root=files.root, trusted=True, env={}, settings_arg=settings_arg)
    return hooks_in_force(loaded, home=files.home, root=files.root, trusted=True, env=files.env)


def test_with_loaded_settings_the_same_is_found(files: Files) -> None:
    for scope in files.files:
        files.write(scope, one(f"echo {scope}"))
    found = in_force(files, '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo given"}]}]}}')
    assert [hook.command for hook in found.hooks] == [f"echo {scope}" for scope in ORDER]


def test_with_loaded_settings_and_no_hooks_of_the_users_only_the_others_are(files: Files) -> None:
    files.write("user", {"model": "a/b"})
    files.write("claude_user", one("x"))
    assert [hook.scope for hook in in_force(files).hooks] == ["claude_user"]
    assert in_force(files, '{"disableAllHooks": true}').hooks == ()
