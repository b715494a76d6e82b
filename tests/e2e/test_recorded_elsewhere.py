"""What other agents recorded is not lost: seen through the real `sessions`, `show`, `recap`, `ledger`, `export` and
`--resume`."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer
from unit.foreign.samples import SAMPLES
from unit.foreign.samples_lines import claude_reply, claude_user
from unit.foreign.test_claude_recorded import (
    NOTE,
    PLAN,
    agent_in_background,
    answer,
    call,
    compacted,
    operation,
    queued,
    turns,
    words,
)
from unit.foreign.writing import Json, jsonl

SESSION = "11111111-2222-4333-8444-555555555555"


def claude(place: Place, lines: list[Json]) -> str:
    """A session of Claude Code in its place; its id."""
    jsonl(place.home / ".claude" / "projects" / "-home-sam-fetcher" / f"{SESSION}.jsonl", lines)
    return SESSION


def recap(place: Place, name: str) -> dict[str, Any]:
    done = place.run("recap", name, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def sent(place: Place, name: str) -> str:
    """What a model gets to see when the session is gone on with."""
    with ModelServer([{"text": "Gone on."}]) as server:
        done = place.run("-p", "go on please", "--resume", name, env={"ANTHROPIC_BASE_URL": server.url})
        assert done.out == "Gone on.\n", done.err
        return json.dumps(server.requests[0].body["messages"], ensure_ascii=False)


def test_a_prompt_queued_while_the_agent_worked(tmp_path: Path) -> None:
    place = Place(tmp_path)
    lines = turns((call("t1", "Bash", command="pytest -q"), answer("t1", "3 passed"), None))
    lines += [
        queued("q1", "r10", "and translate the labels", commandMode="prompt", origin={"kind": "human"}),
        claude_reply("a9", "q1", words("Both are done."), "m9"),
        operation("enqueue", content="then tidy up"),
    ]
    name = claude(place, lines)
    assert recap(place, name)["last_request"].endswith("then tidy up")
    for command in (["show"], ["export"], ["ledger"]):
        out = place.run(*command, name).out
        assert "and translate the labels" in out, command
        assert "then tidy up" in out, command
    assert place.run("show", "translate labels").code == 0, "found by words that were queued"
    assert "and translate the labels" in sent(place, name)


def test_a_task_list_that_is_spread_over_calls(tmp_path: Path) -> None:
    place = Place(tmp_path)
    lines = turns(
        (call("t1", "TaskCreate", subject="Read the code"), answer("t1", "Task #1 created successfully"), None),
        (call("t2", "TaskCreate", subject="Fix the lexer"), answer("t2", "Task #2 created successfully"), None),
        (call("t3", "TaskUpdate", taskId="1", status="completed"), answer("t3"), None),
    )
    told = recap(place, claude(place, lines))
    assert "Fix the lexer" in told["next_step"]
    assert "Read the code" not in told["next_step"]


def test_a_plan_and_that_it_was_approved(tmp_path: Path) -> None:
    place = Place(tmp_path)
    approved = answer("t2", f"User has approved your plan.\n\n## Approved Plan:\n{PLAN}")
    name = claude(place, turns((call("t2", "ExitPlanMode"), approved, None)))
    assert "2. fix" in place.run("show", name).out
    assert "plan" in place.run("ledger", name).out
    assert "2. fix" in sent(place, name)


@pytest.mark.parametrize(("notice", "ended"), [(NOTE, True), (NOTE.replace("completed", "running"), False)])
def test_the_notice_that_an_agent_ended(tmp_path: Path, notice: str, ended: bool) -> None:
    place = Place(tmp_path)
    begin = [claude_user("u1", None, "fix the parser"), claude_reply("a1", "u1", words("on it"))]
    note = queued("q1", "r1", notice, commandMode="task-notification")
    out = place.run("ledger", claude(place, [*begin, *agent_in_background(), note])).out
    (line,) = [line for line in out.splitlines() if "look around" in line and line.startswith("agent")]
    assert ("completed" in line) == ended, line


def test_what_a_compaction_kept_word_for_word(tmp_path: Path) -> None:
    place = Place(tmp_path)
    kept = {"preservedSegment": {"headUuid": "u2", "anchorUuid": "s1", "tailUuid": "a4"}}
    path = place.project / "kept.jsonl"
    jsonl(path, compacted(kept))
    body = sent(place, str(path))
    order = [body.index(text) for text in ("the summary", "second", "of a", "of b", "read both", "go on")]
    assert order == sorted(order)
    assert '"first"' not in body


@pytest.mark.parametrize("name", ["aider", "cursor_export", "specstory"])
def test_histories_in_the_working_directory(tmp_path: Path, name: str) -> None:
    place = Place(tmp_path)
    agent, make = SAMPLES[name]
    source = make(tmp_path / "elsewhere")
    if name == "specstory":
        shutil.copytree(source.parents[1], place.project / ".specstory")
    else:
        shutil.copy(source, place.project / (".aider.chat.history.md" if name == "aider" else source.name))
    rows = json.loads(place.run("sessions", "--agent", agent, "--json").out)
    assert rows
    for row in rows:
        assert recap(place, row["session_id"])["agent"] == agent
    assert "go on please" in sent(place, rows[0]["session_id"])


def test_a_run_of_mini_swe_agent_that_is_a_bare_list(tmp_path: Path) -> None:
    place = Place(tmp_path)
    messages = [
        {"role": "system", "content": "You are a helpful assistant that can interact with a shell."},
        {"role": "user", "content": "Please solve this issue: the parser drops the last line"},
        {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\nparser.py\n</output>"},
    ]
    (place.project / "run.traj.json").write_text(json.dumps(messages))
    (row,) = json.loads(place.run("sessions", "--json").out)
    assert row["agent"] == "mini_swe_agent"
    assert "the parser drops the last line" in recap(place, row["session_id"])["goal"]
    assert "parser.py" in sent(place, row["session_id"])
