"""Esc, Ctrl-C and the way out: the gentlest thing first, and always a way."""

import asyncio
from collections.abc import Callable

from clew.composing.ctrl_c import Situation, meaning_of
from clew.plain.dialogs.ask_queue import AskQueue
from clew.plain.line.screen import Screen
from clew.presentation.story.story import Story
from clew.protocol.ops import Close, Interrupt, Op

EXIT_INTERRUPTED = 130
STUCK_S = 1.0
"""How long closing may take before another Ctrl-C leaves without it."""


class LineStop:
    """Decides what a key that stops something stops."""

    def __init__(
        self,
        screen: Screen,
        asking: AskQueue,
        *,
        window_s: float,
        interactive: bool,
        story: Callable[[], Story],
        busy: Callable[[], bool],
        typed: Callable[[], bool],
        clear: Callable[[], None],
        hint: Callable[[str], None],
        send: Callable[[Op], None],
        closed: Callable[[], object],
    ) -> None:
        self._screen = screen
        self._asking = asking
        self._window_s = window_s
        self._interactive = interactive
        self._story = story
        self._busy = busy
        self._typed = typed
        self._clear = clear
        self._hint = hint
        self._send = send
        self._closed = closed
        """The wait for the end begins."""
        self._last_ctrl_c = self._last_escape = float("-inf")
        self._closed_at: float | None = None
        self.code = 0
        self._told_of_guests = False
        self.abandoned = False
        """The person did not want to wait for the end."""
        self.interrupted = False
        """What runs was asked to stop."""

    @property
    def closing(self) -> bool:
        """The session is being closed."""
        return self._closed_at is not None

    def close(self, code: int) -> None:
        """Ask the session to end, once; SessionEnded, the timeout or another Ctrl-C then ends the front end."""
        if self.closing:
            return
        facts = self._story().facts
        if self._interactive and facts.guests and not (facts.attached or self._told_of_guests):
            self._told_of_guests = True
            words = "Others are attached: /quit leave leaves it running, once more closes it for all."
            self._screen.line(words, "warning")
            return
        self._send(Close())
        self._closed_at = asyncio.get_running_loop().time()
        self.code = code
        self._screen.hide_input()
        self._closed()

    def escape(self) -> None:
        """Once: interrupt what runs. Twice at rest: clear the line; the history keeps it."""
        now = asyncio.get_running_loop().time()
        again = now - self._last_escape <= self._window_s
        self._last_escape = now
        if self.closing:
            return
        if self._asking.active:
            self._deny()
        elif self._busy():
            if not self.interrupted:
                self._screen.line("Interrupting.", "warning")
                self._interrupt()
        elif self._typed():
            if again:
                self._clear()
                self._last_escape = float("-inf")
            else:
                self._hint("Esc again clears the line")

    def ctrl_c(self) -> None:
        """As a shell has it: interrupt, clear, and out when pressed again."""
        now = asyncio.get_running_loop().time()
        situation = Situation(
            closing=self.closing,
            stuck=self._closed_at is not None and now - self._closed_at >= STUCK_S,
            again=now - self._last_ctrl_c <= self._window_s,
            asking=self._asking.active,
            busy=self._busy(),
            interactive=self._interactive,
            typed=self._typed(),
        )
        self._last_ctrl_c = now
        match meaning_of(situation):
            case "wait":
                pass
            case "abandon":
                self.abandoned = True
            case "quit":
                self.close(EXIT_INTERRUPTED)
            case "deny":
                self._deny()
            case "interrupt":
                self._screen.line("Interrupting. Ctrl-C again quits.", "warning")
                self._interrupt()
            case "clear":
                self._screen.close_input()
                self._clear()
                self._last_ctrl_c = float("-inf")
            case "warn":
                self._screen.line("(Ctrl-C again quits; so does Ctrl-D)", "dim")

    def _deny(self) -> None:
        if self._asking.decline("Denied, and interrupted.", "", stop=True):
            self._asking.give_up(self._story())
            self._interrupt()

    def _interrupt(self) -> None:
        self.interrupted = True
        self._send(Interrupt())
