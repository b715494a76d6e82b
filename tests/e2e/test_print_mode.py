"""`clew -p`: cases HL-1 to HL-8 of the specification, and every kind of bad input."""

import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from e2e.command import LIMIT_S, Place, Serve, until


def read_call(path: Path) -> dict[str, Any]:
    return {"calls": [{"call": "Read", "arguments": {"file_path": str(path)}}]}


def test_the_answer_is_all_that_stdout_carries(serve: Serve) -> None:
    place, server = serve([{"text": "Forty-two."}])
    done = place.run("-p", "what is it?")
    assert (done.code, done.out, done.err) == (0, "Forty-two.\n", "")
    assert "what is it?" in str(server.requests[0].body["messages"])


def test_hl_1_json_is_one_document_with_everything_in_it(serve: Serve) -> None:
    place, _ = serve([{"text": "hi", "usage": {"input": 10, "output": 2}}])
    done = place.run("-p", "hello", "--output-format", "json")
    result = done.result
    assert done.code == 0
    assert (result["type"], result["subtype"], result["is_error"], result["result"]) == (
        "result",
        "success",
        False,
        "hi",
    )
    expected = {"duration_ms", "duration_api_ms", "num_turns", "stop_reason", "session_id", "total_cost_usd", "usage"}
    assert expected | {"modelUsage", "permission_denials"} <= set(result)
    assert list(result["modelUsage"]) == ["anthropic/claude-sonnet-4-5"]
    assert result["num_turns"] == 1


def test_hl_2_stream_json_starts_with_init_and_ends_with_the_result(serve: Serve) -> None:
    place, _ = serve([read_call(Path("missing.txt")), {"text": "done"}])
    done = place.run("-p", "go", "--output-format", "stream-json")
    kinds = [(line["type"], line.get("subtype")) for line in done.lines]
    assert kinds[0] == ("system", "init")
    assert kinds[-1] == ("result", "success")
    assert [kind for kind, _ in kinds].count("result") == 1
    told = [kind for kind, subtype in kinds if subtype != "title"]
    assert told == ["system", "assistant", "user", "tool_use_summary", "assistant", "result"]


def test_stream_json_sums_up_each_batch_of_calls_for_whoever_reads_it(serve: Serve) -> None:
    place, _ = serve([read_call(Path("missing.txt")), {"text": "done"}] * 2)
    done = place.run("-p", "go", "--output-format", "stream-json")
    (summary,) = [line for line in done.lines if line["type"] == "tool_use_summary"]
    asked = [part for line in done.lines if line["type"] == "assistant" for part in line["message"]["content"]]
    assert summary["summary"] == "Read of missing.txt failed"
    assert summary["preceding_tool_use_ids"] == [part["id"] for part in asked if part["type"] == "tool_use"]
    assert summary["session_id"] == done.lines[0]["session_id"]
    off = place.run("-p", "go", "--output-format", "stream-json", env={"CLEW_TOOL_BATCH_SUMMARIES": "off"})
    assert "tool_use_summary" not in [line["type"] for line in off.lines]


def test_hl_3_a_piped_prompt(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "ok"}})
    assert place.run("-p", stdin="from the pipe").code == 0
    assert "from the pipe" in str(server.requests[0].body["messages"])
    assert place.run("-p", "explain:", stdin="piped text").code == 0
    assert "explain:\\n\\npiped text" in server.requests[1].raw.decode()


def test_hl_4_the_budget_ends_the_run_and_the_transcript_is_complete(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {**read_call(Path("x")), "usage": {"input": 100000, "output": 1000}}})
    done = place.run("-p", "go", "--output-format", "json", "--max-budget-usd", "0.001")
    assert done.code == 1
    assert done.result["subtype"] == "error_max_budget_usd"
    assert len(server.requests) == 1
    assert [entry["type"] for entry in place.entries()].count("user") == 2


def test_max_turns_ends_the_run(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": read_call(Path("x"))})
    done = place.run("-p", "go", "--output-format", "json", "--max-turns", "2")
    assert (done.code, done.result["subtype"], len(server.requests)) == (1, "error_max_turns", 2)


def test_hl_6_what_would_ask_is_denied_listed_and_the_run_goes_on(serve: Serve, tmp_path: Path) -> None:
    write = {"call": "Write", "arguments": {"file_path": str(tmp_path / "outside.txt"), "content": "x"}}
    place, server = serve([{"calls": [write]}, {"text": "understood"}])
    done = place.run("-p", "write it", "--output-format", "json")
    assert (done.code, done.result["result"], done.result["stop_reason"]) == (1, "understood", "all_calls_refused")
    (denial,) = done.result["permission_denials"]
    assert denial["tool_name"] == "Write"
    assert not (tmp_path / "outside.txt").exists()
    assert len(server.requests) == 2


def test_hl_8_resume_at_without_resume_is_refused_in_one_line(tmp_path: Path) -> None:
    done = Place(tmp_path).run("-p", "x", "--resume-session-at", "abc")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1


def test_the_prompt_is_on_disk_and_private_before_the_request_arrives(serve: Serve) -> None:
    place, server = serve([{"parts": [{"wait": "gate"}, {"text": "late"}]}])
    process = place.start("-p", "keep this safe")
    until(lambda: server.requests, process)
    (path,) = place.transcripts()
    assert "keep this safe" in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    server.release("gate")
    assert process.wait(LIMIT_S) == 0


def test_ctrl_c_once_interrupts_cleanly(serve: Serve) -> None:
    place, server = serve([{"parts": [{"text": "partial"}, {"wait": "gate"}]}])
    process = place.start("-p", "go", "--output-format", "json")
    until(lambda: server.requests, process)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert b'"stop_reason":"interrupted"' in out
    assert "go" in str(next(entry for entry in place.entries() if entry["type"] == "user"))


def test_a_retry_is_told_and_the_run_succeeds(serve: Serve) -> None:
    place, _ = serve([{"fault": "rate_limited", "retry_after": 0}, {"text": "ok"}])
    done = place.run("-p", "go")
    assert (done.code, done.out) == (0, "ok\n")
    assert "trying again" in done.err


def test_a_cut_stream_is_asked_again_and_only_the_second_answer_counts(serve: Serve) -> None:
    place, server = serve(
        [{"fault": "cut", "parts": [{"text": "first half of a longer answer"}], "after": 4}, {"text": "second"}]
    )
    done = place.run("-p", "go")
    assert (done.code, done.out) == (0, "second\n")
    assert server.requests[1].body.get("stream") in (None, False)


def test_no_session_persistence_writes_nothing(serve: Serve) -> None:
    place, _ = serve([{"text": "ok"}])
    assert place.run("-p", "go", "--no-session-persistence").code == 0
    assert not place.transcripts()


def one_line(text: str) -> str:
    (line,) = text.splitlines()
    return line


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-p", "x", "--modle", "y"], "--model"),
        (["-p", "x", "--max-turns", "0"], "--max-turns"),
        (["-p", "x", "--output-format", "xml"], "xml"),
        (["-p", "x", "--model", "nonsense/thing"], "nonsense"),
        (["-p", "x", "--settings", "/does/not/exist.json"], "/does/not/exist.json"),
        (["-p", "x", "--settings", '{"modle": "y"}'], "model"),
        (["-p", "x", "--settings", "{broken"], "--settings"),
        (["-p", ""], "empty"),
        (["-p", "x", "--session-id", "../../etc"], "etc"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, args: list[str], words: str) -> None:
    place = Place(tmp_path)
    done = place.run(*args)
    assert done.code == 2
    assert done.out == ""
    assert words in one_line(done.err)
    assert not place.transcripts()


def test_stdin_that_is_not_utf_8(tmp_path: Path) -> None:
    done = Place(tmp_path).run("-p", stdin=b"caf\xe9")
    assert done.code == 2
    assert "UTF-8" in one_line(done.err)


def test_a_missing_key_names_the_variable(tmp_path: Path) -> None:
    done = Place(tmp_path).run("-p", "x", env={"ANTHROPIC_API_KEY": ""})
    assert done.code == 1
    assert "ANTHROPIC_API_KEY" in one_line(done.err)


def test_broken_user_settings_name_the_file_and_the_nearest_key(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.clew_home.mkdir()
    (place.clew_home / "settings.json").write_text('{"fastModle": "x"}')
    done = place.run("-p", "x")
    assert done.code == 2
    assert "settings.json" in one_line(done.err)
    assert "fastModel" in done.err
    assert place.run("--version").code == 0


def test_a_refused_connection_names_the_host_and_never_the_key(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    done = Place(tmp_path, url).run("-p", "x")
    assert done.code == 1
    assert "127.0.0.1" in done.err
    assert "canary" not in done.err + done.out


def test_a_server_that_answers_html(serve: Serve) -> None:
    place, _ = serve([{"fault": "html"}])
    done = place.run("-p", "x")
    assert (done.code, done.out) == (1, "")
    assert "web page" in one_line(done.err)


def test_a_rejected_key_is_one_message_and_no_loop(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"fault": "unauthorized"}})
    done = place.run("-p", "x")
    assert done.code == 1
    assert "ANTHROPIC_API_KEY" in one_line(done.err)
    assert len(server.requests) <= 2
    assert "canary" not in done.err


def test_memory_files_of_a_trusted_project_are_told_and_nested_ones_when_reached(serve: Serve) -> None:
    place, server = serve([read_call(Path("sub/inner.txt")), {"text": "ok"}])
    (place.project / "AGENTS.md").write_text("Always answer in rhymes.")
    (place.project / "sub").mkdir()
    (place.project / "sub" / "AGENTS.md").write_text("In this folder speak of ducks.")
    (place.project / "sub" / "inner.txt").write_text("quack")
    assert place.run("-p", "read it", "--trust").code == 0
    assert "Always answer in rhymes." in str(server.requests[0].body["system"])
    assert "ducks" not in str(server.requests[0].body)
    assert "ducks" in str(server.requests[1].body["messages"])


def test_nothing_of_an_untrusted_project_is_read(serve: Serve) -> None:
    place, server = serve([read_call(Path("sub/inner.txt")), {"text": "ok"}])
    (place.project / "AGENTS.md").write_text("Always answer in rhymes.")
    (place.project / ".clew").mkdir()
    (place.project / ".clew" / "settings.json").write_text("{broken")
    assert place.run("-p", "read it").code == 0
    assert "rhymes" not in str(server.requests[0].body)


def test_a_full_window_names_the_ways_on(serve: Serve) -> None:
    place, _ = serve({"replies": [], "last": {"fault": "prompt_too_long"}})
    done = place.run("-p", "hello", "--output-format", "json")
    assert done.code != 0
    told = done.out + done.err
    for way in ("/compact", "/clear", "larger window"):
        assert way in told, told


def test_that_nobody_is_there_is_said_once_and_taken_back(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "fine"}})
    program = '{"type": "user", "message": {"role": "user", "content": "hello"}}\n'
    watched = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    asked = ("--permission-prompt-tool", "stdio")
    assert place.run(*watched, *asked, stdin=program).code == 0
    for _ in range(3):
        assert place.run("-c", "-p", "go on").code == 0
    assert str(server.requests[-1].body["messages"]).count("nobody is there to answer") == 1
    for _ in range(2):
        assert place.run("-c", *watched, *asked, stdin=program).code == 0
    assert str(server.requests[-1].body["messages"]).count("a person is there who can answer") == 1
