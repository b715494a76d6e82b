"""Other agents' tools in our names and parameters; what is not clear stays as it is."""

from typing import Any

import pytest

from clew.foreign.readers.patches import parse_patch
from clew.foreign.tool_names import translate

Json = dict[str, Any]

CASES: list[tuple[str, Json, str, Json]] = [
    ("shell", {"command": ["bash", "-lc", "ls -la"]}, "Bash", {"command": "ls -la"}),
    ("shell", {"command": ["git", "commit", "-m", "a b"]}, "Bash", {"command": "git commit -m 'a b'"}),
    ("exec_command", {"cmd": "ls", "workdir": "/x"}, "Bash", {"command": "ls"}),
    ("run_shell_command", {"command": "ls", "description": "List"}, "Bash", {"command": "ls", "description": "List"}),
    (
        "read_file",
        {"absolute_path": "/a.py", "offset": 3, "limit": 9},
        "Read",
        {"file_path": "/a.py", "offset": 3, "limit": 9},
    ),
    (
        "ReadFile",
        {"path": "a.py", "line_offset": 1, "n_lines": 5},
        "Read",
        {"file_path": "a.py", "offset": 1, "limit": 5},
    ),
    ("write_file", {"file_path": "a", "content": ""}, "Write", {"file_path": "a", "content": ""}),
    (
        "replace",
        {"file_path": "a", "old_string": "x", "new_string": "y"},
        "Edit",
        {"file_path": "a", "old_string": "x", "new_string": "y"},
    ),
    (
        "edit",
        {"filePath": "a", "oldString": "x", "newString": "", "replaceAll": True},
        "Edit",
        {"file_path": "a", "old_string": "x", "new_string": "", "replace_all": True},
    ),
    (
        "StrReplaceFile",
        {"path": "a", "edit": {"old": "x", "new": "y"}},
        "Edit",
        {"file_path": "a", "old_string": "x", "new_string": "y"},
    ),
    ("str_replace_editor", {"command": "view", "path": "/a"}, "Read", {"file_path": "/a"}),
    (
        "str_replace_editor",
        {"command": "create", "path": "/a", "file_text": "t"},
        "Write",
        {"file_path": "/a", "content": "t"},
    ),
    ("search_file_content", {"pattern": "x", "path": "src"}, "Grep", {"pattern": "x", "path": "src"}),
    ("glob_file_search", {"glob_pattern": "*.py"}, "Glob", {"pattern": "*.py"}),
    (
        "update_plan",
        {"plan": [{"step": "a", "status": "in_progress"}]},
        "TodoWrite",
        {"todos": [{"content": "a", "status": "in_progress"}]},
    ),
    (
        "write_todos",
        {"todos": [{"description": "a", "status": "cancelled"}]},
        "TodoWrite",
        {"todos": [{"content": "a", "status": "completed"}]},
    ),
    ("webfetch", {"url": "https://a", "format": "text"}, "WebFetch", {"url": "https://a"}),
    ("google_web_search", {"query": "q"}, "WebSearch", {"query": "q"}),
    (
        "task",
        {"prompt": "look\nwell", "subagent_type": "explore"},
        "Task",
        {"description": "look", "prompt": "look\nwell", "subagent_type": "explore"},
    ),
]


@pytest.mark.parametrize(("name", "arguments", "ours", "ours_arguments"), CASES)
def test_clear_tools_get_our_names(name: str, arguments: Json, ours: str, ours_arguments: Json) -> None:
    assert translate(name, arguments) == [(ours, ours_arguments)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mcp__github__fetch", {"url": "x"}),
        ("read_file", {"nothing": 1}),
        ("shell", {"command": 5}),
        ("edit", {"filePath": "a", "oldString": "x"}),
        ("apply_patch", {"input": "no patch"}),
        ("update_plan", {"explanation": "x"}),
    ],
)
def test_what_is_not_clear_stays_as_it_is(name: str, arguments: Json) -> None:
    assert translate(name, arguments) == [(name, arguments)]


PATCH = """*** Begin Patch
*** Update File: a.py
*** Move to: b.py
@@ def f
 keep
-old
+new
+more
*** Add File: c.py
+one
*** Delete File: d.py
*** End Patch"""


def test_a_patch_becomes_one_call_per_file() -> None:
    assert translate("apply_patch", {"input": PATCH}) == [
        ("Edit", {"file_path": "a.py", "old_string": "keep\nold", "new_string": "keep\nnew\nmore"}),
        ("Bash", {"command": "mv a.py b.py"}),
        ("Write", {"file_path": "c.py", "content": "one"}),
        ("Bash", {"command": "rm d.py"}),
    ]
    changes = parse_patch(PATCH)
    assert [(change.path, change.added, change.removed, change.moved_to) for change in changes] == [
        ("a.py", 2, 1, "b.py"),
        ("c.py", 1, 0, ""),
        ("d.py", 0, 0, ""),
    ]


def test_a_patch_given_to_the_shell_is_still_a_patch() -> None:
    command = f"apply_patch <<'EOF'\n{PATCH}\nEOF"
    assert [call.name for call in translate("shell", {"command": ["bash", "-lc", command]})] == [
        "Edit",
        "Bash",
        "Write",
        "Bash",
    ]
    talk = "echo '*** Begin Patch'"
    assert translate("shell", {"command": talk}) == [("Bash", {"command": talk})]


def test_an_unclosed_patch_is_read_to_its_end() -> None:
    assert [change.path for change in parse_patch("*** Begin Patch\n*** Update File: a\n+x")] == ["a"]


def test_questions_to_the_user_look_alike() -> None:
    asked = {"questions": [{"id": "q", "header": "DB", "question": "Which?", "options": [{"label": "a"}, "b"]}]}
    whole = {"questions": [{"question": "Which?", "header": "DB", "options": [{"label": "a"}, {"label": "b"}]}]}
    assert translate("request_user_input", asked) == [("AskUserQuestion", whole)]
    plain = {"questions": [{"question": "Which?", "header": "", "options": [{"label": "a"}]}]}
    assert translate("ask_user", {"question": "Which?", "choices": ["a"]}) == [("AskUserQuestion", plain)]
    assert translate("ask_user", {"other": 1}) == [("ask_user", {"other": 1})]


def test_a_plan_put_forward_is_a_plan_whoever_asks_for_it() -> None:
    assert translate("exit_plan_mode", {"plan": "1. read"}) == [("ExitPlanMode", {"plan": "1. read"})]
    assert translate("exit_plan_mode", {"plan_path": "/p.md"}) == [("exit_plan_mode", {"plan_path": "/p.md"})]
