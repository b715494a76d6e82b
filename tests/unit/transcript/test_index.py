"""The index is a cache: incremental, shared, rebuilt when damaged, and it finds words in every script."""

import gzip
import io
import os
import sqlite3
import stat
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.log_kills import fork

from clew.catalog.find_session import find_session
from clew.catalog.listing import Catalog
from clew.protocol.entries import ApprovalEntry, CustomTitleEntry, TurnResultEntry
from clew.protocol.ids import CallId, RequestId, SessionId
from clew.protocol.usage import Usage
from clew.transcript.index import database as index_module
from clew.transcript.index.archive import archive_session, restore_session, sizes, trash_session
from clew.transcript.index.database import SessionIndex
from clew.transcript.index.digest import Digest
from clew.transcript.index.search_text import excerpt, indexed, match_query
from clew.transcript.log.lease import acquire
from clew.transcript.log.store import SessionStore, sidecar_dir

from .samples import Script

NOW = "2026-11-15T10:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home")


@pytest.fixture
def catalog(store: SessionStore, tmp_path: Path) -> Iterator[Catalog]:
    with Catalog(store, env={"HOME": str(tmp_path)}) as opened:
        yield opened


def put(store: SessionStore, name: str, *texts: str, at: float = 1_000_000, root: str = "/src/app") -> Path:
    script = Script(SessionId(name))
    for number, text in enumerate(texts):
        (script.assistant if number % 2 else script.user)(text)
    path = script.write(store.project_dir(Path(root)))
    os.utime(path, (at, at))
    return path


def found(catalog: Catalog, question: str) -> list[str]:
    return [hit.row.session_id for hit in catalog.search(question)]


def test_the_list_is_newest_first_and_comes_back_when_the_index_is_deleted(store: SessionStore, tmp_path: Path) -> None:
    for number in range(5):
        put(store, f"s{number}", f"prompt {number}", "answer", at=1_000_000 + number)
    lists: list[list[bytes]] = []
    for _ in range(2):
        with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
            catalog.refresh()
            lists.append([msgspec.json.encode(row) for row in catalog.rows()])
        for name in ("index.db", "index.db-wal", "index.db-shm"):
            (store.home / name).unlink(missing_ok=True)
    assert lists[0] == lists[1]
    assert [msgspec.json.decode(row)["session_id"] for row in lists[0]] == ["s4", "s3", "s2", "s1", "s0"]


def test_only_what_is_new_is_read(store: SessionStore, catalog: Catalog) -> None:
    path = put(store, "grows", "alpha question", "beta answer")
    catalog.refresh()
    before = path.read_bytes()
    # Same length, other words: were the start read again, "gamma" would be found.
    path.write_bytes(before.replace(b"alpha", b"gamma"))
    script = Script(SessionId("grows"))
    script.user("delta question", parent="a2", uuid="u3")
    with path.open("ab") as file:
        file.write(script.lines()[0])
    catalog.refresh()
    assert found(catalog, "alpha") == ["grows"]
    assert catalog._index.search("gamma") == []
    assert found(catalog, "delta") == ["grows"]
    assert catalog.rows()[0].turns == 2


def test_a_line_that_is_being_written_waits(store: SessionStore, catalog: Catalog) -> None:
    path = put(store, "torn", "first words")
    whole = path.read_bytes()
    script = Script(SessionId("torn"))
    script.user("second words", uuid="u2")
    line = script.lines()[0]
    path.write_bytes(whole + line[:40])
    catalog.refresh()
    path.write_bytes(whole + line)
    catalog.refresh()
    assert found(catalog, "second") == ["torn"]
    assert catalog.rows()[0].turns == 2


def test_a_file_that_was_replaced_is_read_anew_and_a_deleted_one_leaves(store: SessionStore, catalog: Catalog) -> None:
    path = put(store, "one", "a long first version of the words", "and an answer")
    catalog.refresh()
    put(store, "one", "short", at=2_000_000)
    catalog.refresh()
    assert found(catalog, "version") == []
    assert found(catalog, "short") == ["one"]
    path.unlink()
    catalog.refresh()
    assert catalog.rows() == []
    assert catalog._index.search("short") == []


@pytest.mark.parametrize("damage", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_index_is_built_anew(store: SessionStore, tmp_path: Path, damage: bytes) -> None:
    put(store, "s", "some words")
    store.home.mkdir(exist_ok=True)
    (store.home / "index.db").write_bytes(damage)
    with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
        catalog.refresh()
        assert found(catalog, "words") == ["s"]


def test_damage_inside_the_tables_is_noticed_too(store: SessionStore, tmp_path: Path) -> None:
    put(store, "s", "some words")
    with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
        catalog.refresh()
        catalog._index._db.execute("DROP TABLE documents")
    put(store, "s", "other words here", at=2_000_000)
    with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
        catalog.refresh()
        assert found(catalog, "other") == ["s"]


def test_the_index_is_private(store: SessionStore, catalog: Catalog) -> None:
    catalog.refresh()
    for path in store.home.glob("index.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_home_that_cannot_be_written_still_lists(store: SessionStore, tmp_path: Path) -> None:
    put(store, "s", "some words")
    (store.home / "index.db").mkdir()
    with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
        catalog.refresh()
        assert found(catalog, "words") == ["s"]


def test_two_that_make_the_index_at_once_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite refuses the change of journal at once while another process is at it, whatever the time-out."""
    refusals = iter(range(2))

    class Contended(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if "journal_mode" in sql and next(refusals, None) is not None:
                raise sqlite3.OperationalError("database is locked")
            return super().execute(sql, *values)

    monkeypatch.setattr(index_module.sqlite3, "connect", partial(sqlite3.connect, factory=Contended))
    index = SessionIndex(tmp_path / "index.db")
    assert index.count() == 0
    assert next(refusals, None) is None
    index.close()
    assert (tmp_path / "index.db").stat().st_size > 0


def test_several_processes_share_one_index(store: SessionStore, tmp_path: Path) -> None:
    for number in range(40):
        put(store, f"s{number}", f"prompt {number}")

    def refresh() -> None:
        with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
            catalog.refresh()

    children = [fork(refresh) for _ in range(4)]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    with Catalog(store, env={"HOME": str(tmp_path)}) as catalog:
        catalog.refresh()
        assert len(catalog.rows()) == 40
        assert len(catalog.search("prompt", limit=100)) == 40
        count = catalog._index._db.execute("SELECT count(*) FROM documents").fetchone()[0]
        assert count == 40, "nothing was recorded twice"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("please fix load_config in settings.py", "load_config"),
        ("please fix load_config in settings.py", "config settings"),
        ("please fix load_config in settings.py", "sett"),
        ("naïve café", "cafe"),
        ("请部署到生产环境", "部署"),
        ("请部署到生产环境", "生产环境"),
        ("请部署到生产环境", "署"),
        ("ログイン画面を直してください", "画面"),
        ("로그인 화면을 고쳐 주세요", "화면"),
        ("Das Straßenverzeichnis öffnen", "STRAßENVERZEICHNIS off"),
        ("fix 部署 script", "部署 script"),
    ],
)
def test_words_of_every_script_are_found(store: SessionStore, catalog: Catalog, text: str, question: str) -> None:
    put(store, "s", text)
    catalog.refresh()
    hits = catalog._index.search(question)
    assert [hit.row.session_id for hit in hits] == ["s"]
    assert catalog._index.search("zzz " + question) == []


@pytest.mark.parametrize("question", ["", " ", '"', "AND", "a OR", "NEAR(", "*", "col:x", "-", "'; DROP TABLE x", "(("])
def test_no_question_breaks_the_search(store: SessionStore, catalog: Catalog, question: str) -> None:
    put(store, "s", "some words")
    catalog.refresh()
    catalog.search(question)


def test_hits_are_shown_where_they_stand(store: SessionStore, catalog: Catalog) -> None:
    put(store, "s", "x " * 200 + "the Needle in the hay" + " y" * 200)
    catalog.refresh()
    (hit,) = catalog.search("needle")
    assert [hit.text[start:end] for start, end in hit.spans] == ["Needle"]
    assert len(hit.text) < 250
    assert excerpt("nothing here", "needle") == ("nothing here", [])
    assert indexed("部署脚本 now") == " 部署 署脚 脚本  now"
    assert match_query("one two") == '"one" AND "two" *'


def test_what_the_index_leaves_out_is_found_in_the_files(store: SessionStore, catalog: Catalog) -> None:
    script = Script(SessionId("deep"))
    script.user("run it")
    script.call("c1")
    script.result("c1", "line\n" * 2000 + "hidden_marker_42\n" + "line\n" * 2000)
    script.write(store.project_dir(Path("/src/app")))
    catalog.refresh()
    assert catalog._index.search("hidden_marker_42") == []
    (hit,) = catalog.search("hidden_marker_42")
    assert hit.row.session_id == "deep"
    assert [hit.text[start:end] for start, end in hit.spans] == ["hidden_marker_42"]


def test_with_a_deadline_the_newest_come_first_and_the_rest_is_named(store: SessionStore, tmp_path: Path) -> None:
    for number in range(4):
        put(store, f"s{number}", f"prompt {number}", at=1_000_000 + number)
    ticks = iter([0.0, 0.5, 0.9, 5.0, 5.0])
    with Catalog(store, env={"HOME": str(tmp_path)}, clock=lambda: next(ticks)) as catalog:
        assert catalog.refresh(budget_s=1.0) == 2
        rows = catalog.rows()
        assert [row.session_id for row in rows] == ["s3", "s2", "s1", "s0"]
        assert [row.title for row in rows] == ["prompt 3", "prompt 2", "", ""]


def test_resume_by_title_and_by_words(store: SessionStore, tmp_path: Path) -> None:
    put(store, "aaaa", "fix the login page", "I moved the token check", root=str(tmp_path))
    put(store, "bbbb", "write docs", root=str(tmp_path))
    for words, session in (("login page", "aaaa"), ("token check", "aaaa"), ("Write Docs", "bbbb")):
        assert find_session(store, words, tmp_path, homes={}).session_id == session


def test_c08_a_date_far_in_the_future_does_not_rule_the_list(store: SessionStore, catalog: Catalog) -> None:
    put(store, "future", "x", at=4_100_000_000)
    put(store, "today", "y", at=1_700_000_000)
    catalog.refresh()
    assert [row.session_id for row in catalog.rows()] == ["today", "future"]


def test_a07_damaged_files_are_listed_as_damaged(store: SessionStore, catalog: Catalog) -> None:
    path = put(store, "bad", "x")
    path.write_bytes(b"\0" * 3000)
    catalog.refresh()
    assert [(row.session_id, row.state) for row in catalog.rows()] == [("bad", "damaged")]


def test_states(store: SessionStore) -> None:
    script = Script()
    digest = Digest()

    def state() -> str:
        for entry in script.entries:
            digest.feed(entry)
        script.entries.clear()
        return digest.state()

    def ended(reason: str, cost: float | None = None) -> None:
        script.entries.append(
            TurnResultEntry(
                session_id=script.session, timestamp=NOW, reason=reason, turn=1, steps=1, duration_ms=1, cost_usd=cost
            )
        )

    assert state() == "empty"
    script.user("go")
    assert state() == "interrupted"
    assert digest.state(alive=True) == "working"
    script.call("c1", usage=Usage(input_tokens=5), message="m")
    script.assistant(message="m", usage=Usage(input_tokens=7))
    script.entries.append(
        ApprovalEntry(
            session_id=script.session,
            timestamp=NOW,
            request_id=RequestId("r"),
            call_id=CallId("c1"),
            tool="Read",
            subject="x",
            decision="pending",
        )
    )
    assert state() == "interrupted", "nobody is there to be asked"
    assert digest.state(alive=True) == "waiting"
    ended("completed", 0.5)
    assert state() == "idle"
    script.user("again")
    script.assistant("Shall I go on?")
    ended("completed", 0.25)
    assert state() == "asking"
    script.user("yes")
    ended("max_budget")
    assert state() == "suspended"
    script.user("more")
    ended("model_error")
    assert state() == "failed"
    script.entries.append(CustomTitleEntry(session_id=script.session, timestamp=NOW, custom_title="Mine"))
    state()
    assert (digest.title, digest.turns, digest.cost_usd) == ("Mine", 4, 0.75)
    assert digest.total_usage.input_tokens == 7, "usage of one reply counts once, the last line of it"


def test_archive_is_compressed_searchable_and_comes_back_unchanged(store: SessionStore, catalog: Catalog) -> None:
    path = put(store, "keep", "words to find " * 500)
    extra = sidecar_dir(path) / "tool-results" / "c1.txt"
    extra.parent.mkdir(parents=True)
    extra.write_text("the whole result")
    before, stamp = path.read_bytes(), path.stat().st_mtime
    target = archive_session(store, path)
    assert not path.exists()
    assert not extra.exists()
    assert target.stat().st_size < len(before)
    assert gzip.decompress(target.read_bytes()) == before
    catalog.refresh()
    (row,) = catalog.rows()
    assert row.archived
    assert found(catalog, "find") == ["keep"]
    assert restore_session(store, "keep") == path
    assert path.read_bytes() == before
    assert path.stat().st_mtime == stamp
    assert extra.read_text() == "the whole result"
    assert not target.exists()


def test_an_interrupted_restore_can_be_done_again_and_nothing_leaves_its_folder(store: SessionStore) -> None:
    path = put(store, "keep", "words")
    extra = sidecar_dir(path) / "tool-results" / "c1.txt"
    extra.parent.mkdir(parents=True)
    extra.write_text("the whole result")
    packed = archive_session(store, path).with_name("keep.files.tar.gz")
    extra.parent.mkdir(parents=True)
    extra.write_text("half of")
    with tarfile.open(packed, "w:gz") as archive:
        for name in ("../outside", "/outside", "keep/tool-results/c1.txt"):
            member = tarfile.TarInfo(name)
            member.size = 5
            archive.addfile(member, io.BytesIO(b"whole"))
        link = tarfile.TarInfo("keep/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    restore_session(store, "keep")
    assert extra.read_text() == "whole"
    assert sorted(item.name for item in sidecar_dir(path).rglob("*")) == ["c1.txt", "tool-results"]
    assert not list(store.home.rglob("outside"))
    assert stat.S_IMODE(extra.stat().st_mode) == 0o600


def test_trash_and_restore(store: SessionStore, catalog: Catalog) -> None:
    path = put(store, "gone", "words")
    before = path.read_bytes()
    trash_session(store, path)
    catalog.refresh()
    assert catalog.rows() == []
    assert sizes(store).trash == len(before)
    assert restore_session(store, "gone").read_bytes() == before


def test_a_session_in_use_is_not_moved(store: SessionStore) -> None:
    path = put(store, "busy", "words")
    lease = acquire(path)
    for move in (archive_session, trash_session):
        with pytest.raises(Exception, match="is open in"):
            move(store, path)
    lease.release()
    assert path.exists()
