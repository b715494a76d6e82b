"""Esc, Ctrl-C and quitting: the gentlest thing first, and always a way out."""

import asyncio
from collections.abc import Callable, Sequence

from clew.commands.quit import would_end
from clew.composing.ctrl_c import Situation, meaning_of
from clew.protocol.ops import Close, Interrupt
from clew.tui.conversation import ScreenConversation
from clew.tui.dialogs.registry import dialog_named
from clew.tui.dock import Dock

STUCK_S = 1.0
"""How long closing may take before another Ctrl-C leaves without it."""
EXIT_INTERRUPTED = 130


class ScreenStop:
    """Decides what a key that stops something stops."""

    def __init__(
        self,
        conversation: ScreenConversation,
        dock: Dock,
        *,
        window_s: float,
        close_timeout_s: float,
        now_s: Callable[[], float],
        hint: Callable[[str], None],
        to_newest: Callable[[], bool],
        to_main: Callable[[], bool],
        leave: Callable[[int], None],
    ) -> None:
        self._conversation = conversation
        self._dock = dock
        self._window_s = window_s
        self._close_timeout_s = close_timeout_s
        self._now_s = now_s
        self._hint = hint
        self._to_newest = to_newest
        """Scroll down; false where nothing is below."""
        self._to_main = to_main
        """Leave the view of another agent; false where none is viewed."""
        self._leave = leave
        self._last_ctrl_c = self._last_escape = float("-inf")
        self._closed_at: float | None = None
        self.code = 0
        self.interrupted = False
        """The running turn was asked to stop."""

    @property
    def closing(self) -> bool:
        """The session is being closed."""
        return self._closed_at is not None

    def escape(self) -> None:
        """Scrolled up: to the newest line, at work as at rest. In the view of an agent: back to the main conversation.
        There: interrupt what runs; at rest twice: clear what is typed. The footer says which comes next."""
        now = self._now_s()
        again = now - self._last_escape <= self._window_s
        self._last_escape = float("-inf")
        if self._to_newest() or self._to_main():
            pass
        elif self._conversation.story.working:
            self._interrupt()
        elif not self._dock.panel.prompt.is_blank:
            if again:
                self._dock.panel.prompt.clear_draft()
                self._hint("cleared; Up brings it back")
            else:
                self._last_escape = now
                self._hint("Esc again clears what you typed")

    def ctrl_c(self) -> None:
        """As a shell has it: interrupt, clear, and out when pressed again."""
        now = self._now_s()
        situation = Situation(
            closing=self.closing,
            stuck=self._closed_at is not None and now - self._closed_at >= STUCK_S,
            again=now - self._last_ctrl_c <= self._window_s,
            asking=self._dock.asking,
            busy=self._conversation.story.working,
            interactive=True,
            typed=not self._dock.panel.prompt.is_blank,
        )
        self._last_ctrl_c = now
        match meaning_of(situation):
            case "wait":
                pass
            case "abandon":
                self._leave(EXIT_INTERRUPTED)
            case "quit":
                if not self._ask_first():
                    self.close(EXIT_INTERRUPTED)
            case "deny":
                self._dock.refuse(stop=True)
                self._dock.give_up(self._conversation.story)
                if self._conversation.story.working:
                    self._interrupt()
            case "interrupt":
                self._interrupt()
                self._hint("Ctrl-C again quits")
            case "clear":
                self._dock.panel.prompt.clear_draft()
                self._last_ctrl_c = float("-inf")
            case "warn":
                self._hint("Ctrl-C again quits")

    def ctrl_d(self) -> None:
        """Quit when nothing is typed and nothing runs."""
        if self._conversation.story.working:
            self._hint("the agent still works: Esc interrupts it")
        elif not self._ask_first():
            self.close(0)

    def ask_to_quit(self, ends: Sequence[str]) -> None:
        """Name what quitting would end, and let the person choose."""
        self._dock.open(dialog_named("quit", ends, bool(self._conversation.story.facts.guests)))

    def _ask_first(self) -> bool:
        """Ask whether to close for all where others are attached; false where nobody is."""
        facts = self._conversation.story.facts
        if not facts.guests or facts.attached:
            return False
        self.ask_to_quit(tuple(would_end(facts)))
        return True

    def close(self, code: int) -> None:
        """End the session in order; SessionEnded, or the end of the wait, then ends the screen."""
        if self.closing:
            return
        self._closed_at = self._now_s()
        self.code = code
        self._hint("closing …")
        self._conversation.send(Close())
        asyncio.get_running_loop().call_later(self._close_timeout_s, self._leave, code)

    def _interrupt(self) -> None:
        if not self.interrupted:
            self.interrupted = True
            self._conversation.send(Interrupt())
