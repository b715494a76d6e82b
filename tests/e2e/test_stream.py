"""The stream of the real command, as programs read it: whole, valid and ended by one result, whatever happens."""

import json
import os
import shlex
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from clew.parts.skills.part import BUNDLED
from clew.protocol.invocables import WITHOUT_A_SCREEN
from e2e.command import CLEW, LIMIT_S, Done, Place, Serve, until
from fakes.effort import not_hanging
from fakes.json_schema import violations
from fakes.model_server import ModelServer
from fakes.stream_reader import problems

Json = dict[str, Any]
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "stream-json.schema.json").read_text())
STREAM = ("--output-format", "stream-json")
PARTIAL = (*STREAM, "--include-partial-messages")
BUSY = {
    "parts": [
        {"thinking": "let me look at it first", "signature": "sig=="},
        {"text": "I will read both files and then say what they hold. "},
        {"call": "Read", "arguments": {"file_path": "a.txt"}},
        {"call": "Bash", "arguments": {"command": "echo hello"}},
    ],
    "usage": {"input": 30, "output": 20},
}


def valid(lines: list[Json]) -> list[Json]:
    """The same lines, after every one was held against the published schema."""
    wrong = [f"{at}: {what}" for at, line in enumerate(lines) for what in violations(line, SCHEMA, SCHEMA)]
    assert wrong == []
    return lines


def checked(place: Place, lines: list[Json]) -> list[Json]:
    """The same lines, after a careful reader found nothing wrong with them."""
    assert problems(valid(lines), place.entries()) == []
    return lines


def of(lines: list[Json], kind: str, subtype: str = "") -> list[Json]:
    return [line for line in lines if line["type"] == kind and (not subtype or line.get("subtype") == subtype)]


def out_of(process: "subprocess.Popen[bytes]") -> list[Json]:
    """The rest; lines may have been read before, so the buffer counts."""
    assert process.stdout is not None
    assert process.stderr is not None
    with not_hanging():
        out, err = process.stdout.read(), process.stderr.read()
        process.wait()
    assert b"Traceback" not in err
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-5", "ollama/fake-model"])
@pytest.mark.parametrize("how", [STREAM, PARTIAL], ids=["whole", "partial"])
def test_a_run_with_tools_is_a_valid_stream_in_every_dialect(serve: Serve, how: tuple[str, ...], model: str) -> None:
    place, server = serve([BUSY, {"text": "Both are read."}])
    (place.project / "a.txt").write_text("alpha")
    env = {"OLLAMA_BASE_URL": f"{server.url}/v1", "OLLAMA_HOST": server.url}
    done = place.run("-p", "go", "--model", model, *how, env=env)
    assert done.code == 0, done.err
    lines = checked(place, done.lines)
    bundled = [row.name for row in BUNDLED]
    assert (lines[0]["slash_commands"], lines[0]["skills"]) == ([*WITHOUT_A_SCREEN, *bundled], bundled)
    replies = of(lines, "assistant")
    assert all(line["message"]["usage"]["input_tokens"] for line in replies)
    assert replies[-1]["message"]["stop_reason"] == "end_turn"
    assert len(of(lines, "user")) == 2
    (label,) = of(lines, "tool_use_summary")
    called = [block["id"] for line in replies for block in line["message"]["content"] if block["type"] == "tool_use"]
    assert label["preceding_tool_use_ids"] == called
    assert lines[-1]["modelUsage"][model]["contextWindow"] > 0
    assert bool(of(lines, "stream_event")) == (how == PARTIAL)


def test_json_is_the_result_line_alone(serve: Serve) -> None:
    place, _ = serve([{"text": "hi"}])
    done = place.run("-p", "go", "--output-format", "json")
    (line,) = valid(done.lines)
    assert (line["type"], line["terminal_reason"], line["stop_reason"]) == ("result", "completed", "end_turn")


def test_init_names_the_key_in_use_and_claims_to_be_nobody_else(serve: Serve) -> None:
    place, _ = serve([{"text": "hi"}])
    init = place.run("-p", "go", *STREAM).lines[0]
    assert init["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert init["clew_version"]
    assert "claude_code_version" not in init


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": "cut", "parts": [{"text": "the first half of a long answer"}], "after": 5},
        {"fault": "rate_limited", "retry_after": 0},
        {"fault": "overloaded"},
    ],
    ids=["cut", "limited", "overloaded"],
)
def test_a_fault_that_passes_leaves_nothing_open(serve: Serve, fault: Json) -> None:
    place, _ = serve([fault, {"text": "the whole answer"}])
    done = place.run("-p", "go", *PARTIAL)
    lines = checked(place, done.lines)
    assert (done.code, lines[-1]["result"]) == (0, "the whole answer")
    assert of(lines, "system", "api_retry") or of(lines, "system", "reply_withdrawn")


def test_a_model_that_cannot_be_reached(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    place = Place(tmp_path, url)
    done = place.run("-p", "go", *PARTIAL)
    lines = checked(place, done.lines)
    assert (done.code, lines[-1]["subtype"], lines[-1]["terminal_reason"]) == (1, "success", "api_error")
    assert lines[-1]["is_error"]
    assert "127.0.0.1" in lines[-1]["result"]


@pytest.mark.parametrize(
    ("args", "env", "code"),
    [
        (["-r", "nosuch"], {}, 1),
        ([], {"ANTHROPIC_API_KEY": ""}, 1),
        (["--model", "nonsense/thing"], {}, 2),
        (["--settings", "{broken"], {}, 2),
        (["--continue"], {}, 1),
    ],
)
def test_a_session_that_cannot_be_opened(tmp_path: Path, args: list[str], env: dict[str, str], code: int) -> None:
    done = Place(tmp_path).run("-p", "go", *STREAM, *args, env=env)
    first, last = valid(done.lines)
    assert (done.code, first["subtype"], first["schema_version"], last["is_error"]) == (code, "init", 1, True)
    assert last["errors"] == [last["error"]]
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    "how", ["-p hi --output-format stream-json", "--output-format stream-json --input-format stream-json"]
)
def test_a_directory_that_is_gone_and_one_whose_name_is_no_text(serve: Serve, how: str) -> None:
    """Programs wait for a result wherever they are started."""
    place, _ = serve({"replies": [], "last": {"text": "hi"}})
    prompt = json.dumps({"type": "user", "message": {"role": "user", "content": "hi"}})
    clew = shlex.quote(CLEW)
    gone = place.run_anew("-c", f"mkdir gone; cd gone; rmdir ../gone; exec {clew} {how}", command="sh")
    (first, last) = valid(gone.lines)
    assert (gone.code, first["subtype"], first["cwd"], last["is_error"]) == (2, "init", "", True)
    odd = place.run_anew("-c", f"d=$(printf 'pr\\377'); mkdir $d; cd $d; echo '{prompt}' | {clew} {how}", command="sh")
    assert (odd.code, odd.err) == (0, "")
    assert [line["type"] for line in odd.lines][-1] == "result"


def test_stdin_that_is_no_prompt_has_a_result_too(tmp_path: Path) -> None:
    done = Place(tmp_path).run("-p", "hi", *STREAM, stdin=b"\xff\xfe")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    (first, last) = valid(done.lines)
    assert (first["subtype"], last["type"]) == ("init", "result")
    assert "not UTF-8" in last["error"]


def test_a_session_that_has_nothing_to_go_on_with(serve: Serve) -> None:
    place, _ = serve([{"text": "hi"}])
    place.run("-p", "go")
    done = place.run("-p", "-c", *STREAM)
    assert (done.code, valid(done.lines)[-1]["subtype"]) == (2, "error_during_execution")
    assert done.lines[-1]["error"] in done.err


def test_limits_end_with_their_own_result(serve: Serve) -> None:
    call = {"calls": [{"call": "Read", "arguments": {"file_path": "x"}}], "usage": {"input": 100_000, "output": 1_000}}
    place, _ = serve({"replies": [], "last": call})
    done = place.run("-p", "go", *STREAM, "--max-turns", "2")
    assert checked(place, done.lines)[-1]["subtype"] == "error_max_turns"
    done = place.run("-p", "go", *STREAM, "--max-budget-usd", "0.001")
    assert (done.code, valid(done.lines)[-1]["subtype"]) == (1, "error_max_budget_usd")


def test_a_tool_that_crashes_is_a_result_of_its_call(serve: Serve) -> None:
    """A directory where a file should be, a pattern that is none, arguments of the wrong kind, a tool that is none."""
    calls = [
        {"call": "Read", "arguments": {"file_path": "/"}},
        {"call": "Grep", "arguments": {"pattern": "("}},
        {"call": "Read", "arguments": {"file_path": 7}},
        {"call": "Bash", "arguments": "{oops"},
        {"call": "Nonsense", "arguments": {}},
    ]
    place, _ = serve([{"parts": calls}, {"text": "so be it"}])
    done = place.run("-p", "go", *PARTIAL)
    lines = checked(place, done.lines)
    assert (done.code, lines[-1]["result"]) == (0, "so be it")
    assert len(of(lines, "user")) == len(calls)


def test_hl_6_a_denial_is_listed_with_its_input(serve: Serve, tmp_path: Path) -> None:
    write = {"call": "Write", "arguments": {"file_path": str(tmp_path / "outside.txt"), "content": "x"}}
    place, _ = serve([{"calls": [write]}, {"text": "understood"}])
    lines = checked(place, place.run("-p", "go", *STREAM).lines)
    (denial,) = lines[-1]["permission_denials"]
    assert (denial["tool_name"], denial["tool_input"]) == ("Write", write["arguments"])
    assert denial["tool_use_id"] == of(lines, "assistant")[0]["message"]["content"][0]["id"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_words_come(serve: Serve, number: signal.Signals) -> None:
    place, _ = serve([{"parts": [{"text": "the beginning of a long answer"}, {"wait": "gate"}]}])
    process = place.start("-p", "go", *PARTIAL)
    assert process.stdout is not None
    first = [json.loads(process.stdout.readline()) for _ in range(5)]
    process.send_signal(number)
    lines = checked(place, [*first, *out_of(process)])
    assert (process.returncode, lines[-1]["terminal_reason"]) == (130, "aborted_streaming")
    assert lines[-1]["stop_reason"] == "interrupted"


def test_a_signal_while_a_tool_runs(serve: Serve) -> None:
    call = {"call": "Bash", "arguments": {"command": "touch started; sleep 1000"}}
    place, _ = serve([{"calls": [call]}])
    process = place.start("-p", "go", *PARTIAL, "--permission-mode", "bypassPermissions")
    until(lambda: (place.project / "started").exists(), process)
    process.send_signal(signal.SIGTERM)
    lines = checked(place, out_of(process))
    assert (process.returncode, lines[-1]["terminal_reason"]) == (130, "aborted_tools")
    (result,) = of(lines, "user")[:1]
    assert result["message"]["content"][0]["is_error"] is True


SIGNALLED = """import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["AT_MODULE"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), int(os.environ["SIGNAL"]))

sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("flags", [("-p", "go", *STREAM), (*STREAM, "--input-format", "stream-json")])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("module", ["asyncio.base_events", "clew.headless.run", "clew.assembly.opening"])
def test_a_signal_while_modules_are_loaded_has_its_result(
    serve: Serve, tmp_path: Path, module: str, number: signal.Signals, flags: tuple[str, ...]
) -> None:
    place, server = serve([])
    (tmp_path / "sitecustomize.py").write_text(SIGNALLED)
    told = {"PYTHONPATH": str(tmp_path), "AT_MODULE": module, "SIGNAL": str(int(number))}
    place.env.update(told)
    process = place.start(*flags)
    lines = valid(out_of(process))
    assert [line["type"] for line in lines] == ["system", "result"]
    assert (process.returncode, lines[-1]["is_error"]) == (130, True)
    assert server.requests == []


def test_a_signal_at_any_moment_of_the_start_ends_with_one_result_or_before_the_first_line(tmp_path: Path) -> None:
    """The session is kept from opening by the process that has it, so that the moment is the same every time."""
    with ModelServer({"replies": [], "last": {"parts": [{"text": "mine"}, {"wait": "gate"}]}}) as server:
        place = Place(tmp_path, server.url)
        holder = place.start("-p", "go", "--session-id", "held", *STREAM)
        until(lambda: server.requests, holder)
        waiting = place.start("-p", "more", "-r", "held", "--wait", *STREAM)
        assert waiting.stderr is not None
        waiting.stderr.readline()  # it says that it waits
        waiting.send_signal(signal.SIGTERM)
        out, _ = waiting.communicate(timeout=LIMIT_S)
        first, last = valid([json.loads(line) for line in out.splitlines()])
        assert (first["subtype"], last["errors"], waiting.returncode) == ("init", ["interrupted"], 130)
        holder.send_signal(signal.SIGTERM)
        assert out_of(holder)[-1]["stop_reason"] == "interrupted"


def test_a_reader_that_stops_reading_gets_everything_when_it_goes_on(serve: Serve) -> None:
    words = "a line of the answer\n" * 20_000
    place, server = serve([{"text": words}, {"text": "never asked for"}])
    process = place.start("-p", "go", *PARTIAL)
    assert process.stdout is not None
    first = process.stdout.readline()
    while len(server.requests) < 1 or not said_in_log(place):  # the run itself goes on without its reader
        assert process.poll() is None
    lines = checked(place, [json.loads(first), *out_of(process)])
    assert (process.returncode, lines[-1]["result"]) == (0, words)


def said_in_log(place: Place) -> bool:
    return any('"turn-result"' in path.read_text() for path in place.transcripts())


def closed_in_order(place: Place) -> None:
    kinds = [entry["type"] for entry in place.entries() if entry["type"] not in ("ai-title", "batch-label")]
    assert kinds[-3:] == ["turn-result", "last-prompt", "session-state"]


def test_a_reader_that_never_reads_does_not_keep_a_run_that_is_told_to_end(serve: Serve) -> None:
    place, _ = serve([{"text": "a line of the answer\n" * 20_000}])
    process = place.start("-p", "go", *PARTIAL)
    until(lambda: said_in_log(place), process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_S) in (0, 130)
    closed_in_order(place)


def test_a_reader_that_leaves_ends_a_run_that_says_nothing(serve: Serve) -> None:
    call = {"call": "Bash", "arguments": {"command": "touch started; sleep 1000"}}
    place, server = serve([{"calls": [call]}, {"text": "never"}])
    process = place.start("-p", "go", *STREAM, "--permission-mode", "bypassPermissions")
    until(lambda: (place.project / "started").exists(), process)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    assert process.wait(LIMIT_S) == 0
    closed_in_order(place)
    assert len(server.requests) == 1


def test_stderr_that_nobody_reads_holds_up_nothing(serve: Serve) -> None:
    call = {"calls": [{"call": "Read", "arguments": {"file_path": "missing-" + "x" * 200}}]}
    place, _ = serve({"replies": [call] * 300, "last": {"text": "done"}})
    reading, writing = os.pipe()  # never read: it holds 64 KiB, and --verbose says more
    try:
        process = subprocess.Popen(
            [
                CLEW,
                "-p",
                "go",
                *STREAM,
                "--verbose",
                "--max-turns",
                "400",
                "--settings",
                '{"limits": {"maxSteps": 400}}',
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=writing,
            cwd=place.project,
            env=place.env,
        )
        out, _ = process.communicate(timeout=2 * LIMIT_S)
    finally:
        os.close(reading)
        os.close(writing)
    lines = valid([json.loads(line) for line in out.splitlines()])
    assert len(of(lines, "result")) == 1


def test_hl_7_killed_right_after_the_result_the_answer_is_on_disk(serve: Serve) -> None:
    place, _ = serve([{"text": "the answer"}])
    process = place.start("-p", "go", *STREAM)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "result":
            process.kill()
            break
    process.wait(LIMIT_S)
    assert any("the answer" in str(entry) for entry in place.entries() if entry["type"] == "assistant")
    assert "the answer" in place.run("show", place.transcripts()[0].stem).out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_after_the_result_does_not_spoil_the_exit_code(serve: Serve, number: signal.Signals) -> None:
    place, _ = serve([{"text": "the answer"}])
    process = place.start("-p", "go", *STREAM)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "result":
            process.send_signal(number)
    assert process.wait(LIMIT_S) == 0


def test_a_title_that_was_asked_for_comes_before_the_result(serve: Serve) -> None:
    words = "Explain what the parser module does with nested brackets"
    place, server = serve({"replies": [{"text": "It counts them."}], "last": {"text": "Parser module and brackets"}})
    settings = '{"titles": {"model": "on"}, "fastModel": "anthropic/claude-haiku-4-5"}'
    lines = checked(place, place.run("-p", words, *STREAM, "--settings", settings).lines)
    assert [(line["source"], line["title"]) for line in of(lines, "system", "title")][-1] == (
        "model",
        "Parser module and brackets",
    )
    assert len(server.requests) == 2
    assert lines[-1]["side_queries"]["session-title"]["requests"] == 1


def test_a_title_that_does_not_come_is_waited_for_within_its_limit_only(serve: Serve) -> None:
    place, server = serve([{"text": "It counts them."}, {"parts": [{"wait": "gate"}, {"text": "late"}]}])
    settings = (
        '{"titles": {"model": "on"}, "fastModel": "anthropic/claude-haiku-4-5", "sideQueries": {"timeoutS": 0.2}}'
    )
    done = place.run("-p", "Explain what the parser does with nested brackets", *STREAM, "--settings", settings)
    lines = checked(place, done.lines)
    assert (done.code, [line["source"] for line in of(lines, "system", "title")]) == (0, ["facts"])
    assert len(server.requests) == 2


def test_a_signal_ends_the_waiting_for_a_title(serve: Serve) -> None:
    place, server = serve([{"text": "It counts them."}, {"parts": [{"wait": "gate"}, {"text": "late"}]}])
    settings = (
        '{"titles": {"model": "on"}, "fastModel": "anthropic/claude-haiku-4-5", "sideQueries": {"timeoutS": 100000}}'
    )
    words = "Explain what the parser does with nested brackets"
    process = place.start("-p", words, *STREAM, "--settings", settings)
    until(lambda: len(server.requests) >= 2, process)
    process.send_signal(signal.SIGTERM)
    lines = checked(place, out_of(process))
    assert (process.returncode, lines[-1]["result"]) == (0, "It counts them.")


def test_the_state_of_the_session_is_told_to_a_host_that_hangs_up_by_it(serve: Serve) -> None:
    place, _ = serve({"replies": [], "last": {"text": "hi"}})
    done = place.run("-p", "go", *STREAM, env={"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"})
    lines = checked(place, done.lines)
    states = of(lines, "system", "session_state_changed")
    assert [(line["state"], line["sdk_host_only"]) for line in states] == [("running", True), ("idle", True)]
    assert not of(place.run("-p", "go", *STREAM).lines, "system", "session_state_changed")


def test_a_command_is_a_stream_too(serve: Serve) -> None:
    place, _ = serve([])
    done = place.run("-p", "/context", *STREAM)
    first, *_, last = valid(done.lines)
    assert (done.code, first["subtype"], last["type"], last["is_error"]) == (0, "init", "result", False)
    assert last["context"]["window"] > 0
    wrong = place.run("-p", "/fork", *STREAM)
    assert (valid(wrong.lines)[-1]["is_error"], len(of(wrong.lines, "result"))) == (True, 1)


def test_a_signal_while_a_command_asks_a_model(serve: Serve) -> None:
    place, server = serve({"replies": [{"text": "words " * 200}] * 4, "last": {"parts": [{"wait": "gate"}]}})
    for number in range(4):
        place.run("-p", f"question {number}", *(["-c"] if number else []))
    before = len(server.requests)
    process = place.start("-p", "/compact", "-c", *STREAM)
    until(lambda: len(server.requests) != before, process)
    process.send_signal(signal.SIGTERM)
    lines = valid(out_of(process))
    assert (process.returncode, lines[-1]["is_error"], len(of(lines, "result"))) == (130, True, 1)


def test_a_bug_of_ours_is_told_and_the_run_still_has_its_result(serve: Serve) -> None:
    """The fold of the lines is broken on purpose, in the real process."""
    place, _ = serve([{"text": "hi"}])
    broken = (
        "import sys\n"
        "from clew.streaming.replies import ReplyLines\n"
        "def fail(self, event): raise ZeroDivisionError('on purpose')\n"
        "ReplyLines.completed = fail\n"
        f"sys.argv = ['clew', '-p', 'go', {', '.join(map(repr, STREAM))}]\n"
        "from clew.cli.entry import main\n"
        "sys.exit(main())\n"
    )
    process = subprocess.run(
        [str(Path(CLEW).parent / "python"), "-c", broken],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        cwd=place.project,
        env=place.env,
        timeout=LIMIT_S,
        check=False,
    )
    done = Done(process.returncode, process.stdout.decode(), process.stderr.decode())
    assert done.code == 1
    assert valid(done.lines)[-1]["errors"] == ["internal error: ZeroDivisionError: on purpose"]
    assert len(of(done.lines, "result")) == 1
    assert "ZeroDivisionError" in done.err
    closed_in_order(place)


def test_every_line_can_be_taken_by_itself(serve: Serve) -> None:
    """A consumer that knows nothing of the stream but newlines."""
    place, _ = serve([BUSY, {"text": "two\nlines\u2028and a separator"}])
    done = place.run("-p", "go", *PARTIAL)
    raw = done.out.split("\n")
    assert raw.pop() == ""
    assert all(json.loads(line)["type"] for line in raw)
    answers = [json.loads(line) for line in raw if '"type":"result"' in line]
    assert answers[-1]["result"] == "two\nlines\u2028and a separator"


def test_ten_at_once_do_not_mix(serve: Serve) -> None:
    place, _ = serve({"replies": [], "last": {"text": "hi"}})
    runs: list[Done] = []
    threads = [threading.Thread(target=lambda: runs.append(place.run("-p", "go", *STREAM))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({run.lines[0]["session_id"] for run in runs}) == 4
    assert all(problems(valid(run.lines)) == [] for run in runs)
