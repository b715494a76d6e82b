"""Codex: three generations of rollouts, texts that are written twice, patches, compaction, cut turns, threads."""

from pathlib import Path

import pytest

from clew.foreign.registry import identify, read
from clew.protocol.entries import AssistantEntry, OpaqueEntry, SystemEntry, TurnResultEntry, UserEntry
from clew.protocol.usage import Usage

from .looks import calls, hidden, notes, prompts, results, said
from .samples_lines import CODEX_ID, PATCH, codex, codex_line
from .writing import ANSWER, GOAL, Json, jsonl, whole


def item(kind: str, **fields: object) -> Json:
    return codex_line("response_item", {"type": kind, **fields})


def message(role: str, text: str) -> Json:
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def event(kind: str, **fields: object) -> Json:
    return codex_line("event_msg", {"type": kind, **fields})


META = codex_line("session_meta", {"id": CODEX_ID, "cwd": "/x", "timestamp": "2026-04-01T09:00:00.000Z"})


def test_a_turn_with_a_patch_and_a_failing_command(tmp_path: Path) -> None:
    transcript = read(codex(tmp_path))
    assert transcript.session_id == CODEX_ID
    assert (transcript.meta.cwd, transcript.meta.branch, transcript.meta.model) == (
        "/home/sam/fetcher",
        "main",
        "gpt-5.4",
    )
    assert prompts(transcript) == [GOAL]
    assert said(transcript) == [ANSWER]
    assert [(call.id, call.name) for call in calls(transcript)] == [("c1", "Edit"), ("c1#2", "Write"), ("c2", "Bash")]
    assert results(transcript)[0] == ("c1", "Success.", False)
    assert results(transcript)[2] == ("c2", "Exit code 1\n1 failed", True)
    shown = [
        entry.tool_use_result for entry in transcript.entries if isinstance(entry, UserEntry) and entry.tool_use_result
    ]
    assert shown[-1]["display"][0]["exit_code"] == 1
    replies = [entry for entry in transcript.entries if isinstance(entry, AssistantEntry)]
    assert replies[-1].message.usage == Usage(input_tokens=40, output_tokens=9, cache_read_input_tokens=60)
    assert [entry.reason for entry in transcript.entries if isinstance(entry, TurnResultEntry)] == ["completed"]


def test_a_text_said_twice_by_the_user_is_kept_twice(tmp_path: Path) -> None:
    lines = [META, message("user", "again"), event("user_message", message="again")]
    path = jsonl(tmp_path / "x.jsonl", [*lines, message("user", "again"), event("user_message", message="again")])
    assert prompts(read(path)) == ["again", "again"]


def test_wrapped_and_bare_forms_of_one_prompt_are_one(tmp_path: Path) -> None:
    wrapped = "# Context from my IDE setup:\n\n## My request for Codex:\nfix it\n"
    path = jsonl(tmp_path / "x.jsonl", [META, message("user", wrapped), event("user_message", message=wrapped)])
    assert prompts(read(path)) == ["fix it"]


def test_injected_texts_are_not_typed(tmp_path: Path) -> None:
    injected = ["# AGENTS.md instructions for /x\n<INSTRUCTIONS>", "<environment_context>\n<cwd>/x</cwd>"]
    path = jsonl(
        tmp_path / "x.jsonl", [META, *(message("user", text) for text in injected), message("developer", "rules")]
    )
    transcript = read(path)
    assert prompts(transcript) == []
    assert hidden(transcript) == [*injected, "rules"]


def test_interruptions_errors_and_cut_turns(tmp_path: Path) -> None:
    start = [META, event("task_started"), message("user", "go")]
    aborted = jsonl(
        tmp_path / "a.jsonl", [*start, message("user", "<turn_aborted>x"), event("turn_aborted", reason="interrupted")]
    )
    assert notes(read(aborted)) == ["interrupted"]
    cut = read(jsonl(tmp_path / "b.jsonl", start))
    assert [entry.data for entry in cut.entries if isinstance(entry, SystemEntry)] == [{"kind": "cut_off"}]
    limited = read(jsonl(tmp_path / "c.jsonl", [*start, event("error", message="Rate limit exceeded")]))
    assert notes(limited) == ["api_error"]
    assert [entry.error for entry in limited.entries if isinstance(entry, TurnResultEntry)] == ["Rate limit exceeded"]
    retried = read(
        jsonl(tmp_path / "d.jsonl", [*start, event("stream_error", message="retrying"), event("task_complete")])
    )
    assert [entry.reason for entry in retried.entries if isinstance(entry, TurnResultEntry)] == ["completed"]


def test_a_compaction_is_a_boundary_with_what_was_kept(tmp_path: Path) -> None:
    kept = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the old wish"}]}]
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            META,
            message("user", "the old wish"),
            codex_line("compacted", {"message": "", "replacement_history": kept}),
            message("user", "go on"),
        ],
    )
    transcript = read(path)
    assert notes(transcript) == ["compact_boundary"]
    boundary = next(entry for entry in transcript.entries if isinstance(entry, SystemEntry))
    assert boundary.parent_uuid is None
    assert boundary.logical_parent_uuid is not None
    summary = [e.message.content for e in transcript.entries if isinstance(e, UserEntry) and e.is_compact_summary]
    assert summary == ["the old wish"]
    assert prompts(transcript) == ["the old wish", "go on"]


def test_threads_of_sub_agents_name_their_parent(tmp_path: Path) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "p1", "depth": 1, "agent_nickname": "Ada"}}}
    own = codex_line("session_meta", {"id": "child", "cwd": "/x", "source": spawn})
    parents = codex_line("session_meta", {"id": "p1", "cwd": "/y"})
    transcript = read(jsonl(tmp_path / "x.jsonl", [own, parents, message("user", "look")]))
    assert transcript.session_id == "child"
    assert transcript.meta.is_subagent
    assert (transcript.meta.parent_session, transcript.meta.agent_name) == ("p1", "Ada")


def test_lines_without_envelope(tmp_path: Path) -> None:
    context = [{"type": "input_text", "text": "<environment_context>\n<cwd>/proj</cwd>\n</environment_context>"}]
    path = jsonl(
        tmp_path / "rollout-2025-08-01T10-00-00-0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee.jsonl",
        [
            {"id": "old", "timestamp": "2025-08-01T10:00:00.000Z", "instructions": None, "git": {"branch": "dev"}},
            {"type": "message", "role": "user", "content": context},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": GOAL}]},
            {"type": "function_call", "name": "shell", "arguments": "{oops", "call_id": "c1"},
            {"type": "function_call_output", "call_id": "c1", "output": "bad arguments"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
        ],
    )
    assert identify(path) == "codex"
    transcript = read(path)
    assert (transcript.session_id, transcript.meta.cwd, transcript.meta.branch) == ("old", "/proj", "dev")
    assert prompts(transcript) == [GOAL]
    assert [(call.name, call.arguments, call.raw_arguments) for call in calls(transcript)] == [("shell", {}, "{oops")]


def test_the_typescript_program(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"cmd": ["ls"]}'}}
    value = {
        "session": {"timestamp": "2025-04-20T10:00:00.000Z", "id": "ts-1", "instructions": ""},
        "items": [
            {"role": "user", "content": [{"type": "input_text", "text": GOAL}], "type": "message"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
            {"role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
        ],
    }
    path = whole(tmp_path / "rollout-2025-04-20-ts-1.json", value)
    assert identify(path) == "codex"
    transcript = read(path)
    assert transcript.session_id == "ts-1"
    assert prompts(transcript) == [GOAL]
    assert results(transcript) == [("c1", "a.py", False)]


def test_a_patch_told_only_by_its_event_is_still_an_edit(tmp_path: Path) -> None:
    changes = {
        "/x/a.py": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-a\n+b\n+c\n"},
        "/x/n.py": {"add": {"content": "one\n"}},
    }
    path = jsonl(
        tmp_path / "x.jsonl", [META, event("patch_apply_end", call_id="p1", success=True, stdout="ok", changes=changes)]
    )
    transcript = read(path)
    assert [(call.name, call.arguments["file_path"]) for call in calls(transcript)] == [
        ("Edit", "/x/a.py"),
        ("Write", "/x/n.py"),
    ]
    shown = [entry.tool_use_result["display"][0] for entry in transcript.entries if isinstance(entry, UserEntry)]
    assert [(block["path"], block["added"], block["removed"]) for block in shown] == [
        ("/x/a.py", 2, 1),
        ("/x/n.py", 1, 0),
    ]


def test_unknown_records_are_kept_verbatim(tmp_path: Path) -> None:
    odd = codex_line("world_state", {"full": True})
    path = jsonl(tmp_path / "x.jsonl", [META, odd, event("collab_spawn_end", agent="a"), message("user", "go")])
    kept = [entry for entry in read(path).entries if isinstance(entry, OpaqueEntry)]
    assert [entry.type for entry in kept] == ["world_state", "event_msg.collab_spawn_end"]
    assert kept[0].raw == odd


def test_turns_that_were_rolled_back_are_apart(tmp_path: Path) -> None:
    lines = [META, message("user", "one"), message("user", "two"), message("assistant", "done wrongly")]
    path = jsonl(
        tmp_path / "x.jsonl", [*lines, event("thread_rolled_back", num_turns=1), message("user", "two, rightly")]
    )
    transcript = read(path)
    assert prompts(transcript) == ["one", "two, rightly"]
    assert said(transcript) == []
    assert len(transcript.abandoned) == 2


def test_the_diffs_of_a_patch_go_to_the_calls_of_their_files(tmp_path: Path) -> None:
    changes = {
        "/x/retry.py": {"type": "add", "content": "TRIES = 3\n"},
        "/x/fetch.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-get()\n+get(retry=3)"},
    }
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            META,
            item("custom_tool_call", name="apply_patch", input=PATCH, call_id="c1"),
            event("patch_apply_end", call_id="c1", success=True, changes=changes),
            item("custom_tool_call_output", call_id="c1", output="ok"),
        ],
    )
    shown = [e.tool_use_result["display"] for e in read(path).entries if isinstance(e, UserEntry)]
    assert [[block["path"] for block in blocks] for blocks in shown] == [["/x/fetch.py"], ["/x/retry.py"]]


@pytest.mark.parametrize(
    "words",
    [
        "apply_patch verification failed: Failed to find expected lines in a.py",
        "patch rejected by user",
        "exec command rejected by user",
        "aborted by user after 32.1s",
    ],
)
def test_a_call_that_came_to_nothing_failed(tmp_path: Path, words: str) -> None:
    lines = [
        META,
        message("user", "Change them"),
        item("custom_tool_call", name="apply_patch", input=PATCH, call_id="c1"),
        item("custom_tool_call_output", call_id="c1", output=words),
    ]
    transcript = read(jsonl(tmp_path / f"rollout-2026-04-01T09-00-00-{CODEX_ID}.jsonl", lines))
    assert results(transcript) == [("c1", words, True), ("c1#2", words, True)]
