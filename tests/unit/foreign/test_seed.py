"""Continuing: a fresh, valid chain of ours that links to its source and carries no rights along."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from clew.foreign.build import Builder, image_part
from clew.foreign.registry import read
from clew.foreign.seed import to_clew_session
from clew.protocol.entries import (
    AiTitleEntry,
    AssistantEntry,
    ChainEntry,
    CustomTitleEntry,
    KnownEntry,
    SessionSourceEntry,
    SystemEntry,
    UserEntry,
)
from clew.protocol.messages import ReasoningPart, TextPart, ToolCallPart, ToolResultPart, parts_of

from .samples import SAMPLES
from .samples_lines import claude_line, claude_reply, claude_user, codex
from .writing import jsonl

EVERY = [pytest.param(lay_out, id=name) for name, (_, lay_out) in SAMPLES.items()]


@pytest.mark.parametrize("lay_out", EVERY)
def test_every_session_becomes_a_valid_chain_of_ours(tmp_path: Path, lay_out: Callable[[Path], Path]) -> None:
    transcript = read(lay_out(tmp_path))
    entries = to_clew_session(transcript, "new-session", "/here")
    source = entries[0]
    assert isinstance(source, SessionSourceEntry)
    assert (source.agent, source.source_session, source.path) == (
        transcript.agent,
        transcript.session_id,
        str(transcript.path),
    )
    parent = None
    old = {entry.uuid for entry in transcript.entries if isinstance(entry, ChainEntry)}
    for entry in entries[1:]:
        assert isinstance(entry, UserEntry | AssistantEntry | SystemEntry | CustomTitleEntry | AiTitleEntry)
        assert entry.session_id == "new-session"
        line = msgspec.json.encode(entry)
        assert msgspec.json.decode(line, type=KnownEntry) == entry
        if isinstance(entry, ChainEntry):
            assert entry.uuid not in old
            assert entry.parent_uuid == parent or entry.logical_parent_uuid == parent
            assert (entry.cwd, entry.is_sidechain) == ("/here", False)
            parent = entry.uuid


def test_results_name_the_copied_entry_of_their_call(tmp_path: Path) -> None:
    entries = to_clew_session(read(codex(tmp_path)), "new", "/here")
    holders = {
        part.id: entry.uuid
        for entry in entries
        if isinstance(entry, AssistantEntry)
        for part in entry.message.content
        if isinstance(part, ToolCallPart)
    }
    answered = 0
    for entry in entries:
        if isinstance(entry, UserEntry):
            for part in parts_of(entry.message):
                if isinstance(part, ToolResultPart):
                    answered += 1
                    assert entry.source_tool_assistant_uuid == holders[part.call_id]
    assert answered == 3


def test_no_rights_no_costs_no_proofs_cross(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            claude_user("u1", None, "go", permissionMode="bypassPermissions"),
            {"type": "permission-mode", "permissionMode": "bypassPermissions", "sessionId": "s"},
            claude_line("attachment", "h1", "u1", attachment={"type": "hook_success", "command": "rm -rf /"}),
            claude_reply("a1", "h1", thinking),
            claude_reply("a2", "a1", {"type": "text", "text": "API Error"}, "msg_2", isApiErrorMessage=True),
            claude_user("s1", None, "a sub-agent", isSidechain=True),
        ],
    )
    entries = to_clew_session(read(path), "new", "/here")
    assert "bypass" not in str(entries)
    assert "rm -rf" not in str(entries)
    assert "API Error" not in str(entries)
    assert "a sub-agent" not in str(entries)
    (reply,) = [entry for entry in entries if isinstance(entry, AssistantEntry)]
    assert reply.message.usage is None
    assert reply.message.content == (ReasoningPart(text="hm", provider="claude_code"),)


def test_messages_kept_by_a_compaction_are_attached_again(tmp_path: Path) -> None:
    compact = {"trigger": "auto", "preTokens": 9, "preservedMessages": {"uuids": ["u2"]}}
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            claude_user("u1", None, "first"),
            claude_user("u2", "u1", "kept word for word"),
            claude_line(
                "system", "b1", None, subtype="compact_boundary", logicalParentUuid="u2", compactMetadata=compact
            ),
            claude_user("s1", "b1", "the summary", isCompactSummary=True),
            claude_user("u3", "s1", "go on"),
        ],
    )
    entries = to_clew_session(read(path), "new", "/here")
    texts = [entry.message.content for entry in entries if isinstance(entry, UserEntry)]
    assert texts == ["first", "kept word for word", "the summary", "kept word for word", "go on"]


def test_pictures_of_another_machine_are_named_not_opened(tmp_path: Path) -> None:
    build = Builder("codex", "s")
    build.user("look", images=(image_part("file:///etc/passwd"), image_part("data:image/png;base64,AAAA")))
    entries = to_clew_session(build.transcript(tmp_path / "x", []), "new", "/here")
    (entry,) = [entry for entry in entries if isinstance(entry, UserEntry)]
    parts = parts_of(entry.message)
    assert parts[1] == TextPart(text="[image: file:///etc/passwd]")
    assert parts[2] == image_part("data:image/png;base64,AAAA")


def test_results_without_a_call_stay_behind(tmp_path: Path) -> None:
    lost = [{"type": "tool_result", "tool_use_id": "gone", "content": "of a lost call"}]
    path = jsonl(tmp_path / "x.jsonl", [claude_user("u1", None, "go"), claude_user("u2", "u1", lost)])
    entries = to_clew_session(read(path), "new", "/here")
    assert [entry.message.content for entry in entries if isinstance(entry, UserEntry)] == ["go"]
