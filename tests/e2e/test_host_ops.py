"""Typed commands, memory lines and the commands of the screen, through the real command on a pipe and with -p."""

import json
from pathlib import Path

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer

KEY = "sk-ant-test-canary-000000000000"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_typed_command_runs_free_and_the_model_sees_it_also_after_resume_fork_and_export(tmp_path: Path) -> None:
    with ModelServer({"replies": [], "last": {"text": "Fine."}}) as server:
        place = Place(tmp_path, server.url)
        typed = "!echo from the shell; printenv ANTHROPIC_API_KEY\nwhat was that?\n"
        done = place.run("--plain", "--trust", stdin=typed)
        assert done.code == 0, done.err
        assert "  from the shell" in done.out
        assert "exit code 0" in done.out
        assert KEY not in done.out
        (path,) = place.transcripts()
        assert KEY not in path.read_text()
        assert "from the shell" in str(server.requests[0].body["messages"])
        place.run("-p", "go on", "--resume", path.stem)
        place.run("-p", "go on", "--resume", path.stem, "--fork-session")
        for request in server.requests[1:3]:
            assert "from the shell" in str(request.body["messages"][0])
        exported = place.run("export", path.stem)
        assert "echo from the shell" in exported.out
        shown = place.run("export", path.stem, "--to", "claude-code")
        assert any("<bash-input>echo from the shell" in str(json.loads(line)) for line in shown.out.splitlines())


def test_a_typed_command_at_the_end_of_a_pipe_is_not_cut_off(place: Place) -> None:
    done = place.run("--plain", "--trust", stdin="!sleep 0.3; echo to the end\n")
    assert "  to the end" in done.out
    assert "exit code 0" in done.out


def test_lines_are_remembered_and_questions_of_a_pipe_are_answered(place: Place) -> None:
    (place.project / "AGENTS.md").write_text("- be brief\n")
    lines = ("#use tabs", "/memory", "/status", "/doctor", "/bashes", "/diff", "/export notes.md", "/init", "/model")
    done = place.run("--plain", "--trust", stdin="\n".join(lines) + "\n")
    assert (place.project / "AGENTS.md").read_text() == "- be brief\n- use tabs\n"
    assert (place.project / "notes.md").exists()
    for words in (
        "Remembered in AGENTS.md",
        "Permission mode",
        "sandbox",
        "No command runs",
        "changed no files",
        "Written: ",
        "There is no /init",
        "also opus",
    ):
        assert words in done.out, (words, done.out, done.err)
    assert "/quit" not in done.out


def test_headless_commands_answer_and_end(place: Place) -> None:
    for text, words in (
        ("/status", "Permission mode"),
        ("/memory", "#LINE adds a line"),
        ("/doctor", "sandbox"),
        ("/diff", "changed no files"),
        ("/cost", "Cost: $0"),
        ("/mode", "Mode: default"),
    ):
        done = place.run("-p", text)
        assert done.code == 0, (text, done.err)
        assert words in done.out


def test_a_family_names_a_model(tmp_path: Path) -> None:
    with ModelServer([{"text": "hi"}]) as server:
        place = Place(tmp_path, server.url)
        done = place.run("-p", "hello", "--model", "haiku", "--output-format", "json")
        assert done.code == 0, done.err
        assert server.requests[0].body["model"].startswith("claude-haiku-")
