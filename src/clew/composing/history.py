"""What was typed before: one private file for all sessions, safe with several writers, never holding a secret."""

import fcntl
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from clew.system.home import private_dir
from clew.text.redact import redact

MAX_ITEMS = 1000
MAX_ITEM_CHARS = 20_000
TAIL_BYTES = 1_000_000
TRIM_AT_BYTES = 2_000_000

# People also type secrets in ways that no log has: "my password is x9y8z7", or a bare token.
_TOLD = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|(?i:\b(?:authorization|bearer|passw(?:or)?d|passphrase|secret|token|api[-_ ]?key|credentials?)\b\S*"
    r"(?:\s*[:=]\s*|\s+(?:is\s+)?)['\"]?(?=\S*[0-9])\S{6,})"
)
_LONG_TOKEN = re.compile(r"[A-Za-z0-9+_=-]{32,}")


def looks_secret(text: str) -> bool:
    """Whatever `redact` would hide, values after telling words, long mixed tokens. Rather one too many."""
    if redact(text) != text or _TOLD.search(text):
        return True
    return any(
        any(char.isdigit() for char in word) and any(char.isupper() for char in word) and any(map(str.islower, word))
        for word in _LONG_TOKEN.findall(text)
    )


class History:
    """Oldest first. A leading space keeps a line out, as in a shell. Trouble with the file never stops typing."""

    def __init__(self, home: Path | None) -> None:
        self._file = home / "history" if home is not None else None
        self._items: dict[str, None] = dict.fromkeys(self._read())
        self.problem = ""
        """Why the last line could not be kept on disk; empty when all is well."""

    @property
    def items(self) -> list[str]:
        """Every line once, at its last place."""
        return list(self._items)

    def add(self, text: str) -> None:
        """Keep this line, in memory and on disk."""
        if not text.strip() or text.startswith(" ") or len(text) > MAX_ITEM_CHARS or looks_secret(text):
            return
        if self._items and next(reversed(self._items)) == text:
            return
        self._items.pop(text, None)
        self._items[text] = None
        if self._file is None:
            return
        try:
            self._append(self._file, msgspec.json.encode(text) + b"\n")
            self.problem = ""
        except (OSError, UnicodeEncodeError) as error:
            self.problem = f"the history could not be written: {error}"

    def _read(self) -> list[str]:
        if self._file is None:
            return []
        try:
            with self._file.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - TAIL_BYTES))
                return last_items(file.read())
        except OSError:
            return []

    def _append(self, path: Path, line: bytes) -> None:
        private_dir(path.parent)
        with _locked(path.with_name("history.lock")):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(path, flags, 0o600)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                os.fchmod(descriptor, 0o600)
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    # A writer was killed in the middle of a line: its half must not spoil ours.
                    line = b"\n" + line
                file.write(line)
                if size > TRIM_AT_BYTES:
                    self._trim(path)

    def _trim(self, path: Path) -> None:
        kept = b"".join(msgspec.json.encode(item) + b"\n" for item in last_items(path.read_bytes()))
        fresh = path.with_name(f"history.{os.getpid()}.tmp")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(kept)
        os.replace(fresh, path)


def last_items(data: bytes) -> list[str]:
    """The newest lines, each once, at its last place; broken lines are skipped."""
    found: dict[str, None] = {}
    for line in reversed(data.splitlines()):
        try:
            item = msgspec.json.decode(line, type=str)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        found.setdefault(item)
        if len(found) == MAX_ITEMS:
            break
    return list(reversed(found))


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """One writer at a time. The lock is a file of its own, since trimming replaces the history file."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
