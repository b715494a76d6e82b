"""Everything about hooks that a session is put together with."""

from typing import TYPE_CHECKING

from clew.agents.toolbox import AgentTools
from clew.host.hooked_calls import HookedCalls
from clew.host.hooked_sessions import HookedSession
from clew.host.hooked_turns import HookedTurns
from clew.host.hooking import Hooking
from clew.host.past import Past
from clew.host.request import SessionRequest
from clew.host.session import Session
from clew.host.workspace import Workspace
from clew.protocol.events import AgentEnded, Envelope
from clew.protocol.ids import MAIN_AGENT, AgentId

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
