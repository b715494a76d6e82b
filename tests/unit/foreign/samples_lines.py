"""Sessions of Claude Code, Codex, Gemini CLI and Qwen Code."""

import json
from collections.abc import Callable
from pathlib import Path

from .writing import ANSWER, GOAL, Json, jsonl, whole


def claude_line(kind: str, uuid: str, parent: str | None, **fields: object) -> Json:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "11111111-2222-4333-8444-555555555555",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/sam/fetcher",
        "version": "2.1.100",
        "gitBranch": "main",
        **fields,
    }


def claude_user(uuid: str, parent: str | None, content: object, **fields: object) -> Json:
    return claude_line("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def claude_reply(uuid: str, parent: str | None, part: Json, message: str = "msg_1", **fields: object) -> Json:
    body = {
        "id": message,
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [part],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5, "service_tier": "standard"},
    }
    return claude_line("assistant", uuid, parent, message=body, **fields)


def claude_code(root: Path) -> Path:
    path = root / ".claude" / "projects" / "-home-sam-fetcher" / "11111111-2222-4333-8444-555555555555.jsonl"
    edit = {"file_path": "/home/sam/fetcher/fetch.py", "old_string": "get()", "new_string": "get(retry=3)"}
    return jsonl(
        path,
        [
            claude_user("u1", None, GOAL),
            claude_reply("a1", "u1", {"type": "tool_use", "id": "t1", "name": "Edit", "input": edit}),
            claude_user("u2", "a1", [{"type": "tool_result", "tool_use_id": "t1", "content": "updated"}]),
            claude_reply("a2", "u2", {"type": "text", "text": ANSWER}, "msg_2"),
            {"type": "custom-title", "customTitle": "Retry", "sessionId": "11111111-2222-4333-8444-555555555555"},
        ],
    )


def codex_line(kind: str, payload: Json, second: int = 0) -> Json:
    return {"timestamp": f"2026-04-01T09:00:{second:02d}.000Z", "type": kind, "payload": payload}


CODEX_ID = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"
PATCH = (
    "*** Begin Patch\n*** Update File: fetch.py\n@@\n-get()\n+get(retry=3)\n"
    "*** Add File: retry.py\n+TRIES = 3\n*** End Patch"
)


def codex(root: Path) -> Path:
    path = root / ".codex" / "sessions" / "2026" / "04" / "01" / f"rollout-2026-04-01T09-00-00-{CODEX_ID}.jsonl"
    message: Callable[[str, str, str], Json] = lambda role, kind, text: {  # noqa: E731 - a local shape, used thrice
        "type": "message",
        "role": role,
        "content": [{"type": kind, "text": text}],
    }
    meta = {
        "id": CODEX_ID,
        "timestamp": "2026-04-01T09:00:00.000Z",
        "cwd": "/home/sam/fetcher",
        "cli_version": "0.121.0",
    }
    shell = json.dumps({"command": ["bash", "-lc", "pytest -q"]})
    return jsonl(
        path,
        [
            codex_line("session_meta", {**meta, "git": {"branch": "main"}}),
            codex_line("event_msg", {"type": "task_started"}, 1),
            codex_line("response_item", message("user", "input_text", "<environment_context>\n<cwd>/x</cwd>"), 1),
            codex_line("turn_context", {"cwd": "/home/sam/fetcher", "model": "gpt-5.4"}, 1),
            codex_line("response_item", message("user", "input_text", GOAL), 2),
            codex_line("event_msg", {"type": "user_message", "message": GOAL}, 2),
            codex_line(
                "response_item",
                {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "c1"},
                3,
            ),
            codex_line("response_item", {"type": "custom_tool_call_output", "call_id": "c1", "output": "Success."}, 4),
            codex_line(
                "response_item", {"type": "function_call", "name": "shell", "arguments": shell, "call_id": "c2"}, 5
            ),
            codex_line(
                "response_item",
                {
                    "type": "function_call_output",
                    "call_id": "c2",
                    "output": json.dumps({"output": "1 failed", "metadata": {"exit_code": 1}}),
                },
                6,
            ),
            codex_line("event_msg", {"type": "agent_message", "message": ANSWER}, 7),
            codex_line("response_item", message("assistant", "output_text", ANSWER), 7),
            codex_line(
                "event_msg",
                {
                    "type": "token_count",
                    "info": {"last_token_usage": {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 9}},
                },
                8,
            ),
            codex_line("event_msg", {"type": "task_complete", "last_agent_message": ANSWER, "duration_ms": 7000}, 8),
        ],
    )


GEMINI_ID = "aaaaaaaa-1111-4222-8333-444444444444"


def gemini_messages() -> list[Json]:
    call = {
        "id": "read_file_1",
        "name": "read_file",
        "args": {"file_path": "fetch.py"},
        "status": "success",
        "result": [{"functionResponse": {"id": "read_file_1", "name": "read_file", "response": {"output": "get()"}}}],
    }
    return [
        {"id": "m1", "timestamp": "2026-02-01T08:00:00.000Z", "type": "user", "content": [{"text": GOAL}]},
        {
            "id": "m2",
            "timestamp": "2026-02-01T08:00:05.000Z",
            "type": "gemini",
            "content": ANSWER,
            "thoughts": [{"subject": "Look", "description": "at the file"}],
            "tokens": {"input": 50, "output": 7, "cached": 20, "thoughts": 3, "tool": 0, "total": 60},
            "model": "gemini-3-pro",
            "toolCalls": [call],
        },
    ]


def gemini_cli(root: Path) -> Path:
    project = root / ".gemini" / "tmp" / "fetcher"
    project.mkdir(parents=True, exist_ok=True)
    (project / ".project_root").write_text("/home/sam/fetcher\n")
    header = {"sessionId": GEMINI_ID, "projectHash": "ab12", "startTime": "2026-02-01T08:00:00.000Z"}
    header |= {"lastUpdated": "2026-02-01T08:00:09.000Z", "summary": "Retry for fetch"}
    return whole(
        project / "chats" / "session-2026-02-01T08-00-aaaaaaaa.json", {**header, "messages": gemini_messages()}
    )


def gemini_jsonl(root: Path) -> Path:
    header = {"sessionId": GEMINI_ID, "projectHash": "ab12", "startTime": "2026-02-01T08:00:00.000Z", "kind": "main"}
    first, second = gemini_messages()
    grown = {**second, "content": ANSWER}
    return jsonl(
        root / ".gemini" / "tmp" / "fetcher" / "chats" / "session-2026-02-01T08-00-bbbbbbbb.jsonl",
        [
            header,
            first,
            {**second, "content": "The", "toolCalls": []},
            {"id": "m3", "type": "user", "content": "a mistake"},
            {"$rewindTo": "m3"},
            grown,
            {"$set": {"summary": "Retry for fetch", "lastUpdated": "2026-02-01T08:00:09.000Z"}},
        ],
    )


def qwen_line(kind: str, uuid: str, parent: str | None, **fields: object) -> Json:
    return {
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "22222222-0000-4000-8000-000000000000",
        "timestamp": "2026-06-01T07:00:00.000Z",
        "type": kind,
        "cwd": "/home/sam/fetcher",
        "version": "0.18.1",
        **fields,
    }


def qwen_code(root: Path) -> Path:
    call = {"functionCall": {"id": "q1", "name": "run_shell_command", "args": {"command": "pytest"}}}
    response = {"functionResponse": {"id": "q1", "name": "run_shell_command", "response": {"output": "Exit Code: 2"}}}
    return jsonl(
        root / ".qwen" / "projects" / "-home-sam-fetcher" / "chats" / "22222222-0000-4000-8000-000000000000.jsonl",
        [
            qwen_line("user", "1", None, message={"role": "user", "parts": [{"text": "a first try"}]}),
            qwen_line("system", "2", "1", subtype="rewind", systemPayload={"targetUuid": "1"}) | {"parentUuid": None},
            qwen_line("user", "3", "2", message={"role": "user", "parts": [{"text": GOAL}]}),
            qwen_line("system", "4", "3", subtype="ui_telemetry", systemPayload={"uiEvent": {}}),
            qwen_line("assistant", "5", "4", model="qwen3-coder", message={"role": "model", "parts": [call]}),
            qwen_line(
                "tool_result",
                "6",
                "5",
                message={"role": "user", "parts": [response]},
                toolCallResult={"callId": "q1", "status": "success"},
            ),
            qwen_line(
                "assistant",
                "7",
                "6",
                message={"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": ANSWER}]},
                usageMetadata={"promptTokenCount": 30, "candidatesTokenCount": 4, "cachedContentTokenCount": 10},
            ),
            qwen_line("system", "8", "7", subtype="custom_title", systemPayload={"customTitle": "Retry"}),
        ],
    )
