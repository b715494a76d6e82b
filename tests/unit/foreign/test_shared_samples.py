"""Real sessions of other agents, where the shared folder is present: identified, read whole, left byte-identical."""

import hashlib
from pathlib import Path

import pytest

from clew.foreign.registry import READERS, discover, identify, read
from clew.foreign.seed import to_clew_session
from clew.foreign.user_text import is_said, read_user_text
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.messages import text_of
from clew.transcript.chain.links import result_calls

from .looks import chain_is_whole, prompts, said

PLACES = [folder / "shared" / "fixtures" / "transcripts" for folder in Path(__file__).parents]
ROOT = next((place for place in PLACES if place.is_dir()), PLACES[-1])
AGENTS = [name for name in READERS if (ROOT / name.replace("_", "-")).is_dir()]
FILES = sorted(path for name in AGENTS for path in (ROOT / name.replace("_", "-")).rglob("*") if path.is_file())

pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason="the shared sample sessions are not on this machine")

EMPTY = {
    # No conversation in them: a side file, part of a message, snapshots only, a header only, a state.
    "agent-ab1e6e141221a29ab.meta.json",
    "agent-ag000002.meta.json",
    "006.json",
    "a95fea4a-b88a-4e49-ac07-4cc323d8700c.jsonl",
    "wire.jsonl",
    "state.json",
    "codex_053_rate_limit.jsonl",
}


def written_by_a_program(entry: Entry) -> str:
    """The words of a message that no person and no agent said, and no call put out."""
    if isinstance(entry, AssistantEntry):
        return text_of(entry.message.content) if entry.message.model.startswith("<") else ""
    if not isinstance(entry, UserEntry) or entry.is_compact_summary or result_calls(entry):
        return ""
    words = text_of(entry.message.content)
    return "" if read_user_text(words).kind == "typed" or is_said(words) else words


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT))[-60:] for path in FILES])
def test_every_shared_file_reads_and_stays_as_it_is(path: Path) -> None:
    before = hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns
    agent = path.relative_to(ROOT).parts[0].replace("-", "_")
    assert identify(path) == agent
    transcript = read(path)
    assert transcript.agent == agent
    assert transcript.problems == ()
    assert chain_is_whole(transcript)
    kinds = {type(entry) for entry in transcript.entries}
    if path.name not in EMPTY:
        assert kinds & {UserEntry, AssistantEntry}
    seeded = to_clew_session(transcript, "new", "/here")
    assert len(seeded) >= 1
    assert [words for words in map(written_by_a_program, seeded) if words] == []
    assert (hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns) == before


OTHERS = {
    "other/copilot-cli": "copilot_cli",
    "other/fixtures/agent-sessions/copilot": "copilot_cli",
    "other/fixtures/agent-sessions/droid": "droid",
    "other/fixtures/agent-sessions/openclaw": "openclaw",
}


@pytest.mark.parametrize("folder", OTHERS)
def test_the_agents_read_as_a_bonus(folder: str) -> None:
    for path in (path for path in (ROOT / folder).rglob("*") if path.is_file()):
        transcript = read(path)
        assert (transcript.agent, transcript.problems) == (OTHERS[folder], ())
        assert any(isinstance(entry, UserEntry) for entry in transcript.entries)


EXPECTED_PROMPTS = {
    "claude-code/projects/-Users-soph-Work-entire-devenv-cli/c26d2153-23c8-42ed-ab6c-808579b64e5b.jsonl": 5,
    "claude-code/projects/-path-to-Demo/fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl": 2,
    "claude-code/projects/D--oh-my-posh/32e7c00e-d1f8-463c-8090-dacd6ba51385.jsonl": 4,
    "codex/sessions/2025/10/31/rollout-2025-10-31T18-36-16-fa1ac8bf-348e-4b9a-a06d-767050fa1e10.jsonl": 0,
    "codex/sessions/2026/06/17/rollout-2026-06-17T10-06-46-019ed50c-2fb3-7002-a384-360bea6e7f04.jsonl": 6,
    "gemini-cli/tmp/*/chats/session-2026-04-14T15-30-cdb14b05.json": 4,
    "opencode/exports/ses_00e640058ffeRdo8h1GxaXmmlc.json": 2,
    "cursor/exports/ElectronicsLab/cursor_app_development_for_electronics.md": 24,
    "cursor/specstory/minsky/.specstory/history/2025-04-27_21-51-project-initialization-task-for-minsky.md": 6,
    "swe-agent/swe-agent__test-repo-i1.traj": 1,
    "mini-swe-agent/mini-v2/example_trajectories/astropy__astropy-12907.traj.json": 1,
}


@pytest.mark.parametrize("name", EXPECTED_PROMPTS)
def test_what_the_user_typed_is_counted_once(name: str) -> None:
    transcript = read(next(ROOT.glob(name)))
    assert len(prompts(transcript)) == EXPECTED_PROMPTS[name]
    assert len(set(said(transcript))) >= EXPECTED_PROMPTS[name] // 2


def test_the_folders_work_as_homes() -> None:
    found = list(discover({name: ROOT / name.replace("_", "-") for name in AGENTS}, {}))
    counts = {name: sum(session.agent == name for session in found) for name in AGENTS}
    assert counts["claude_code"] >= 16
    assert counts["codex"] == 4
    assert counts["gemini_cli"] == 3
    assert counts["aider"] >= 8
    assert counts["opencode"] == 5
    assert counts["mini_swe_agent"] == 3
    assert sum(session.is_subagent for session in found) >= 3
