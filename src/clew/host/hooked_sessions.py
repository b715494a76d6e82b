"""Hooks of the session as a whole: before its view is made smaller, when somebody is notified, when it ends."""

from clew.host.hooking import Hooking
from clew.host.session import EndReason, Session
from clew.protocol.context_events import CompactionKind
from clew.protocol.events import Event, Notified

END_LIMIT_S = 3.0
"""For all hooks at the end together: whoever leaves does not wait for them."""
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
            self._hooking.beside(self._hooking.ask("Notification", fields, subject=kind))

    async def _leaving(self, reason: EndReason) -> None:
        ends = "other" if self._headless and reason == "closed" else ENDS[reason]
        await self._hooking.ask("SessionEnd", {"reason": ends}, subject=ends, limit_s=END_LIMIT_S)
