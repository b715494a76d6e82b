"""Claude Code: the chain in view, parallel calls, boundaries, sub-agents, titles, what no person typed."""

from pathlib import Path

from clew.foreign.registry import read
from clew.protocol.entries import AssistantEntry, OpaqueEntry, SystemEntry, UserEntry

from .looks import calls, hidden, notes, prompts, results, said
from .samples_lines import claude_line, claude_reply, claude_user
from .writing import jsonl


def tool(call_id: str, name: str = "Read") -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"file_path": call_id}}


def result(call_id: str) -> list[dict[str, object]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": f"of {call_id}"}]


def words(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def test_a_rewind_leaves_the_old_branch_behind(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            claude_user("u1", None, "start"),
            claude_reply("a1", "u1", words("ok")),
            claude_user("u2", "a1", "a mistake"),
            claude_reply("a2", "u2", words("done wrongly"), "msg_2"),
            claude_user("u3", "a1", "what I meant"),
            claude_reply("a3", "u3", words("done"), "msg_3"),
        ],
    )
    transcript = read(path)
    assert prompts(transcript) == ["start", "what I meant"]
    assert said(transcript) == ["ok", "done"]
    assert [entry.uuid for entry in transcript.abandoned if isinstance(entry, UserEntry | AssistantEntry)] == [
        "u2",
        "a2",
    ]


def test_parallel_calls_and_their_results_are_restored(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            claude_user("u1", None, "look"),
            claude_reply("a1", "u1", tool("t1")),
            claude_reply("a2", "a1", tool("t2")),
            claude_user("r1", "a1", result("t1")),
            claude_user("r2", "a2", result("t2")),
            claude_reply("a3", "r2", words("both read"), "msg_2"),
        ],
    )
    transcript = read(path)
    assert [call.id for call in calls(transcript)] == ["t1", "t2"]
    assert [call_id for call_id, _, _ in results(transcript)] == ["t1", "t2"]
    assert transcript.abandoned == ()


def test_history_before_a_boundary_stays_in_view(tmp_path: Path) -> None:
    boundary = {"subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": "a1"}
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            claude_user("u1", None, "start"),
            claude_reply("a1", "u1", words("ok")),
            claude_line("system", "b1", None, **boundary, compactMetadata={"trigger": "auto", "preTokens": 9}),
            claude_user("s1", "b1", "a summary", isCompactSummary=True),
            claude_user("u2", "s1", "go on"),
        ],
    )
    transcript = read(path)
    assert prompts(transcript) == ["start", "go on"]
    assert notes(transcript) == ["compact_boundary"]


def test_sub_agents_of_the_same_file_are_marked(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            claude_user("s1", None, "the sub-agent's order", isSidechain=True),
            claude_user("u1", None, "delegate"),
            claude_reply("a1", "u1", tool("t1", "Task")),
            claude_reply("s2", "s1", words("found"), "msg_s", isSidechain=True),
            claude_user("r1", "a1", result("t1")),
        ],
    )
    transcript = read(path)
    assert prompts(transcript) == ["delegate"]
    order = [
        (entry.uuid, entry.is_sidechain)
        for entry in transcript.entries
        if isinstance(entry, UserEntry | AssistantEntry)
    ]
    assert order == [("u1", False), ("s1", True), ("a1", False), ("s2", True), ("r1", False)]


def test_titles_the_last_one_counts_and_others_summaries_do_not(tmp_path: Path) -> None:
    session = {"sessionId": "s"}
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            {"type": "summary", "summary": "of another session", "leafUuid": "elsewhere"},
            claude_user("u1", None, "start"),
            {"type": "summary", "summary": "Of this one", "leafUuid": "u1"},
        ],
    )
    assert read(path).meta.title == "Of this one"
    named = [{"type": "custom-title", "customTitle": name, **session} for name in ("First", "Second")]
    path = jsonl(path, [claude_user("u1", None, "start"), *named, {"type": "ai-title", "aiTitle": "Made", **session}])
    assert read(path).meta.title == "Second"


def test_meta_interruptions_and_commands_are_told_from_requests(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            claude_user("u1", None, "<command-name>/review</command-name><command-args>main</command-args>"),
            claude_user("u2", "u1", "the command's long text", isMeta=True),
            claude_user("u3", "u2", [words("<ide_opened_file>a.py</ide_opened_file>"), words("also fix a.py")]),
            claude_user("u4", "u3", [words("[Request interrupted by user]")]),
            claude_user("u5", "u4", "<local-command-stdout>bye</local-command-stdout>"),
        ],
    )
    transcript = read(path)
    assert prompts(transcript) == ["/review main", "also fix a.py"]
    assert len(hidden(transcript)) == 2
    assert notes(transcript) == ["interrupted"]


def test_lines_that_do_not_fit_are_read_leniently_and_unknown_types_are_kept(tmp_path: Path) -> None:
    unknown = {"type": "frame-link", "sessionId": "s", "url": "x", "nested": {"a": [1]}}
    server = {"type": "server_tool_use", "id": "t1", "name": "web_search", "input": {"query": "q"}}
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            {"type": "user", "sessionId": "s", "uuid": "u1", "message": {"role": "user", "content": "old line"}},
            {"type": "tool_use", "sessionId": "s", "uuid": "t1", "name": "bash", "input": {"command": "ls"}},
            {"type": "tool_result", "sessionId": "s", "uuid": "r1", "output": "a.py"},
            claude_reply("a1", "r1", server),
            unknown,
            {"type": "system", "uuid": "y1", "content": "no subtype in old versions", "level": "warning"},
        ],
    )
    transcript = read(path)
    assert prompts(transcript) == ["old line"]
    assert [call.name for call in calls(transcript)] == ["bash", "web_search"]
    assert results(transcript) == [("t1", "a.py", False)]
    assert [entry.raw for entry in transcript.entries if isinstance(entry, OpaqueEntry)] == [unknown]
    assert [entry.subtype for entry in transcript.entries if isinstance(entry, SystemEntry)] == ["informational"]


def test_the_agent_tool_is_our_task(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Agent", "input": {"description": "Look", "prompt": "look there"}}
    path = jsonl(tmp_path / "x.jsonl", [claude_user("u1", None, "go"), claude_reply("a1", "u1", call)])
    (found,) = calls(read(path))
    assert (found.name, found.arguments) == ("Task", {"description": "Look", "prompt": "look there"})
    assert found.data == {"foreign": {"name": "Agent", "arguments": call["input"]}}


def test_a_local_error_stays_marked_as_such(tmp_path: Path) -> None:
    line = claude_reply("a1", "u1", words("API Error: 529"), isApiErrorMessage=True, error="overloaded")
    path = jsonl(tmp_path / "x.jsonl", [claude_user("u1", None, "go"), line])
    assert [e.is_api_error_message for e in read(path).entries if isinstance(e, AssistantEntry)] == [True]
