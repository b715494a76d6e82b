"""One session as lists and programs see it, kept so that what was read once is not read again."""

import hashlib
import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from clew import __version__
from clew.catalog.found_session import OWN
from clew.orient.form import Form, form_of
from clew.orient.load import LoadedSession, held_by, load_session
from clew.system.home import private_dir
from clew.text.redact import redact
from clew.transcript.past.interruption import restore_cut_off

_FORMAT = "11"


class Report(Struct, frozen=True, kw_only=True):
    """Where one session stands."""

    file: str
    agent: str
    session: str
    project: str
    title: str
    updated_s: float
    entries: int
    form: Form
    problem: str = ""

    @property
    def text(self) -> str:
        """The whole form in one line."""
        return self.form.text

    @property
    def goal(self) -> str:
        """The task in the user's words."""
        return self.form.told("task")

    @property
    def next_step(self) -> str:
        """What is open; "" when nothing is, and nothing is made up."""
        return self.form.told("open")


def make_report(session: LoadedSession) -> Report:
    """The report of a loaded session."""
    return Report(
        file=session.path,
        agent=session.agent,
        session=session.session_id,
        project=session.project,
        title=redact(session.ledger.title or session.title),
        updated_s=session.updated_s,
        entries=session.ledger.entries,
        form=form_of(session.ledger, title=session.title, project=session.project),
        problem=session.problem,
    )


def age_of(report: Report, now_s: float) -> float:
    """Seconds since the last entry."""
    return max(0.0, now_s - report.updated_s) if report.updated_s else 0.0


def recap_object(report: Report, *, now_s: float, text: str = "") -> dict[str, Any]:
    """The keys of `clew recap --json`, in their documented order."""
    form = report.form
    return {
        "file": report.file,
        "agent": report.agent,
        "session": report.session,
        "project": report.project,
        "state": form.state.value,
        "goal": report.goal,
        "next_step": report.next_step,
        "last_request": form.told("request"),
        "language": form.language,
        "text": text or report.text,
        "facts": msgspec.to_builtins(form.items),
        "age_s": round(age_of(report, now_s)),
        "title": report.title,
    }


class _Kept(msgspec.Struct):
    version: str
    size: int
    mtime_ns: int
    holder: str
    report: Report


class RecapCache:
    """One small file per session below the home directory; it can be deleted at any time."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "cache" / "recaps"

    def report(self, path: Path, *, agent: str | None = None, session_id: str = "") -> Report:
        """The report of a session, from the cache when neither the file nor its writer changed."""
        size, mtime_ns = _stamp(path)  # before reading: a file that grows meanwhile is read again next time
        holder = held_by(path, agent or OWN) or ("restore cut off" if restore_cut_off(path) else "")
        key = (f"{__version__}/{_FORMAT}", size, mtime_ns, holder)
        name = f"{path.absolute()}\0{session_id}".encode(errors="surrogateescape")
        place = self._folder / f"{hashlib.blake2b(name, digest_size=12).hexdigest()}.json"
        kept = _read(place)
        if kept and (kept.version, kept.size, kept.mtime_ns, kept.holder) == key:
            return kept.report
        report = make_report(load_session(path, agent=agent, session_id=session_id))
        self._write(place, _Kept(version=key[0], size=key[1], mtime_ns=key[2], holder=holder, report=report))
        return report

    def _write(self, place: Path, kept: _Kept) -> None:
        try:
            private_dir(place.parent)
            fresh = place.with_suffix(f".{os.getpid()}.new")
            fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(msgspec.json.encode(kept))
            os.replace(fresh, place)
        except OSError:
            return  # a home that cannot be written only costs time


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of a file; what a database has not folded in yet lies in a journal beside it."""
    info = path.stat()
    try:
        journal = path.with_name(path.name + "-wal").stat() if path.suffix == ".db" else None
    except OSError:
        journal = None
    if journal is None:
        return info.st_size, info.st_mtime_ns
    return info.st_size + journal.st_size, max(info.st_mtime_ns, journal.st_mtime_ns)


def _read(place: Path) -> _Kept | None:
    try:
        return msgspec.json.decode(place.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None
