"""The other agents: what is particular to each format."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.foreign.registry import read, read_all
from clew.ledger.fold import fold
from clew.protocol.entries import AssistantEntry, CustomTitleEntry, TurnResultEntry, UserEntry
from clew.protocol.messages import ReasoningPart
from clew.protocol.usage import Usage

from .looks import calls, hidden, notes, prompts, results, said
from .samples_lines import GEMINI_ID, gemini_cli, gemini_jsonl, gemini_messages, qwen_code, qwen_line
from .samples_text import (
    aider,
    copilot_cli,
    cursor_agent,
    cursor_export,
    droid,
    mini_swe_agent,
    openclaw,
    pi,
    specstory,
    swe_agent,
)
from .samples_trees import kimi_code, kimi_context, kimi_wire, opencode_export, opencode_info, opencode_messages
from .writing import ANSWER, GOAL, jsonl, whole


def test_gemini_json(tmp_path: Path) -> None:
    transcript = read(gemini_cli(tmp_path))
    assert transcript.session_id == GEMINI_ID
    assert (transcript.meta.title, transcript.meta.cwd) == ("Retry for fetch", "/home/sam/fetcher")
    assert [(call.name, call.arguments) for call in calls(transcript)] == [("Read", {"file_path": "fetch.py"})]
    assert results(transcript) == [("read_file_1", "get()", False)]
    usages = [e.message.usage for e in transcript.entries if isinstance(e, AssistantEntry) and e.message.usage]
    assert usages == [Usage(input_tokens=30, output_tokens=10, cache_read_input_tokens=20)]


def test_gemini_labels_what_a_command_printed(tmp_path: Path) -> None:
    told = {"output": "Output: [main 2222bbb] Enable pricing\n 1 file changed\nProcess Group PGID: 7"}
    name = "run_shell_command"
    call = {"id": "s1", "name": name, "args": {"command": "git commit -m 'Enable pricing'"}, "status": "success"}
    first, reply = gemini_messages()
    ran = {**reply, "toolCalls": [call | {"result": [{"functionResponse": {"name": name, "response": told}}]}]}
    path = whole(
        tmp_path / "chats" / "session-1.json", {"sessionId": "x", "projectHash": "a", "messages": [first, ran]}
    )
    assert [commit.ref for commit in fold(read(path).entries).commits] == ["2222bbb"]


def test_gemini_lines_grow_and_are_rewound(tmp_path: Path) -> None:
    transcript = read(gemini_jsonl(tmp_path))
    assert prompts(transcript) == [GOAL]
    assert said(transcript) == [ANSWER]
    assert len(calls(transcript)) == 1
    assert transcript.meta.title == "Retry for fetch"


def test_gemini_cancelled_turns_errors_and_what_was_displayed(tmp_path: Path) -> None:
    expanded = {"id": "m0", "type": "user", "content": [{"text": "see @a\nlong file"}], "displayContent": "see @a"}
    rest = [
        {"id": "m8", "type": "info", "content": "Request cancelled."},
        {"id": "m9", "type": "error", "content": "429"},
    ]
    value = {"sessionId": "s", "projectHash": "p", "messages": [expanded, *gemini_messages(), *rest]}
    transcript = read(whole(tmp_path / "x.json", value))
    assert prompts(transcript) == ["see @a", GOAL]
    assert notes(transcript) == ["interrupted", "api_error"]


def test_qwen_follows_the_branch_in_view(tmp_path: Path) -> None:
    transcript = read(qwen_code(tmp_path))
    assert prompts(transcript) == [GOAL]
    assert results(transcript) == [("q1", "Exit Code: 2", True)]
    assert said(transcript) == [ANSWER]
    assert (transcript.meta.title, transcript.meta.model) == ("Retry", "qwen3-coder")


def test_qwen_notices_are_not_typed_and_turns_end(tmp_path: Path) -> None:
    user = {"role": "user", "parts": [{"text": "x"}]}
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            qwen_line("user", "1", None, message=user, subtype="notification"),
            qwen_line("system", "2", "1", subtype="turn_result", systemPayload={"state": "cancelled"}),
            qwen_line("system", "3", "2", subtype="chat_compression", systemPayload={"summary": "so far"}),
            qwen_line("system", "4", "3", subtype="something_new", systemPayload={"a": 1}),
        ],
    )
    transcript = read(path)
    assert prompts(transcript) == []
    assert notes(transcript) == ["interrupted", "compact_boundary"]
    assert [e.message.content for e in transcript.entries if isinstance(e, UserEntry) and e.is_compact_summary] == [
        "so far"
    ]


def test_opencode_export(tmp_path: Path) -> None:
    transcript = read(opencode_export(tmp_path))
    assert prompts(transcript) == [GOAL]
    assert hidden(transcript) == ["x"]
    assert [(call.name, call.arguments) for call in calls(transcript)] == [("Bash", {"command": "pytest -q"})]
    assert transcript.meta.started == "2026-02-25T06:13:20.000Z"
    replies = [entry for entry in transcript.entries if isinstance(entry, AssistantEntry)]
    assert replies[-1].message.usage == Usage(
        input_tokens=40, output_tokens=10, cache_creation_input_tokens=1, cache_read_input_tokens=5
    )


def test_opencode_errors_summaries_and_placeholder_titles(tmp_path: Path) -> None:
    (user, parts), _ = opencode_messages()
    aborted = {"role": "assistant", "error": {"name": "MessageAbortedError", "data": {"message": "Aborted"}}}
    failed = {"role": "assistant", "error": {"name": "APIError", "data": {"message": "overloaded"}}}
    summary = {"role": "assistant", "summary": True}
    messages = [
        {"info": user, "parts": parts},
        {"info": aborted, "parts": []},
        {"info": summary, "parts": [{"type": "text", "text": "so far"}]},
        {"info": failed, "parts": [{"type": "something-new", "a": 1}]},
    ]
    info = {**opencode_info(), "title": "New session - 2026-08-11T16:16:00.424Z", "parentID": "ses_parent"}
    transcript = read(whole(tmp_path / "x.json", {"info": info, "messages": messages}))
    assert notes(transcript) == ["interrupted", "compact_boundary", "api_error"]
    assert transcript.meta.title == ""
    assert transcript.meta.is_subagent


def test_opencode_diffs_are_shown(tmp_path: Path) -> None:
    change = {
        "filePath": "/x/a.py",
        "type": "update",
        "patch": "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b",
        "additions": 1,
        "deletions": 1,
    }
    patch = {"patchText": "*** Begin Patch\n*** Update File: /x/a.py\n-a\n+b\n*** End Patch"}
    state = {"status": "completed", "input": patch, "output": "ok", "metadata": {"files": [change]}}
    parts = [{"type": "tool", "tool": "apply_patch", "callID": "p1", "state": state}]
    value = {"info": opencode_info(), "messages": [{"info": {"role": "assistant"}, "parts": parts}]}
    transcript = read(whole(tmp_path / "x.json", value))
    assert [call.name for call in calls(transcript)] == ["Edit"]
    (shown,) = [e.tool_use_result for e in transcript.entries if isinstance(e, UserEntry)]
    assert shown["display"] == [
        {"kind": "diff", "path": "/x/a.py", "patch": "@@ -1 +1 @@\n-a\n+b", "added": 1, "removed": 1}
    ]


def test_aider_sessions(tmp_path: Path) -> None:
    first, second = read_all(aider(tmp_path))
    assert notes(first) == ["informational", "interrupted"]
    assert prompts(second) == [f"{GOAL}\nand keep it small"]
    assert hidden(second) == ["/add fetch.py"]
    assert said(second)[0].startswith("#### A heading of the answer")
    edit, commit = calls(second)
    assert edit.arguments == {"file_path": "fetch.py", "old_string": "get()", "new_string": "get(retry=3)"}
    assert commit.arguments == {"command": "git commit -m 'feat: retry'"}
    assert [failed for _, _, failed in results(second)] == [False, False]
    assert second.meta.cwd == str(tmp_path / "fetcher")
    assert second.meta.started == "2026-01-06T11:00:00.000Z"
    assert [entry.reason for entry in second.entries if isinstance(entry, TurnResultEntry)] == ["completed"]


def test_aider_edits_without_a_note_were_not_applied(tmp_path: Path) -> None:
    path = aider(tmp_path)
    path.write_text(path.read_text().replace("> Applied edit to fetch.py  \n", ""))
    assert results(read(path))[0][1:] == ("not applied", True)


def test_kimi_context_has_no_times_so_the_files_is_taken(tmp_path: Path) -> None:
    transcript = read(kimi_context(tmp_path))
    assert prompts(transcript) == [GOAL]
    assert hidden(transcript) == ["Compacted."]
    assert [call.name for call in calls(transcript)] == ["Bash"]
    assert transcript.meta.started[:2] == "20"
    reasoning = [e.message.content[0] for e in transcript.entries if isinstance(e, AssistantEntry)]
    assert isinstance(reasoning[0], ReasoningPart)


def test_kimi_wire_with_its_state(tmp_path: Path) -> None:
    path = kimi_wire(tmp_path)
    for given in (path, path.parent, path.parent / "state.json"):
        transcript = read(given)
        assert transcript.session_id == "44444444-0000"
        assert transcript.meta.title == "Retry"
        assert [call.name for call in calls(transcript)] == ["Read", "TodoWrite"]
        assert results(transcript)[0] == ("k1", "no", True)
        assert any(isinstance(entry, CustomTitleEntry) for entry in transcript.entries)
    (path.parent / "state.json").write_text("{broken")
    assert prompts(read(path)) == [GOAL]


def test_kimi_code_counts_a_prompt_once_and_undoes_turns(tmp_path: Path) -> None:
    path = kimi_code(tmp_path)
    transcript = read(path)
    assert prompts(transcript) == [GOAL]
    assert hidden(transcript) == ["be brief"]
    assert (transcript.session_id, transcript.meta.cwd) == ("session_55555555", "/home/sam/fetcher")
    with path.open("a") as handle:
        handle.write('{"type": "context.undo", "count": 1, "time": 1782295307000}\n')
    undone = read(path)
    assert prompts(undone) == []
    assert len(undone.abandoned) > 3


def test_cursor_in_three_forms(tmp_path: Path) -> None:
    agent = read(cursor_agent(tmp_path))
    assert prompts(agent) == [GOAL]
    assert [(call.name, call.arguments["file_path"]) for call in calls(agent)] == [("Edit", "fetch.py")]
    export = read(cursor_export(tmp_path))
    assert (export.meta.title, export.meta.started) == ("Retry for fetch", "2025-05-29T01:01:56.000Z")
    history = read(specstory(tmp_path))
    assert prompts(history) == [GOAL]
    assert said(history) == [ANSWER]
    assert [(call.name, call.arguments) for call in calls(history)] == [("WebSearch", {"query": "retry"})]
    assert history.meta.cwd == str(tmp_path / "fetcher")


def test_swe_agent_skips_demonstrations(tmp_path: Path) -> None:
    transcript = read(swe_agent(tmp_path))
    assert prompts(transcript) == [GOAL]
    assert [(call.name, call.arguments["file_path"]) for call in calls(transcript)] == [
        ("Read", "fetch.py"),
        ("Edit", "/repo/fetch.py"),
    ]
    assert transcript.meta.cwd == "/repo"


def test_mini_swe_agent_says_how_the_run_failed(tmp_path: Path) -> None:
    transcript = read(mini_swe_agent(tmp_path))
    assert prompts(transcript) == [GOAL]
    assert [call.arguments for call in calls(transcript)] == [{"command": "pytest"}]
    assert results(transcript)[0][1:] == ("Exit code 1\n1 failed\n", True)
    assert notes(transcript) == ["api_error"]
    assert (transcript.meta.model, transcript.meta.cwd) == ("some-model", "/testbed")


def test_copilot_announces_a_call_twice(tmp_path: Path) -> None:
    transcript = read(copilot_cli(tmp_path))
    assert [call.id for call in calls(transcript)] == ["p1"]
    assert results(transcript) == [("p1", "no", True)]


@pytest.mark.parametrize("lay_out", [pi, openclaw, droid])
def test_the_message_tree_follows_its_last_branch(tmp_path: Path, lay_out: Callable[[Path], Path]) -> None:
    transcript = read(lay_out(tmp_path))
    assert prompts(transcript) == [GOAL]
    assert transcript.meta.cwd == "/home/sam/fetcher"
    assert [(call.name, call.arguments["new_string"]) for call in calls(transcript)] == [("Edit", "get(retry=3)")]
    assert results(transcript) == [("c1", "no match", True)]
    assert said(transcript) == [ANSWER]


def test_repeated_call_ids_are_made_unique(tmp_path: Path) -> None:
    call = {"id": "Shell:0", "function": {"name": "Shell", "arguments": '{"command": "ls"}'}}
    step = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "Shell:0", "content": "a"},
    ]
    transcript = read(jsonl(tmp_path / "x.jsonl", [{"role": "_checkpoint", "id": 0}, *step, *step]), "kimi_cli")
    ids = [made.id for made in calls(transcript)]
    assert len(set(ids)) == 2
    assert [call_id for call_id, _, _ in results(transcript)] == ids


def test_a_saved_gemini_chat_is_the_bare_history(tmp_path: Path) -> None:
    history = [
        {"role": "user", "parts": [{"text": GOAL}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"file_path": "a"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "get()"}}}]},
        {"role": "model", "parts": [{"text": ANSWER}]},
    ]
    transcript = read(whole(tmp_path / "checkpoint-x.json", history))
    assert transcript.agent == "gemini_cli"
    assert prompts(transcript) == [GOAL]
    assert [text for _, text, _ in results(transcript)] == ["get()"]
    assert said(transcript) == [ANSWER]


def test_what_opencode_says_after_a_tool_comes_after_its_result(tmp_path: Path) -> None:
    assert fold(read(opencode_export(tmp_path)).entries).state == "idle"


AIDER_NOTES = """
# aider chat started at 2026-01-06 11:00:00

#### add a flag  

I'll add it.

> Tokens: 1.5k sent, 66 received.  
> Applied edit to sync.py  
> Commit 1a2b3c4 feat: add a flag  

"""  # noqa: W291 - Aider marks its own lines with two spaces at the end


def test_what_aider_undid_or_was_not_allowed_to_run(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    undone = "#### /undo  \n> Removed: 1a2b3c4 feat: add a flag  \n> Now at:  9f8e7d6 init  \n"
    path.write_text(AIDER_NOTES + undone, encoding="utf-8")
    ledger = fold(read(path).entries)
    assert (ledger.commits, ledger.changed_files, ledger.state) == ((), (), "idle")
    declined = "> mypy sync.py  \n> Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: n  \n"
    path.write_text(AIDER_NOTES + declined, encoding="utf-8")
    ledger = fold(read(path).entries)
    assert [(item.subject, item.by_rule) for item in ledger.refused] == [("mypy sync.py", False)]
    assert (len(ledger.commits), ledger.state) == (1, "idle")


@pytest.mark.parametrize(
    "after",
    [
        "#### /test pytest -q  \n\n> Added 14 lines of output to the chat.  \n\nTwo tests fail.\n",
        "> Attempt to fix test errors? (Y)es/(N)o [Yes]: n  \n",
    ],
)
def test_aider_adds_only_the_output_of_tests_that_fail(tmp_path: Path, after: str) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(AIDER_NOTES + after, encoding="utf-8")
    ledger = fold(read(path).entries)
    assert ledger.current_test is not None
    assert (ledger.current_test.ok, ledger.state) == (False, "idle")


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("submitted", "idle"),
        ("exit_cost", "suspended"),
        ("submitted (exit_cost)", "suspended"),
        ("exit_error", "failed"),
    ],
)
def test_what_swe_agent_handed_in_at_its_limit_is_not_done(tmp_path: Path, status: str, state: str) -> None:
    path = swe_agent(tmp_path)
    value = json.loads(path.read_text(encoding="utf-8"))
    value["info"]["exit_status"] = status
    assert fold(read(whole(path, value)).entries).state == state


@pytest.mark.parametrize(
    ("observed", "changed"),
    [
        ("No replacement was performed, old_str `get()` did not appear verbatim in /repo/fetch.py.", []),
        ("The file /repo/fetch.py has been edited. Here's the result of running `cat -n` on a snippet", ["fetch.py"]),
    ],
)
def test_swe_agents_edit_counts_when_the_observation_says_so(tmp_path: Path, observed: str, changed: list[str]) -> None:
    path = swe_agent(tmp_path)
    value = json.loads(path.read_text(encoding="utf-8"))
    edit = {"command": "str_replace", "path": "/repo/fetch.py", "old_str": "get()", "new_str": "get(retry=3)"}
    call = {"id": "c9", "function": {"name": "str_replace_editor", "arguments": json.dumps(edit)}}
    value["history"] = value["history"][:3]
    value["history"] += [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": observed},
    ]
    ledger = fold(read(whole(path, value)).entries)
    assert [file.path.rsplit("/", 1)[-1] for file in ledger.changed_files] == changed


def test_gemini_says_when_it_halted_a_turn(tmp_path: Path) -> None:
    loop = "A potential loop was detected. The request has been halted."
    history = [
        {"id": "1", "type": "user", "content": GOAL},
        {"id": "2", "type": "gemini", "content": "I started it."},
        {"id": "3", "type": "info", "content": loop},
    ]
    value = {"sessionId": "s", "projectHash": "x", "startTime": "2026-01-01T00:00:00Z", "messages": history}
    assert fold(read(whole(tmp_path / "chats" / "session-1.json", value)).entries).state == "stopped"


def test_lint_errors_that_aider_left_are_failing(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    left = "> sync.py:3:2: F821 undefined name\n> Attempt to fix lint errors? (Y)es/(N)o [Yes]: n  \n"
    path.write_text(AIDER_NOTES + left, encoding="utf-8")
    assert [check.ok for check in fold(read(path).entries).failing_checks] == [False]


def test_a_file_that_aider_was_not_to_make_is_refused(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    edit = "big.sh\n```bash\n<<<<<<< SEARCH\n=======\ndu -a\n>>>>>>> REPLACE\n```\n\n"
    asked = "> big.sh  \n> Create new file? (Y)es/(N)o [Yes]: n  \n> Skipping edits to big.sh  \n"
    path.write_text(AIDER_NOTES + "#### list the largest files  \n\n" + edit + asked, encoding="utf-8")
    ledger = fold(read(path).entries)
    assert [(item.subject, item.by_rule) for item in ledger.refused] == [("big.sh", False)]


@pytest.mark.parametrize(("kind", "state"), [("quota", "suspended"), ("network", "failed")])
def test_copilot_says_what_kind_of_error_it_was(tmp_path: Path, kind: str, state: str) -> None:
    events = [
        {"type": "session.start", "data": {"sessionId": "s1", "context": {"cwd": "/p"}}, "id": "1"},
        {"type": "user.message", "data": {"content": GOAL}, "id": "2"},
        {"type": "session.error", "data": {"errorType": kind, "message": "No premium requests are left."}, "id": "3"},
    ]
    path = jsonl(tmp_path / "session-state" / "s1" / "events.jsonl", events)
    assert fold(read(path).entries).state == state
