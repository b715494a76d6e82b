"""Real processes that are killed, stopped, or fight for one session. The long runs are in bench/transcript.py."""

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from bench.log_kills import SESSION, fork, prompt, survive_kills, two_writers, writer_until_lost

from clew.protocol.entries import UserEntry
from clew.transcript.errors import SessionBusy
from clew.transcript.log.lease import Lease, acquire, take_over
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.past.reader import iterate, load
from e2e.command import Place
from fakes.model_server import ModelServer


def test_sigkill_at_random_points_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """V1, V3, V4, E02: split writes included; every session takes a next turn, every takeover is quick."""
    outcome = survive_kills(tmp_path, 60, seed=random.randrange(1 << 30))
    assert outcome.acknowledged > 200
    assert outcome.lost == 0
    assert outcome.refused == 0
    assert outcome.torn > 0, "some kills must have hit the middle of a line, else this test shows nothing"
    assert outcome.slowest_takeover_s < 2


def test_two_writers_never_interleave(tmp_path: Path) -> None:
    """TW-6, L18 in small."""
    contest = two_writers(tmp_path, 400)
    assert contest.interleaved == 0
    assert contest.won > 0


def test_l18_of_two_that_resume_at_the_same_moment_one_writes(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"

    def resume(go: int, told: int, done: int) -> None:
        os.read(go, 1)
        try:
            lease = acquire(path)
        except SessionBusy:
            os.write(told, b"b")
            return
        os.write(told, b"w")
        os.read(done, 1)
        lease.release()

    for _ in range(40):
        go, told, done = os.pipe(), os.pipe(), os.pipe()
        children = [fork(lambda go=go, told=told, done=done: resume(go[0], told[1], done[0])) for _ in range(2)]
        os.write(go[1], b"..")
        answers = os.read(told[0], 1) + os.read(told[0], 1)
        os.write(done[1], b".")
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert sorted(answers) == sorted(b"bw")
        for end in (*go, *told, *done):
            os.close(end)


def test_e03_a_stopped_holder_that_wakes_writes_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    for _ in range(5):
        reading, writing = os.pipe()
        child = fork(lambda writing=writing: writer_until_lost(path, writing))
        os.close(writing)
        os.read(reading, 1)
        lease = stop_and_take(path, child)
        second = TranscriptWriter(path, SESSION, lease=lease)
        mine = prompt("from the second", load(path).leaf)
        assert second.append(mine)
        size = path.stat().st_size
        os.kill(child, signal.SIGCONT)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert path.stat().st_size == size
        assert load(path).leaf == mine.uuid
        second.close()
        os.close(reading)


def stop_and_take(path: Path, child: int) -> Lease:
    """A holder that is stopped inside a write cannot be displaced; it is let go on and stopped again."""
    for _ in range(20):
        os.kill(child, signal.SIGSTOP)
        os.waitpid(child, os.WUNTRACED)
        try:
            return take_over(path, name="the second", wait_s=0, force=True)
        except SessionBusy:
            os.kill(child, signal.SIGCONT)
            os.waitpid(child, os.WCONTINUED)
    raise AssertionError("twenty times in the middle of a write")


def test_e05_many_processes_in_one_directory(tmp_path: Path) -> None:
    def work(number: int) -> None:
        path = tmp_path / f"session{number}.jsonl"
        writer = TranscriptWriter(path, SESSION)
        for step in range(30):
            assert writer.append(prompt(f"{number} {step}", None))
        writer.close()

    children = [fork(lambda number=number: work(number)) for number in range(64)]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 64
    for number in range(64):
        entries = [item.entry for item in iterate(tmp_path / f"session{number}.jsonl")]
        found = [str(entry.message.content) for entry in entries if isinstance(entry, UserEntry)]
        assert found == [f"{number} {step}" for step in range(30)]


def open_calls(body: dict[str, Any]) -> list[str]:
    """Calls without exactly one result in the very next message."""
    bad: list[str] = []
    messages = body["messages"]
    for number, message in enumerate(messages):
        content = message["content"] if isinstance(message["content"], list) else []
        asked = [part["id"] for part in content if part["type"] == "tool_use"]
        following = messages[number + 1]["content"] if number + 1 < len(messages) else []
        given = [part["tool_use_id"] for part in following if part["type"] == "tool_result"] if asked else []
        if sorted(asked) != sorted(given):
            bad.extend(asked)
    return bad


@pytest.mark.parametrize("requests", [1, 2, 3, 5, 8])
def test_a_killed_run_goes_on_with_the_next_prompt(tmp_path: Path, requests: int) -> None:
    """TW-3, V6: the installed command, killed behind its n-th request; then `--continue` works and is valid."""
    (tmp_path / "data.txt").write_text("data\n")
    step = {"calls": [{"call": "Read", "arguments": {"file_path": str(tmp_path / "data.txt")}}] * 2}
    with (
        ModelServer({"replies": [], "last": step}) as busy,
        ModelServer({"replies": [], "last": {"text": "ok"}}) as calm,
    ):
        place = Place(tmp_path, busy.url)
        run = place.start("-p", "first words", "--allowed-tools", "Read")
        while len(busy.requests) < requests and run.poll() is None:
            time.sleep(0.001)
        run.kill()
        run.communicate()
        (path,) = place.transcripts()
        before = path.read_bytes()
        assert b"first words" in before, "the prompt is on disk before the first network byte"
        place.env["ANTHROPIC_BASE_URL"] = calm.url
        done = place.run("-p", "second words", "--continue")
        assert done.code == 0, done.err
        assert path.read_bytes().startswith(before)
        body = json.loads(calm.requests[-1].raw)
        assert open_calls(body) == []
        assert "second words" in json.dumps(body["messages"][-1])
