"""Labels of tool batches, by code and by model, and the line of a turn."""

from pathlib import Path
from typing import Any

import pytest

from clew.llm.scripted import Say, ScriptedModel
from clew.orient.deeds import lined, refused, running, turn_line
from clew.orient.label_query import bounded, clean_label, is_large, model_label, question
from clew.orient.labels import LabelledCall, batch_label, deeds
from clew.protocol.display import DiffBlock, FileBlock, MatchesBlock, TerminalBlock
from clew.protocol.ids import CallId
from clew.protocol.messages import ToolCallPart, ToolResultPart
from clew.text.terminal_text import display_width
from unit.orient.test_side_query import Desk


def done(name: str, text: str = "ok", *, error: bool = False, **arguments: Any) -> LabelledCall:
    call = ToolCallPart(id=CallId("c1"), name=name, arguments=arguments)
    return LabelledCall(call, ToolResultPart(call_id=CallId("c1"), content=text, is_error=error))


def call_line(item: LabelledCall, *, cwd: str = "", columns: int = 0) -> str:
    found = deeds(item, cwd) if item.result is not None else [running(item.call, cwd)]
    return lined(found, columns)


def edit(path: str, old: str = "a", new: str = "b", *, error: bool = False) -> LabelledCall:
    return done("Edit", error=error, file_path=path, old_string=old, new_string=new)


@pytest.mark.parametrize(
    ("batch", "label"),
    [
        ([], ""),
        (
            [
                edit("/p/validate.py", "x\na", "x\nb\nc\nd"),
                done("Bash", "1 failed, 14 passed in 1s", error=True, command="pytest"),
            ],
            "Edited validate.py +3 -1 · 14 passed, 1 failed",
        ),
        ([done("Read", file_path="/p/a.py")], "Read a.py"),
        ([done("Read", file_path=f"/p/{name}.py") for name in "abc"], "Read a.py, b.py, c.py"),
        ([done("Read", file_path=f"/p/{name}.py") for name in "abcde"], "Read a.py, b.py and 3 more"),
        ([done("Read", "no such file", error=True, file_path="/p/a.py")], "Read of a.py failed"),
        ([done("Write", "File created", file_path="/p/n.py", content="1\n2")], "Created n.py +2 -0"),
        ([edit("/p/a.py", error=True)], "Edit of a.py failed"),
        (
            [edit("/p/a.py"), edit("/p/b.py", error=True), edit("/p/c.py", error=True)],
            "Edited a.py +1 -1 · 2 of 3 edits failed (b.py, c.py)",
        ),
        ([done("Bash", command="git status")], "Ran git status"),
        ([done("Bash", "Exit code 2", error=True, command="make all")], "make all failed (exit 2)"),
        ([done("Grep", pattern="parse_date"), done("Glob", pattern="**/*.py")], "Searched parse_date, **/*.py"),
        ([done("WebFetch", url="https://docs.python.org/3/x")], "Fetched https://docs.python.org/3/x"),
        ([done("Task", description="Look for callers")], "Agent Look for callers"),
        (
            [done("TodoWrite", todos=[{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}])],
            "Tasks 1/2 done",
        ),
        ([done("mcp__db__query")], "Used mcp__db__query"),
        ([done("Bash", "The user did not allow this.", error=True, command="pytest")], "Refused Bash pytest"),
        ([done("Bash", "Not allowed: plan mode", error=True, command="pytest")], "Refused Bash pytest"),
        ([done("Bash", "Cancelled: another one failed", error=True, command="pytest")], "Cancelled Bash pytest"),
    ],
)
def test_labels_from_facts(batch: list[LabelledCall], label: str) -> None:
    assert batch_label(batch) == label


def test_a_label_fits_a_hundred_columns_also_in_chinese() -> None:
    wide = [edit(f"/p/这是一个非常长的文件名字用来测试宽度{number}.py") for number in range(6)]
    for batch in (wide, [done("Bash", command="x" * 500)], [done("Grep", pattern="y" * 300) for _ in range(9)]):
        assert 0 < display_width(batch_label(batch)) <= 100


def test_untrusted_names_are_cleaned() -> None:
    assert "\x1b" not in batch_label([done("Read", file_path="/p/\x1b[31mred.py")])
    assert "\n" not in batch_label([done("Task", description="a\nb")])


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Fixed date parser", "Fixed date parser"),
        ("Fixed date parser\nBecause it was broken", "Fixed date parser"),
        ('"Fixed it up"', "Fixed it up"),
        ("'Fixed it up'", "Fixed it up"),
        ("`Fixed it up`", "Fixed it up"),
        ("- Fixed it up", "Fixed it up"),
        ("* Fixed it up", "Fixed it up"),
        ("• Fixed it up", "Fixed it up"),
        ("Label: Fixed it up", "Fixed it up"),
        ("Summary:Fixed it up", "Fixed it up"),
        ("“Fixed it up”", "Fixed it up"),
        ("「修复解析器」", "修复解析器"),
        ("标签：修复解析器", "修复解析器"),
        ("**Fixed** _parser_", "Fixed parser"),
        ("Result: Fixed it up", "Fixed it up"),
        ("**Output:** Fixed it up", "Fixed it up"),
        ("Error handling added to parser.py", "Error handling added to parser.py"),
        ("Failed to parse dates: now handled", "Failed to parse dates: now handled"),
        ("Cannot-happen branch removed", "Cannot-happen branch removed"),
        ("Cleaned up __init__.py", "Cleaned up __init__.py"),
        ("Passed *args on to run_all", "Passed *args on to run_all"),
        ("Looked at `__init__.py`", "Looked at `__init__.py`"),
        ('"Looked at `__init__.py`"', "Looked at `__init__.py`"),
        ("`a.py` and `b.py`", "`a.py` and `b.py`"),
        ("It's done", "It's done"),
        ("Fixed it up”", "Fixed it up"),
        ("Request failed page added", "Request failed page added"),
        ("Sorry page added", "Sorry page added"),
        ("I'm sorry, no", ""),
        ("I am unable to say", ""),
        ("Runtime error: out of memory", ""),
        ("TypeError: x is not a function", ""),
        ("Unable to say", ""),
        ("修复了日期解析", "修复了日期解析"),
        ("", ""),
        ("   \n\n ", ""),
        ("API Error: 529", ""),
        ("Error: overloaded", ""),
        ("I cannot do that", ""),
        ("I can't say", ""),
        ("I can’t say", ""),
        ("Unable to comply", ""),
        ("Failed to generate", ""),
        ("Sorry, no", ""),
        ("Request failed", ""),
        ("抱歉，我不知道", ""),
        ("对不起", ""),
        ("无法生成", ""),
        ("我无法回答", ""),
        ("请求失败", ""),
    ],
)
def test_cleaning_of_model_labels(reply: str, label: str) -> None:
    assert clean_label(reply) == label


def test_a_long_label_is_cut() -> None:
    assert display_width(clean_label("x" * 200)) <= 100


def test_fields_are_bounded_before_they_are_encoded() -> None:
    assert bounded({"a": 1}) == '{"a":1}'
    assert bounded("word") == '"word"'
    assert bounded(7) == "7"
    cut = bounded("x" * 500, 50)
    assert (len(cut), cut[-3:]) == (50, "...")
    assert bounded(None) == "[none]"
    assert len(bounded("x" * 10_000_000)) <= 300
    assert len(bounded({"field": "x" * 10_000_000})) <= 300
    circle: list[object] = []
    circle.append(circle)
    assert len(bounded(circle)) <= 300
    assert bounded(object()) == "[cannot be shown]"


LARGE = [
    done("Read", file_path="/p/a.py"),
    done("Grep", pattern="x"),
    edit("/p/a.py"),
    done("Bash", command="ls"),
    done("Glob", pattern="*"),
]


def test_only_large_mixed_batches_are_worth_a_model() -> None:
    assert is_large(LARGE)
    assert not is_large(LARGE[:3])
    assert not is_large([done("Read", file_path="a")] * 9)


async def test_the_model_sees_good_calls_and_a_short_intent(tmp_path: Path) -> None:
    model = ScriptedModel([Say("- “Traced parse_date callers”")])
    newest = Desk(tmp_path, model)
    batch = [*LARGE, done("Bash", "SECRET FAILURE", error=True, command="boom")]
    assert await model_label(batch, "i" * 500, newest.queries) == "Traced parse_date callers"
    asked = str(model.requests[0].messages[0].content)
    assert "SECRET FAILURE" not in asked
    assert "i" * 200 in asked
    assert "i" * 201 not in asked
    assert model.requests[0].max_output_tokens == 60
    assert newest.booked[0].purpose == "tool-use-summary"


async def test_no_good_call_no_model_no_label(tmp_path: Path) -> None:
    model = ScriptedModel([Say("x")])
    assert await model_label([done("Bash", error=True, command="x")], "", Desk(tmp_path, model).queries) == ""
    assert await model_label(LARGE, "", Desk(tmp_path, None).queries) == ""
    assert model.requests == []


def test_question_bounds_every_field() -> None:
    asked = question([done("Bash", "o" * 10_000, command="c" * 10_000)], "")
    assert len(asked) < 800
    assert "..." in asked


def test_one_grammar_for_calls_batches_and_turns() -> None:
    diff = DiffBlock(path="/p/src/dates.py", patch="", added=2, removed=1)
    batch = [
        LabelledCall(edit("/p/src/dates.py").call, edit("/p/src/dates.py").result, (diff,)),
        done("Bash", "14 passed in 1s", command="pytest -q"),
        done("Bash", command="git status"),
    ]
    assert [call_line(item, cwd="/p") for item in batch] == [
        "Edited src/dates.py +2 -1",
        "Ran pytest -q: 14 passed",
        "Ran git status: ok",
    ]
    assert batch_label(batch) == "Edited dates.py +2 -1 · 14 passed · Ran git status"
    line = turn_line(
        [deed for item in batch for deed in deeds(item)], reason="completed", duration_ms=1500, cost_usd=0.034
    )
    assert line == "Edited dates.py +2 -1 · 14 passed · Ran git status · 1.5 s · $0.0340"
    assert turn_line([], reason="max_turns", duration_ms=400) == "max turns · 0.4 s"


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (LabelledCall(done("Bash", command="make\nall").call, None), "Bash make (+1 line) is still running"),
        (done("Read", "no such file", error=True, file_path="/p/a.py"), "Read of a.py failed: no such file"),
        (
            LabelledCall(
                *done("Read", file_path="/p/a.py")[:2], (FileBlock(path="a", first_line=3, lines=2, total_lines=9),)
            ),
            "Read a (lines 3-4)",
        ),
        (
            LabelledCall(*done("Grep", pattern="x")[:2], (MatchesBlock(pattern="x", matches=3, files=("a", "b")),)),
            "Searched x: 3 matches in 2 files",
        ),
        (
            LabelledCall(
                *done("Bash", "boom", error=True, command="make")[:2],
                (TerminalBlock(command="make", output="x\nboom\n", exit_code=2),),
            ),
            "Ran make: exit 2: boom",
        ),
        (
            LabelledCall(
                *done("Bash", command="x")[:2],
                (TerminalBlock(command="x", output="", exit_code=None, background_id="s1"),),
            ),
            "Ran x: in the background as s1",
        ),
    ],
)
def test_the_line_of_a_call(item: LabelledCall, line: str) -> None:
    assert call_line(item, cwd="/p") == line


def test_a_refused_call_is_told_with_its_reason_and_a_path_keeps_its_end() -> None:
    item = done("Bash", command="rm -rf build")
    assert refused(item.call, "not today").line() == "Refused Bash rm -rf build: not today"
    long = call_line(done("Read", file_path="/very/long/path/to/some/deep/folder/file.py"), columns=24)
    assert long.endswith("file.py")
    assert display_width(long) <= 24
