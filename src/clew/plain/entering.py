"""Whole inputs: words to the model, commands here, shell and memory lines as ops. What cannot be sent is given back."""

from collections.abc import Callable, Sequence

from clew.commands.base import CommandContext, SessionFacts
from clew.commands.registry import run_command
from clew.composing.entry import Entry, enter, op_of
from clew.composing.history import MAX_ITEM_CHARS, History
from clew.composing.images import ImageProblem
from clew.composing.meaning import CommandLine, MemoryLine, PromptWords, ShellLine
from clew.composing.pasted import Pastes
from clew.plain.dialog import Shown
from clew.protocol.ops import Op, Remember, SubmitPrompt

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
        show: Callable[[Sequence[Shown]], None],
        leave: Callable[[], None],
    ) -> None:
        self._pastes = pastes
        self._history = history
        self._by_person = by_person
        self._facts = facts
        self._send = send
        self._show = show
        self._leave = leave

    def take(self, text: str) -> bool:
        """One input, long pastes folded. False: it could not be sent, and should be typed again."""
        self.remember(text)
        try:
            entry = enter(text, self._pastes, self._facts().cwd)
        except ImageProblem as problem:
            self._show([Shown(f"Error: {problem}", "error")])
            return False
        if entry is None:
            self._show([Shown("(nothing to run or to remember)", "dim")])
            return True
        self._show([Shown(f"Note: {note}", "dim") for note in entry.notes])
        self._carry_out(entry)
        return True

    def remember(self, text: str) -> None:
        """Into the history, with its pastes as far as they fit."""
        whole = self._pastes.expand(text)
        self._history.add(whole if len(whole) <= MAX_ITEM_CHARS else self._pastes.told(text))

    def _carry_out(self, entry: Entry) -> None:
        match entry.meaning:
            case CommandLine(line):
                self._run(line)
            case ShellLine() | MemoryLine() if not self._by_person:
                self._send(SubmitPrompt(content=self._pastes.expand(entry.text)))
            case MemoryLine(line):
                self._send(Remember(line=line))
            case ShellLine() | PromptWords():
                op = op_of(entry)
                assert op is not None
                self._send(op)

    def _run(self, line: str) -> None:
        result = run_command(line, CommandContext(facts=self._facts()))
        self._show([Shown(text, "error" if result.is_error else "", hang=HANG) for text in result.lines])
        for op in result.ops:
            self._send(op)
        if result.leave:
            self._leave()
