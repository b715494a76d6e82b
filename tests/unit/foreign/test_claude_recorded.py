"""Claude Code: its queue, task lists kept by calls, plans in files, notices, segments that a boundary keeps."""

from pathlib import Path
from typing import Any

import pytest

from clew.foreign.registry import read
from clew.foreign.seed import to_clew_session
from clew.ledger.fold import fold
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.messages import ToolCallPart, parts_of, text_of
from clew.transcript.chain.chain import build_chain

from .looks import calls, chain_is_whole, hidden, prompts
from .samples_lines import claude_line, claude_reply, claude_user
from .writing import Json, jsonl


def words(text: str) -> Json:
    return {"type": "text", "text": text}


def call(call_id: str, name: str, **arguments: object) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def answer(call_id: str, text: str = "ok", *, is_error: bool = False) -> list[Json]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": is_error}]


def queued(uuid: str, parent: str, prompt: object, **fields: object) -> Json:
    return claude_line("attachment", uuid, parent, attachment={"type": "queued_command", "prompt": prompt, **fields})


def operation(kind: str, **fields: object) -> Json:
    return {
        "type": "queue-operation",
        "operation": kind,
        "timestamp": "2026-03-01T10:00:05.000Z",
        "sessionId": "s",
    } | fields


BEGIN = [claude_user("u1", None, "fix the parser"), claude_reply("a1", "u1", words("on it"))]


def test_a_prompt_typed_while_the_agent_worked_is_a_prompt(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            *BEGIN,
            operation("enqueue", content="and add a test"),
            operation("remove", content="and add a test"),
            queued("q1", "a1", "and add a test", commandMode="prompt", origin={"kind": "human"}),
            claude_reply("a2", "q1", words("both done"), "msg_2"),
        ],
    )
    transcript = read(path)
    assert prompts(transcript) == ["fix the parser", "and add a test"]
    assert chain_is_whole(transcript)
    ledger = fold(transcript.entries)
    assert ledger.last_request is not None
    assert ledger.last_request.text == "and add a test"
    seeded = to_clew_session(transcript, "new", "/here")
    assert "and add a test" in [text_of(e.message.content) for e in seeded if isinstance(e, UserEntry)]


def test_pictures_and_wrappers_of_a_queued_prompt_are_read_like_any_prompt(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    prompt = [words("<system-reminder>x</system-reminder>"), words("look at this"), image]
    path = jsonl(tmp_path / "x.jsonl", [*BEGIN, queued("q1", "a1", prompt)])
    transcript = read(path)
    assert prompts(transcript) == ["fix the parser", "look at this"]
    last = transcript.entries[-1]
    assert isinstance(last, UserEntry)
    assert len(parts_of(last.message)) == 2


NOTE = (
    "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>t1</tool-use-id>\n"
    "<status>completed</status></task-notification>"
)


@pytest.mark.parametrize(
    "line",
    [
        queued("q1", "r1", NOTE, commandMode="task-notification"),
        queued("q1", "r1", NOTE),
        queued("q1", "r1", "finished: t1", origin={"kind": "task-notification"}),
        claude_user("q1", "r1", NOTE),
    ],
)
def test_what_a_program_queued_is_not_a_prompt(tmp_path: Path, line: Json) -> None:
    path = jsonl(tmp_path / "x.jsonl", [*BEGIN, *agent_in_background(), line])
    transcript = read(path)
    assert prompts(transcript) == ["fix the parser"]
    assert len(hidden(transcript)) == 1


def agent_in_background() -> list[Json]:
    launched = "Async agent launched successfully.\nagentId: a1 (internal ID)"
    return [
        claude_reply(
            "a2", "a1", call("t1", "Task", description="look around", prompt="go", subagent_type="Explore"), "m2"
        ),
        claude_user("r1", "a2", answer("t1", launched)),
    ]


@pytest.mark.parametrize(
    ("line", "standing"),
    [
        (queued("q1", "r1", NOTE, commandMode="task-notification"), "completed"),
        (claude_user("q1", "r1", NOTE.replace("<tool-use-id>t1</tool-use-id>\n", "")), "completed"),
        (claude_user("q1", "r1", NOTE.replace("completed", "killed")), "failed"),
        (claude_user("q1", "r1", NOTE.replace("completed", "running")), "working"),
        (claude_user("q1", "r1", NOTE.replace("t1<", "t9<").replace("a1<", "a9<")), "working"),
        (operation("enqueue", content=NOTE), "completed"),
    ],
)
def test_notices_end_the_agent_they_name(tmp_path: Path, line: Json, standing: str) -> None:
    transcript = read(jsonl(tmp_path / "x.jsonl", [*BEGIN, *agent_in_background(), line]))
    (agent,) = fold(transcript.entries, held=True).agents
    assert agent.standing == standing


def test_asking_for_an_agents_output_tells_that_it_ended(tmp_path: Path) -> None:
    told = (
        "<retrieval_status>success</retrieval_status>\n<task_id>a1</task_id>\n<status>{}</status>\n<output>x</output>"
    )
    lines = [*BEGIN, *agent_in_background()]
    lines += [
        claude_reply("a3", "r1", call("t2", "TaskOutput", task_id="a1"), "m3"),
        claude_user("r2", "a3", answer("t2", told.format("in_progress"))),
    ]
    assert fold(read(jsonl(tmp_path / "x.jsonl", lines)).entries, held=True).agents[0].standing == "working"
    lines += [
        claude_reply("a4", "r2", call("t3", "TaskOutput", task_id="a1"), "m4"),
        claude_user("r3", "a4", answer("t3", told.format("completed"))),
    ]
    assert fold(read(jsonl(tmp_path / "y.jsonl", lines)).entries, held=True).agents[0].standing == "completed"


def test_what_still_waits_at_the_end_is_the_last_request(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            *BEGIN,
            operation("enqueue", content="first"),
            operation("enqueue", content=[words("<ide_selection>y</ide_selection>"), words("second")]),
            operation("dequeue"),
            claude_user("u2", "a1", "first"),
        ],
    )
    transcript = read(path)
    assert prompts(transcript) == ["fix the parser", "first", "second"]
    assert chain_is_whole(transcript)
    assert transcript.entries == read(path).entries
    last = fold(transcript.entries).last_request
    assert last is not None
    assert last.text == "second"


@pytest.mark.parametrize(
    "after",
    [
        [operation("popAll")],
        [operation("remove", content="never mind")],
        [claude_user("u2", "a1", "never mind")],
        [claude_user("u2", "a1", "something else, a day later")],
    ],
)
def test_what_was_taken_back_or_sent_does_not_wait(tmp_path: Path, after: list[Json]) -> None:
    transcript = read(jsonl(tmp_path / "x.jsonl", [*BEGIN, operation("enqueue", content="never mind"), *after]))
    typed = [text_of(e["message"]["content"]) for e in after if e["type"] == "user"]
    assert prompts(transcript) == ["fix the parser", *typed]


def turns(*pairs: tuple[Json, list[Json], Any]) -> list[Json]:
    lines, parent = list(BEGIN), "a1"
    for number, (part, result, data) in enumerate(pairs, 10):
        lines.append(claude_reply(f"c{number}", parent, part, f"m{number}"))
        lines.append(claude_user(f"r{number}", f"c{number}", result, toolUseResult=data))
        parent = f"r{number}"
    return lines


def todos(entries: tuple[Entry, ...]) -> list[tuple[str, str]]:
    found = fold(entries).todos
    return [(item.content, item.status) for item in found.items] if found else []


def test_a_task_list_kept_by_calls_is_a_task_list(tmp_path: Path) -> None:
    lines = turns(
        (
            call("t1", "TaskCreate", subject="Read the code", activeForm="Reading"),
            answer("t1", "Task #1 created successfully: Read"),
            None,
        ),
        (
            call("t2", "TaskCreate", subject="Fix it"),
            answer("t2", "created"),
            {"task": {"id": "2", "subject": "Fix it"}},
        ),
        (call("t3", "TaskCreate", subject="Never made"), answer("t3", "no", is_error=True), None),
        (call("t4", "TaskUpdate", taskId="1", status="completed"), answer("t4"), None),
        (call("t5", "TaskUpdate", taskId=2, status="in_progress", subject="Fix the parser"), answer("t5"), None),
        (call("t6", "TaskUpdate", taskId="2", status="completed"), answer("t6", "x"), {"success": False}),
        (call("t7", "TaskUpdate", taskId="77", status="completed"), answer("t7"), None),
    )
    transcript = read(jsonl(tmp_path / "x.jsonl", lines))
    assert todos(transcript.entries) == [("Read the code", "completed"), ("Fix the parser", "in_progress")]
    first = calls(transcript)[0]
    assert first.name == "TodoWrite"
    assert first.data == {
        "foreign": {"name": "TaskCreate", "arguments": {"subject": "Read the code", "activeForm": "Reading"}}
    }
    assert [part.name for part in calls(transcript)] == [
        "TodoWrite",
        "TodoWrite",
        "TaskCreate",
        "TodoWrite",
        "TodoWrite",
        "TaskUpdate",
        "TaskUpdate",
    ]


def test_deleted_tasks_leave_and_an_emptied_list_is_none(tmp_path: Path) -> None:
    lines = turns(
        (call("t1", "TaskCreate", subject="One"), answer("t1", "Task #1 created"), None),
        (call("t2", "TaskCreate", subject="Two"), answer("t2", "Task #2 created"), None),
        (call("t3", "TaskUpdate", taskId="1", status="deleted"), answer("t3"), None),
    )
    assert todos(read(jsonl(tmp_path / "x.jsonl", lines)).entries) == [("Two", "pending")]
    lines += turns((call("t4", "TaskUpdate", taskId="2", status="deleted"), answer("t4"), None))[2:]
    lines[-2]["uuid"], lines[-1]["uuid"], lines[-2]["parentUuid"], lines[-1]["parentUuid"] = "y1", "y2", "r12", "y1"
    assert todos(read(jsonl(tmp_path / "y.jsonl", lines)).entries) == []


def test_tasks_of_an_earlier_session_are_known_from_what_the_program_lists(tmp_path: Path) -> None:
    listed = {"tasks": [{"id": "4", "subject": "Ship it", "status": "pending", "blockedBy": []}]}
    lines = turns(
        (call("t1", "TaskList"), answer("t1", "#4 [pending] Ship it"), listed),
        (call("t2", "TaskUpdate", taskId="4", status="in_progress"), answer("t2"), None),
    )
    assert todos(read(jsonl(tmp_path / "x.jsonl", lines)).entries) == [("Ship it", "in_progress")]
    reminder = {"type": "task_reminder", "content": [{"id": "5", "subject": "Tell all", "status": "pending"}]}
    lines = [*BEGIN, claude_line("attachment", "q1", "a1", attachment=reminder)]
    lines += [
        claude_reply("a2", "q1", call("t1", "TaskUpdate", taskId="5", status="completed"), "m2"),
        claude_user("r1", "a2", answer("t1")),
    ]
    assert todos(read(jsonl(tmp_path / "y.jsonl", lines)).entries) == [("Tell all", "completed")]


PLAN = "# Plan\n1. read\n2. fix"
SAVED = "/home/sam/.claude/plans/quiet-fox.md"


@pytest.mark.parametrize(
    ("result", "data", "approved"),
    [
        (answer("t2", "User has approved your plan."), {"plan": PLAN, "filePath": SAVED}, True),
        (answer("t2", f"User has approved your plan.\n\n## Approved Plan:\n{PLAN}"), None, True),
        (answer("t2", "The user doesn't want to proceed with this tool use.", is_error=True), None, False),
    ],
)
def test_a_plan_kept_in_a_file_is_the_plan(tmp_path: Path, result: list[Json], data: Any, approved: bool) -> None:
    lines = turns(
        (call("t0", "Write", file_path=SAVED, content="# Plan\n1. look\n2. fix"), answer("t0"), None),
        (call("t1", "Edit", file_path=SAVED, old_string="look", new_string="read"), answer("t1"), None),
        (call("t2", "ExitPlanMode"), result, data),
    )
    transcript = read(jsonl(tmp_path / "x.jsonl", lines))
    assert calls(transcript)[-1].arguments == {"plan": PLAN}
    plan = fold(transcript.entries).plan
    assert plan is not None
    assert plan.text == PLAN
    assert (plan.approved is True) == approved


def test_a_plan_attached_after_a_compaction_is_read_and_not_typed(tmp_path: Path) -> None:
    attachment = {"type": "plan_file_reference", "planFilePath": SAVED, "planContent": PLAN}
    transcript = read(
        jsonl(tmp_path / "x.jsonl", [*BEGIN, claude_line("attachment", "q1", "a1", attachment=attachment)])
    )
    assert prompts(transcript) == ["fix the parser"]
    assert hidden(transcript) == [f"The plan in {SAVED}:\n\n{PLAN}"]


def compacted(metadata: Json, *, next_parent: str = "s1") -> list[Json]:
    """Two turns, the second with parallel calls, then a boundary."""
    return [
        claude_user("u1", None, "first"),
        claude_reply("a1", "u1", words("ok")),
        claude_user("u2", "a1", "second"),
        claude_reply("a2", "u2", call("t1", "Read", file_path="a"), "m2"),
        claude_reply("a3", "a2", call("t2", "Read", file_path="b"), "m2"),
        claude_user("r1", "a2", answer("t1", "of a")),
        claude_user("r2", "a3", answer("t2", "of b")),
        claude_reply("a4", "r2", words("read both"), "m3"),
        claude_line("system", "b1", None, subtype="compact_boundary", logicalParentUuid="a4", compactMetadata=metadata),
        claude_user("s1", "b1", "the summary", isCompactSummary=True),
        claude_user("u3", next_parent, "go on"),
    ]


def in_view(entries: list[Entry]) -> list[str]:
    """What a model is sent of the seeded session, as short words."""
    found: list[str] = []
    for entry in build_chain(entries, session_id="new").entries:
        if isinstance(entry, UserEntry | AssistantEntry):
            for part in parts_of(entry.message):
                found.append(part.id if isinstance(part, ToolCallPart) else getattr(part, "text", "") or "result")
    return found


KEPT = ["second", "t1", "t2", "result", "result", "read both"]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (
            {"preservedSegment": {"headUuid": "u2", "anchorUuid": "s1", "tailUuid": "a4"}},
            ["the summary", *KEPT, "go on"],
        ),
        (
            {"preservedSegment": {"headUuid": "u2", "anchorUuid": "b1", "tailUuid": "a4"}},
            [*KEPT, "the summary", "go on"],
        ),
        ({"preservedMessages": {"uuids": ["u2", "a4"]}}, ["the summary", "second", "read both", "go on"]),
        ({"preservedSegment": {"headUuid": "gone", "anchorUuid": "s1", "tailUuid": "a4"}}, ["the summary", "go on"]),
        (
            {"preservedSegment": {"headUuid": "u2", "anchorUuid": "u1", "tailUuid": "a4"}},
            ["the summary", *KEPT, "go on"],
        ),
        ({"preservedSegment": "nonsense", "preservedMessages": [1]}, ["the summary", "go on"]),
        ({"preservedMessages": {"uuids": ["r1", "a4"]}}, ["the summary", "read both", "go on"]),
    ],
)
def test_what_a_boundary_kept_is_in_view_after_it(tmp_path: Path, metadata: Json, expected: list[str]) -> None:
    transcript = read(jsonl(tmp_path / "x.jsonl", compacted({"trigger": "auto", "preTokens": 9, **metadata})))
    assert prompts(transcript) == ["first", "second", "go on"]
    assert in_view(to_clew_session(transcript, "new", "/here")) == expected


def test_what_hangs_on_the_kept_segment_stands_behind_the_boundary(tmp_path: Path) -> None:
    metadata = {"preservedSegment": {"headUuid": "u2", "anchorUuid": "s1", "tailUuid": "a4"}}
    transcript = read(jsonl(tmp_path / "x.jsonl", compacted(metadata, next_parent="a4")))
    assert transcript.abandoned == ()
    assert in_view(to_clew_session(transcript, "new", "/here")) == ["the summary", *KEPT, "go on"]
