"""Hooks around a child agent: its calls, and the end of its work, which one may put off."""

from collections.abc import AsyncGenerator, Callable

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn
from clew.parts.hooks.around import CallHooks, EndOfTurn
from clew.parts.hooks.session_hooks import SessionHooks
from clew.protocol.events import Event


class ChildHooks(CallHooks, Middleware):
    """Of one child. `about`: what hooks are told of it, its kind first."""

    stage = 4

    def __init__(self, hooks: SessionHooks, about: Callable[[], dict[str, str]], kind: Callable[[], str]) -> None:
        """`kind`: whose definition's hooks are asked too."""
        super().__init__(hooks, kind)
        self._all = hooks
        self._about = about
        self._ending = EndOfTurn(hooks, "SubagentStop", kind)

    async def before_end(self, turn: Turn) -> AsyncGenerator[Event]:
        """`SubagentStop`: hooks may send the child on."""
        if self._ending.is_asked(turn):
            about = self._about()
            fields = about | self._ending.fields(turn)
            verdict = await self._all.ask(
                "SubagentStop", fields, subject=about.get("agent_type", ""), kind=self._kind()
            )
            for event in self._ending.events(turn, verdict):
                yield event
