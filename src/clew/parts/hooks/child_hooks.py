"""Hooks around a child agent: its calls, its start, and the end of its work, which one may put off."""

from collections.abc import AsyncGenerator, Callable

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn, TurnStopped
from clew.parts.hooks.around import MAX_BLOCKS, CallHooks, hook_words
from clew.parts.hooks.session_hooks import SessionHooks
from clew.protocol.events import Event, Notice


class ChildHooks(CallHooks, Middleware):
    """Of one child. `about`: what hooks are told of it, its kind first."""

    stage = 4

    def __init__(self, hooks: SessionHooks, about: Callable[[], dict[str, str]]) -> None:
        super().__init__(hooks)
        self._all = hooks
        self._about = about
        self._turn = 0
        self._blocks = 0

    async def before_end(self, turn: Turn) -> AsyncGenerator[Event]:
        """`SubagentStop`, where there is an answer: one that blocks sends the child on, so often and not more."""
        if turn.unanswered or turn.ending()[0] != "completed" or not self._all.listens("SubagentStop"):
            return
        if turn.number != self._turn:
            self._turn, self._blocks = turn.number, 0
        about = self._about()
        fields = {**about, "stop_hook_active": self._blocks > 0, "last_assistant_message": turn.last.text}
        verdict = await self._all.ask("SubagentStop", fields, subject=about.get("agent_type", ""))
        if verdict.stop is not None:
            raise TurnStopped("stopped_by_hook", verdict.stop)
        if verdict.context:
            yield turn.accept(hook_words("SubagentStop", verdict.context))
        if verdict.leaning != "deny":
            return
        if self._blocks >= MAX_BLOCKS:
            text = f"hooks sent the agent on {MAX_BLOCKS} times, so it ends here although one wants more"
            yield Notice(level="warning", text=text, code="hook")
            return
        self._blocks += 1
        yield turn.accept(f"[A hook does not let you end:]\n{verdict.reason}")
        turn.unanswered = True
