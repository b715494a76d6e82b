"""Whatever `clew sessions` prints of a session names it: in show, recap, export and for --resume, ours or another's."""

import io
import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from clew.catalog.find_session import find_session, short_ids
from clew.catalog.found_session import FoundSession
from clew.catalog.listing import Catalog
from clew.cli.main import run
from clew.cli.run import choose_session as choosing
from clew.cli.sub.sessions import row_line
from clew.host.adoption import adopt
from clew.host.workspace import open_workspace
from clew.llm.scripted import Say, ScriptedModel
from clew.orient.recap_query import WriterChoice
from clew.orient.report import RecapCache
from clew.parts.catalog.at_place import catalog_row
from clew.parts.orientation import asked_recap
from clew.protocol.entries import AiTitleEntry, SessionSourceEntry
from clew.protocol.ids import SessionId
from clew.transcript.errors import AmbiguousSession, SessionNotFound
from clew.transcript.log.store import SessionStore
from unit.foreign.samples_lines import claude_line, claude_reply, claude_user, codex
from unit.foreign.samples_text import aider
from unit.foreign.samples_trees import opencode_db
from unit.foreign.writing import jsonl
from unit.ledger.talk import Talk

OURS = "0a0a0a0a-0000-4000-8000-000000000001"
CLAUDE = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sessions of clew, Claude Code, Codex, opencode (two in a database) and Aider (two in a file)."""
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "clew"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLEW_FAST_MODEL", raising=False)
    for name in ("XDG_DATA_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "PWD"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    path = SessionStore(tmp_path / "clew").session_path(work, SessionId(OURS))
    path.parent.mkdir(parents=True)
    made = Talk().user("Sort the parcels by weight").agent("Sorted.").ended()
    lines = (json.loads(msgspec.json.encode(entry)) | {"sessionId": OURS} for entry in made.entries)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    project = tmp_path / ".claude" / "projects" / "-home-sam-fetcher"
    jsonl(
        project / f"{CLAUDE}.jsonl",
        [
            claude_user("u1", None, "Make the login page show 日本語 errors"),
            claude_reply("a1", "u1", {"type": "text", "text": "The kumquat check was removed."}),
            claude_line("ai-title", "t1", None, aiTitle="Fix the login page of the very long named customer portal"),
        ],
    )
    codex(tmp_path)
    second_session(opencode_db(tmp_path))
    shutil.copy(aider(tmp_path / "elsewhere"), work / ".aider.chat.history.md")
    return tmp_path


def second_session(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        row = ("ses_second", "abc", None, "/home/sam/other", "Say hello", "1.18", 1771000000000, 1771000009000)
        connection.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?)", row)
        message = json.dumps({"role": "user", "time": {"created": 1771000000000}})
        connection.execute("INSERT INTO message VALUES (?,?,0,?)", ("msg_z1", "ses_second", message))
        part = json.dumps({"type": "text", "text": "say hello to the world"})
        connection.execute("INSERT INTO part VALUES (?,?,?,0,?)", ("prt_z1", "msg_z1", "ses_second", part))


def find(query: str, home: Path, **more: object) -> FoundSession:
    return find_session(SessionStore(home / "clew"), query, home / "work", **more)  # type: ignore[arg-type]  # keywords of the function


def ids_of(home: Path, agent: str) -> list[str]:
    with Catalog(SessionStore(home / "clew")) as catalog:
        catalog.refresh()
        return sorted(row.session_id for row in catalog.rows() if row.agent == agent)


@pytest.mark.parametrize(
    ("query", "agent", "session"),
    [
        (OURS, "clew", OURS),
        (OURS[:8], "clew", OURS),
        (OURS[:4], "clew", OURS),
        ("sort the parcels by weight", "clew", OURS),
        ("PARCELS", "clew", OURS),
        (CLAUDE, "claude_code", CLAUDE),
        (CLAUDE[:6], "claude_code", CLAUDE),
        ("Fix the login page of the very long named customer portal", "claude_code", CLAUDE),
        ("  fix the LOGIN page of the very long   named customer portal ", "claude_code", CLAUDE),
        ("Fix the login page of the ver…", "claude_code", CLAUDE),
        ("customer portal", "claude_code", CLAUDE),
        ("kumquat removed", "claude_code", CLAUDE),
        ("日本語", "claude_code", CLAUDE),
        ("aider-2026-01-05", "aider", "aider-2026-01-05-10-00-00"),
        ("aider-2026-01-06-11-00-00", "aider", "aider-2026-01-06-11-00-00"),
    ],
)
def test_anything_that_is_printed_names_the_session(home: Path, query: str, agent: str, session: str) -> None:
    found = find(query, home)
    assert (found.agent, found.session_id) == (agent, session)


def test_words_of_one_title_go_before_words_that_were_said_elsewhere(home: Path) -> None:
    project = home / ".claude" / "projects" / "-home-sam-fetcher"
    asked = claude_user("u1", None, "Why is it slow?")
    said = claude_reply("a1", "u1", {"type": "text", "text": "The portal waits for the login of the customer."})
    jsonl(project / f"{CLAUDE[:-1]}6.jsonl", [asked, said])
    assert find("portal login customer", home).session_id == CLAUDE


def test_every_printed_line_leads_back_to_its_session(home: Path) -> None:
    with Catalog(SessionStore(home / "clew")) as catalog:
        catalog.refresh()
        rows, names = catalog.rows(), short_ids(catalog.ids())
    assert len({row.agent for row in rows}) == 5
    for row in rows:
        printed = row_line(catalog_row(row), names, width=120)
        assert names[row.session_id] in printed
        found = find(names[row.session_id], home)
        assert (found.agent, str(found.path), found.session_id) == (row.agent, row.path, row.session_id)


def test_short_ids_tell_all_apart() -> None:
    names = ["aider-2026-01-05-10-00-00", "aider-2026-01-05-10-00-00-2", "abcdef01-1", "abcdef99-1", "x"]
    short = short_ids(names)
    assert short["abcdef01-1"] == "abcdef01"
    assert short["aider-2026-01-05-10-00-00-2"] == "aider-2026-01-05-10-00-00-"
    assert short["x"] == "x"
    assert short_ids([]) == {}
    assert len(set(short.values())) == len(names)


def test_several_that_fit_are_listed_or_chosen_from(home: Path) -> None:
    with pytest.raises(AmbiguousSession) as caught:
        find("aider", home)
    assert [match.split()[0] for match in caught.value.matches] == [
        "aider-2026-01-06-11-00-00",
        "aider-2026-01-05-10-00-00",
    ]
    asked: list[str] = []

    def second(query: str, candidates: Sequence[FoundSession]) -> FoundSession | None:
        asked.append(query)
        return candidates[1]

    assert find("aider", home, choose=second).session_id == "aider-2026-01-05-10-00-00"
    assert asked == ["aider"]
    with pytest.raises(SessionNotFound, match="chosen"):
        find("aider", home, choose=lambda _query, _candidates: None)


def test_one_of_ours_goes_before_the_session_it_was_brought_from(home: Path) -> None:
    title = "Fix the login page of the very long named customer portal"
    path = SessionStore(home / "clew").session_path(home / "work", SessionId("beefbeef-0000"))
    titled = {
        "type": "custom-title",
        "customTitle": title,
        "sessionId": "beefbeef-0000",
        "timestamp": "2026-01-01T00:00:00.000Z",
    }
    path.write_text(json.dumps(titled) + "\n")
    with pytest.raises(AmbiguousSession):
        find(title, home)  # ours, and not known to come from there
    source = SessionSourceEntry(
        session_id=SessionId("beefbeef-0000"),
        timestamp="2026-01-01T00:00:00.000Z",
        agent="claude_code",
        source_session=CLAUDE,
        path=str(home / ".claude" / "projects" / "-home-sam-fetcher" / f"{CLAUDE}.jsonl"),
    )
    path.write_text(msgspec.json.encode(source).decode() + "\n" + json.dumps(titled) + "\n")
    assert find(title, home).session_id == "beefbeef-0000"


def test_only_the_asked_agents_are_looked_at(home: Path) -> None:
    with pytest.raises(SessionNotFound):
        find("customer portal", home, agents=["clew"])
    assert find("customer portal", home, agents=["claude_code"]).session_id == CLAUDE


@pytest.mark.parametrize("query", ["", "   ", "zzz nothing", "#", "…", "x#y", "/no/such/file.jsonl", "\x1b[31m"])
def test_what_fits_nothing_is_said(home: Path, query: str) -> None:
    with pytest.raises(SessionNotFound):
        find(query, home)


def test_a_file_with_several_sessions(home: Path) -> None:
    path = home / "work" / ".aider.chat.history.md"
    newest = find(str(path), home)
    assert newest.session_id == "aider-2026-01-06-11-00-00"
    assert "2 sessions" in newest.note
    assert find(f"{path}#aider-2026-01-05-10-00-00", home).session_id == "aider-2026-01-05-10-00-00"
    assert find(f"{path}#aider-2026-01-05", home).session_id == "aider-2026-01-05-10-00-00"
    assert find(str(path), home, choose=lambda _query, held: held[1]).session_id == "aider-2026-01-05-10-00-00"
    with pytest.raises(SessionNotFound, match="holds no session"):
        find(f"{path}#nothing", home)
    with pytest.raises(AmbiguousSession):
        find(f"{path}#aider", home)


@pytest.mark.parametrize("agent", ["opencode", "aider"])
def test_the_session_asked_for_is_the_one_told(home: Path, agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = ids_of(home, agent)
    assert len(names) >= 2
    shown: dict[str, list[str]] = {}
    for name in names:
        for command in (["show", name, "--json"], ["export", name, "--to", "json"], ["recap", name, "--json"]):
            assert run(command) == 0
            assert json.loads(capsys.readouterr().out)["session"] == name
        assert run(["export", name]) == 0
        shown.setdefault(capsys.readouterr().out, []).append(name)
        found = find(name, home)
        fork = adopt(found.path, SessionId("new"), home, agent=found.agent, source_session=found.session_id)
        source = fork.entries[0]
        assert isinstance(source, SessionSourceEntry)
        assert source.source_session == name
    assert len(shown) == len(names)


async def test_model_words_are_about_the_session_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "work" / ".aider.chat.history.md"
    path.write_text(
        "\n# aider chat started at 2026-01-05 10:00:00\n\n#### Teach parcels.py to sort by weight  \n\nDone.\n"
        "\n# aider chat started at 2026-01-06 11:00:00\n\n#### Remove the banner from shop.py  \n\nRemoved.\n"
    )
    report = RecapCache(home / "clew").report(path, agent="aider", session_id="aider-2026-01-05-10-00-00")
    model = ScriptedModel([Say("Sort parcels by weight in parcels.py.")] * 4)
    monkeypatch.setattr(asked_recap, "chosen", lambda *_: WriterChoice("scripted/model"))
    monkeypatch.setattr(asked_recap, "connect", lambda *_, **__: model)
    await asked_recap.model_words(report, open_workspace(home, os.environ))
    sent = str(model.requests)
    assert "parcels.py" in sent
    assert "shop.py" not in sent


def test_a_terminal_is_asked_for_a_number(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    err = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal("7\nx\n2\n"))
    monkeypatch.setattr("sys.stderr", err)
    assert run(["recap", "aider", "--json"]) == 0, err.getvalue()
    assert json.loads(capsys.readouterr().out)["session"] == "aider-2026-01-05-10-00-00"
    assert " 1. " in err.getvalue()
    monkeypatch.setattr("sys.stdin", Terminal(""))
    assert run(["show", "aider"]) == 1
    assert "no session was chosen" in err.getvalue()
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    assert not choosing.can_choose()


def test_an_archived_session_says_how_to_bring_it_back(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sessions", "archive", OURS]) == 0
    with pytest.raises(SessionNotFound, match="clew sessions restore"):
        find("parcels by weight", home)


def test_only_our_own_are_moved(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / ".claude" / "projects" / "-home-sam-fetcher" / f"{CLAUDE}.jsonl"
    assert run(["sessions", "trash", str(path)]) == 2
    assert run(["sessions", "trash", "customer portal"]) == 1
    assert path.exists()
    assert "only our own" in capsys.readouterr().err


def test_a_removed_working_directory_stops_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = home / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert run(["show", CLAUDE[:8]]) == 0
    assert "kumquat" in capsys.readouterr().out


def test_a_title_that_gave_way_still_finds_its_session(home: Path) -> None:
    store = SessionStore(home / "clew")
    path = store.find(SessionId(OURS))
    assert path is not None
    for title in ("Weights of the zeppelins", "Draw a logo"):
        entry = AiTitleEntry(session_id=SessionId(OURS), timestamp="", ai_title=title, source="model")
        with path.open("ab") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
    assert find_session(store, "draw a logo", home).session_id == OURS
    assert find_session(store, "Weights of the zeppelins", home).session_id == OURS


def test_an_old_title_is_found_without_reading_all_files_again(home: Path) -> None:
    store = SessionStore(home / "clew")
    path = store.session_path(home / "work", SessionId(OURS))
    titles = ["Quince inventory of the cellar", "Parcels by weight", "Something else by now"]
    with path.open("a") as file:
        for title in titles:
            entry = AiTitleEntry(session_id=SessionId(OURS), timestamp="2026-03-01T12:00:00.000Z", ai_title=title)
            file.write(msgspec.json.encode(entry).decode() + "\n")
    with Catalog(store) as catalog:
        catalog.refresh(agents=("clew",))
        (hit,) = catalog.search("quince cellar")
        assert (hit.row.session_id, hit.row.title, hit.role) == (OURS, titles[-1], "title")
    assert find_session(store, "quince inventory", home / "work").session_id == OURS
