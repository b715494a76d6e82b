"""The board: every session touched lately, ours and other agents', newest first."""

from collections.abc import Iterable, Iterator

from clew.catalog.found_session import OWN, FoundSession
from clew.orient.form import Form, Item
from clew.orient.report import RecapCache, Report

MAX_BYTES = 64 * 1024 * 1024
"""A larger file is listed without being read."""


def rows(found: Iterable[FoundSession], cache: RecapCache) -> Iterator[Report]:
    """The rows one by one, so that the first is seen before the last is read. Sessions without a word are left out."""
    for item in found:
        if item.size > MAX_BYTES:
            yield _unread(item)
            continue
        try:
            report = cache.report(item.path, agent=item.agent, session_id="" if item.agent == OWN else item.session_id)
        except OSError:
            continue  # it went away, or is not ours to read, between the listing and now
        if report.text:
            yield report


def _unread(item: FoundSession) -> Report:
    """A row that names a file too large for an overview, and how to read it."""
    words = f"{item.size // 1_000_000} MB, not read for this list; `clew recap {item.path}` reads it."
    return Report(
        file=str(item.path),
        agent=item.agent,
        session=item.session_id,
        project="",
        title="",
        updated_s=item.changed_s,
        entries=0,
        form=Form(items=(Item(field="task", text=words),)),
        problem="too large for the list",
    )
