"""`clew show`, `clew export` and /export: results with their calls, edits as diffs, questions with answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew.foreign.build import Builder
from clew.transcript.mapping.render import plain
from e2e.command import Place
from e2e.driver import Driven
from fakes.model_server import ModelServer
from unit.foreign.samples_lines import claude_reply, claude_user
from unit.foreign.writing import jsonl

QUESTION = {"question": "Which colour?", "header": "Colour", "options": [{"label": "Blue"}, {"label": "Red"}]}
SCRIPT = [
    {
        "calls": [
            {"call": "Read", "arguments": {"file_path": "a.txt"}},
            {"call": "Bash", "arguments": {"command": "echo one; echo two"}},
        ]
    },
    {"calls": [{"call": "Edit", "arguments": {"file_path": "a.txt", "old_string": "beta", "new_string": "gamma"}}]},
    {"calls": [{"call": "Edit", "arguments": {"file_path": "a.txt", "old_string": "omega", "new_string": "x"}}]},
    {"calls": [{"call": "AskUser", "arguments": {"questions": [QUESTION]}}]},
    {"calls": [{"call": "Glob", "arguments": {"pattern": "*.txt", "path": "."}}]},
    {"text": "Done."},
]


def session(place: Place) -> str:
    """A session with all of it; its id."""
    (place.project / "a.txt").write_text("alpha\nbeta\n")
    flags = ("--permission-prompt-tool", "stdio", "--trust", "--permission-mode", "acceptEdits")
    with Driven(place, *flags) as run:
        run.say("paint it")
        while True:
            line = run.until(lambda line: line["type"] in ("result", "control_request"))
            if line["type"] == "result":
                run.end()
                return line["session_id"]
            given = line["request"]["input"]
            answers = {"answers": {"Which colour?": "Blue"}} if "questions" in given else {}
            run.answer(line, {"behavior": "allow", "updatedInput": {**given, **answers}})


def below(text: str, head: str) -> list[str]:
    """The lines below one, up to the next blank one."""
    lines = text.splitlines()
    at = lines.index(head) + 1
    return [line.strip() for line in lines[at : lines.index("", at)]]


def test_each_result_stands_with_its_call(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        place = Place(tmp_path, server.url)
        name = session(place)
        shown = place.run("show", name).out
        assert below(shown, "* Read(a.txt)") == ["1\talpha", "2\tbeta"]
        assert below(shown, "* Bash(echo one; echo two)") == ["one", "two"]
        assert below(shown, "* Edit(a.txt)") == ["@@ -1,2 +1,2 @@", "alpha", "-beta", "+gamma"]
        assert " ! " in shown.partition("+gamma")[2], "an edit that failed tells why"
        assert below(shown, "* AskUser(1 question)") == ["? Which colour? (Blue, Red)", "= Blue"]
        exported = place.run("export", name).out
        assert "```diff\n@@ -1,2 +1,2 @@\n alpha\n-beta\n+gamma\n```" in exported
        assert "> ? Which colour? (Blue, Red)" in exported
        assert exported.index("**Bash**") > exported.index("2\tbeta"), "the first result comes before the second call"
        for text in (shown, exported):
            assert "{'" not in text


def test_without_a_name_it_goes_to_the_home(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        place = Place(tmp_path, server.url)
        name = session(place)
        before = sorted(place.project.iterdir())
        for number in ("", "-2"):
            done = place.run("-p", "/export", "--resume", name)
            file = Path(place.env["CLEW_HOME"]) / "exports" / f"paint-it-a-txt{number}.md"
            assert f"Written: {file}" in done.out, done.out + done.err
            assert "-beta" in file.read_text()
            assert file.stat().st_mode & 0o777 == 0o600
        assert sorted(place.project.iterdir()) == before
        assert "Written: " in place.run("-p", "/export here.md", "--resume", name).out
        assert (place.project / "here.md").exists()


def call(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, text: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": text}]


HUNK = {"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 1, "lines": ["-old line", "+new line"]}


@pytest.mark.parametrize(
    ("stored", "diff"),
    [
        ({"structuredPatch": [HUNK]}, ["@@ -3,1 +3,1 @@", "-old line", "+new line"]),
        ("Updated", ["-old line", "+new line"]),
    ],
)
def test_sessions_of_claude_code_alike(tmp_path: Path, stored: Any, diff: list[str]) -> None:
    place = Place(tmp_path)
    edit = call("t1", "Edit", file_path="b.py", old_string="old line", new_string="new line")
    ask = call("t2", "AskUserQuestion", questions=[QUESTION])
    answered = {"questions": [QUESTION], "answers": {"Which colour?": "Red"}}
    lines = [
        claude_user("u1", None, "fix it"),
        claude_reply("a1", "u1", edit, "m1"),
        claude_reply("a2", "a1", ask, "m1"),
        claude_user("r1", "a1", result("t1", "The file was updated."), toolUseResult=stored),
        claude_user("r2", "a2", result("t2", "User has answered: Red"), toolUseResult=answered),
    ]
    path = jsonl(place.project / "x.jsonl", lines)
    shown = place.run("show", str(path)).out + "\n"
    assert below(shown, "* Edit(b.py)") == diff
    assert [line for line in shown.splitlines() if line.strip() == "= Red"]
    assert json.dumps(answered) not in shown


def test_an_id_that_is_used_twice_names_two_calls(tmp_path: Path) -> None:
    build = Builder("codex", "s")
    for word in ("first", "second"):
        build.call("call_0", "Bash", {"command": word})
        build.result("call_0", f"output of {word}")
    blocks = list(plain(build.transcript(tmp_path / "x", []).entries))
    assert blocks == ["* Bash(first)\n   output of first", "* Bash(second)\n   output of second"]
