"""Which agent wrote a file: by what is in it first, by its name and place second."""

from pathlib import Path
from typing import Any

import msgspec

from clew.foreign.shapes import Json, as_dict, as_str
from clew.foreign.source import BOM, Source

_HEAD_BYTES = 256 * 1024
_PASTE_BYTES = 4 * 1024 * 1024
_MAX_RECORDS = 40
_CLEW_TYPES = {
    "turn-result",
    "batch-label",
    "side-query",
    "session-source",
    "session-origin",
    "approval",
    "content-replacement",
}
_CLAUDE_TYPES = {"user", "assistant", "system", "attachment", "progress", "tool_use", "tool_result"}
_CLAUDE_KEYED = {
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "custom-title",
    "ai-title",
    "last-prompt",
    "permission-mode",
    "mode",
    "agent-name",
    "pr-link",
    "worktree-state",
    "relocated",
    "frame-link",
    "bridge-session",
}
_CODEX_ENVELOPES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
_CODEX_ITEMS = {"message", "reasoning", "function_call", "function_call_output", "function_result", "local_shell_call"}
_KIMI_ROLES = {"_system_prompt", "_checkpoint", "_usage"}
_KIMI_CODE_TYPES = ("config.", "turn.", "context.", "llm.", "usage.", "permission.", "tools.", "goal.")


class Sample:
    """The beginning of a file, decoded as far as it goes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        source = Source(path)
        self.head = source.head(_HEAD_BYTES).removeprefix(BOM)
        if path.suffix == ".jsonl" and b"\n" not in self.head:  # a session that begins with a long paste
            self.head = source.head(_PASTE_BYTES).removeprefix(BOM)
        self.text = self.head.decode("utf-8", "replace")
        self.records = _records(self.head)

    def has(self, *keys: str) -> bool:
        """Whether all these JSON keys occur in the beginning."""
        return all(f'"{key}"' in self.text for key in keys)


def identify(path: Path) -> str | None:
    """The agent's name, or None when nothing we know fits."""
    if path.is_dir():
        return _of_folder(path)
    if path.name == "opencode.db" or path.suffix in (".db", ".sqlite"):
        return "opencode" if Source(path).head(16).startswith(b"SQLite format 3") else None
    sample = Sample(path)
    if not sample.head.strip(b"\x00 \t\r\n"):
        return _of_place(path)
    looks_like_text = path.suffix == ".md" or sample.text.lstrip()[:1] in "#<>_"
    if looks_like_text and (agent := _of_markdown(sample)):
        return agent
    for record in sample.records:
        if agent := _of_record(record, sample):
            return agent
    return _of_json_head(sample) or _of_place(path)


def _records(head: bytes) -> list[Json]:
    found: list[Json] = []
    for line in head.split(b"\n")[: _MAX_RECORDS * 4]:
        try:
            value: Any = msgspec.json.decode(line) if line.lstrip()[:1] == b"{" else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(as_dict(value))
            if len(found) >= _MAX_RECORDS:
                break
    return found


def _of_record(record: Json, sample: Sample) -> str | None:
    """What one line alone gives away."""
    kind, role = as_str(record.get("type")), as_str(record.get("role"))
    if (len(record) > 3 and "messages" in record) or "trajectory" in record or "items" in record:
        return None
    if "payload" in record and kind in _CODEX_ENVELOPES:
        return "codex"
    if "$set" in record or "$rewindTo" in record or "projectHash" in record:
        return _gemini_or_qwen(sample.path)
    if kind in _CLAUDE_TYPES and ("uuid" in record or "sessionId" in record):
        return _claude_family(record, sample)
    if kind in _CLEW_TYPES and "sessionId" in record:
        return "clew"
    if kind in _CLAUDE_KEYED and ("sessionId" in record or "leafUuid" in record or "messageId" in record):
        return _claude_family(record, sample)
    return _of_other_record(record, kind, role, sample)


def _of_message_tree(record: Json, kind: str, sample: Sample) -> str | None:
    if kind == "session_start" and "id" in record:
        return "droid"
    is_entry = kind == "message" and "id" in record and as_str(as_dict(record.get("message")).get("role"))
    if not is_entry and not (kind == "session" and "cwd" in record):
        return None
    if ".factory" in sample.path.parts:
        return "droid"
    return "openclaw" if "openclaw" in sample.text or ".openclaw" in sample.path.parts else "pi"


def _of_other_record(record: Json, kind: str, role: str, sample: Sample) -> str | None:
    message = as_dict(record.get("message"))
    if agent := _of_message_tree(record, kind, sample):
        return agent
    if role in _KIMI_ROLES or (kind == "metadata" and "protocol_version" in record):
        return "kimi_cli"
    if kind.startswith(_KIMI_CODE_TYPES) and ("time" in record or "timestamp" in record or "input" in record):
        return "kimi_cli"
    if "timestamp" in record and "payload" in message and "type" in message:
        return "kimi_cli"
    if "data" in record and "." in kind and ("parentId" in record or "id" in record):
        return "copilot_cli"
    if role in ("user", "assistant") and "content" in message:
        return "cursor"
    is_item = kind in _CODEX_ITEMS and ("call_id" in record or "content" in record or "summary" in record)
    if is_item and not sample.has("tool_result"):
        return "codex"
    if not kind and "timestamp" in record and "id" in record and ("instructions" in record or "git" in record):
        return "codex"
    if record.get("record_type") == "state" or (role and "created_at" in record):
        return "codex"
    if role in ("user", "assistant", "tool") and "content" in record and "sessions" in sample.path.parts:
        return "kimi_cli"
    return None


def _claude_family(record: Json, sample: Sample) -> str:
    for other in (record, *sample.records):
        kind, message = as_str(other.get("type")), as_dict(other.get("message"))
        if "parts" in message or "toolCallResult" in other or "systemPayload" in other:
            return "qwen_code"
        if kind in _CLEW_TYPES:
            return "clew"
    return "clew" if ".clew" in sample.path.parts else "claude_code"


def _of_markdown(sample: Sample) -> str | None:
    text = sample.text
    if "# aider chat started at " in text or sample.name == ".aider.chat.history.md":
        return "aider"
    opening = text[:4000]
    if "Generated by SpecStory" in opening or ("_Exported on " in opening and "from Cursor" in opening):
        return "cursor"
    if ("_**User" in text and "_**Assistant" in text) or ("**User**" in text and "**Cursor**" in text):
        return "cursor"
    return None


def _of_json_head(sample: Sample) -> str | None:
    """Files that are one JSON value, often longer than the sample."""
    if sample.has("trajectory_format") or (sample.name.endswith(".traj.json") and sample.has("info")):
        return "mini_swe_agent"
    if sample.has("mini_version") or (sample.has("messages", "info", "model_stats") and not sample.has("trajectory")):
        return "mini_swe_agent"
    if sample.text.lstrip().startswith("[") and sample.has("role", "content") and _is_mini_list(sample):
        return "mini_swe_agent"
    if sample.name.endswith(".traj") or sample.has("trajectory", "action", "observation"):
        return "swe_agent"
    if sample.has("projectHash") or sample.has("sessionId", "messages", "startTime"):
        return _gemini_or_qwen(sample.path)
    is_stored_part = "part" in sample.path.parts[-3:-1] and sample.has("id", "type")
    if is_stored_part or sample.has("sessionID") or sample.has("messageID") or sample.has("projectID"):
        return "opencode"
    if sample.has("info", "messages", "slug"):
        return "opencode"
    if sample.has("session", "items") and sample.has("role"):
        return "codex"
    if sample.text.lstrip().startswith("[") and sample.has("role", "parts"):
        return _gemini_or_qwen(sample.path)
    if sample.has("agentType") and sample.name.endswith(".meta.json"):
        return "claude_code"
    if sample.name == "state.json" and (
        sample.has("custom_title") or sample.has("agents", "title") or sample.has("todos")
    ):
        return "kimi_cli"
    return None


def _is_mini_list(sample: Sample) -> bool:
    marks = ("<returncode>", "mswea_bash_command", "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    return sample.name.endswith(".traj.json") or any(mark in sample.text for mark in marks)


def _gemini_or_qwen(path: Path) -> str:
    return "qwen_code" if ".qwen" in path.parts or "qwen-code" in path.parts else "gemini_cli"


def _of_folder(path: Path) -> str | None:
    if (path / "opencode.db").is_file() or (path / "storage").is_dir() or (path / "message").is_dir():
        return "opencode"
    if (path / "context.jsonl").is_file() or (path / "wire.jsonl").is_file() or (path / "agents").is_dir():
        return "kimi_cli"
    if (path / "events.jsonl").is_file():
        return "copilot_cli"
    if (path / ".aider.chat.history.md").is_file():
        return "aider"
    return None


_PLACES = {
    ".claude": "claude_code",
    ".codex": "codex",
    ".gemini": "gemini_cli",
    ".qwen": "qwen_code",
    "opencode": "opencode",
    ".kimi": "kimi_cli",
    ".kimi-code": "kimi_cli",
    ".cursor": "cursor",
    ".specstory": "cursor",
    ".copilot": "copilot_cli",
    ".clew": "clew",
}
_SESSION_FOLDERS = {"projects", "sessions", "archived_sessions", "chats", "storage", "history", "session-state"}


def _of_place(path: Path) -> str | None:
    """Empty and damaged files: only their place speaks."""
    if path.name.endswith(".traj.json"):
        return "mini_swe_agent"
    if path.name.endswith(".traj"):
        return "swe_agent"
    if path.name.startswith("rollout-"):
        return "codex"
    for number, part in enumerate(path.parts):
        if part in _PLACES and _SESSION_FOLDERS.intersection(path.parts[number + 1 : -1]):
            return _PLACES[part]
    return None
