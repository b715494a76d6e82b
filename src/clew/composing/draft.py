"""The unsent text of each session, kept on disk and brought back after a crash.

A draft is kept whatever it holds, also what looks like a secret: it is the person's own half-written text, in a file
for this user only, and goes when it is sent or cleared. The history, which stays, is the one that refuses secrets.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import threading
from pathlib import Path

import msgspec
from msgspec import Struct

from clew.system.private_files import open_new, private_dir, write_all

MAX_DRAFT_BYTES = 1_000_000
MAX_AGE_S = 30 * 24 * 3600.0
HALF_DONE_S = 3600.0
_SAFE = re.compile(r"[^A-Za-z0-9_-]")


class Draft(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was in the prompt, and the pastes folded in it by number."""

    text: str
    pastes: dict[int, str] = {}
    saved_at_s: float = 0.0


class _Stored(Struct, frozen=True, kw_only=True, omit_defaults=True):
    text: str
    pastes: tuple[int, ...] = ()


class DraftFile:
    """The draft of one running session. Several clews in one project each have their own; what one left behind is
    taken over by the next one that starts there. Trouble with the disk never stops typing."""

    def __init__(self, home: Path, project: str, session_id: str) -> None:
        digest = hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._folder = home / "drafts" / digest
        self._name = _SAFE.sub("_", session_id)[:80] or "session"
        self._kept: set[int] = set()
        self._lock: int | None = None
        self._writing = threading.Lock()
        self.problem = ""
        """Why the last draft could not be kept; empty when all is well."""

    def open(self, *, now_s: float) -> Draft | None:
        """Hold this session's draft. What was left unsent: by this session, else by the last one here that ended."""
        try:
            private_dir(self._folder)
            self._lock = _held(self._folder / f"{self._name}.lock")
        except OSError as error:
            self.problem = f"unsent text is not kept: {error}"
            return None
        self._tidy(now_s)
        names = [path.stem for path in sorted(self._folder.glob("*.json"), key=_age_order)]
        if self._name in names:
            names.remove(self._name)
            names.insert(0, self._name)
        found: Draft | None = None
        for name in names:
            taken = self._take(name, now_s, wanted=found is None)
            found = found or taken
        return found

    def save(self, text: str, pastes: dict[int, str]) -> None:
        """Keep this; an empty text removes the draft. Blocks on the disk: call it from a thread. After `close` nothing
        is written any more, also by a thread that came late."""
        with self._writing:
            if self._lock is not None:
                self._save(text, pastes)

    def _save(self, text: str, pastes: dict[int, str]) -> None:
        try:
            if not text:
                self._forget(self._name)
                self._kept.clear()
            else:
                for number in pastes.keys() - self._kept:
                    _put(self._paste_path(self._name, number), pastes[number].encode("utf-8", "surrogatepass"))
                stored = _Stored(text=text, pastes=tuple(pastes))
                _put(self._folder / f"{self._name}.json", msgspec.json.encode(stored))
                for number in self._kept - pastes.keys():
                    self._paste_path(self._name, number).unlink(missing_ok=True)
                self._kept = set(pastes)
            self.problem = ""
        except (OSError, UnicodeEncodeError) as error:
            self.problem = f"unsent text could not be kept: {error}"

    def close(self) -> None:
        """Let go: a draft that is still there is for the next one."""
        with self._writing:
            if self._lock is not None:
                if not (self._folder / f"{self._name}.json").exists():
                    with contextlib.suppress(OSError):
                        (self._folder / f"{self._name}.lock").unlink()
                os.close(self._lock)
                self._lock = None

    def _tidy(self, now_s: float) -> None:
        """Remove what killed processes left half-done."""
        for path in self._folder.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                if now_s - path.stat().st_mtime > HALF_DONE_S:
                    path.unlink()
        for path in self._folder.glob("*.lock"):
            if path.stem != self._name and not path.with_suffix(".json").exists():
                with contextlib.suppress(OSError):
                    held = _held(path)
                    path.unlink()
                    os.close(held)

    def _take(self, name: str, now_s: float, *, wanted: bool) -> Draft | None:
        """Read the draft of a session that no longer runs, and remove it; an old one is only removed."""
        lock: int | None = None
        path = self._folder / f"{name}.json"
        try:
            saved_at_s = path.stat().st_mtime
            stale = now_s - saved_at_s > MAX_AGE_S
            if not wanted and not stale:
                return None
            if name != self._name:
                lock = _held(self._folder / f"{name}.lock")
            draft = None if stale else self._read(name, saved_at_s)
            if name != self._name:
                self._forget(name)
                (self._folder / f"{name}.lock").unlink(missing_ok=True)
            if draft is not None:
                self._kept = set()
                self.save(draft.text, draft.pastes)
            return draft
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            # Held by a clew that runs, or half-written by one that was killed: not ours to bring back.
            return None
        finally:
            if lock is not None:
                os.close(lock)

    def _read(self, name: str, saved_at_s: float) -> Draft:
        path = self._folder / f"{name}.json"
        if path.stat().st_size > MAX_DRAFT_BYTES:
            raise OSError("the draft is too large")
        stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
        pastes: dict[int, str] = {}
        for number in stored.pastes:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                pastes[number] = self._paste_path(name, number).read_bytes().decode("utf-8")
        return Draft(text=stored.text, pastes=pastes, saved_at_s=saved_at_s)

    def _forget(self, name: str) -> None:
        (self._folder / f"{name}.json").unlink(missing_ok=True)
        for path in self._folder.glob(f"{name}.paste-*"):
            path.unlink(missing_ok=True)

    def _paste_path(self, name: str, number: int) -> Path:
        return self._folder / f"{name}.paste-{number}"


def _age_order(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _held(path: Path) -> int:
    """A lock for the life of this process; OSError when another one has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _put(path: Path, data: bytes) -> None:
    """Whole or not at all. Not synced: it must outlive this process, and waits for no disk."""
    fresh = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    descriptor = open_new(fresh)
    try:
        write_all(descriptor, data)
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
