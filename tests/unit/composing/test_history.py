"""What was typed before, in one file for all sessions: private, shared, without secrets."""

from pathlib import Path

import pytest

from clew.composing.history import History


def test_history_is_private_shared_and_without_secrets(tmp_path: Path) -> None:
    home = tmp_path / "home"
    one, two = History(home), History(home)
    one.add("first")
    two.add("second\nwith two lines")
    one.add("third")
    one.add("third")
    one.add("first")
    one.add("my key is sk-abcdefghijklmnop1234")
    one.add("export TOKEN=hunter2hunter2")
    one.add(" kept out by a space")
    assert History(home).items == ["second\nwith two lines", "third", "first"]
    assert (home / "history").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "line",
    [
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "curl -H 'Authorization: Bearer abc123def456'",
        "password: correct9horse",
        "postgres://me:pw12345@host/db",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sig",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI7K7MDENG8bPxRfiCYEXAMPLEKEY",
    ],
)
def test_lines_that_look_like_secrets_are_not_kept(line: str) -> None:
    history = History(None)
    history.add(line)
    assert history.items == []


@pytest.mark.parametrize(
    "line",
    [
        "fix the token count in parser.py",
        "rename password_field to secret",
        "why does the API key check fail?",
        "look at commit 3f2a9c1e7b8d4f6a0c5e1d2b3a4f5e6d7c8b9a0f",
    ],
)
def test_ordinary_lines_are_kept(line: str) -> None:
    history = History(None)
    history.add(line)
    assert history.items == [line]


def test_a_broken_or_huge_history_file_is_survived(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b'"good"\n{"not": "a string"}\n\xff\xfe\n"cut in the mid')
    history = History(tmp_path)
    assert history.items == ["good"]
    history.add("next")
    assert History(tmp_path).items == ["good", "next"]
    path.write_bytes(b"".join(b'"item %d with some padding to make it long"\n' % number for number in range(60_000)))
    history.add("after")
    assert path.stat().st_size < 100_000
    assert History(tmp_path).items[-1] == "after"
    assert len(History(tmp_path).items) == 1000


def test_an_unwritable_home_does_not_stop_typing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = History(tmp_path / "file" / "home")
    history.add("x")
    assert history.items == ["x"]
    assert "could not be written" in history.problem
