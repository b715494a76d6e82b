"""stdin: a pipe is one input, a silent one blocks nobody, and line by line is said with `--plain`."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import CLEW, LIMIT_S, Place
from fakes.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({"replies": [], "last": {"text": "Fine."}}) as server:
        yield server


@pytest.fixture
def place(tmp_path: Path, server: ModelServer) -> Place:
    return Place(tmp_path, server.url)


def prompts(server: ModelServer) -> list[str]:
    found: list[str] = []
    for request in server.requests:
        content = request.body["messages"][-1]["content"]
        found.append(content if isinstance(content, str) else "".join(part["text"] for part in content))
    return found


def start(place: Place, *args: str, stdin: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [CLEW, *args],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=place.project,
        env=place.env,
        text=True,
    )


DIFF = "diff --git a/x b/x\n-old\n+new\n\n@@ two @@\n"


def test_a_pipe_with_a_prompt_is_one_request(place: Place, server: ModelServer) -> None:
    done = place.run("review this", stdin=DIFF)
    assert (done.code, done.out, done.err) == (0, "Fine.\n", "")
    assert prompts(server) == [f"review this\n\n{DIFF}"]


def test_a_pipe_without_a_prompt_is_one_request_too(place: Place, server: ModelServer) -> None:
    done = place.run(stdin="explain\nall of\nthis\n")
    assert (done.code, done.out) == (0, "Fine.\n")
    assert prompts(server) == ["explain\nall of\nthis\n"]


def test_a_pipe_takes_the_formats_of_print_mode(place: Place) -> None:
    assert place.run("review", "--output-format", "json", "--max-turns", "3", stdin=DIFF).result["result"] == "Fine."
    kinds = [line["type"] for line in place.run("--output-format", "stream-json", stdin="hi").lines]
    assert (kinds[0], kinds[-1]) == ("system", "result")


def test_a_file_on_stdin_is_read_as_a_pipe_is(place: Place, server: ModelServer) -> None:
    (place.project / "notes.txt").write_text("line one\nline two\n")
    with (place.project / "notes.txt").open("rb") as notes:
        process = start(place, "sum up", stdin=notes.fileno())
        assert process.communicate(timeout=LIMIT_S)[0] == "Fine.\n"
    assert prompts(server) == ["sum up\n\nline one\nline two\n"]


def test_line_by_line_is_said_with_plain(place: Place, server: ModelServer) -> None:
    done = place.run("--plain", "--trust", stdin="one\ntwo\n")
    assert done.code == 0
    assert prompts(server)[0] == "one"
    assert "two" in prompts(server)[-1]


def test_nothing_on_stdin_is_not_waited_for(place: Place, server: ModelServer) -> None:
    done = place.run("do it")
    assert (done.code, done.out, done.err) == (0, "Fine.\n", "")
    assert prompts(server) == ["do it"]


def test_a_silent_pipe_is_left_after_a_while_and_that_is_said(place: Place, server: ModelServer) -> None:
    reader, writer = os.pipe()
    try:
        runs = [start(place, *args, stdin=reader) for args in (["go"], ["-p", "go"])]
        said = [process.communicate(timeout=LIMIT_S) for process in runs]
    finally:
        os.close(reader)
        os.close(writer)
    assert [process.returncode for process in runs] == [0, 0]
    for out, err in said:
        assert out == "Fine.\n"
        (line,) = err.splitlines()
        assert "stdin was silent" in line
        assert "--stdin" in line
    assert prompts(server) == ["go", "go"]


def test_what_is_waited_for_is_waited_for_longer_than_a_silent_pipe(place: Place, server: ModelServer) -> None:
    """After a first byte, with `--stdin`, and without a prompt: to the end, however long that takes."""
    ways = {("sum up",): b"begin", ("--stdin", "look"): b"", (): b""}
    pipes = [os.pipe() for _ in ways]
    runs = [start(place, *args, stdin=reader) for args, (reader, _) in zip(ways, pipes, strict=True)]
    for (reader, writer), first in zip(pipes, ways.values(), strict=True):
        os.close(reader)
        os.write(writer, first)
    with pytest.raises(subprocess.TimeoutExpired):
        runs[0].wait(5)
    assert [process.poll() for process in runs] == [None, None, None]
    assert not server.requests, "the pipes are still open"
    for _, writer in pipes:
        os.write(writer, b" and end")
        os.close(writer)
    said = [process.communicate(timeout=LIMIT_S) for process in runs]
    assert [(process.returncode, *words) for process, words in zip(runs, said, strict=True)] == [(0, "Fine.\n", "")] * 3
    assert sorted(prompts(server)) == [" and end", "look\n\n and end", "sum up\n\nbegin and end"]


def test_an_endless_stdin_is_refused(place: Place, server: ModelServer) -> None:
    with open("/dev/zero", "rb") as zeros:
        process = start(place, "go", stdin=zeros.fileno())
        out, err = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, out) == (2, "")
    assert "32 MB" in err
    assert not server.requests


def test_bytes_that_are_no_text_are_refused_before_a_model_is_asked(place: Place, server: ModelServer) -> None:
    done = place.run("look at this", stdin=b"caf\xe9")
    assert (done.code, done.out) == (2, "")
    assert "UTF-8" in done.err
    assert not server.requests


def test_a_session_goes_on_with_what_is_piped(place: Place, server: ModelServer) -> None:
    assert place.run("first").code == 0
    assert place.run("-c", stdin="second\nwith lines\n").code == 0
    assert prompts(server) == ["first", "second\nwith lines\n"]
    assert len(server.requests[1].body["messages"]) == 3
