"""Resume, branch, fork, cut: RS-9, RS-12 and the BF cases."""

import json
import os
from pathlib import Path

import pytest

from clew.protocol.entries import (
    AssistantEntry,
    ChainEntry,
    CustomTitleEntry,
    OpaqueEntry,
    SessionSourceEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.history import valid_history
from clew.protocol.ids import CallId, SessionId
from clew.protocol.messages import ToolCallPart, text_of
from clew.transcript.chain.view import messages_of, replacements_of, view
from clew.transcript.errors import SessionNotFound, UnknownEntry
from clew.transcript.log.lease import acquire
from clew.transcript.log.store import SessionStore, project_key, tool_result_path
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.past.fork import branch_title, fork_session
from clew.transcript.past.interruption import interruption
from clew.transcript.past.reader import load
from clew.transcript.past.resume import newest_session, own_session, resume_at

from .samples import SESSION, Script, write_lines

NEW = SessionId("f0000000-0000-4000-8000-00000000000f")
NOW = "2026-11-15T12:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def put(store: SessionStore, root: Path, name: str, *, at: int = 0) -> Path:
    script = Script(SessionId(name))
    script.user(f"hello from {name}")
    path = script.write(store.project_dir(root))
    os.utime(path, (1_000_000 + at, 1_000_000 + at))
    return path


def test_continue_takes_the_session_written_last(store: SessionStore, project: Path) -> None:
    put(store, project, "older", at=1)
    newer = put(store, project, "newer", at=2)
    assert newest_session(store, project) == newer


def test_rs12_a_live_background_session_is_passed_over(store: SessionStore, project: Path) -> None:
    interactive = put(store, project, "interactive", at=1)
    background = put(store, project, "background", at=2)
    lease = acquire(background, background=True)
    assert newest_session(store, project) == interactive
    lease.release()
    assert newest_session(store, project) == background


def test_continue_in_an_empty_place_says_what_to_do(store: SessionStore, project: Path) -> None:
    with pytest.raises(SessionNotFound, match="clew sessions"):
        newest_session(store, project)


def test_a_moved_repository_is_found_by_its_identity(store: SessionStore, project: Path, tmp_path: Path) -> None:
    store.remember_project(project, identity="abc:.")
    path = put(store, project, "before")
    moved = tmp_path / "renamed"
    project.rename(moved)
    with pytest.raises(SessionNotFound):
        newest_session(store, moved)
    assert newest_session(store, moved, identity=lambda folder: "abc:." if folder == moved else "") == path


def test_ids_and_the_beginnings_of_ids(store: SessionStore, project: Path) -> None:
    first, second = put(store, project, "abcd1111"), put(store, project, "abcd2222")
    assert own_session(store, first.stem) == own_session(store, first.stem[:8]) == first
    put(store, project, "abcd222233")
    assert own_session(store, "abcd2222") == second, "a whole id, though another one begins with it"
    assert own_session(store, "nothing") is own_session(store, "abcd111") is own_session(store, "") is None


@pytest.mark.parametrize("name", ["../escape", "a/b", "", ".", "x" * 200, "a\0b", "-rf"])
def test_ids_that_are_no_safe_file_name_are_refused(store: SessionStore, project: Path, name: str) -> None:
    with pytest.raises(Exception, match="not a valid id"):
        store.session_path(project, SessionId(name))


def test_project_keys_differ_where_paths_do(tmp_path: Path) -> None:
    assert project_key(tmp_path / "a-b") != project_key(tmp_path / "a" / "b")
    assert len(project_key(Path("/" + "x" * 5000))) < 200
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert project_key(link) == project_key(tmp_path)


def test_call_ids_of_any_kind_make_safe_names(tmp_path: Path) -> None:
    path = tool_result_path(tmp_path / "s.jsonl", CallId("../../etc/passwd"))
    assert path.parent == tmp_path / "s" / "tool-results"


def session() -> Script:
    script = Script()
    script.user("start")
    script.call("c1", message="m")
    script.call("c2", message="m")
    script.result("c1", "long" * 100, parent="a2")
    script.result("c2", "short", parent="a3")
    script.replacement("c1", "preview")
    script.assistant("done")
    return script


def test_bf1_bf3_a_fork_sends_the_same_bytes_and_leaves_the_source_alone(tmp_path: Path) -> None:
    path = session().write(tmp_path)
    before = path.read_bytes()
    loaded = load(path)
    fork = fork_session(loaded, NEW, timestamp=NOW)
    assert view(fork.entries, session_id=NEW) == loaded.messages
    assert "preview" in repr(loaded.messages)
    target = tmp_path / f"{NEW}.jsonl"
    sink = TranscriptWriter(target, NEW, seed=fork.lines)
    script = Script(NEW)
    script.user("and now", parent=fork.leaf, uuid="n1")
    sink.append(script.entries[0])
    sink.close()
    assert path.read_bytes() == before
    again = load(target)
    assert again.problems == ()
    assert again.messages[:-1] == loaded.messages
    assert text_of(again.messages[-1].content) == "and now"
    stamps = {json.loads(line)["sessionId"] for line in target.read_bytes().splitlines()}
    assert stamps == {NEW}
    copied = again.chain[0]
    assert isinstance(copied, ChainEntry)
    assert copied.forked_from == {"sessionId": SESSION, "messageUuid": "u1"}
    source = again.entries[0]
    assert isinstance(source, SessionSourceEntry)
    assert (source.source_session, source.path) == (SESSION, str(path))


def test_v7_unknown_fields_and_lines_survive_a_fork_byte_for_byte(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    line = script.lines()[0][:-2] + b',"slug":"calm-otter","nested":{"b" : [1 , 2.50]}}\n'
    alien = b'{"type":"pr-link","sessionId":"%s","url":"https://example.org/1","odd": 1.10}\n' % SESSION.encode()
    fork = fork_session(load(write_lines(tmp_path / f"{SESSION}.jsonl", [line, alien])), NEW, timestamp=NOW)
    assert b'"nested":{"b" : [1 , 2.50]}' in fork.lines[2]
    assert b'"odd":1.10' in fork.lines[1]
    assert any(isinstance(entry, OpaqueEntry) and entry.type == "pr-link" for entry in fork.entries)


def test_a_fork_of_a_compacted_session_starts_at_the_boundary(tmp_path: Path) -> None:
    script = Script()
    script.user("old")
    head = script.user("keep me")
    tail = script.assistant("kept")
    script.boundary(preservedSegment={"headUuid": head, "anchorUuid": "u5", "tailUuid": tail})
    script.user("go on")
    loaded = load(script.write(tmp_path))
    fork = fork_session(loaded, NEW, timestamp=NOW)
    assert view(fork.entries, session_id=NEW) == loaded.messages
    assert b"old" not in b"".join(fork.lines)
    known = {json.loads(line).get("uuid") for line in fork.lines}
    parents = {json.loads(line).get("parentUuid") for line in fork.lines} - {None}
    assert parents <= known, "the chain never names an entry that is not written"


def test_a_fork_of_snips_damage_and_withdrawn_parts_is_whole(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    broken = script.assistant("half")
    script.tombstone(broken)
    script.assistant("noise", parent="u1")
    script.system("snip_boundary", data={"removedUuids": ["a3"]})
    script.user("two")
    script.user("lost")
    script.user("three")
    lines = script.lines()
    lines[-2] = b"damage\n"
    loaded = load(write_lines(tmp_path / f"{SESSION}.jsonl", lines))
    fork = fork_session(loaded, NEW, timestamp=NOW)
    target = write_lines(tmp_path / f"{NEW}.jsonl", fork.lines)
    assert load(target).messages == loaded.messages
    assert load(target).problems == ()


def test_e10_a_fork_while_the_source_is_written_is_a_consistent_prefix(tmp_path: Path) -> None:
    script = session()
    path = script.write(tmp_path)
    loaded = load(path)
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"later","parentUuid":"a7","messa')
    assert view(fork_session(loaded, NEW, timestamp=NOW).entries, session_id=NEW) == loaded.messages


def test_bf2_titles_of_branches_differ_and_name_their_origin(tmp_path: Path) -> None:
    first = branch_title("Fix login", [])
    second = branch_title("Fix login", [first])
    assert (first, second) == ("Fix login (Branch)", "Fix login (Branch 2)")
    fork = fork_session(load(session().write(tmp_path)), NEW, timestamp=NOW, title=first)
    assert fork.entries[-1] == CustomTitleEntry(session_id=NEW, timestamp=NOW, custom_title=first)


def test_bf4_a_cut_at_a_call_takes_its_result_along(tmp_path: Path) -> None:
    loaded = load(session().write(tmp_path))
    for at in ("a2", "a3", "u4"):
        cut = resume_at(loaded, at)
        assert [entry.uuid for entry in cut.chain if isinstance(entry, ChainEntry)] == ["u1", "a2", "a3", "u4", "u5"]
        assert valid_history(messages_of(cut.chain, replacements_of(cut.entries)))[-1].role == "user"
    assert resume_at(loaded, "u1").leaf == "u1"


def test_a_cut_before_any_result_is_still_valid_for_a_request(tmp_path: Path) -> None:
    script = Script()
    script.user("start")
    script.call("c1")
    cut = resume_at(load(script.write(tmp_path)), "a2")
    last = valid_history(cut.messages)[-1]
    assert "[interrupted]" in repr(last)


def test_going_on_after_a_cut_makes_a_branch(tmp_path: Path) -> None:
    path = session().write(tmp_path)
    cut = resume_at(load(path), "u1")
    sink = TranscriptWriter(path, SESSION)
    script = Script()
    script.user("another way", parent=cut.leaf, uuid="n1")
    sink.append(script.entries[0])
    sink.close()
    assert [entry.uuid for entry in load(path).chain if isinstance(entry, ChainEntry)] == ["u1", "n1"]


def test_bf5_an_unknown_entry_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownEntry, match="no-such-id"):
        resume_at(load(session().write(tmp_path)), "no-such-id")


def turn_result(reason: str) -> TurnResultEntry:
    return TurnResultEntry(session_id=SESSION, timestamp=NOW, reason=reason, turn=1, steps=1, duration_ms=1)


def how_it_stopped(script: Script, tmp_path: Path, **more: frozenset[str]) -> str:
    loaded = load(script.write(tmp_path))
    return interruption(loaded.entries, loaded.chain, **more)


def test_interruptions(tmp_path: Path) -> None:
    script = Script()
    assert how_it_stopped(script, tmp_path) == "none"
    script.user("go")
    assert how_it_stopped(script, tmp_path) == "prompt"
    script.call("c1")
    assert how_it_stopped(script, tmp_path) == "turn"
    script.result("c1")
    assert how_it_stopped(script, tmp_path) == "turn"
    assert how_it_stopped(script, tmp_path, ending_tools=frozenset({"Read"})) == "none"
    script.assistant("overloaded", is_api_error_message=True)
    assert how_it_stopped(script, tmp_path) == "turn"
    script.assistant("done")
    assert how_it_stopped(script, tmp_path) == "none"
    script.user("hidden", is_meta=True)
    assert how_it_stopped(script, tmp_path) == "none"


def test_a_turn_the_user_stopped_is_not_taken_up_again(tmp_path: Path) -> None:
    script = Script()
    script.user("go")
    script.call("c1")
    script.result("c1")
    script.entries.append(turn_result("interrupted"))
    assert how_it_stopped(script, tmp_path) == "none"
    script.user("next")
    assert how_it_stopped(script, tmp_path) == "prompt"


def test_rs9_after_a_crash_behind_a_result_the_call_is_not_open(tmp_path: Path) -> None:
    """What is sent holds the call with its real result, so that the model goes on and nothing runs twice."""
    script = Script()
    script.user("go")
    script.call("c1")
    script.result("c1", "the real result")
    loaded = load(script.write(tmp_path))
    repaired = valid_history(loaded.messages)
    assert "the real result" in repr(repaired[-1])
    assert "[interrupted]" not in repr(repaired)
    calls = [
        part
        for entry in loaded.chain
        if isinstance(entry, AssistantEntry)
        for part in entry.message.content
        if isinstance(part, ToolCallPart)
    ]
    assert len(calls) == 1
    assert isinstance(loaded.chain[-1], UserEntry)
