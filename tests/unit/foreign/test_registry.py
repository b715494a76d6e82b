"""Every format: found at its place, told apart under any name, read to the same conversation, left untouched."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.foreign.registry import READERS, agent_name, discover, identify, read, read_all
from clew.protocol.ids import SessionId

from .looks import calls, chain_is_whole, prompts, results, said
from .samples import SAMPLES
from .samples_lines import claude_code, claude_line
from .samples_text import aider
from .samples_trees import opencode_db, opencode_storage
from .writing import ANSWER, GOAL, jsonl

EVERY = [pytest.param(agent, lay_out, id=name) for name, (agent, lay_out) in SAMPLES.items()]
Layout = Callable[[Path], Path]


def tree_bytes(root: Path) -> dict[str, tuple[bytes, int]]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize(("agent", "lay_out"), EVERY)
def test_every_format_is_identified_and_read_to_the_same_conversation(
    tmp_path: Path, agent: str, lay_out: Layout
) -> None:
    path = lay_out(tmp_path)
    before = tree_bytes(tmp_path)
    assert identify(path) == agent
    transcript = read(path)
    assert transcript.agent == agent
    assert [text for text in prompts(transcript) if GOAL in text] != []
    assert ANSWER in "\n".join(said(transcript))
    assert chain_is_whole(transcript)
    assert transcript.problems == ()
    assert tree_bytes(tmp_path) == before


@pytest.mark.parametrize(("agent", "lay_out"), EVERY)
def test_each_result_answers_a_call_and_reading_twice_gives_the_same(
    tmp_path: Path, agent: str, lay_out: Layout
) -> None:
    path = lay_out(tmp_path)
    first, second = read(path), read(path)
    assert first.entries == second.entries
    assert {call_id for call_id, _, _ in results(first)} <= {call.id for call in calls(first)}


CONTENT_ONLY = [name for name in SAMPLES if name not in ("opencode_storage", "opencode_legacy", "opencode_db")]


@pytest.mark.parametrize("name", CONTENT_ONLY)
def test_content_tells_the_agent_under_any_name(tmp_path: Path, name: str) -> None:
    agent, lay_out = SAMPLES[name]
    path = lay_out(tmp_path / "home")
    elsewhere = tmp_path / "attic"
    elsewhere.mkdir()
    copied = elsewhere / ("copy" + path.suffix)
    shutil.copy(path, copied)
    assert identify(copied) == agent
    assert ANSWER in "\n".join(said(read(copied)))


@pytest.mark.parametrize(
    "name", ["claude_code", "codex", "gemini_cli", "qwen_code", "opencode_storage", "kimi_context"]
)
def test_default_places_are_searched_below_the_home(tmp_path: Path, name: str) -> None:
    agent, lay_out = SAMPLES[name]
    path = lay_out(tmp_path)
    found = list(discover(None, {"HOME": str(tmp_path)}))
    assert [(session.agent, session.path) for session in found] == [(agent, path)]
    assert found[0].size == path.stat().st_size
    assert not found[0].is_subagent


VARIABLES = {
    "CLAUDE_CONFIG_DIR": ("claude_code", ".claude"),
    "CODEX_HOME": ("codex", ".codex"),
    "GEMINI_CLI_HOME": ("gemini_cli", ""),
    "QWEN_HOME": ("qwen_code", ".qwen"),
    "XDG_DATA_HOME": ("opencode_db", ".local/share"),
    "KIMI_SHARE_DIR": ("kimi_wire", ".kimi"),
    "KIMI_CODE_HOME": ("kimi_code", ".kimi-code"),
    "CURSOR_CONFIG_DIR": ("cursor_agent", ".cursor"),
    "COPILOT_HOME": ("copilot_cli", ".copilot"),
    "PI_CODING_AGENT_DIR": ("pi", ".pi/agent"),
    "OPENCLAW_STATE_DIR": ("openclaw", ".openclaw"),
    "FACTORY_HOME": ("droid", ".factory"),
}


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_agents_own_variables_are_honoured(tmp_path: Path, variable: str) -> None:
    name, folder = VARIABLES[variable]
    agent, lay_out = SAMPLES[name]
    path = lay_out(tmp_path / "moved")
    env = {"HOME": str(tmp_path / "nobody"), variable: str(tmp_path / "moved" / folder)}
    assert [(session.agent, session.path) for session in discover(None, env)] == [(agent, path)]


def test_a_given_home_beats_variables_and_only_asked_agents_are_searched(tmp_path: Path) -> None:
    path = claude_code(tmp_path / "given")
    claude_code(tmp_path / "home")
    env = {"HOME": str(tmp_path / "home"), "CLAUDE_CONFIG_DIR": str(tmp_path / "home" / ".claude")}
    given = {"Claude-Code": tmp_path / "given" / ".claude"}
    assert [session.path for session in discover(given, env)] == [path]
    assert list(discover(given, env, agents=["codex"])) == []


def test_sessions_inside_one_file_are_listed_and_read_apart(tmp_path: Path) -> None:
    path = aider(tmp_path)
    found = list(discover({"aider": tmp_path}, {"HOME": str(tmp_path)}, agents=["aider"]))
    assert [session.session_id for session in found] == ["aider-2026-01-05-10-00-00", "aider-2026-01-06-11-00-00"]
    assert prompts(read(path, session_id=found[0].session_id)) == ["hello"]
    assert [transcript.session_id for transcript in read_all(path)] == [session.session_id for session in found]


def test_sessions_of_the_database_hide_their_old_files(tmp_path: Path) -> None:
    opencode_storage(tmp_path)
    path = opencode_db(tmp_path)
    found = list(discover(None, {"HOME": str(tmp_path)}))
    assert [(session.path, session.cwd, session.title) for session in found] == [(path, "/home/sam/fetcher", "Retry")]


def test_sub_agents_are_marked_with_their_parent(tmp_path: Path) -> None:
    main = claude_code(tmp_path)
    line = claude_line("user", "s1", None, message={"role": "user", "content": "look"}, isSidechain=True, agentId="a1")
    sub = jsonl(main.with_suffix("") / "subagents" / "agent-a1.jsonl", [line])
    found = {session.path: session for session in discover(None, {"HOME": str(tmp_path)})}
    assert found[sub].is_subagent
    assert found[sub].parent_session == main.stem
    transcript = read(sub)
    assert transcript.meta.is_subagent
    assert prompts(transcript) == ["look"]


def test_our_own_files_are_recognised(tmp_path: Path) -> None:
    line = claude_line("user", "u1", None, message={"role": "user", "content": GOAL})
    ours = {"type": "turn-result", "sessionId": "s", "timestamp": "", "reason": "completed", "turn": 1, "steps": 1}
    path = jsonl(tmp_path / "x.jsonl", [line, {**ours, "durationMs": 5}])
    transcript = read(path)
    assert transcript.agent == "clew"
    assert prompts(transcript) == [GOAL]


@pytest.mark.parametrize("content", [b"", b"\x00" * 64, b"hello\n", b'{"a": 1}\n', b"[1, 2]", b"# Notes\n\ntext\n"])
def test_an_unknown_file_is_a_problem_not_an_exception(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(content)
    assert identify(path) is None
    transcript = read(path)
    assert transcript.entries == ()
    assert [problem.kind for problem in transcript.problems] == ["unknown_format"]


def test_the_place_speaks_for_damaged_sessions_only(tmp_path: Path) -> None:
    for folder in ("codex/docs", ".claude/commands", ".codex"):
        note = tmp_path / folder / "notes.json"
        note.parent.mkdir(parents=True)
        note.write_text("{}")
        assert identify(note) is None
    path = claude_code(tmp_path)
    path.write_bytes(b"\x00" * 100)
    assert identify(path) == "claude_code"
    transcript = read(path)
    assert transcript.entries == ()
    assert [problem.kind for problem in transcript.problems] == ["damaged"]


def test_missing_files_and_pipes_do_not_hang(tmp_path: Path) -> None:
    pipe = tmp_path / "rollout-x.jsonl"
    os.mkfifo(pipe)
    assert [problem.kind for problem in read(pipe).problems] == ["not_a_file"]
    assert [problem.kind for problem in read(tmp_path / "none.jsonl", "codex").problems] == ["unreadable"]
    for agent in READERS:
        assert read(tmp_path / "none.json", agent).entries == ()


def test_names_of_agents_are_forgiving() -> None:
    assert [agent_name(name) for name in ("Claude-Code", "claude", "gemini", "Kimi")] == [
        "claude_code",
        "claude_code",
        "gemini_cli",
        "kimi_cli",
    ]


def test_a_session_id_is_kept(tmp_path: Path) -> None:
    transcript = read(claude_code(tmp_path))
    assert SessionId(transcript.session_id) == "11111111-2222-4333-8444-555555555555"
