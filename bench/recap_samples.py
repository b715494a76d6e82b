"""Our own sessions for the recap bench, written in the formats of several agents."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Sample = dict[str, Any]
OWN_SESSIONS = Path(__file__).parent / "data" / "own_sessions.json"
TIME = "2026-02-03T09:{:02d}:{:02d}.000Z"


def write_samples(root: Path) -> Path:
    """Write every session below `root` and return the file of their references."""
    samples: list[Sample] = json.loads(OWN_SESSIONS.read_text())
    references = root / "references.jsonl"
    root.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for sample in samples:
        name = WRITERS[sample["format"]](root, sample)
        row = {"file": name, **{key: sample[key] for key in ("goal", "next_step", "language")}}
        lines.append(json.dumps(row, ensure_ascii=False))
    references.write_text("\n".join(lines) + "\n")
    return references


def _stamp(number: int) -> str:
    return TIME.format(number // 60, number % 60)


def _put(root: Path, name: str, lines: list[Any]) -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines) + "\n"
    )
    return name


def claude(root: Path, sample: Sample) -> str:
    """A Claude-Code-style tree, one line per part."""
    lines: list[Any] = []
    parent: str | None = None
    for number, (kind, *rest) in enumerate(sample["talk"]):
        base = {
            "sessionId": sample["name"],
            "timestamp": _stamp(number),
            "cwd": sample["cwd"],
            "version": "2.1.0",
            "userType": "external",
            "isSidechain": False,
            "gitBranch": "main",
        }

        def add(role: str, content: Any, uuid: str, base: dict[str, Any] = base, **more: Any) -> None:
            nonlocal parent
            message: dict[str, Any] = {"role": role, "content": content}
            if role == "assistant":
                message |= {"id": f"msg_{uuid}", "model": "claude-x", "type": "message"}
            lines.append({"type": role, "uuid": uuid, "parentUuid": parent, "message": message, **base, **more})
            parent = uuid

        if kind == "user":
            add("user", rest[0], f"u{number}")
        elif kind == "agent":
            add("assistant", [{"type": "text", "text": rest[0]}], f"a{number}")
        elif kind == "error":
            add("assistant", [{"type": "text", "text": rest[0]}], f"x{number}", isApiErrorMessage=True)
        elif kind == "call":
            name, arguments, result = rest
            add("assistant", [{"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}], f"c{number}")
            add("user", [{"type": "tool_result", "tool_use_id": f"t{number}", "content": result}], f"r{number}")
    return _put(root, f"claude/projects/-x/{sample['name']}.jsonl", lines)


def codex(root: Path, sample: Sample) -> str:
    """A rollout with envelopes."""
    meta = {
        "id": sample["name"],
        "timestamp": _stamp(0),
        "cwd": sample["cwd"],
        "originator": "codex_cli_rs",
        "cli_version": "0.60.0",
    }
    lines: list[Any] = [{"timestamp": _stamp(0), "type": "session_meta", "payload": meta}]
    for number, (kind, *rest) in enumerate(sample["talk"], 1):

        def item(kind: str, payload: dict[str, Any], number: int = number) -> None:
            lines.append({"timestamp": _stamp(number), "type": kind, "payload": payload})

        if kind == "user":
            item("event_msg", {"type": "user_message", "message": rest[0]})
            item(
                "response_item",
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": rest[0]}]},
            )
        elif kind == "agent":
            item("event_msg", {"type": "agent_message", "message": rest[0]})
            item(
                "response_item",
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": rest[0]}]},
            )
        elif kind == "call":
            name, arguments, result = rest
            item(
                "response_item",
                {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": f"c{number}"},
            )
            item("response_item", {"type": "function_call_output", "call_id": f"c{number}", "output": result})
    lines.append(
        {"timestamp": _stamp(50), "type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": ""}}
    )
    return _put(root, f"codex/sessions/2026/02/03/rollout-2026-02-03T09-00-00-{sample['name']}.jsonl", lines)


_GEMINI_NAMES = {
    "Bash": "run_shell_command",
    "Edit": "replace",
    "Read": "read_file",
    "Write": "write_file",
    "Grep": "search_file_content",
}


def gemini(root: Path, sample: Sample) -> str:
    """One JSON object with messages and their tool calls."""
    messages: list[dict[str, Any]] = []
    for number, (kind, *rest) in enumerate(sample["talk"]):
        base = {"id": f"m{number}", "timestamp": _stamp(number)}
        if kind == "user":
            messages.append({**base, "type": "user", "content": rest[0]})
        elif kind == "agent":
            messages.append({**base, "type": "gemini", "content": rest[0], "model": "gemini-x"})
        elif kind == "call":
            name, arguments, result = rest
            response = [
                {"functionResponse": {"id": f"t{number}", "name": _GEMINI_NAMES[name], "response": {"output": result}}}
            ]
            call = {
                "id": f"t{number}",
                "name": _GEMINI_NAMES[name],
                "args": arguments,
                "status": "success",
                "result": response,
            }
            messages.append({**base, "type": "gemini", "content": "", "toolCalls": [call], "model": "gemini-x"})
    whole = {
        "sessionId": sample["name"],
        "projectHash": "0" * 64,
        "startTime": _stamp(0),
        "lastUpdated": _stamp(9),
        "messages": messages,
    }
    return _put(root, f"gemini/tmp/{'0' * 64}/chats/session-2026-02-03T09-00-{sample['name'][:8]}.json", [whole])


def qwen(root: Path, sample: Sample) -> str:
    """A tree of Gemini contents."""
    lines: list[Any] = []
    parent: str | None = None
    for number, (kind, *rest) in enumerate(sample["talk"]):
        base = {"sessionId": sample["name"], "timestamp": _stamp(number), "cwd": sample["cwd"], "version": "0.18.0"}

        def add(kind: str, role: str, parts: list[Any], uuid: str, base: dict[str, Any] = base, **more: Any) -> None:
            nonlocal parent
            message = {"role": role, "parts": parts}
            lines.append({"uuid": uuid, "parentUuid": parent, "type": kind, "message": message, **base, **more})
            parent = uuid

        if kind == "user":
            add("user", "user", [{"text": rest[0]}], f"u{number}")
        elif kind == "agent":
            add("assistant", "model", [{"text": rest[0]}], f"a{number}", model="qwen-x")
        elif kind == "call":
            name, arguments, result = rest
            call = {"id": f"t{number}", "name": _GEMINI_NAMES[name], "args": arguments}
            add("assistant", "model", [{"functionCall": call}], f"c{number}", model="qwen-x")
            answer = {"id": f"t{number}", "name": call["name"], "response": {"output": result}}
            status = {"callId": f"t{number}", "status": "success"}
            add("tool_result", "user", [{"functionResponse": answer}], f"r{number}", toolCallResult=status)
    return _put(root, f"qwen/projects/-x/chats/{sample['name']}.jsonl", lines)


def opencode(root: Path, sample: Sample) -> str:
    """An export: session info and messages with parts."""
    messages: list[dict[str, Any]] = []
    for number, (kind, *rest) in enumerate(sample["talk"]):
        made = 1_770_109_200_000 + number * 1000
        info: dict[str, Any] = {
            "id": f"msg_{number:03d}",
            "sessionID": sample["name"],
            "time": {"created": made, "completed": made + 500},
        }
        if kind == "user":
            part = {"id": f"prt_{number}", "type": "text", "text": rest[0]}
            messages.append({"info": {**info, "role": "user"}, "parts": [part]})
            continue
        info |= {
            "role": "assistant",
            "modelID": "x",
            "providerID": "y",
            "path": {"cwd": sample["cwd"], "root": sample["cwd"]},
        }
        parts: list[dict[str, Any]] = []
        if kind == "agent":
            parts.append({"id": f"prt_{number}", "type": "text", "text": rest[0]})
        elif kind == "call":
            name, arguments, result = rest
            state = {
                "status": "completed",
                "input": arguments,
                "output": result,
                "time": {"start": made, "end": made + 1},
            }
            parts.append(
                {"id": f"prt_{number}", "type": "tool", "tool": name.lower(), "callID": f"t{number}", "state": state}
            )
        else:
            info["error"] = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
        messages.append({"info": info, "parts": parts})
    session = {
        "id": sample["name"],
        "projectID": "global",
        "directory": sample["cwd"],
        "title": "New session - 2026-02-03T09:00:00.000Z",
        "version": "1.14.0",
        "time": {"created": 1_770_109_200_000, "updated": 1_770_109_300_000},
    }
    return _put(root, f"opencode/exports/ses_{sample['name']}.json", [{"info": session, "messages": messages}])


def aider(root: Path, sample: Sample) -> str:
    """One Markdown history."""
    lines = ["", "# aider chat started at 2026-02-03 09:00:00", "", "> Aider v0.86.2", "> Main model: x", ""]
    for kind, *rest in sample["talk"]:
        if kind == "user":
            lines += [f"#### {line}" for line in rest[0].split("\n")] + [""]
        elif kind == "agent":
            lines += [rest[0], "", "> Tokens: 4k sent, 300 received.", ""]
        elif kind == "call":
            lines += [f"> Applied edit to {rest[1]['file_path']}"]
        elif kind == "commit":
            lines += [f"> Commit {rest[0]} {rest[1]}", ""]
    return _put(root, f"aider/{sample['name']}/.aider.chat.history.md", list(lines))


def cursor(root: Path, sample: Sample) -> str:
    """An editor export."""
    lines = ["# New chat", "_Exported on 2/3/2026 at 09:00:00 GMT+1 from Cursor (0.50.7)_", ""]
    for kind, *rest in sample["talk"]:
        lines += ["---", "", "**User**" if kind == "user" else "**Cursor**", "", rest[0], ""]
    return _put(root, f"cursor/cursor_{sample['name']}.md", list(lines))


def kimi(root: Path, sample: Sample) -> str:
    """A context file."""
    lines: list[Any] = [{"role": "_checkpoint", "id": 0}]
    for number, (kind, *rest) in enumerate(sample["talk"]):
        if kind == "user":
            lines.append({"role": "user", "content": rest[0]})
        elif kind == "agent":
            lines.append({"role": "assistant", "content": [{"type": "text", "text": rest[0]}]})
        elif kind == "call":
            name, arguments, result = rest
            function = {"name": name, "arguments": json.dumps(arguments)}
            lines.append(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"type": "function", "id": f"t{number}", "function": function}],
                }
            )
            lines.append({"role": "tool", "content": result, "tool_call_id": f"t{number}"})
    return _put(root, f"kimi/sessions/0/{sample['name']}/context.jsonl", lines)


WRITERS: dict[str, Callable[[Path, Sample], str]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "qwen": qwen,
    "opencode": opencode,
    "aider": aider,
    "cursor": cursor,
    "kimi": kimi,
}
