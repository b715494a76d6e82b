"""A small append-only log for what users need not see: redacted, private, bounded."""

import os
import threading
from pathlib import Path

from clew.system.clock import Clock, SystemClock, iso_utc
from clew.system.home import private_dir
from clew.text.redact import redact

MAX_BYTES = 2_000_000
MAX_LINE_CHARS = 8_000
SCANNED_CHARS = 4 * MAX_LINE_CHARS
LATEST = "latest"
"""A link to the log that was written last."""


class DebugLog:
    """`$CLEW_HOME/debug/<session>.log`. A log that cannot be written is no reason to fail: writing never raises."""

    def __init__(self, path: Path | None, *, clock: Clock | None = None) -> None:
        self._path = path
        self._clock = clock or SystemClock()

    def write(self, tag: str, text: str) -> None:
        """Append one line. Line breaks are kept as `\\n`, so that one call is one line whatever the text says."""
        if self._path is None:
            return
        words = redact(text[:SCANNED_CHARS])
        if len(text) > SCANNED_CHARS:
            # A secret cut in two has lost its shape, so the last stretch that was looked at is not used.
            words = words[:-MAX_LINE_CHARS]
        words = words.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n")
        if len(words) > MAX_LINE_CHARS:
            words = f"{words[:MAX_LINE_CHARS]} [{len(words) - MAX_LINE_CHARS} more]"
        line = f"{iso_utc(self._clock.wall_s())} {tag} {words}\n".encode(errors="backslashreplace")
        try:
            self._append(self._path, line)
        except OSError:
            return  # a full disk or a read-only home must not stop the session

    def _append(self, path: Path, line: bytes) -> None:
        private_dir(path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o600)
        try:
            full = os.fstat(descriptor).st_size + len(line) > MAX_BYTES
            if not full:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)
        if full:
            # One older half is kept: the newest lines are the ones somebody will look for.
            os.replace(path, path.with_suffix(".old.log"))
            self._append(path, line)
        else:
            point_to(path)


def point_to(path: Path) -> None:
    """Let the link `latest` beside a log name it, whole at every moment. Anything else of that name is left alone.
    Raises OSError."""
    link = path.with_name(LATEST)
    try:
        if os.readlink(link) == path.name:
            return
    except FileNotFoundError:
        pass
    fresh = path.with_name(f".{LATEST}-{os.getpid()}-{threading.get_ident()}")
    os.symlink(path.name, fresh)
    try:
        os.replace(fresh, link)
    except OSError:
        os.unlink(fresh)
        raise


def debug_log_path(home: Path, session_id: str) -> Path:
    """Where the log of a session lies."""
    return home / "debug" / f"{session_id}.log"


def open_debug_log(home: Path, session_id: str, *, enabled: bool) -> DebugLog:
    """The log of a session; switched off, or of a session that keeps nothing, it writes nothing."""
    return DebugLog(debug_log_path(home, session_id) if enabled else None)
