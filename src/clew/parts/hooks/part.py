"""Everything about hooks that a session is put together with."""

import asyncio
from typing import TYPE_CHECKING, Any

from clew.agents.toolbox import AgentTools
from clew.parts.hooks.call_hooks import HookedCalls
from clew.parts.hooks.turn_hooks import HookedTurns
from clew.parts.hooks.session_hooks import Hooking
from clew.host.past import Past
from clew.host.request import SessionRequest
from clew.host.session import EndReason, Session
from clew.host.workspace import Workspace
from clew.protocol.context_events import CompactionKind
from clew.protocol.events import AgentEnded, Envelope, Event, Notified
from clew.protocol.ids import MAIN_AGENT, AgentId

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


if TYPE_CHECKING:
    from clew.engine.compaction.compactor import Consent


class HookParts:
    """Made before the session, which they learn of by `attach`."""

    def __init__(
        self, request: SessionRequest, workspace: Workspace, past: Past, toolbox: AgentTools, offered: set[str]
    ) -> None:
        self.hooking = Hooking(
            workspace,
            toolbox.session,
            toolbox.permits,
            session_id=past.session_id,
            transcript=past.path,
            headless=request.headless,
            offered=offered,
        )
        self.calls = HookedCalls(self.hooking, toolbox.undo)
        self._undo = toolbox.undo
        self._of_children: dict[AgentId, HookedCalls] = {}
        self.turns = HookedTurns(self.hooking, resumed=past.resumed, undo=toolbox.undo)
        self._sessions = HookedSession(self.hooking, headless=request.headless)
        # First, so that a call's own changes are written down before hooks make theirs.
        toolbox.shared.add_hooks(self._calls_of)

    def attach(self, session: Session) -> "Consent":
        """Belong to a session; the answer is whom to ask before its view is made smaller."""
        self.hooking.attach(session)
        session.subscribe_to_all(self._hear)
        self.turns.attach(session)
        self._sessions.attach(session)
        return self._sessions.before_compaction

    def _calls_of(self, agent: AgentId) -> HookedCalls:
        """The hooks around one agent's calls: the user's hooks hold for every agent."""
        if agent == MAIN_AGENT:
            return self.calls
        return self._of_children.setdefault(agent, HookedCalls(self.hooking, self._undo))

    def _hear(self, envelope: Envelope) -> None:
        if envelope.agent == MAIN_AGENT or envelope.agent in self._of_children:
            self._calls_of(envelope.agent).hear(envelope.event)
        if isinstance(envelope.event, AgentEnded):
            self._of_children.pop(envelope.event.child, None)
