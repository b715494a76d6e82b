"""Hooks of the session as a whole: before its view is made smaller, when somebody is notified, when it ends."""

import asyncio
from typing import Any

from clew.host.hooking import Hooking
from clew.host.session import EndReason, Session
from clew.protocol.context_events import CompactionKind
from clew.protocol.events import Event, Notified

END_LIMIT_S = 2.0
"""For all hooks at the end together, before they are ended: a program that hangs up waits five seconds in all."""
TOLD_LIMIT_S = 2.0
"""For notices that are still being told then."""
ENDS: dict[EndReason, str] = {"closed": "prompt_input_exit", "switched": "resume", "taken_over": "other", "": "other"}
NOTICES = {
    "needs_approval": "permission_prompt",
    "asks": "elicitation_dialog",
    "done": "idle_prompt",
    "failed": "failed",
    "limit": "limit",
}
"""Under the names that matchers know."""


class HookedSession:
    """Hears the session."""

    def __init__(self, hooking: Hooking, *, headless: bool) -> None:
        self._hooking = hooking
        self._headless = headless
        self._telling: set[asyncio.Task[Any]] = set()

    def attach(self, session: Session) -> None:
        """Belong to a session."""
        session.subscribe(self._hear)
        session.on_leave.append(self._leaving)

    async def before_compaction(self, kind: CompactionKind, focus: str) -> tuple[str, str]:
        """Why the view must not be made smaller, if so; and what its summary should also dwell on."""
        trigger = "manual" if kind == "manual" else "auto"
        fields = {"trigger": trigger, "custom_instructions": focus}
        verdict = await self._hooking.ask("PreCompact", fields, subject=trigger)
        refused = verdict.stop if verdict.stop is not None else verdict.reason if verdict.leaning == "deny" else ""
        return refused, verdict.context

    def _hear(self, event: Event) -> None:
        if isinstance(event, Notified) and self._hooking.listens("Notification"):
            kind = NOTICES[event.kind]
            fields = {"message": event.text, "title": "clew", "notification_type": kind}
            task = asyncio.create_task(self._hooking.ask("Notification", fields, subject=kind))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def _leaving(self, reason: EndReason) -> None:
        """Both at once, and then no hook runs any more."""
        ends = "other" if self._headless and reason == "closed" else ENDS[reason]
        asked = self._hooking.ask("SessionEnd", {"reason": ends}, subject=ends, limit_s=END_LIMIT_S)
        await asyncio.gather(asked, self._told())
        await self._hooking.end()

    async def _told(self) -> None:
        """What somebody is being notified of is told to the end: a run of one prompt has no later moment for it."""
        if not self._telling:
            return
        _, late = await asyncio.wait(self._telling, timeout=TOLD_LIMIT_S)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
