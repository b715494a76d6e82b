"""Options through the real command: what the model is asked, and what is refused before it is asked anything."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Done, Place
from fakes.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({"replies": [], "last": {"text": "Fine."}}) as server:
        yield server


@pytest.fixture
def place(tmp_path: Path, server: ModelServer) -> Place:
    return Place(tmp_path, server.url)


def one_line(done: Done) -> str:
    (line,) = done.err.splitlines()
    return line


def asked(server: ModelServer) -> dict[str, Any]:
    return server.requests[-1].body


def test_an_empty_system_prompt_reaches_the_request_as_none_at_all(place: Place, server: ModelServer) -> None:
    assert place.run("-p", "hi", "--system-prompt", "").code == 0
    assert "system" not in asked(server)
    assert place.run("-p", "hi").code == 0
    assert "Environment" in str(asked(server)["system"])


def test_an_empty_system_prompt_holds_after_a_resume(place: Place, server: ModelServer) -> None:
    first = place.run("-p", "hi", "--system-prompt", "", "--output-format", "json").result["session_id"]
    again = place.run("-p", "and?", "--resume", first, "--system-prompt", "")
    assert (again.code, again.err) == (0, "")
    assert "system" not in asked(server)
    other = place.run("-p", "and now?", "--resume", first, "--verbose")
    assert "instructions changed" in other.err
    assert "Environment" in str(asked(server)["system"])


def test_system_prompts_and_what_is_appended_come_from_files_too(place: Place, server: ModelServer) -> None:
    (place.project / "own.md").write_text("You are a poet.")
    (place.project / "more.md").write_text("Rhyme.")
    args = ["--system-prompt-file", "own.md", "--append-system-prompt-file", "more.md"]
    assert place.run("-p", "hi", *args).code == 0
    assert asked(server)["system"][0]["text"] == "You are a poet.\n\nRhyme."


def names(server: ModelServer) -> list[str]:
    return [tool["name"] for tool in asked(server).get("tools", [])]


def test_the_model_is_told_of_these_tools_only(place: Place, server: ModelServer) -> None:
    assert place.run("-p", "--tools", "Read,Grep", "hi").code == 0
    assert names(server) == ["Read", "Grep"]
    assert place.run("-p", "hi", "--tools", "").code == 0
    assert names(server) == []
    assert place.run("-p", "hi", "--tools", "default").code == 0
    assert len(names(server)) > 5


def test_a_tool_that_is_left_out_cannot_be_called(tmp_path: Path) -> None:
    bash = {"call": "Bash", "arguments": {"command": "touch made"}}
    with ModelServer([{"calls": [bash]}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        assert place.run("-p", "go", "--tools", "Read", "--dangerously-skip-permissions").code == 0
        assert "There is no tool named 'Bash'" in str(server.requests[1].body["messages"])
    assert not (place.project / "made").exists()


def test_an_unknown_tool_is_refused_with_those_there_are(place: Place, server: ModelServer) -> None:
    done = place.run("-p", "hi", "--tools", "Read,Task")
    assert (done.code, done.out) == (2, "")
    assert "Task" in one_line(done)
    assert all(name in done.err for name in ("--tools", "Bash", "WebFetch"))
    assert not server.requests
    assert not place.transcripts()


def trusted_files(place: Place) -> None:
    """A word of each of those who have files: in the settings a rule, in memory files a sentence."""
    place.clew_home.mkdir(exist_ok=True)
    (place.clew_home / "settings.json").write_text('{"effort": "high", "permissions": {"allow": ["Write"]}}')
    (place.clew_home / "AGENTS.md").write_text("The user likes rhymes.")
    (place.project / ".clew").mkdir()
    (place.project / ".clew" / "settings.json").write_text('{"limits": {"maxSteps": 1}}')
    (place.project / ".clew" / "settings.local.json").write_text('{"permissions": {"deny": ["Write"]}}')
    (place.project / "AGENTS.md").write_text("The project speaks of ducks.")


@pytest.mark.parametrize(
    ("sources", "high", "rhymes", "ducks", "one_step", "written"),
    [
        ("user,project,local", True, True, True, True, False),
        ("user,project", True, True, True, True, True),
        ("user,local", True, True, False, False, False),
        ("user", True, True, False, False, True),
        ("project", False, False, True, True, False),
        ("", False, False, False, False, False),
    ],
)
def test_only_the_files_of_these_sources_are_read(
    tmp_path: Path, sources: str, *, high: bool, rhymes: bool, ducks: bool, one_step: bool, written: bool
) -> None:
    write = {"call": "Write", "arguments": {"file_path": "a.txt", "content": "x"}}
    with ModelServer([{"calls": [write]}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        trusted_files(place)
        done = place.run("-p", "go", "--trust", f"--setting-sources={sources}", "--output-format", "json")
        first = server.requests[0].body
        assert ("thinking" in first) == high
        assert ("rhymes" in str(first["system"])) == rhymes
        assert ("ducks" in str(first["system"])) == ducks
        assert (len(server.requests) == 1) == one_step
        assert (done.result["subtype"] == "error_max_turns") == one_step
        assert (place.project / "a.txt").exists() == written


def test_what_was_always_allowed_belongs_to_local(tmp_path: Path) -> None:
    write = {"call": "Write", "arguments": {"file_path": "a.txt", "content": "x"}}
    with ModelServer({"replies": [], "last": {"text": "ok"}}) as server:
        place = Place(tmp_path, server.url)
        assert place.run("-p", "hi", "--trust").code == 0
    (store,) = {path.parent for path in place.transcripts()}
    (store / "permissions.json").write_text('{"allow": ["Edit(a.txt)"]}')
    for sources, allowed in (("user,project", False), ("local", True)):
        with ModelServer([{"calls": [write]}, {"text": "ok"}]) as server:
            place.run("-p", "go", f"--setting-sources={sources}", env={"ANTHROPIC_BASE_URL": server.url})
        assert (place.project / "a.txt").exists() == allowed


def test_thinking_is_switched_off_on_the_wire(place: Place, server: ModelServer) -> None:
    model = ["--model", "claude-sonnet-5"]
    assert place.run("-p", "hi", *model).code == 0
    assert asked(server)["thinking"]["type"] == "adaptive"
    assert place.run("-p", "hi", *model, "--thinking", "disabled").code == 0
    assert asked(server)["thinking"] == {"type": "disabled"}
    assert place.run("-p", "hi", *model, "--max-thinking-tokens", "0").code == 0
    assert asked(server)["thinking"] == {"type": "disabled"}
    assert place.run("-p", "hi", *model, "--thinking-display", "omitted").code == 0
    assert asked(server)["thinking"] == {"type": "adaptive", "display": "omitted"}
    assert place.run("-p", "hi", "--max-thinking-tokens", "4000").code == 0
    assert asked(server)["thinking"] == {"type": "enabled", "budget_tokens": 4000}


def test_a_model_that_always_thinks_is_refused_to_who_wants_it_silent(place: Place, server: ModelServer) -> None:
    done = place.run("-p", "hi", "--model", "claude-opus-5-5", "--thinking", "disabled")
    assert (done.code, done.out) == (2, "")
    assert all(word in one_line(done) for word in ("claude-opus-5-5", "--thinking disabled", "--effort low"))
    fallback = place.run("-p", "hi", "--fallback-model", "claude-opus-5-5", "--thinking", "disabled")
    assert (fallback.code, "claude-opus-5-5" in fallback.err) == (2, True)
    assert not server.requests


def test_a_model_that_never_thinks_is_not_asked_to_and_says_so(tmp_path: Path) -> None:
    with ModelServer([{"text": "Fine."}]) as server:
        place = Place(tmp_path)
        local = {"OLLAMA_BASE_URL": f"{server.url}/v1"}
        done = place.run("-p", "hi", "--model", "ollama/tiny", "--thinking", "enabled", env=local)
    assert (done.code, done.out) == (0, "Fine.\n")
    assert "not known to think" in one_line(done)


def test_betas_are_sent_to_anthropic(place: Place, server: ModelServer) -> None:
    assert place.run("-p", "hi", "--betas", "context-1m-2025-08-07,other-1").code == 0
    assert server.requests[-1].headers["anthropic-beta"] == "context-1m-2025-08-07,other-1"


@pytest.mark.parametrize("name", ["sonnet", "opus", "haiku", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"])
def test_bare_names_and_families_find_their_model(place: Place, server: ModelServer, name: str) -> None:
    done = place.run("-p", "hi", "--model", name, "--output-format", "json")
    assert done.code == 0
    assert asked(server)["model"].startswith("claude-")
    assert list(done.result["modelUsage"]) == [f"anthropic/{asked(server)['model']}"]


def test_more_directories_may_be_written_to(tmp_path: Path) -> None:
    other, third = tmp_path / "other", tmp_path / "third"
    calls = [
        {"call": "Write", "arguments": {"file_path": str(folder / "a.txt"), "content": "x"}}
        for folder in (other, third)
    ]
    other.mkdir()
    third.mkdir()
    with ModelServer([{"calls": calls}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        mode = ["--trust", "--permission-mode", "acceptEdits"]
        assert place.run("-p", *mode, "--add-dir", str(other), str(third), "write both").code == 0
        assert "write both" in str(server.requests[0].body["messages"])
    assert (other / "a.txt").exists()
    assert (third / "a.txt").exists()


def test_verbose_says_nothing_on_stdout(place: Place) -> None:
    done = place.run("-p", "hi", "--output-format", "stream-json", "--verbose")
    assert [line["type"] for line in done.lines][-1] == "result"
    assert place.run("-p", "hi", "--debug").out == "Fine.\n"


def test_dont_ask_denies_what_would_ask(tmp_path: Path) -> None:
    write = {"call": "Write", "arguments": {"file_path": "a.txt", "content": "x"}}
    with ModelServer([{"calls": [write]}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        done = place.run("-p", "go", "--permission-mode", "dontAsk", "--output-format", "json")
    assert [denial["tool_name"] for denial in done.result["permission_denials"]] == ["Write"]


def ids(place: Place, session: str) -> list[tuple[str, str]]:
    (path,) = [path for path in place.transcripts() if path.stem == session]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["type"], line["uuid"]) for line in lines if line["type"] in ("user", "assistant")]


def test_a_cut_drops_the_turn_that_is_meant_or_nothing(place: Place, server: ModelServer) -> None:
    session = place.run("-p", "first", "--output-format", "json").result["session_id"]
    for prompt in ("second", "third"):
        assert place.run("-p", prompt, f"--resume={session}").code == 0
    said = ids(place, session)
    users = [uuid for kind, uuid in said if kind == "user"]
    replies = [uuid for (_, uuid), (following, _) in itertools.pairwise(said) if following == "user"]
    cut = [f"--resume={session}", "--fork-session"]
    before = len(server.requests)
    for at, turn in ((replies[0], users[2]), (replies[0], users[1]), (replies[1], users[1]), (replies[1], "")):
        done = place.run("-p", "x", *cut, f"--resume-session-at={at}", f"--resume-drops-turn={turn}")
        assert done.code == 1
        assert "Resume rejected by --resume-drops-turn:" in one_line(done)
    assert len(server.requests) == before
    done = place.run("-p", "again", *cut, f"--resume-session-at={replies[1]}", f"--resume-drops-turn={users[2]}")
    assert done.code == 0
    sent = str(asked(server)["messages"])
    assert "second" in sent
    assert "third" not in sent


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--mcp-config", '{"mcpServers": {"calc": {"type": "sdk"}}}'], ["calc", "stream-json"]),
        (["--plugin-dir", "plugins"], ["--plugin-dir"]),
        (["--task-budget", "1000"], ["--task-budget"]),
        (["--session-mirror"], ["--session-mirror"]),
        (["--agents", '["a"]'], ["--agents"]),
        (["--agent", "nobody"], ["--agent nobody", "Explore", "worker"]),
        (["--permission-prompt-tool", "mcp__a"], ["--permission-prompt-tool"]),
        (["--permission-mode", "auto"], ["auto", "acceptEdits"]),
        (["--input-format", "stream-json"], ["--input-format", "--output-format"]),
        (["--setting-sources=everybody"], ["everybody", "user, project, local"]),
        (["--no-such-flag"], ["--no-such-flag"]),
    ],
)
def test_refusals_name_the_option_before_any_model_is_asked(
    place: Place, server: ModelServer, args: list[str], words: list[str]
) -> None:
    done = place.run("-p", "hi", *args)
    assert (done.code, done.out) == (2, "")
    assert all(word in one_line(done) for word in words)
    assert not server.requests
