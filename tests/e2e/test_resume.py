"""Going on: continue, resume, fork, cut, take over, and sessions brought from another agent."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import LIMIT_S, Place, until
from fakes.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({"replies": [], "last": {"text": "ok"}}) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: ModelServer) -> Place:
    return Place(tmp_path, server.url)


def said(request: Any) -> str:
    """All words of a request's messages."""
    return json.dumps(request.body["messages"], ensure_ascii=False)


def first_session(place: Place, prompt: str = "fix the lighthouse lamp") -> str:
    done = place.run("-p", prompt, "--output-format", "json")
    assert done.code == 0
    return done.result["session_id"]


def test_continue_sends_the_past_unchanged_and_appends_to_the_same_file(place: Place, server: ModelServer) -> None:
    session = first_session(place)
    before = place.transcripts()[0].read_bytes()
    assert place.run("-p", "and the door", "-c").code == 0
    (path,) = place.transcripts()
    assert path.read_bytes().startswith(before)
    assert path.stem == session
    first, second = server.requests
    assert second.body["messages"][0]["content"][0]["text"] == first.body["messages"][0]["content"][0]["text"]
    assert [message["role"] for message in second.body["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize("query", ["id", "prefix", "text", "path"])
def test_resume_by_any_handle(place: Place, server: ModelServer, query: str) -> None:
    session = first_session(place)
    first_session(place, "something else entirely")
    path = next(item for item in place.transcripts() if item.stem == session)
    handle = {"id": session, "prefix": session[:8], "text": "lighthouse", "path": str(path)}[query]
    assert place.run("-p", "go on", "--resume", handle).code == 0
    assert "lighthouse" in said(server.requests[-1])
    assert len(place.transcripts()) == 2


def test_an_unknown_session_is_one_line(place: Place) -> None:
    done = place.run("-p", "x", "--resume", "no such thing anywhere")
    assert done.code == 1
    assert len(done.err.splitlines()) == 1


def test_several_sessions_that_fit_are_listed_a_line_each(place: Place) -> None:
    sessions = {first_session(place, "polish the brass"), first_session(place, "polish the brass")}
    done = place.run("-p", "x", "--resume", "polish the brass")
    assert done.code == 1
    assert all(any(session in line for line in done.err.splitlines()) for session in sessions)
    assert len(done.err.splitlines()) == 3


def test_fork_leaves_the_source_untouched_and_a_fork_without_a_prompt_leaves_nothing(place: Place) -> None:
    session = first_session(place)
    (path,) = place.transcripts()
    before = path.read_bytes()
    done = place.run("-p", "another way", "--resume", session, "--fork-session", "--output-format", "json")
    assert done.result["session_id"] != session
    assert path.read_bytes() == before
    assert len(place.transcripts()) == 2


def test_bf_5_resume_at_an_unknown_entry_names_it(place: Place) -> None:
    session = first_session(place)
    done = place.run("-p", "x", "--resume", session, "--resume-session-at", "nowhere")
    assert done.code == 1
    assert "nowhere" in done.err


def test_resume_at_cuts_after_that_entry(place: Place, server: ModelServer) -> None:
    session = first_session(place)
    place.run("-p", "second thing", "-c")
    answer = next(entry["uuid"] for entry in place.entries() if entry["type"] == "assistant")
    assert place.run("-p", "instead", "--resume", session, "--resume-session-at", answer).code == 0
    assert "second thing" not in said(server.requests[-1])
    assert place.run("-p", "and now", "-c").code == 0
    assert "instead" in said(server.requests[-1])
    assert "second thing" not in said(server.requests[-1])


def test_a_chosen_session_id_is_used_once(place: Place) -> None:
    chosen = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
    assert place.run("-p", "x", "--session-id", chosen, "--output-format", "json").result["session_id"] == chosen
    done = place.run("-p", "x", "--session-id", chosen)
    assert done.code == 1
    assert chosen in done.err


def test_rs_9_after_a_crash_the_turn_goes_on_once_without_running_the_tool_again(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("the tide is high")
    read = {"calls": [{"call": "Read", "arguments": {"file_path": str(tmp_path / "note.txt")}}]}
    with ModelServer([read, {"parts": [{"wait": "never"}]}, {"text": "finished"}]) as server:
        place = Place(tmp_path, server.url)
        process = place.start("-p", "read the note", "--permission-mode", "bypassPermissions")
        until(lambda: len(server.requests) >= 2, process)
        process.kill()
        process.wait()
        done = place.run("-p", "-c")
        assert (done.code, done.out) == (0, "finished\n")
        assert len(server.requests) == 3
        assert said(server.requests[-1]).count("the tide is high") == 1


def test_without_a_prompt_a_finished_session_says_so(place: Place) -> None:
    first_session(place)
    done = place.run("-p", "-c")
    assert done.code == 2
    assert "prompt" in done.err


def held_session(place: Place, server: ModelServer) -> "subprocess.Popen[bytes]":
    """A run that has its session open and waits for the model."""
    before = len(server.requests)
    process = place.start("-p", "hold it")
    until(lambda: len(server.requests) > before, process)
    return process


def test_a_second_process_is_told_and_may_fork_or_take_over(tmp_path: Path) -> None:
    replies = [{"parts": [{"wait": "gate"}, {"text": "late"}]}]
    with ModelServer({"replies": replies, "last": {"text": "ok"}}) as server:
        place = Place(tmp_path, server.url)
        holder = held_session(place, server)
        session = place.transcripts()[0].stem
        refused = place.run("-p", "me too", "--resume", session)
        assert refused.code == 1
        assert str(holder.pid) in refused.err
        assert place.run("-p", "me too", "--resume", session, "--fork-session").code == 0
        assert place.run("-p", "mine now", "--resume", session, "--take-over").code == 0
        server.release("gate")
        _, err = holder.communicate(timeout=LIMIT_S)
        assert holder.returncode != 0
        assert b"taken over" in err
        lines = [
            json.loads(line)
            for line in (next(p for p in place.transcripts() if p.stem == session)).read_text().splitlines()
        ]
        assert "mine now" in str(lines)


def test_a_killed_holder_does_not_block(tmp_path: Path) -> None:
    replies = [{"parts": [{"wait": "gate"}, {"text": "late"}]}]
    with ModelServer({"replies": replies, "last": {"text": "ok"}}) as server:
        place = Place(tmp_path, server.url)
        holder = held_session(place, server)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert place.run("-p", "next", "-c").code == 0


def test_another_agents_session_goes_on_as_a_session_of_ours(place: Place, server: ModelServer, tmp_path: Path) -> None:
    rollout = tmp_path / "rollout-2026-01-02T03-04-05-0195aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee.jsonl"
    meta = {"id": "0195aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee", "cwd": "/elsewhere", "cli_version": "0.140.0"}
    items = [
        {"type": "session_meta", "payload": meta},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "paint the fence green"}},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "The fence is half painted."}},
    ]
    rollout.write_text("".join(json.dumps({"timestamp": "2026-01-02T03:04:05.000Z", **item}) + "\n" for item in items))
    before = rollout.read_bytes()
    assert place.run("-p", "go on painting", "--resume", str(rollout)).code == 0
    assert "paint the fence green" in said(server.requests[-1])
    assert rollout.read_bytes() == before
    (ours,) = place.transcripts()
    assert str(rollout) in ours.read_text()
    assert place.run("-p", "more", "-c").code == 0
    assert "half painted" in said(server.requests[-1])
