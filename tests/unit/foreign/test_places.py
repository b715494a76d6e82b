"""Where sessions are found: in working directories and known projects; large, growing and damaged stores."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.catalog.listing import Catalog
from clew.foreign.listing import folder_of_slug
from clew.foreign.registry import discover, read, read_all, read_each, sessions_in
from clew.foreign.source import Source
from clew.transcript.log.store import SessionStore

from .looks import prompts, said
from .samples_lines import claude_code, claude_user, gemini_cli
from .samples_text import aider, cursor_agent, cursor_export, mini_swe_agent, specstory
from .samples_trees import opencode_db
from .writing import GOAL

HISTORY = ".aider.chat.history.md"


def at(folder: Path, source: Path, name: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(source, folder / (name or source.name)))


def found_from(folder: Path, home: Path) -> set[tuple[str, str]]:
    env = {"HOME": str(home), "PWD": str(folder)}
    return {(session.agent, session.path.name) for session in discover(None, env)}


def test_histories_of_the_working_directory_and_above_are_found(tmp_path: Path) -> None:
    project = tmp_path / "project"
    at(project, aider(tmp_path / "x"))
    at(project / ".specstory" / "history", specstory(tmp_path / "x"))
    at(project, cursor_export(tmp_path / "x"), "cursor_retry.md")
    at(project, mini_swe_agent(tmp_path / "x"), "run.traj.json")
    inside = project / "src" / "deep"
    inside.mkdir(parents=True)
    expected = {("aider", HISTORY), ("cursor", "cursor_retry.md"), ("mini_swe_agent", "run.traj.json")}
    for folder in (project, inside):
        found = found_from(folder, tmp_path / "nobody")
        assert expected <= found
        assert len([name for agent, name in found if agent == "cursor"]) == 2
    assert found_from(tmp_path / "elsewhere", tmp_path / "nobody") == set()


def test_the_real_working_directory_counts_when_the_shells_name_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    at(project, aider(tmp_path / "x"))
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.chdir(project)
    for named in ("/", str(tmp_path / "no such"), ""):
        monkeypatch.setenv("PWD", named)
        assert {session.agent for session in discover(agents=["aider"])} == {"aider"}


def test_what_was_found_in_one_project_is_listed_from_everywhere_until_it_is_gone(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "clew")
    first = at(tmp_path / "one", aider(tmp_path / "x"))
    export = at(tmp_path / "one", cursor_export(tmp_path / "x"), "cursor_retry.md")

    def listed(folder: Path) -> list[str]:
        with Catalog(store, env={"HOME": str(tmp_path / "nobody"), "PWD": str(folder)}) as catalog:
            catalog.refresh()
            return sorted(Path(row.path).name for row in catalog.rows())

    here = [HISTORY, HISTORY, "cursor_retry.md"]
    assert listed(tmp_path / "one") == here
    assert listed(tmp_path / "two") == here
    first.unlink()
    export.unlink()
    assert listed(tmp_path / "two") == []


def test_projects_of_ours_are_looked_at_too(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "clew")
    at(tmp_path / "one", aider(tmp_path / "x"))
    store.project_dir(tmp_path / "one").mkdir(parents=True)
    store.remember_project(tmp_path / "one")
    with Catalog(store, env={"HOME": str(tmp_path / "nobody"), "PWD": "/"}) as catalog:
        catalog.refresh()
        assert {row.agent for row in catalog.rows()} == {"aider"}


def test_an_agents_transcript_belongs_to_the_project_its_folder_is_named_after(tmp_path: Path) -> None:
    project = tmp_path / "my.app" / "web-ui"
    project.mkdir(parents=True)
    (tmp_path / "my").mkdir()
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(project)).strip("-")
    assert folder_of_slug(slug) == str(project)
    assert folder_of_slug("no-such-folder-anywhere") == ""
    path = at(tmp_path / ".cursor" / "projects" / slug / "agent-transcripts", cursor_agent(tmp_path / "x"))
    (session,) = discover(None, {"HOME": str(tmp_path)}, agents=["cursor"])
    assert (session.path, session.cwd) == (path, str(project))
    assert read(path).meta.cwd == str(project)


def history(count: int) -> str:
    return "".join(
        f"\n# aider chat started at 2026-01-{1 + n % 28:02d} {n // 60 % 24:02d}:{n % 60:02d}:00\n\n"
        f"#### request number {n}  \n\nanswer number {n}\n"
        for n in range(count)
    )


def test_a_thousand_sessions_in_one_file_are_read_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / HISTORY
    path.write_text(history(1000))
    reads: list[Path] = []
    whole = Source.whole
    monkeypatch.setattr(Source, "whole", lambda self: (reads.append(self.path), whole(self))[1])
    with Catalog(
        SessionStore(tmp_path / "clew"), env={"HOME": str(tmp_path / "nobody"), "PWD": str(tmp_path)}
    ) as catalog:
        assert catalog.refresh() == 0
        assert len(reads) <= 4
        rows = catalog.rows()
        assert len({row.session_id for row in rows}) == 1000
        (hit,) = [hit for hit in catalog.search("request number 517") if hit.row.title == "request number 517"]
        assert prompts(read(path, session_id=hit.row.session_id)) == ["request number 517"]
        reads.clear()
        with path.open("a") as file:
            file.write("\n# aider chat started at 2026-03-01 10:00:00\n\n#### one more  \n\nyes\n")
        catalog.refresh()
        # The one that was the last and the new one; the others are as they were.
        assert len(reads) <= 4
        assert len(catalog.rows()) == 1001
        assert catalog.rows()[0].title == "one more"


def test_a_thousand_sessions_in_a_database(tmp_path: Path) -> None:
    path = opencode_db(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for number in range(1000):
            name = f"ses_{number:04d}"
            row = (name, "abc", None, "/home/sam/x", f"Title {number}", "1.18", 1771000000000, 1771000000000 + number)
            connection.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?)", row)
            connection.execute(
                "INSERT INTO message VALUES (?,?,0,?)", (f"m{number}", name, json.dumps({"role": "user"}))
            )
            part = json.dumps({"type": "text", "text": f"request number {number}"})
            connection.execute("INSERT INTO part VALUES (?,?,?,0,?)", (f"p{number}", f"m{number}", name, part))
    with Catalog(SessionStore(tmp_path / "clew"), env={"HOME": str(tmp_path)}) as catalog:
        assert catalog.refresh() == 0
        assert len(catalog.rows()) == 1001
    assert len(sessions_in(path, "opencode")) == 1001
    wanted = ["ses_0007", "ses_0999"]
    assert [prompts(each) for each in read_each(path, "opencode", wanted)] == [
        ["request number 7"],
        ["request number 999"],
    ]


def test_two_sessions_of_one_second_have_two_ids(tmp_path: Path) -> None:
    path = tmp_path / HISTORY
    one = "\n# aider chat started at 2026-01-05 10:00:00\n\n#### {}  \n\nok\n"
    path.write_text("#### before any heading  \n\nok\n" + one.format("first") + one.format("second"))
    found = sessions_in(path, "aider")
    names = [session.session_id for session in found]
    assert names[1:] == ["aider-2026-01-05-10-00-00", "aider-2026-01-05-10-00-00-2"]
    assert [prompts(read(path, session_id=name)) for name in names] == [["before any heading"], ["first"], ["second"]]
    assert [transcript.session_id for transcript in read_all(path)] == names


def test_a_file_that_grows_while_it_is_read_shows_what_was_whole(tmp_path: Path) -> None:
    path = claude_code(tmp_path)
    line = json.dumps(claude_user("u9", "a2", "one more thing")).encode()
    for cut in (1, 20, len(line) // 2, len(line) - 1):
        whole = path.read_bytes()
        path.write_bytes(whole + line[:cut])
        transcript = read(path)
        assert prompts(transcript) == [GOAL]
        assert [problem.kind for problem in transcript.problems] == ["unfinished"]
        path.write_bytes(whole)
    with path.open("ab") as file:
        file.write(line + b"\n")
    assert prompts(read(path)) == [GOAL, "one more thing"]


def test_the_index_follows_a_growing_file(tmp_path: Path) -> None:
    path = claude_code(tmp_path)
    with Catalog(SessionStore(tmp_path / "clew"), env={"HOME": str(tmp_path)}) as catalog:
        catalog.refresh()
        with path.open("ab") as file:
            file.write(json.dumps(claude_user("u9", "a2", "zebra")).encode()[:-3])
        catalog.refresh()
        (row,) = catalog.rows()
        assert row.problems == 0
        assert catalog.search("zebra", deep=False) == []


def test_a_value_written_anew_while_it_was_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gemini_cli(tmp_path)
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    whole = Source.whole

    def finished_meanwhile(self: Source) -> bytes:
        data = whole(self)
        path.write_bytes(good)
        return data

    monkeypatch.setattr(Source, "whole", finished_meanwhile)
    transcript = read(path)
    assert transcript.problems == ()
    assert prompts(transcript) == [GOAL]
    assert said(transcript)


@pytest.mark.parametrize("damage", [b"", b"SQLite format 3\x00garbage", b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_damaged_store_hides_no_other_and_loses_nothing_that_was_known(tmp_path: Path, damage: bytes) -> None:
    claude_code(tmp_path)
    path = opencode_db(tmp_path)
    good = path.read_bytes()
    with Catalog(SessionStore(tmp_path / "clew"), env={"HOME": str(tmp_path)}) as catalog:
        catalog.refresh()
        assert sorted(row.agent for row in catalog.rows()) == ["claude_code", "opencode"]
        path.write_bytes(damage)
        told: list[str] = []
        env = {"HOME": str(tmp_path)}
        names = [session.agent for session in discover(None, env, on_problem=lambda name, _: told.append(name))]
        assert names == ["claude_code"]
        assert told == ["opencode"]
        catalog.refresh()
        assert sorted(row.agent for row in catalog.rows()) == ["claude_code", "opencode"]
        path.write_bytes(good)
        catalog.refresh()
        assert sorted(row.agent for row in catalog.rows()) == ["claude_code", "opencode"]


def test_a_run_saved_as_a_bare_list_of_messages(tmp_path: Path) -> None:
    run = json.loads(mini_swe_agent(tmp_path / "x").read_text())["messages"]
    for name in ("run.traj.json", "saved.json"):
        path = tmp_path / name
        path.write_text(json.dumps(run))
        transcript = read(path)
        assert transcript.agent == "mini_swe_agent"
        assert any(GOAL in prompt for prompt in prompts(transcript))


def test_strange_places_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / HISTORY).mkdir()
    os.mkfifo(tmp_path / "cursor_x.md")
    (tmp_path / "a.traj.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / ".specstory").write_text("not a folder")
    assert found_from(tmp_path, tmp_path / "nobody") == set()
