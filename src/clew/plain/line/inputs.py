"""Whole inputs: words to the model, commands here, shell and memory lines as ops. What cannot be sent is given back.

The keys of the plain front end, for /keys.
"""

from collections.abc import Callable, Sequence
from typing import Any

from clew.commands.base import CommandContext, KeyHelp, SessionFacts
from clew.commands.registry import run_command
from clew.composing.history import MAX_ITEM_CHARS, History
from clew.composing.images import ImageProblem
from clew.composing.meaning import CommandLine, MemoryLine, PromptWords, ShellLine
from clew.composing.pasted import Pastes
from clew.composing.typed_input import TypedInput, lookup_of, op_of, understood
from clew.plain.dialogs.dialog import Shown
from clew.protocol.lookups.base import Lookup
from clew.protocol.ops import Op, SubmitPrompt
from clew.text.terminal_text import sanitize

KEYS = (
    KeyHelp(keys="Enter", does="send the line; a backslash at its end continues it"),
    KeyHelp(keys="Ctrl-C", does="interrupt the agent, clear the line, or twice: quit"),
    KeyHelp(keys="Ctrl-D", does="quit, on an empty line"),
    KeyHelp(keys="Up, Down", does="earlier and later input"),
    KeyHelp(keys="Tab", does="complete a command"),
)


HANG = "      "


class Entering:
    """Carries inputs out. In a pipe `!` and `#` are words: only a person runs commands and writes to memory."""

    def __init__(
        self,
        pastes: Pastes,
        history: History,
        *,
        by_person: bool,
        facts: Callable[[], SessionFacts],
        send: Callable[[Op], None],
        look_up: Callable[[Lookup[Any]], None],
        show: Callable[[Sequence[Shown]], None],
        copy: Callable[[str], None],
        leave: Callable[[], None],
    ) -> None:
        self._pastes = pastes
        self._history = history
        self._by_person = by_person
        self._facts = facts
        self._send = send
        self._look_up = look_up
        self._show = show
        self._copy = copy
        self._leave = leave
        self._last = ""
        """The command that was typed last."""

    def take(self, text: str) -> bool:
        """One input, long pastes folded. False: it could not be sent, and should be typed again."""
        self.remember(text)
        try:
            typed = understood(text, self._pastes, self._facts().cwd)
        except ImageProblem as problem:
            self._show([Shown(f"Error: {problem}", "error")])
            return False
        if typed is None:
            self._show([Shown("(nothing to run or to remember)", "dim")])
            return True
        self._show([Shown(f"Note: {note}", "dim") for note in typed.notes])
        self._carry_out(typed)
        return True

    def remember(self, text: str) -> None:
        """Into the history, with its pastes as far as they fit."""
        whole = self._pastes.expand(text)
        self._history.add(whole if len(whole) <= MAX_ITEM_CHARS else self._pastes.told(text))

    def _carry_out(self, typed: TypedInput) -> None:
        match typed.meaning:
            case CommandLine(line):
                self._run(line)
            case ShellLine() | MemoryLine() if not self._by_person:
                self._send(SubmitPrompt(content=self._pastes.expand(typed.text)))
            case ShellLine() | MemoryLine() | PromptWords():
                op, lookup = op_of(typed), lookup_of(typed)
                if op is not None:
                    self._send(op)
                if lookup is not None:
                    self._look_up(lookup)

    def _run(self, line: str) -> None:
        again, self._last = self._last == line, line
        result = run_command(line, CommandContext(facts=self._facts(), again=again, keys=KEYS))
        self._show([Shown(text, "error" if result.is_error else "", hang=HANG) for text in result.lines])
        for op in result.ops:
            self._send(op)
        for lookup in result.lookups:
            self._look_up(lookup)
        if result.copy:
            self._copy(sanitize(result.copy))
        if result.leave:
            self._leave()
