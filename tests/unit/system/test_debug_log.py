"""The debug log: private, redacted, bounded, and never in the way."""

import stat
from pathlib import Path

from clew.system.clock import ManualClock
from clew.system.debug_log import MAX_BYTES, MAX_LINE_CHARS, SCANNED_CHARS, DebugLog, debug_log_path


def log_at(path: Path) -> DebugLog:
    return DebugLog(path, clock=ManualClock(1_700_000_000))


def test_one_call_is_one_line(tmp_path: Path) -> None:
    path = debug_log_path(tmp_path, "s1")
    log_at(path).write("recap", "first\nsecond\r\\n")
    log_at(path).write("title", "third")
    assert path.read_text() == (
        "2023-11-14T22:13:20.000Z recap first\\nsecond\\r\\\\n\n2023-11-14T22:13:20.000Z title third\n"
    )


def test_it_is_private(tmp_path: Path) -> None:
    path = debug_log_path(tmp_path / "home", "s1")
    log_at(path).write("x", "y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_secrets_do_not_reach_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "s1.log"
    canary = "sk-" + "ant-api03-CANARY9f3Kq9ZxV2mN7bT4c"
    filler = "x" * (MAX_LINE_CHARS - 10)
    log_at(path).write("request", f"Authorization: Bearer {canary} and {filler} {canary}")
    log_at(path).write("straddle", f"{filler} {canary}")
    block = "-----BEGIN " + "PRIVATE KEY-----\n" + ("A1b2C3d4" * 8 + "\n") * 450 + "-----END PRIVATE KEY-----"
    far = block + " " * (SCANNED_CHARS - len(block) - 10) + canary  # the key vanishes, so the cut comes into view
    log_at(path).write("far", far)
    assert "CANARY" not in path.read_text()
    assert "sk-ant" not in path.read_text()


def test_long_lines_and_long_files_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "s1.log"
    log = log_at(path)
    log.write("big", "y" * 100_000)
    assert path.stat().st_size < MAX_LINE_CHARS + 200
    for number in range(600):
        log.write("n", f"{number} " + "z" * (MAX_LINE_CHARS - 100))
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == ["latest", "s1.log", "s1.old.log"]
    assert all(file.stat().st_size <= MAX_BYTES for file in tmp_path.iterdir())
    assert path.read_text().splitlines()[-1].split()[2] == "599"


def test_it_never_raises(tmp_path: Path) -> None:
    DebugLog(None).write("x", "y")
    (tmp_path / "file").write_text("")
    DebugLog(tmp_path / "file" / "s.log").write("x", "y")
    (tmp_path / "dir.log").mkdir()
    DebugLog(tmp_path / "dir.log").write("x", "lone surrogate \ud800")
    log_at(tmp_path / "s.log").write("x", "lone surrogate \ud800")
    assert "\\ud800" in (tmp_path / "s.log").read_text()


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("")
    (tmp_path / "s.log").symlink_to(target)
    DebugLog(tmp_path / "s.log").write("x", "y")
    assert target.read_text() == ""
