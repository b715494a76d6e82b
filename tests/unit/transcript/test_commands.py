"""`clew sessions`, `show` and `export` as a person or a script runs them."""

import json
import os
from pathlib import Path

import pytest

from clew.cli.main import run as clew
from clew.cli.sub import export, sessions, show
from clew.protocol.ids import SessionId
from clew.transcript.log.store import SessionStore

from .samples import Script

HOSTILE = "evil \x1b]0;owned\x07\x1b[31mred\u202e title"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / "user").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder / "user"))
    monkeypatch.setenv("CLEW_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def path(home: Path, tmp_path: Path) -> Path:
    script = Script(SessionId("abcd1234"))
    script.user(f"{HOSTILE}\nsecond line")
    script.call("c1", message="m")
    script.call("c2", message="m")
    script.result("c2", "```\ninner fence\n```", parent="a3")
    script.result("c1", "\n".join(f"line {number}" for number in range(40)), parent="a2")
    script.replacement("c1", "short")
    script.boundary("what was done so far")
    script.assistant("Finished. \x1b[2J")
    return script.write(SessionStore(home).project_dir(tmp_path))


def out(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def assert_clean(text: str) -> None:
    assert not set(text) & set("\x1b\x07\u202e\x9b")


def test_the_list(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(["sessions"]) == 0
    text = out(capsys)
    assert_clean(text)
    assert "abcd1234" in text
    assert "evil" in text
    assert clew(["sessions", "--json"]) == 0
    (row,) = json.loads(out(capsys))
    assert (row["session_id"], row["agent"], row["turns"], row["state"]) == ("abcd1234", "clew", 1, "idle")
    assert row["size"] == path.stat().st_size


def test_an_empty_home(capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(["sessions"]) == 0
    assert "No sessions yet" in out(capsys)
    assert clew(["sessions", "--json"]) == 0
    assert json.loads(out(capsys)) == []


def test_search_marks_its_hits(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(["sessions", "--search", "inner fence"]) == 0
    text = out(capsys)
    assert "»inner« »fence«" in text
    assert_clean(text)
    clew(["sessions", "--search", "inner", "--json"])
    (row,) = json.loads(out(capsys))
    start, end = row["hit"]["spans"][0]
    assert row["hit"]["text"][start:end] == "inner"
    assert clew(["sessions", "--search", "nowhere to be found"]) == 0
    assert "Nothing found" in out(capsys)


def test_the_project_filter(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SessionStore(tmp_path / "home").remember_project(tmp_path)
    clew(["sessions", "--project", "--json"])
    assert len(json.loads(out(capsys))) == 1
    for more in ([], ["--search", "inner"]):
        clew(["sessions", "--project", str(tmp_path / "home" / "user"), "--json", *more])
        assert json.loads(out(capsys)) == []
    clew(["sessions", "--project", "--search", "inner", "--agent", "clew", "--json"])
    assert len(json.loads(out(capsys))) == 1
    clew(["sessions", "--agent", "Claude", "--json"])
    assert json.loads(out(capsys)) == []


def test_archive_restore_trash_and_size(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(["sessions", "archive", "abcd"]) == 0
    assert not path.exists()
    assert clew(["sessions", "--search", "inner"]) == 0
    assert "archived" in out(capsys)
    assert clew(["sessions", "restore", "abcd1234"]) == 0
    assert path.exists()
    assert clew(["sessions", "trash", "abcd1234", "--json"]) == 0
    assert clew(["sessions", "restore", "abcd1234"]) == 0
    out(capsys)
    assert clew(["sessions", "size", "--json"]) == 0
    assert json.loads(out(capsys))["sessions"] >= path.stat().st_size


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["sessions", "archive"], 2, "which session"),
        (["sessions", "trash", "nosuch"], 1, "nosuch"),
        (["sessions", "restore", "../x"], 1, "valid id"),
        (["sessions", "--agent", "nobody"], 2, "claude_code"),
        (["sessions", "--home", "codex"], 2, "AGENT=DIR"),
        (["sessions", "--home", "codex=/no/such"], 2, "does not exist"),
        (["show", "nosuch"], 1, "nosuch"),
        (["export", "nosuch"], 1, "nosuch"),
        (["export", "x", "--to", "pdf"], 2, "pdf"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert captured.err.count("\n") == 1


def test_show_is_readable_and_clean(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clew(["show", "abcd1234"]) == 0
    text = out(capsys)
    assert_clean(text)
    assert "> second line" in text
    assert "* Read(c1.py)" in text
    assert "… 28 more lines" in text
    assert "compacted" in text
    assert text.index("line 0") < text.index("inner fence"), "results stand in call order"
    assert clew(["show", str(path), "--json"]) == 0
    shown = json.loads(out(capsys))
    assert shown["session"] == "abcd1234"
    assert len(shown["entries"]) == 8


def test_the_pager_is_no_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAGER", "cat; touch /tmp/owned")
    assert show.pager_command() is None, "a program named `cat;` does not exist"
    monkeypatch.setenv("PAGER", "cat -u")
    command = show.pager_command()
    assert command is not None
    assert command[1:] == ["-u"]
    monkeypatch.setenv("PAGER", "'unbalanced")
    assert show.pager_command() is None


def test_exports(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def exported(to: str) -> str:
        target = tmp_path / f"out.{to}"
        assert clew(["export", "abcd1234", "--to", to, "-o", str(target)]) == 0
        assert os.stat(target).st_mode & 0o777 == 0o600
        return target.read_text()

    page = exported("markdown")
    assert_clean(page)
    assert "````text\n```\ninner fence" in page
    assert "# evil" in page
    assert len(json.loads(exported("json"))["entries"]) == 8
    lines = [json.loads(line) for line in exported("jsonl").splitlines()]
    assert "content-replacement" in {line["type"] for line in lines}
    theirs = [json.loads(line) for line in exported("claude-code").splitlines()]
    assert {line["type"] for line in theirs} == {"user", "assistant", "system"}
    before = (tmp_path / "out.json").read_bytes()
    assert clew(["export", "abcd1234", "--to", "json", "-o", str(tmp_path / "out.json")]) == 1
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "out.json").read_bytes() == before


@pytest.mark.parametrize("to", ["markdown", "json", "jsonl", "claude-code"])
def test_exports_hold_no_secrets(to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sharing a session must not share a key; a person's own backup may keep it."""
    key = "ghp_" + "8f3Kq9ZxV2mN7bT4cLwE1rYhU6sDpA0gJ5iO"
    rows = [
        {"type": "user", "message": {"role": "user", "content": f'it is {key}\n"quoted" DB_PASSWORD=hunter2pass'}},
        {
            "type": "user",
            "message": {"role": "user", "content": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq"},
        },
    ]
    file = tmp_path / "theirs.jsonl"
    file.write_text(
        "".join(
            json.dumps(row | {"uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": "s", "cwd": "/x",
                              "timestamp": "2026-01-01T00:00:00Z", "version": "2.0.0"}) + "\n"
            for n, row in enumerate(rows)
        )
    )  # fmt: skip
    assert clew(["export", str(file), "--to", to]) == 0
    shared = capsys.readouterr().out
    assert key not in shared
    assert "hunter2pass" not in shared
    assert "MIIEow" not in shared
    assert "[redacted]" in shared
    if to != "markdown":
        assert [json.loads(line) for line in (shared.splitlines() if to != "json" else [shared])]
    assert clew(["export", str(file), "--to", to, "--no-redact"]) == 0
    assert key in capsys.readouterr().out


def test_a_damaged_session_is_shown_with_a_warning_on_stderr(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with path.open("ab") as file:
        file.write(b"damage \x1b[31m\n")
    assert clew(["show", "abcd1234"]) == 0
    captured = capsys.readouterr()
    assert "second line" in captured.out
    assert "damaged line" in captured.err
    assert_clean(captured.err)


def test_another_agents_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = Path(__file__).parents[4] / "shared" / "fixtures" / "transcripts"
    if not samples.is_dir():
        pytest.skip("the shared samples of other agents are not here")
    for found in sorted(samples.glob("c*/**/*.jsonl"))[:12]:
        before = found.read_bytes()
        code = clew(["show", str(found)])
        captured = capsys.readouterr()
        assert code in {0, 1}
        assert_clean(captured.out)
        assert found.read_bytes() == before


def test_the_registry_contract() -> None:
    for module in (sessions, show, export):
        assert module.HELP
        assert callable(module.add_arguments)
