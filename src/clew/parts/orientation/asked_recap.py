"""A model's words for a session on disk that somebody asked for (`clew recap --llm`), or why there are none."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from clew.catalog.found_session import OWN
from clew.config.load import load_settings
from clew.config.schema import Settings
from clew.host.workspace import Workspace, with_saved_keys
from clew.llm.errors import LLMError
from clew.llm.models.connect import connect, default_model, fast_model, is_local
from clew.llm.retry import RetryPolicy
from clew.orient.daily_cap import DailyCap
from clew.orient.load import load_session
from clew.orient.recap_query import Used, WriterChoice, WrittenRecap, WrittenRecaps, choose, write_recap
from clew.orient.report import Report
from clew.orient.side_query import QueryStamp, SideQueries
from clew.protocol.entries import SideQueryEntry
from clew.protocol.ids import SessionId
from clew.protocol.lookups.catalog import RecapWritten
from clew.system.debug_log import DebugLog, open_debug_log
from clew.text.figures import money
from clew.transcript.errors import TranscriptError
from clew.transcript.log.store import SessionStore
from clew.transcript.log.writer import TranscriptWriter


async def model_words(report: Report, workspace: Workspace) -> RecapWritten:
    """The recap in a model's words; none when the facts stand alone. What it cost is booked and told. What the project
    set does not count: the session may be of another one."""
    home, notes = workspace.home, list[str]()
    settings = load_settings(home=home, project_root=None, trusted=False, env=workspace.env, lenient=True).settings
    kept = WrittenRecaps(home)
    written = kept.get(QueryStamp(report.form.session_id, report.form.last_entry_id))
    if written is None:
        env = with_saved_keys(workspace.env, home, lenient=True)
        choice = chosen(settings, env)
        if not choice.model:
            return RecapWritten(notes=(f"{choice.reason} (--llm needs a model); shown from facts",))
        written = await _written(report, settings, choice, home, env, notes)
        if written is not None:
            kept.put(written)
    if written is not None and written.dropped:
        log_of(report, settings, home).write("recap", written.why())
    return RecapWritten(text=written.text if written is not None else "", notes=tuple(notes))


def log_of(report: Report, settings: Settings, home: Path) -> DebugLog:
    """Where what a model was not believed is kept."""
    return open_debug_log(home, report.session or "recap", enabled=settings.debug_log)


async def _written(
    report: Report, settings: Settings, choice: WriterChoice, home: Path, env: Mapping[str, str], notes: list[str]
) -> WrittenRecap | None:
    log = log_of(report, settings, home)
    try:
        model = connect(choice.model, providers=settings.providers, env=env, retry=RetryPolicy(max_attempts=1))
    except LLMError as error:
        notes.append(f"{error}; shown from facts")
        return None
    cap = DailyCap(home, settings.side_queries.daily_cap_usd)
    booked: list[SideQueryEntry] = []
    # A store may hold many sessions in one file: the id tells which one is meant.
    session_id = "" if report.agent == OWN else report.session
    session = load_session(Path(report.file), agent=report.agent, session_id=session_id)
    key = QueryStamp(report.form.session_id, report.form.last_entry_id)
    queries = SideQueries(
        model,
        cap=cap,
        current=lambda: key,
        book=booked.append,
        log=lambda text: log.write("recap", text),
        enabled=settings.side_queries.enabled,
        timeout_s=settings.side_queries.timeout_s,
    )
    try:
        written = await write_recap(session.ledger, report.form, session.dialog, queries, goal_only=choice.goal_only)
        if written is None and queries.why_none:
            notes.append(f"{queries.why_none}; shown from facts")
        return written
    finally:
        await model.close()
        for entry in booked:
            log.write("recap", f"{entry.purpose} {entry.model}: {entry.outcome}, {money(entry.cost_usd or 0)}")
        if booked:
            book(booked, Path(report.file), SessionId(report.session), SessionStore(home))
            notes.append(f"side queries cost {cap.told()}")


def book(entries: Sequence[SideQueryEntry], path: Path, session_id: SessionId, store: SessionStore) -> None:
    """Into the session's own log, if it lies in our store and nobody writes it now; the day's cap has it anyhow. A
    session does not become the newest by being looked at, so its time stays."""
    if not path.resolve().is_relative_to(store.projects.resolve()):
        return
    try:
        before = path.stat()
        writer = TranscriptWriter(path, session_id)
    except (OSError, TranscriptError):
        return
    with closing(writer):
        for entry in entries:
            writer.append(entry)
    with suppress(OSError):
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def chosen(settings: Settings, env: Mapping[str, str]) -> WriterChoice:
    """The model for a recap that was asked for: the fast one, else the main one."""
    providers = settings.providers
    main = settings.model or default_model(env, providers) or ""
    fast = "" if settings.fast_model == "none" else settings.fast_model
    try:
        fast = fast or (fast_model(main, providers) or "" if main and settings.fast_model != "none" else "")
    except LLMError:
        fast = ""
    return choose(
        "auto",
        asked=True,
        fast=fast,
        main=main,
        used=Used(main, own=True),
        is_local=lambda name: is_local(name, providers),
    )
