"""`clew recap` and `clew ledger` as a person calls them."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

import msgspec
import pytest

from clew.catalog.found_session import FoundSession
from clew.catalog.listing import Catalog
from clew.catalog.recent import recent
from clew.cli.main import run
from clew.cli.sub.recap import age_s
from clew.host.workspace import open_workspace
from clew.ledger.fold import fold
from clew.llm.scripted import Say, ScriptedModel
from clew.orient import report as report_module
from clew.orient.board import rows
from clew.orient.load import load_session, seconds_of
from clew.orient.narrator import Narrator
from clew.orient.recap_query import WriterChoice
from clew.orient.report import RecapCache
from clew.orient.side_query import QueryStamp
from clew.parts.orientation import asked_recap
from clew.protocol.entries import SideQueryEntry
from clew.protocol.ids import SessionId
from clew.transcript.log.lease import acquire
from clew.transcript.log.store import SessionStore
from clew.transcript.past.reader import load
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
    assert found["goal"] == "Add a --json flag to the report command"
    assert found["next_step"] == ""
    assert "report.py" in found["text"]
    assert found["facts"][0]["source"] == ["e1"]


def test_plain_when_piped(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(home)
    assert run(["recap", SESSION]) == 0
    assert capsys.readouterr().out.startswith("Task: Add a --json flag")
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
    times = [item.changed_s for item in board.found]
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
    assert "no model is connected" in said.err


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
    assert cache.report(path).form.told("request") == "Now document the flag in the README"
    kept[0].write_bytes(b"{broken")
    assert cache.report(path).text


def test_our_file_and_the_live_fold_agree(home: Path) -> None:
    made = talk()
    assert load_session(stored(home, made)).ledger == fold(made.entries)


def test_after_a_kill_every_view_says_interrupted_at_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Talk().user("Add a --json flag to the report command").call("Bash", command="make").approval("pending")
    path = stored(home, Talk())
    store = SessionStore(home / "clew")
    cache = RecapCache(home / "clew")

    def views() -> set[str]:
        with Catalog(store, homes={}, env={"HOME": str(home)}) as catalog:
            catalog.refresh()
            listed = catalog.rows()[0].state
        assert run(["recap", str(path), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)["state"]
        assert run(["ledger", str(path), "--json"]) == 0
        ledger = json.loads(capsys.readouterr().out)["state"]
        return {listed, told, ledger, cache.report(path).form.state.value, load_session(path).ledger.state.value}

    lease = acquire(path)
    stored(home, made)
    assert views() == {"waiting"}
    lease.release()  # what the kernel does for a process that was killed
    assert views() == {"interrupted"}
    again = acquire(path)
    assert views() == {"interrupted"}, "whoever opened it since does not do that work"
    again.release()


def test_a_holder_that_is_dead_holds_nothing(home: Path) -> None:
    path = stored(home, Talk())
    code = (
        "import os, sys; from pathlib import Path; from clew.transcript.log.lease import acquire; "
        "lease = acquire(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    stored(home, Talk().user("Add a --json flag to the report command").call("Bash", command="make"))
    assert load_session(path).ledger.state == "working"
    child.kill()
    child.wait()
    assert path.with_suffix(".lock").exists(), "the file stays behind; nobody holds it"
    assert load_session(path).ledger.state == "interrupted"
    assert "interrupted" in RecapCache(home / "clew").report(path).text
    child.stdout.close()
    assert child.stdin is not None
    child.stdin.close()


def test_ages() -> None:
    assert (age_s("12h"), age_s("7d"), age_s("2w"), age_s("1.5")) == (43200, 604800, 1209600, 129600)
    assert seconds_of("1970-01-02T00:00:00.500Z") == 86400.5
    assert seconds_of("yesterday") == 0.0


def test_work_that_goes_on_is_not_called_interrupted_and_a_resumed_session_is() -> None:
    narrator = Narrator(log=[].append)
    for entry in Talk().user("Add a --json flag to the report command").call("Bash", command="ls").entries:
        narrator.feed(entry)
    assert narrator.factual().told("state") == "working: `ls`"
    narrator.reopened()
    assert narrator.factual().told("state") == "interrupted: `ls`"
    assert narrator.key() == QueryStamp(SESSION, "e2")


async def test_the_narrator_tells_the_recap_and_what_happened_since_somebody_left() -> None:
    narrator = Narrator(project="/x/parcels", log=[].append)
    assert await narrator.tell() is None
    for entry in talk().entries:
        narrator.feed(entry)
    narrator.leave()
    told = await narrator.tell()
    assert told is not None
    assert (told.source, told.away, told.key.session_id) == ("facts", "", SESSION)
    for entry in Talk().user("x").agent("y").agent("z").agent("w").edit("/p/other.py").entries[4:]:
        narrator.feed(entry)
    after = await narrator.tell()
    assert after is not None
    assert "other.py" in after.away
    narrator.back()
    again = await narrator.tell()
    assert again is not None
    assert again.away == ""


def test_a_file_too_large_for_the_list_is_named(home: Path) -> None:
    path = home / "big.jsonl"
    found = FoundSession(agent="codex", path=path, session_id="big", changed_s=5.0, size=500_000_000)
    report = next(rows([found], RecapCache(home / "clew")))
    assert "500 MB, not read" in report.text
    assert str(path) in report.text


def connected(monkeypatch: pytest.MonkeyPatch, *replies: str) -> ScriptedModel:
    model = ScriptedModel([Say(reply) for reply in replies], usd_per_token=0.0001)
    monkeypatch.setattr(asked_recap, "chosen", lambda *_: WriterChoice("scripted/model"))
    monkeypatch.setattr(asked_recap, "connect", lambda *_, **__: model)
    return model


def test_a_model_may_write_it_once_and_it_is_booked(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "You are adding a --json flag in report.py; next, review and commit."
    model = connected(monkeypatch, *[f"<recap>{words}</recap>"] * 2)
    path = stored(home)
    for _ in range(2):
        assert run(["recap", str(path), "--llm"]) == 0
        assert capsys.readouterr().out.splitlines()[:2] == [words, "Task: Add a --json flag to the report command"]
    purposes = [request.purpose for request in model.requests]
    assert purposes == ["side-query:session-recap", "side-query:recap-reading"], "once per session and last entry"
    booked = json.loads((home / "clew" / "side-queries.json").read_text())
    assert booked["calls"] == 2
    assert booked["purposes"]["session-recap"] > 0


def test_what_it_cost_is_booked_in_the_log_of_a_session_of_ours_that_nobody_writes(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored(home)
    told = path.stat().st_mtime_ns
    held = acquire(path)
    connected(monkeypatch, "<recap>You are adding a --json flag in report.py.</recap>")
    assert run(["recap", str(path), "--llm"]) == 0
    assert not [entry for entry in load(path).entries if isinstance(entry, SideQueryEntry)]
    held.release()
    rmtree(home / "clew" / "cache")
    connected(monkeypatch, "<recap>You are adding a --json flag in report.py.</recap>")
    assert run(["recap", str(path), "--llm"]) == 0
    booked = [entry for entry in load(path).entries if isinstance(entry, SideQueryEntry)]
    assert [entry.purpose for entry in booked] == ["session-recap", "recap-reading"]
    assert booked[0].cost_usd
    assert path.stat().st_mtime_ns == told, "looking at a session does not make it the newest"
    assert "adding a --json flag" in capsys.readouterr().out


def test_what_the_session_does_not_hold_is_never_printed(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connected(monkeypatch, *["<recap>You deployed orders.py.</recap>"] * 2)
    path = stored(home)
    assert run(["recap", str(path), "--llm", "--json"]) == 0
    assert "orders.py" not in json.loads(capsys.readouterr().out)["text"]
    assert "orders.py" in next((home / "clew" / "debug").iterdir()).read_text()


def test_a_store_of_several_sessions_tells_the_one_that_was_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "p" / ".aider.chat.history.md"
    path.parent.mkdir()
    text = ""
    for number, task in enumerate(("Rename parcels to boxes in store.py", "Draw the logo as SVG in logo.py")):
        text += f"# aider chat started at 2026-03-0{number + 1} 10:00:00\n\n#### {task}\n\nI will do that now.\n\n"
        text += (
            "> Tokens: 1k sent, 66 received.\n\n#### And test it as well\n\nThat is done too.\n\n> Tokens: 1k sent.\n\n"
        )
    path.write_text(text)
    seen: list[str] = []
    for item in recent(home / "clew", since_s=0, agents=["aider"], homes={"aider": path.parent}).found:
        model = connected(monkeypatch, *["<recap>You wiped the disk of Margaret.</recap>"] * 2)
        report = RecapCache(home / "clew").report(item.path, agent="aider", session_id=item.session_id)
        asyncio.run(asked_recap.model_words(report, open_workspace(home, os.environ)))
        seen += [name for name in ("store.py", "logo.py") if name in str(model.requests[0].messages[0].content)]
        assert len(model.requests) == 2, "one retry, no more"
    assert sorted(seen) == ["logo.py", "store.py"]
    capsys.readouterr()


def test_a_store_with_a_thousand_sessions_is_listed_and_each_is_itself(home: Path) -> None:
    path = home / "p" / ".aider.chat.history.md"
    path.parent.mkdir()
    with path.open("w") as file:
        for number in range(1000):
            file.write(f"# aider chat started at 2026-01-01 {number // 60:02d}:{number % 60:02d}:00\n\n")
            file.write(f"#### Fix item number {number} now\n\nDone.\n\n")
    board = recent(home / "clew", since_s=0, agents=["aider"], homes={"aider": path.parent})
    assert len(board.found) + board.left_out == 1000
    told = [report.goal for report in rows(board.found[:3], RecapCache(home / "clew"))]
    assert len(set(told)) == 3
    assert all(goal.startswith("Fix item number ") for goal in told)


def test_a_file_that_grows_while_it_is_read_is_read_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(home)
    cache = RecapCache(home / "clew")
    real = report_module.load_session

    def growing(place: Path, **how: object) -> object:
        loaded = real(place, **how)  # type: ignore[arg-type]  # handed through as it came
        with path.open("ab") as file:
            file.write(msgspec.json.encode(Talk().user("x").user("Now write the docs").entries[-1]) + b"\n")
        return loaded

    monkeypatch.setattr(report_module, "load_session", growing)
    assert cache.report(path).form.told("request") == ""
    monkeypatch.setattr(report_module, "load_session", real)
    assert cache.report(path).form.state.value in ("interrupted", "idle")
    assert cache.report(path).entries > load_session(stored(home)).ledger.entries - 1
