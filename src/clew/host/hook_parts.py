"""Everything about hooks that a session is put together with."""

from typing import TYPE_CHECKING

from clew.host.hooked_calls import HookedCalls
from clew.host.hooked_sessions import HookedSession
from clew.host.hooked_turns import HookedTurns
from clew.host.hooking import Hooking
from clew.host.past import Past
from clew.host.request import SessionRequest
from clew.host.session import Session
from clew.host.toolbox import Toolbox
from clew.host.workspace import Workspace

if TYPE_CHECKING:
    from clew.engine.compaction.compactor import Consent


class HookParts:
    """Made before the session, which they learn of by `attach`."""

    def __init__(
        self, request: SessionRequest, workspace: Workspace, past: Past, toolbox: Toolbox, offered: set[str]
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
        self.turns = HookedTurns(self.hooking, resumed=past.resumed, undo=toolbox.undo)
        self._sessions = HookedSession(self.hooking, headless=request.headless)
        # First, so that a call's own changes are written down before hooks make theirs.
        toolbox.host.hooks = (self.calls, *toolbox.host.hooks)

    def attach(self, session: Session) -> "Consent":
        """Belong to a session; the answer is whom to ask before its view is made smaller."""
        self.hooking.attach(session)
        session.subscribe(self.calls.hear)
        self.turns.attach(session)
        self._sessions.attach(session)
        return self._sessions.before_compaction
