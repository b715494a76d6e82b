"""Recaps of other sessions in a list, in the fast model's words: for whoever looks at the list and will choose one."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from clew.catalog.found_session import OWN
from clew.orient.away import MIN_PROMPTS
from clew.orient.form import form_of
from clew.orient.load import is_held, load_own
from clew.orient.recap_query import Used, WriterChoice, WrittenRecaps, write_recap
from clew.orient.side_query import QueryStamp, SideQueries

MAX_BYTES = 16 * 1024 * 1024
"""A longer session is told from facts: reading it for a glance takes too long."""


class RecapDrafts:
    """Each is written once per session and last entry, and kept where every list finds it."""

    def __init__(
        self,
        kept: WrittenRecaps,
        asking: Callable[[QueryStamp], SideQueries],
        *,
        automatic: Callable[[Used], WriterChoice],
        before: Callable[[str], None],
    ) -> None:
        """`automatic`: who writes a recap that nobody asked for, by what the session used; `before`: told the model
        before it is asked."""
        self._kept = kept
        self._asking = asking
        self._automatic = automatic
        self._before = before

    async def words(self, path: Path) -> str:
        """A model's words for one of our sessions; "" where none are to be had: the facts stand anyhow. A session that
        somebody has open is left to them, and one brought from another agent is never sent."""
        if path.stat().st_size > MAX_BYTES or is_held(path, OWN):
            return ""
        session = await asyncio.to_thread(load_own, path)
        form = form_of(session.ledger, project=session.project)
        key = QueryStamp(form.session_id, form.last_entry_id)
        if (written := self._kept.get(key)) is not None:
            return written.text
        choice = self._automatic(Used(session.ledger.model, session.own))
        if not choice.model or session.ledger.user_turns < MIN_PROMPTS:
            return ""
        self._before(choice.model)
        written = await write_recap(session.ledger, form, session.dialog, self._asking(key), goal_only=choice.goal_only)
        if written is None:
            return ""
        self._kept.put(written)
        return written.text
