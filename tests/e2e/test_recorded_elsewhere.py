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


RECORD = json.dumps({"task_id": "b1", "description": "Build the project", "task_type": "local_bash"})


@pytest.mark.parametrize(
    "lines",
    [
        [operation("enqueue", content=RECORD)],
        [queued("q1", "a9", RECORD)],
        [claude_user("q1", "a9", RECORD)],
        [operation("enqueue", content='<cross-session-message from="x">Build the project</cross-session-message>')],
    ],
    ids=["queue", "attachment", "message", "another session"],
)
def test_a_record_of_a_background_command_is_not_a_prompt(tmp_path: Path, lines: list[Json]) -> None:
    place = Place(tmp_path)
    done = claude_reply("a9", "a1", words("The parser is fixed."), "m9")
    begin = [claude_user("u1", None, "fix the parser"), claude_reply("a1", "u1", words("on it"))]
    name = claude(place, [*begin, done, *lines])
    told = recap(place, name)
    assert "Build the project" not in json.dumps(told)
    assert (told["goal"], told["last_request"]) == ("fix the parser", "")
    assert told["state"] in ("idle", "finished"), told
    assert "Build the project" not in sent(place, name)


def test_pasted_json_is_a_prompt(tmp_path: Path) -> None:
    place = Place(tmp_path)
    pasted = json.dumps({"task_id": "b1", "error": "no such table", "retries": 3})
    lines = [claude_user("u1", None, "fix the parser"), claude_reply("a1", "u1", words("on it"))]
    name = claude(place, [*lines, operation("enqueue", content=pasted)])
    assert "no such table" in recap(place, name)["last_request"]


def test_only_what_a_person_or_the_agent_said_is_sent_on(tmp_path: Path) -> None:
    place = Place(tmp_path)
    local = claude_reply("a2", "m7", words("No response requested."), "m2")
    local["message"]["model"] = "<synthetic>"
    lines = [
        claude_user("m1", None, "Caveat: The messages below were generated by the user while running local commands"),
        claude_user("m2", "m1", "<command-name>/model</command-name><command-args></command-args>"),
        claude_user("m3", "m2", "<local-command-stdout>Kept model as opusplan</local-command-stdout>"),
        claude_user("u1", "m3", "<command-name>/tidy</command-name><command-args>the lexer</command-args>"),
        claude_user("m4", "u1", "EXPANSION of a command of theirs", isMeta=True),
        claude_reply("a1", "m4", words("Tidied.")),
        claude_user("m5", "a1", "<bash-input>git status</bash-input>"),
        claude_user("m6", "m5", "<bash-stdout>nothing to commit</bash-stdout>"),
        claude_user(
            "m7", "m6", "<task-notification><task-id>b1</task-id><status>completed</status></task-notification>"
        ),
        local,
        claude_user("u2", "a2", "<system-reminder>REMINDER</system-reminder>\nnow the parser"),
    ]
    body = sent(place, claude(place, lines))
    for said in ("/tidy the lexer", "Tidied.", "! git status", "nothing to commit", "now the parser"):
        assert said in body, said
    for written in ("Caveat", "/model", "opusplan", "EXPANSION", "task-notification", "No response", "REMINDER"):
        assert written not in body, written


def test_codex_instructions_and_environment_stay_behind(tmp_path: Path) -> None:
    place = Place(tmp_path)

    def item(role: str, text: str) -> Json:
        payload = {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
        return {"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": payload}

    meta = {"id": SESSION, "timestamp": "2026-03-01T10:00:00Z", "cwd": "/x", "cli_version": "0.120.0"}
    lines = [
        {"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": meta},
        item("developer", "<permissions instructions>danger-full-access</permissions instructions>"),
        item("user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>always use tabs</INSTRUCTIONS>"),
        item("user", "<environment_context><cwd>/x</cwd></environment_context>"),
        item("user", "rename the module"),
    ]
    path = place.project / "rollout-2026-03-01T10-00-00-x.jsonl"
    jsonl(path, lines)
    body = sent(place, str(path))
    assert "rename the module" in body
    for written in ("danger-full-access", "always use tabs", "environment_context"):
        assert written not in body, written


@pytest.mark.parametrize(
    "first",
    [
        claude_user("u1", None, "count the TODO lines", isSidechain=True, agentId="a1"),
        claude_user(
            "u1",
            None,
            '<teammate-message teammate_id="lead" summary="Count">\ncount the TODO lines\n</teammate-message>',
            isSidechain=True,
        ),
        claude_user("u1", None, "count the TODO lines", isSidechain=True, isMeta=True),
    ],
    ids=["plain", "teammate", "hidden"],
)
def test_a_sub_agents_file_tells_its_task(tmp_path: Path, first: Json) -> None:
    place = Place(tmp_path)
    path = place.project / "agent-a1b2c3d4.jsonl"
    jsonl(path, [first, claude_reply("a1", "u1", words("There are 7."), isSidechain=True)])
    assert recap(place, str(path))["goal"] == "count the TODO lines"
    assert "> count the TODO lines" in place.run("show", str(path)).out
    beside = path.with_name("agent-a1b2c3d4.meta.json")
    beside.write_text(json.dumps({"agentType": "Explore", "description": "Count TODOs"}))
    assert recap(place, str(beside))["goal"] == "count the TODO lines"
    alone = path.with_name("agent-b2c3d4e5.meta.json")
    alone.write_text(beside.read_text())
    assert recap(place, str(alone))["goal"] == "Count TODOs"
