"""Sessions of opencode and Kimi: several files, or a database."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

from .writing import ANSWER, GOAL, Json, jsonl, whole

OPENCODE_ID = "ses_0000000000retry"


def opencode_info() -> Json:
    times = {"created": 1772000000000, "updated": 1772000009000}
    return {"id": OPENCODE_ID, "projectID": "abc", "directory": "/home/sam/fetcher", "title": "Retry", "time": times}


def opencode_messages() -> list[tuple[Json, list[Json]]]:
    state = {
        "status": "completed",
        "input": {"command": "pytest -q"},
        "output": "2 passed",
        "metadata": {"exit": 0},
        "time": {"start": 1772000003000, "end": 1772000004000},
    }
    user = {"id": "msg_1", "sessionID": OPENCODE_ID, "role": "user", "time": {"created": 1772000000000}}
    reply = {
        "id": "msg_2",
        "sessionID": OPENCODE_ID,
        "role": "assistant",
        "modelID": "gpt-5.4",
        "time": {"created": 1772000002000},
        "tokens": {"input": 40, "output": 8, "reasoning": 2, "cache": {"read": 5, "write": 1}},
    }
    return [
        (
            user,
            [
                {"id": "prt_1", "type": "text", "text": GOAL},
                {"id": "prt_2", "type": "text", "text": "x", "synthetic": True},
            ],
        ),
        (
            reply,
            [
                {"id": "prt_3", "type": "step-start"},
                {"id": "prt_4", "type": "tool", "tool": "bash", "callID": "o1", "state": state},
                {"id": "prt_5", "type": "text", "text": ANSWER},
            ],
        ),
    ]


def opencode_export(root: Path) -> Path:
    messages = [{"info": info, "parts": parts} for info, parts in opencode_messages()]
    return whole(root / "exports" / f"{OPENCODE_ID}.json", {"info": opencode_info(), "messages": messages})


def opencode_storage(root: Path) -> Path:
    storage = root / ".local" / "share" / "opencode" / "storage"
    for info, parts in opencode_messages():
        whole(storage / "message" / OPENCODE_ID / f"{info['id']}.json", info)
        for part in parts:
            whole(storage / "part" / info["id"] / f"{part['id']}.json", part)
    return whole(storage / "session" / "abc" / f"{OPENCODE_ID}.json", opencode_info())


def opencode_legacy(root: Path) -> Path:
    session = root / ".local" / "share" / "opencode" / "project" / "fetcher" / "storage" / "session"
    for info, parts in opencode_messages():
        whole(session / "message" / OPENCODE_ID / f"{info['id']}.json", info)
        for part in parts:
            whole(session / "part" / OPENCODE_ID / info["id"] / f"{part['id']}.json", part)
    return whole(session / "info" / f"{OPENCODE_ID}.json", opencode_info())


_OPEN: list[sqlite3.Connection] = []


def opencode_db(root: Path, *, journal: bool = False) -> Path:
    path = root / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    if journal:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.executescript(
        "CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,"
        " time_created INTEGER, time_updated INTEGER);"
        "CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);"
        "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);"
    )
    info = opencode_info()
    row = (OPENCODE_ID, "abc", None, info["directory"], info["title"], "1.18", 1772000000000, 1772000009000)
    connection.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?)", row)
    for message, parts in opencode_messages():
        body = {key: value for key, value in message.items() if key not in ("id", "sessionID")}
        connection.execute("INSERT INTO message VALUES (?,?,0,?)", (message["id"], OPENCODE_ID, json.dumps(body)))
        for part in parts:
            data = json.dumps({key: value for key, value in part.items() if key != "id"})
            connection.execute("INSERT INTO part VALUES (?,?,?,0,?)", (part["id"], message["id"], OPENCODE_ID, data))
    connection.commit()
    if journal:
        # Still open, as in a running program: closing would fold the journal in.
        _OPEN.append(connection)
    else:
        connection.close()
    return path


def kimi_context(root: Path) -> Path:
    call = {"type": "function", "id": "Shell:0", "function": {"name": "Shell", "arguments": '{"command": "ls"}'}}
    return jsonl(
        root / ".kimi" / "sessions" / "0123456789abcdef0123456789abcdef" / "33333333-0000.jsonl",
        [
            {"role": "_system_prompt", "content": "You are ..."},
            {"role": "_checkpoint", "id": 0},
            {"role": "user", "content": GOAL},
            {"role": "assistant", "content": [{"type": "think", "think": "hm"}], "tool_calls": [call]},
            {"role": "_usage", "token_count": 12},
            {"role": "tool", "content": [{"type": "text", "text": "fetch.py"}], "tool_call_id": "Shell:0"},
            {"role": "user", "content": "<system>Compacted.</system>"},
            {"role": "assistant", "content": ANSWER},
        ],
    )


def kimi_wire(root: Path) -> Path:
    folder = root / ".kimi" / "sessions" / "0123456789abcdef0123456789abcdef" / "44444444-0000"
    whole(folder / "state.json", {"custom_title": "Retry", "todos": [{"title": "write it", "status": "done"}]})
    at: Callable[[int, str, Json], Json] = lambda second, kind, payload: {  # noqa: E731 - a local shape
        "timestamp": 1774949785.5 + second,
        "message": {"type": kind, "payload": payload},
    }
    call = {"type": "function", "id": "k1", "function": {"name": "ReadFile", "arguments": '{"path": "fetch.py"}'}}
    return jsonl(
        folder / "wire.jsonl",
        [
            {"type": "metadata", "protocol_version": "1.10"},
            at(0, "TurnBegin", {"user_input": GOAL}),
            at(1, "StepBegin", {"n": 1}),
            at(2, "ToolCall", call),
            at(
                3,
                "ToolResult",
                {"tool_call_id": "k1", "return_value": {"is_error": True, "output": "", "message": "no"}},
            ),
            at(4, "ContentPart", {"type": "text", "text": ANSWER}),
            at(5, "StatusUpdate", {"token_usage": {"input_other": 9, "output": 2, "input_cache_read": 3}}),
            at(6, "TurnEnd", {}),
        ],
    )


def kimi_code(root: Path) -> Path:
    folder = root / ".kimi-code" / "sessions" / "wd_fetcher_0a1b" / "session_55555555"
    whole(folder / "state.json", {"title": "Retry", "workDir": "/home/sam/fetcher", "agents": {"main": {}}})
    event: Callable[[Json], Json] = lambda body: {  # noqa: E731 - a local shape
        "type": "context.append_loop_event",
        "time": 1782295306000,
        "event": body,
    }
    prompt = [{"type": "text", "text": GOAL}]
    user = {"role": "user", "content": prompt, "toolCalls": [], "origin": {"kind": "user"}}
    reminder = {"role": "user", "content": [{"type": "text", "text": "be brief"}], "origin": {"kind": "system_trigger"}}
    return jsonl(
        folder / "agents" / "main" / "wire.jsonl",
        [
            {"type": "metadata", "protocol_version": "1.4", "created_at": 1782295300000},
            {"type": "turn.prompt", "time": 1782295300001, "input": prompt, "origin": {"kind": "user"}},
            {"type": "context.append_message", "time": 1782295300002, "message": user},
            {"type": "context.append_message", "time": 1782295300003, "message": reminder},
            event({"type": "step.begin", "uuid": "s1"}),
            event({"type": "tool.call", "toolCallId": "k2", "name": "Bash", "args": {"command": "ls"}}),
            event({"type": "tool.result", "toolCallId": "k2", "result": {"output": "fetch.py"}}),
            event({"type": "content.part", "part": {"type": "text", "text": ANSWER}}),
            event({"type": "step.end", "usage": {"inputOther": 9, "output": 2}}),
        ],
    )
