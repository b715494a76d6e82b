"""What is done with an input: words to the model, commands here, shell lines and memory lines as ops."""

from collections.abc import Callable

from clew.commands.base import CommandContext, CommandResult
from clew.commands.registry import run_command
from clew.composing.meaning import CommandLine
from clew.composing.typed_input import TypedInput, op_of
from clew.protocol.ops import ListModels, ListSessions, ListTasks, Op, Rewind, SwitchSession
from clew.tui.conversation import Conversation

MAX_SESSIONS = 50
PICKERS: tuple[type[Op], ...] = (ListModels, ListSessions, ListTasks)
"""Ops of commands without an argument whose answer is a choice: here it opens a picker."""


class Commanding:
    """Carries inputs out."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        context: Callable[[], CommandContext],
        effect: Callable[[CommandResult], None],
        open_help: Callable[[], None],
    ) -> None:
        self._conversation = conversation
        self._context = context
        self._effect = effect
        self._open_help = open_help

    def take(self, typed: TypedInput) -> None:
        """One input."""
        for note in typed.notes:
            self._conversation.remark((note,))
        match typed.meaning:
            case CommandLine(line):
                self.run(line)
            case _:
                op = op_of(typed)
                if op is not None:
                    self._conversation.send(op)

    def run(self, line: str) -> None:
        """A slash command."""
        name, _, argument = line.strip().partition(" ")
        if name in ("/help", "/?") and not argument.strip():
            self._open_help()
            return
        if name in ("/resume", "/sessions") and not argument.strip():
            self._conversation.send_for_picker(ListSessions(limit=MAX_SESSIONS))
            return
        result = run_command(line, self._context())
        if result.lines and not result.ends:
            self._conversation.remark(result.lines, is_error=result.is_error, command=line.strip())
        for op in result.ops:
            if _opens_picker(op, argument.strip()):
                self._conversation.send_for_picker(op)
            else:
                self._conversation.send(op)
        self._effect(result)


def _opens_picker(op: Op, argument: str) -> bool:
    """Whether the answer is, or may be, a choice. Several sessions may fit one name."""
    if argument:
        return isinstance(op, SwitchSession)
    return isinstance(op, PICKERS) or (isinstance(op, Rewind) and op.preview and not op.to)
