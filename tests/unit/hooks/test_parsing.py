"""Definitions as users of Claude Code write them: each bad piece is one line with its place, the rest counts."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.hooks.parsing import MAX_HOOKS, HookSource, read_hooks

from .conftest import Files, one

SOURCE = HookSource(place="/x/settings.json", scope="user", root="/proc/nonexistent")


def read(value: Any) -> tuple[list[Any], list[str]]:
    return read_hooks(value, SOURCE)


def test_a_whole_definition() -> None:
    hooks, problems = read(one("check.sh", matcher="Bash|Edit", timeout=30)["hooks"])
    assert not problems
    (hook,) = hooks
    assert (hook.moment, hook.matcher, hook.command) == ("PreToolUse", "Bash|Edit", "check.sh")
    assert (hook.timeout_s, hook.source, hook.scope, hook.shell) == (30.0, "/x/settings.json", "user", "sh")
    assert len(hook.digest) == 64


@pytest.mark.parametrize("matcher", [None, "", "*"])
def test_a_moment_without_matcher(matcher: str | None) -> None:
    hooks, problems = read(one("x", moment="PreCompact", matcher=matcher)["hooks"])
    assert not problems
    assert [hook.matcher for hook in hooks] == [matcher or ""]
    assert [hook.timeout_s for hook in hooks] == [60.0]


@pytest.mark.parametrize("moment", ["Stop", "UserPromptSubmit"])
def test_where_there_is_nothing_to_match_a_matcher_does_not_count(moment: str) -> None:
    for matcher in ("Bash", "("):
        hooks, problems = read(one("x", moment=moment, matcher=matcher)["hooks"])
        assert [hook.matcher for hook in hooks] == [""]
        assert not problems


def test_several_groups_keep_their_order() -> None:
    group = [{"hooks": [{"type": "command", "command": f"{a}{b}"} for b in "xy"]} for a in "ab"]
    hooks, _ = read({"Stop": group, "PreCompact": group})
    assert [hook.command for hook in hooks] == ["ax", "ay", "bx", "by"] * 2


BAD: list[tuple[Any, str, str]] = [
    (5, "hooks", "not an object"),
    ([], "hooks", "not an object"),
    ({"PreTooluse": []}, "hooks.PreTooluse", "no moment"),
    ({"PreToolUse": {}}, "hooks.PreToolUse", "not a list"),
    ({"PreToolUse": [3]}, "hooks.PreToolUse[0]", "not an object"),
    ({"PreToolUse": [{"matcher": 3, "hooks": []}]}, "hooks.PreToolUse[0].matcher", "not a string"),
    ({"PreToolUse": [{"matcher": "(", "hooks": []}]}, "hooks.PreToolUse[0].matcher", "matches nothing"),
    ({"PreToolUse": [{"matcher": "x"}]}, "hooks.PreToolUse[0].hooks", "not a list"),
    ({"PreToolUse": [{"hooks": {}}]}, "hooks.PreToolUse[0].hooks", "not a list"),
    ({"PreToolUse": [{"hooks": ["x"]}]}, "hooks.PreToolUse[0].hooks[0]", "not an object"),
    ({"PreToolUse": [{"hooks": [{"command": "x"}]}]}, "hooks.PreToolUse[0].hooks[0]", "no type"),
    ({"PreToolUse": [{"hooks": [{"type": "command"}]}]}, "hooks.PreToolUse[0].hooks[0]", "no command"),
    ({"PreToolUse": [{"hooks": [{"type": "command", "command": " "}]}]}, "hooks.PreToolUse[0].hooks[0]", "no command"),
    ({"Stop": [{"hooks": [{"type": "command", "command": "a\0b"}]}]}, "hooks.Stop[0].hooks[0]", "no command can have"),
    ({"Stop": [{"hooks": [{"type": "command", "command": "a" * 30_000}]}]}, "hooks.Stop[0].hooks[0]", "longer than"),
    ({"Stop": [{"hooks": [{"type": "command", "command": "a", "if": "Bash(x)"}]}]}, "hooks.Stop[0].hooks[0]", '"if"'),
    ({"Stop": [{"hooks": [{"type": "command", "command": "a", "args": "b"}]}]}, "hooks.Stop[0].hooks[0]", "args"),
    ({"Stop": [{"hooks": [{"type": "command", "command": "a", "shell": "fish"}]}]}, "hooks.Stop[0].hooks[0]", "fish"),
    *(
        ({"Stop": [{"hooks": [{"type": kind, "prompt": "x"}]}]}, "hooks.Stop[0].hooks[0]", f'"{kind}"')
        for kind in ("prompt", "http", "agent", "mcp_tool", "wasm")
    ),
]


@pytest.mark.parametrize(("value", "path", "words"), BAD, ids=lambda value: str(value)[:50])
def test_a_bad_piece_is_one_line_with_its_place(value: Any, path: str, words: str) -> None:
    hooks, problems = read(value)
    assert not hooks
    assert len(problems) == 1
    assert problems[0].startswith(f"/x/settings.json: {path} ")
    assert words in problems[0]


def test_the_rest_still_counts() -> None:
    good = {"type": "command", "command": "good"}
    value = {
        "Nonsense": [],
        "PreCompact": [3, {"hooks": [{"type": "http"}, good, 4]}, {"matcher": "[", "hooks": [good]}, {"hooks": [good]}],
        "SessionEnd": [{"hooks": [good]}],
    }
    hooks, problems = read(value)
    assert [hook.moment for hook in hooks] == ["PreCompact", "PreCompact", "SessionEnd"]
    assert len(problems) == 5


@pytest.mark.parametrize(
    ("timeout", "used", "told"),
    [(0.5, 0.5, False), (600, 600, False), (0.001, 0.1, True), (5_000, 3_600, True), (10**400, 3_600, True)]
    + [(bad, 60, True) for bad in (0, -1, "5", True, [], float("inf"), float("nan"))]
    + [(None, 60, False)],
)  # fmt: skip
def test_a_wrong_limit_is_told_and_the_hook_runs_with_another(timeout: Any, used: float, told: bool) -> None:
    hooks, problems = read(one("x", timeout=timeout)["hooks"])
    assert [hook.timeout_s for hook in hooks] == [used]
    assert len(problems) == told
    assert all("hooks.PreToolUse[0].hooks[0].timeout" in problem for problem in problems)


def test_keys_without_effect_are_told_by_name() -> None:
    keys: dict[str, Any] = {"statusMessage": "wait", "once": True, "timout": 5, "async": True}
    hooks, problems = read(one("x", **keys)["hooks"])
    assert len(hooks) == 1
    assert ["timout" in problems[0], "async" in problems[1]] == [True, True]


def test_a_command_without_a_shell_becomes_one_for_a_shell(files: Files) -> None:
    from clew.hooks.parsing import read_hooks as read_them

    value = one("${CLAUDE_PROJECT_DIR}/run me.sh", args=["a b", "it's", "$HOME", "", "x=$CLAUDE_PROJECT_DIR"])["hooks"]
    hooks, problems = read_them(value, SOURCE)
    assert not problems
    assert hooks[0].command == (
        "\"${CLAUDE_PROJECT_DIR}\"'/run me.sh' 'a b' 'it'\"'\"'s' '$HOME' '' x=\"$CLAUDE_PROJECT_DIR\""
    )


def test_floods_are_bounded() -> None:
    many = [{"type": "command", "command": f"echo {number}"} for number in range(MAX_HOOKS + 50)]
    hooks, problems = read({"Stop": [{"hooks": many}]})
    assert len(hooks) == MAX_HOOKS
    assert len(problems) == 1
    _, problems = read({f"Moment{number}": [] for number in range(1_000)})
    assert len(problems) == 51
    assert problems[-1].endswith("950 more problems")


def test_lines_stay_lines() -> None:
    _, problems = read({"Evil\n\x1b[31m": [], "Stop": [{"hooks": [{"type": "a\nb"}]}]})
    assert all(problem.isprintable() for problem in problems)
    assert len(problems) == 2


pieces = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8)
    | st.sampled_from(["command", "*", "Bash|Edit", "(", "x.sh", "$CLAUDE_PROJECT_DIR/a"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["hooks", "matcher", "type", "command", "timeout", "args", "shell", "Stop", "PreToolUse", "if", "async"]
        )
        | st.text(max_size=4),
        inner,
        max_size=4,
    ),
    max_leaves=25,
)  # fmt: skip


@given(pieces)
def test_any_object_gives_hooks_and_lines_and_never_raises(value: Any) -> None:
    hooks, problems = read(value)
    assert all(hook.command.strip() and hook.digest and 0.1 <= hook.timeout_s <= 3_600 for hook in hooks)
    assert all(isinstance(line, str) and line.isprintable() for line in problems)


@given(st.sampled_from(["Stop", "PreToolUse", "Nope"]), pieces, pieces)
def test_any_group_and_handler_too(moment: str, group: Any, handler: Any) -> None:
    value = {moment: [group, {"matcher": group, "hooks": [handler, {"type": "command", "command": "last"}]}]}
    hooks, problems = read(value)
    assert hooks or problems
    json.dumps([hook.command for hook in hooks])
