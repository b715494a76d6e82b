"""Hooks around a turn: when a session starts, before a prompt joins, before the turn ends."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Literal

from clew.agents.undo_hook import UndoHook
from clew.engine.middleware.base import Middleware
from clew.engine.turn import Prompt, PromptWord, Turn, TurnStopped
from clew.hooks.answers import HookVerdict
from clew.host.session import Session
from clew.parts.hooks.call_hooks import hook_words
from clew.parts.hooks.session_hooks import SessionHooks
from clew.protocol.events import CompactionEnded, Event, Notice, TitleChanged
from clew.protocol.messages import text_of

Source = Literal["startup", "resume", "clear", "compact"]
MAX_BLOCKS = 8
"""So often hooks may send the model on in one turn; then it ends anyway."""


class TurnHooks(Middleware):
    """Of the main agent."""

    stage = 4

    def __init__(self, hooks: SessionHooks, *, resumed: bool) -> None:
        self._hooks = hooks
        self._undo: UndoHook | None = None
        self._resumed = resumed
        self._session: Session | None = None
        self._starting: list[asyncio.Task[HookVerdict]] = []
        self._begun = False
        self._turn = 0
        self._blocks = 0
        self._title = ""

    def start(self, session: Session, undo: UndoHook | None) -> None:
        """Belong to a session; `undo` keeps its files."""
        self._session = session
        self._undo = undo

    def begin(self) -> None:
        """Nobody waits for this but the first request."""
        if not self._begun:
            self._begun = True
            self._start("resume" if self._resumed else "startup")

    def _start(self, source: Source) -> None:
        if self._hooks.listens("SessionStart"):
            asked = self._hooks.ask("SessionStart", {"source": source}, subject=source)
            self._starting.append(self._hooks.beside(asked))

    def hear(self, event: Event) -> None:
        """An event of the main agent: a view that was made anew is a new start."""
        if isinstance(event, CompactionEnded):
            self._start("clear" if event.kind == "clear" else "compact")

    def look(self, prompt: Prompt) -> Coroutine[Any, Any, PromptWord] | None:
        """What hooks think of what a person says; None: nobody is asked."""
        if prompt.origin != "user" or not self._hooks.listens("UserPromptSubmit"):
            return None
        return self._looked(prompt)

    async def _looked(self, prompt: Prompt) -> PromptWord:
        await self._started()
        verdict = await self._hooks.ask("UserPromptSubmit", {"prompt": text_of(prompt.content)})
        if verdict.leaning == "deny" or verdict.stop is not None:
            return PromptWord(refused=verdict.reason or verdict.stop or "a hook did not let it through")
        self._name(verdict.title)
        return PromptWord(context=hook_words("UserPromptSubmit", verdict.context) if verdict.context else "")

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """What hooks said when the session began, or its view was made anew."""
        await self._started()
        verdicts = [task.result() for task in self._starting if not task.cancelled()]
        self._starting.clear()
        for verdict in verdicts:
            self._name(verdict.title)
            if verdict.context:
                yield turn.accept(hook_words("SessionStart", verdict.context))
            if verdict.stop is not None:
                raise TurnStopped("stopped_by_hook", verdict.stop)

    async def _started(self) -> None:
        """Until hooks of the start have answered. Whoever interrupts stops them too."""
        if not self._starting:
            return
        try:
            await asyncio.wait(self._starting)
        except asyncio.CancelledError:
            for task in self._starting:
                task.cancel()
            raise

    async def before_end(self, turn: Turn) -> AsyncGenerator[Event]:
        """Only where there is an answer: what failed, was refused or is sent on already is none."""
        if turn.unanswered or turn.ending()[0] != "completed" or not self._hooks.listens("Stop"):
            return
        if turn.number != self._turn:
            self._turn, self._blocks = turn.number, 0
        fields = {"stop_hook_active": self._blocks > 0, "last_assistant_message": turn.last.text}
        async with self._kept():
            verdict = await self._hooks.ask("Stop", fields)
        if verdict.stop is not None:
            raise TurnStopped("stopped_by_hook", verdict.stop)
        if verdict.context:
            yield turn.accept(hook_words("Stop", verdict.context))
        if verdict.leaning != "deny":
            return
        if self._blocks >= MAX_BLOCKS:
            text = f"hooks sent the model on {MAX_BLOCKS} times in this turn, so it ends here although one wants more"
            yield Notice(level="warning", text=text, code="hook")
            return
        self._blocks += 1
        yield turn.accept(f"[A hook does not let the turn end:]\n{verdict.reason}")
        turn.unanswered = True

    def _kept(self) -> AbstractAsyncContextManager[None]:
        """What they change in files belongs to the turn that ends."""
        return self._undo.around_hooks("Stop") if self._undo is not None else nullcontext()

    def _name(self, title: str) -> None:
        """A person's own title stays."""
        if not title or self._session is None:
            return
        state = self._session.journal.main.state
        if title != state.title and (not state.title_by_user or state.title == self._title):
            self._title = title
            self._session.publish(TitleChanged(title=title, source="user"))
