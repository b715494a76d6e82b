"""Codex CLI: rollouts of the TypeScript program, of the first Rust versions, and the envelope since 0.34."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clew.foreign.build import Builder, image_part
from clew.foreign.listing import below, found
from clew.foreign.readers.codex_items import Items
from clew.foreign.readers.patches import count_diff
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts, first_str, text_of_content
from clew.foreign.source import Source
from clew.protocol.display import DiffBlock
from clew.protocol.messages import Part
from clew.protocol.usage import Usage

AGENT = "codex"
_NAME = re.compile(r"rollout-.*?-(?P<id>[0-9a-fA-F]{8}-[0-9a-fA-F-]{27})\.jsonl?$")


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where Codex keeps its sessions."""
    return (Path(env["CODEX_HOME"]),) if env.get("CODEX_HOME") else (user_home / ".codex",)


def discover(home: Path) -> Iterator[ForeignSession]:
    """All rollouts, archived ones too; titles come from the session index."""
    titles = _titles(home)
    for folder in ("sessions", "archived_sessions"):
        for path in below(home / folder, depth=4):
            if path.name.startswith("rollout-") and path.suffix in (".jsonl", ".json"):
                session_id = thread_id(path)
                yield from found(AGENT, path, session_id, title=titles.get(session_id, ""))


def thread_id(path: Path) -> str:
    """The thread id in a rollout's name, or the name."""
    named = _NAME.match(path.name)
    return named["id"] if named else path.stem


def _titles(home: Path) -> dict[str, str]:
    titles: dict[str, str] = {}
    index = home / "session_index.jsonl"
    if index.is_file():
        for _, line in Source(index).objects():
            if as_str(line.get("id")) and as_str(line.get("thread_name")):
                titles[line["id"]] = line["thread_name"]
    return titles


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One rollout. The order in the file is the conversation."""
    source = Source(path)
    if path.suffix == ".json":
        return _read_typescript(path, source)
    reader = _Rollout(path)
    for _, record in source.objects():
        reader.record(record)
    reader.finish()
    return reader.build.transcript(path, source.problems)


def _read_typescript(path: Path, source: Source) -> ForeignTranscript:
    value = as_dict(source.value())
    session = as_dict(value.get("session"))
    build = Builder(AGENT, as_str(session.get("id")) or thread_id(path), started=session.get("timestamp"))
    items = Items(build)
    for item in dicts(value.get("items")):
        items.item(item if item.get("type") else {**item, "type": "message"})
    return build.transcript(path, source.problems)


class _Rollout:
    """Folds the lines of one rollout, with or without envelopes."""

    def __init__(self, path: Path) -> None:
        self.build = Builder(AGENT, thread_id(path))
        self.items = Items(self.build)
        self._turn = 0
        self._open_turn = False
        self._has_turns = False
        self._steps = 0
        self._own_meta = False

    def record(self, record: Json) -> None:
        """One line. `compacted` and unknown kinds included."""
        self.build.at(record.get("timestamp") or record.get("created_at"))
        kind, payload = as_str(record.get("type")), record.get("payload")
        if isinstance(payload, dict):
            self._envelope(kind, as_dict(payload), record)
        elif not kind and "id" in record and ("instructions" in record or "git" in record):
            self._session(record)
        elif record.get("record_type") == "state" or self.items.item(record if kind else {**record, "type": "message"}):
            return
        else:
            self.build.opaque(kind or as_str(record.get("record_type")), record)

    def finish(self) -> None:
        """A turn that neither completed nor was aborted was cut off."""
        if self._has_turns and self._open_turn:
            self.build.system("interrupted", "The session ended in the middle of a turn.", data={"kind": "cut_off"})

    def _envelope(self, kind: str, payload: Json, record: Json) -> None:
        match kind:
            case "session_meta":
                self._session(payload)
            case "turn_context":
                self.build.model = as_str(payload.get("model")) or self.build.model
                self.build.meta.cwd = as_str(payload.get("cwd")) or self.build.meta.cwd
            case "response_item":
                if not self.items.item(payload):
                    self.build.opaque(as_str(payload.get("type")), record)
            case "event_msg":
                self._event(as_str(payload.get("type")), payload, record)
            case "compacted":
                self._compacted(payload)
            case _:
                self.build.opaque(kind, record)

    def _session(self, payload: Json) -> None:
        if self._own_meta:
            # A forked or spawned thread repeats its parent's header after its own.
            return
        self._own_meta = True
        build, meta = self.build, self.build.meta
        build.rename(as_str(payload.get("id")))
        build.at(payload.get("timestamp"))
        git = as_dict(payload.get("git"))
        meta.cwd = as_str(payload.get("cwd")) or meta.cwd
        meta.branch = as_str(git.get("branch"))
        meta.version = as_str(payload.get("cli_version"))
        spawn = as_dict(as_dict(as_dict(payload.get("source")).get("subagent")).get("thread_spawn"))
        meta.parent_session = as_str(spawn.get("parent_thread_id")) or as_str(payload.get("forked_from_id"))
        meta.is_subagent = bool(as_dict(payload.get("source")).get("subagent"))
        meta.agent_name = first_str(payload, "agent_nickname", "agent_role") or first_str(spawn, "agent_nickname")

    def _event(self, kind: str, payload: Json, record: Json) -> None:
        match kind:
            case "user_message":
                self.items.user(as_str(payload.get("message")), "event", images=_images(payload))
            case "agent_message":
                self.items.assistant(as_str(payload.get("message")), "event")
            case "agent_reasoning" | "agent_reasoning_raw_content":
                self.items.reasoning(as_str(payload.get("text")), "event")
            case "token_count":
                self._tokens(payload)
            case "task_started" | "turn_started":
                self._turn += 1
                self._open_turn = self._has_turns = True
                self._steps = 0
            case "task_complete" | "turn_complete":
                self._open_turn = False
                self.items.assistant(as_str(payload.get("last_agent_message")), "complete")
                duration = as_int(payload.get("duration_ms"))
                self.build.turn_result("completed", self._turn, steps=self._steps, duration_ms=duration)
            case "turn_aborted":
                self._open_turn = False
                self.build.system("interrupted", as_str(payload.get("reason")) or "interrupted")
            case "error" | "stream_error":
                self._error(payload, ends_turn=kind == "error")
            case "thread_rolled_back":
                self.build.undo(max(1, as_int(payload.get("num_turns"))))
                self.items.forget()
            case "thread_name_updated":
                self.build.title(as_str(payload.get("thread_name")))
            case "patch_apply_end":
                self._patch_applied(payload)
            case "exec_command_end":
                self.items.exit_code(as_str(payload.get("call_id")), payload.get("exit_code"))
            case "context_compacted" | "web_search_end" | "mcp_tool_call_end" | "agent_reasoning_section_break":
                # Each repeats what a response item or a `compacted` line says.
                return
            case _:
                self.build.opaque(f"event_msg.{kind}", record)

    def _error(self, payload: Json, *, ends_turn: bool) -> None:
        self._open_turn = self._open_turn and not ends_turn
        inner = as_dict(payload.get("error"))
        info = payload.get("codex_error_info")
        text = first_str(payload, "message") or first_str(inner, "message") or "error"
        kind = as_str(inner.get("kind")) or (info if isinstance(info, str) else "")
        self.build.error(text, kind=kind, ends_turn=ends_turn)

    def _tokens(self, payload: Json) -> None:
        last = as_dict(as_dict(payload.get("info")).get("last_token_usage"))
        if last:
            self._steps += 1
            cached = as_int(last.get("cached_input_tokens"))
            self.build.usage(
                Usage(
                    input_tokens=max(0, as_int(last.get("input_tokens")) - cached),
                    output_tokens=as_int(last.get("output_tokens")),
                    cache_read_input_tokens=cached,
                )
            )
            self.build.end_reply()

    def _patch_applied(self, payload: Json) -> None:
        diffs: list[DiffBlock] = []
        for name, change in as_dict(payload.get("changes")).items():
            kind, body = _change(change)
            added, removed = count_diff(body)
            diffs.append(DiffBlock(path=name, patch=body, added=added, removed=removed, created=kind == "add"))
        self.items.patched(
            as_str(payload.get("call_id")),
            tuple(diffs),
            text=as_str(payload.get("stdout")) or as_str(payload.get("stderr")),
            failed=payload.get("success") is False,
        )

    def _compacted(self, payload: Json) -> None:
        history = list(dicts(payload.get("replacement_history")))
        summary = as_str(payload.get("message"))
        if not summary:
            texts = [text_of_content(item.get("content")) for item in history if item.get("role") == "user"]
            summary = "\n\n".join(text for text in texts if text)
        self.build.boundary(summary, replaced=len(history))
        self.items.forget()


def _change(change: Any) -> tuple[str, str]:
    """Kind and diff of one changed file; older versions nest it under its kind."""
    body = as_dict(change)
    kind = as_str(body.get("type"))
    if not kind and len(body) == 1:
        kind, inner = next(iter(body.items()))
        body = as_dict(inner)
    diff = as_str(body.get("unified_diff"))
    if not diff and (content := as_str(body.get("content"))):
        sign = "-" if kind == "delete" else "+"
        diff = "\n".join(sign + line for line in content.splitlines())
    return kind, diff


def _images(payload: Json) -> tuple[Part, ...]:
    urls = [url for url in payload.get("images") or () if isinstance(url, str)]
    return tuple(image_part(url) for url in urls)
