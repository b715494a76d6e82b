"""`clew recap` and `clew ledger` as a person calls them."""

import json
from pathlib import Path

import msgspec
import pytest

from clew.cli import recap_words
from clew.cli.main import run
from clew.cli.recap import age_s, age_words
from clew.ledger.fold import fold
from clew.llm.scripted import Say, ScriptedModel
from clew.orient.board import Found, recent, rows
from clew.orient.load import load_session, seconds_of
from clew.orient.narrator import Narrator
from clew.orient.recap_cache import RecapCache
from clew.orient.report import state_now
from clew.orient.side_query import Stamp
from clew.protocol.ids import SessionId
from clew.system.clock import ManualClock
from clew.transcript.store import SessionStore
from unit.ledger.talk import SESSION, Talk

KEYS = [
    "file",
    "agent",
    "session",
    "project",
    "state",
    "goal",
    "next_step",
    "last_request",
    "language",
    "text",
    "facts",
    "age_s",
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own home for clew and for every other agent."""
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "clew"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLEW_FAST_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def talk() -> Talk:
    made = Talk().user("Add a --json flag to the report command").edit("/p/report.py")
    return made.agent("I added the flag to report.py.").ended()


def stored(home: Path, made: Talk | None = None) -> Path:
    path = SessionStore(home / "clew").session_path(home / "parcels", SessionId(SESSION))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in (made or talk()).entries))
    return path


def test_one_file_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stored(home)
    assert run(["recap", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found)[: len(KEYS)] == KEYS
    assert (found["agent"], found["session"], found["state"], found["language"]) == ("clew", SESSION, "idle", "en")
    assert found["goal"] == "parcels: Add a --json flag to the report command"
    assert "report.py" in found["text"]
    assert found["facts"][0]["source"] == ["e1"]


def test_plain_when_piped(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(home)
    assert run(["recap", SESSION]) == 0
    assert capsys.readouterr().out.startswith("parcels: Add a --json flag")
    assert run(["recap"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.splitlines()[0].startswith("parcels  clew  ")
    assert "idle" in out.splitlines()[0]


def test_all_agents_newest_first_with_a_cap(home: Path) -> None:
    stored(home)
    folder = home / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    for number in range(3):
        lines = [json.loads(msgspec.json.encode(entry)) for entry in talk().entries[:2]]
        for line in lines:
            line["sessionId"] = f"0000000{number}-0000-4000-8000-000000000000"
        name = folder / f"0000000{number}-0000-4000-8000-000000000000.jsonl"
        name.write_text("".join(json.dumps(line) + "\n" for line in lines))
    env = {"HOME": str(home)}
    board = recent(home / "clew", since_s=0, env=env, limit=3)
    assert (len(board.found), board.left_out) == (3, 1)
    times = [item.mtime for item in board.found]
    assert times == sorted(times, reverse=True)
    assert {item.agent for item in recent(home / "clew", since_s=0, env=env).found} == {"clew", "claude_code"}
    assert [item.agent for item in recent(home / "clew", since_s=0, agents=["clew"], env=env).found] == ["clew"]
    assert recent(home / "clew", since_s=9e9, env=env).found == ()


def test_nothing_lately_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recap", "--since", "1h"]) == 0
    assert "No session was touched in the last 1h" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["recap", "no-such-session"], 1, "no session"),
        (["recap", "--since", "soon"], 2, "is not an age"),
        (["recap", "--agent", "nobody"], 2, "no agent"),
        (["recap", "--home", "claude"], 2, "AGENT=DIR"),
        (["recap", "."], 1, "is a directory"),
        (["ledger", "no-such-session"], 1, "no session"),
    ],
)
def test_bad_input_is_one_clear_line(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert run(arguments) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"{", b"hello\n", b"[]", b"null\n" * 10])
def test_files_that_are_no_transcripts(home: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    path = home / "odd.jsonl"
    path.write_bytes(content)
    assert run(["recap", str(path)]) in (0, 1)
    assert run(["ledger", str(path)]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


def test_the_model_is_optional(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    path = stored(home)
    assert run(["recap", str(path), "--llm"]) == 0
    said = capsys.readouterr()
    assert "Add a --json flag" in said.out
    assert "no fast model" in said.err


def test_the_ledger_as_lines_and_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stored(home)
    assert run(["ledger", str(path)]) == 0
    out = capsys.readouterr().out
    assert "goal      Add a --json flag to the report command  <e1>" in out
    assert "report.py changed +1 -1" in out
    assert run(["ledger", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["goal"]["source"] == ["e1"]
    assert found["files"][0]["path"] == "/p/report.py"


def test_the_cache_knows_a_changed_file(home: Path) -> None:
    path = stored(home)
    cache = RecapCache(home / "clew")
    first = cache.report(path)
    assert cache.report(path) == first
    kept = list((home / "clew" / "cache" / "recaps").iterdir())
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o077 == 0
    stored(home, talk().user("Now document the flag in the README"))
    assert cache.report(path).last_request == "Document the flag in the README"
    kept[0].write_bytes(b"{broken")
    assert cache.report(path).text


def test_our_file_and_the_live_fold_agree(home: Path) -> None:
    made = talk()
    assert load_session(stored(home, made)).ledger == fold(made.entries)


def test_working_long_ago_is_interrupted() -> None:
    assert state_now("working", 10) == "working"
    assert state_now("working", 100_000) == "interrupted"
    assert state_now("asking", 100_000) == "asking"


def test_ages() -> None:
    assert (age_s("12h"), age_s("7d"), age_s("2w"), age_s("1.5")) == (43200, 604800, 1209600, 129600)
    assert [age_words(s) for s in (5, 300, 7200, 200_000, 3_000_000)] == ["5s", "5m", "2h", "2d", "4w"]
    assert seconds_of("1970-01-02T00:00:00.500Z") == 86400.5
    assert seconds_of("yesterday") == 0.0


def test_work_that_goes_on_is_not_called_cut_off() -> None:
    clock = ManualClock(seconds_of("2026-03-01T10:00:30.000Z"))
    narrator = Narrator(log=[].append, clock=clock)
    for entry in Talk().user("Add a --json flag to the report command").call("Bash", command="ls").entries:
        narrator.feed(entry)
    assert "the agent is at work" in narrator.factual().text.casefold()
    clock.advance(3600)
    assert "cut off at `ls`" in narrator.factual().text.casefold()
    assert narrator.key() == Stamp(SESSION, "e2")


async def test_the_narrator_tells_recap_news_and_title() -> None:
    logged: list[str] = []
    narrator = Narrator(project="/x/parcels", log=logged.append)
    assert await narrator.tell() is None
    for entry in talk().entries:
        narrator.feed(entry)
    narrator.leave()
    told = await narrator.tell()
    assert told is not None
    assert (told.source, told.away, told.key.session_id) == ("facts", "", SESSION)
    assert told.data["lastEntryId"] == told.key.last_entry_id
    assert await narrator.title() == ("Add a --json flag to the report command (report.py)", "facts")


def test_a_file_too_large_for_the_list_is_named(home: Path) -> None:
    path = home / "big.jsonl"
    found = Found(agent="codex", path=path, session_id="big", mtime=5.0, size=500_000_000)
    report = next(rows([found], RecapCache(home / "clew")))
    assert "500 MB, not read" in report.text
    assert str(path) in report.text


def test_the_fast_model_may_rephrase(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "You are adding a --json flag in report.py; next, review and commit."
    replies = ScriptedModel([Say(f"<recap>{words}</recap>"), Say("<recap>You deployed orders.py.</recap>")])
    monkeypatch.setattr(recap_words, "_fast", lambda *_: replies)
    path = stored(home)
    assert run(["recap", str(path), "--llm"]) == 0
    assert capsys.readouterr().out == words + "\n"
    assert run(["recap", str(path), "--llm", "--json"]) == 0
    assert "orders.py" not in json.loads(capsys.readouterr().out)["text"]
    assert "orders.py" in next((home / "clew" / "debug").iterdir()).read_text()
