"""What is done with an input: words to the model, commands here, shell lines and memory lines as ops."""

from collections.abc import Callable

from clew.commands.base import CommandContext, CommandResult
from clew.commands.registry import run_command
from clew.composing.meaning import CommandLine
from clew.composing.typed_input import TypedInput, lookup_of, op_of
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.place import ListSessions, SearchSessions
from clew.protocol.lookups.rules_and_models import ListModels
from clew.protocol.lookups.session import PreviewRewind
from clew.protocol.lookups.tasks import ListTasks
from clew.protocol.lookups.teams import ShowTeam
from clew.protocol.ops import SubmitPrompt, UseInvocable
from clew.tui.conversation import ScreenConversation
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.registry import dialog_named

MAX_SESSIONS = 50
PICKERS = (ListModels, ListSessions, ListTasks, PreviewRewind, ShowTeam)
"""Lookups of commands without an argument whose answer is a choice: here it opens a picker."""
ALWAYS = (SearchSessions,)
"""The same, whatever the argument."""


CHOICES = ("/theme", "/mode", "/config")
"""Commands that open a list of their own values."""


class Commanding:
    """Carries inputs out."""

    def __init__(
        self,
        conversation: ScreenConversation,
        *,
        context: Callable[[], CommandContext],
        effect: Callable[[CommandResult], None],
        offer: Callable[[Answer], None],
        open_dialog: Callable[[Dialog], None],
        open_help: Callable[[], None],
        addressed: Callable[[TypedInput], bool] = lambda _: False,
    ) -> None:
        """`addressed`: whether an input was for another agent, and has gone there."""
        self._conversation = conversation
        self._context = context
        self._effect = effect
        self._offer = offer
        """Opens a picker."""
        self._open = open_dialog
        self._open_help = open_help
        self._addressed = addressed

    def take(self, typed: TypedInput) -> None:
        """One input."""
        for note in typed.notes:
            self._conversation.remark((note,))
        if self._addressed(typed):
            return
        match typed.meaning:
            case CommandLine(line):
                self.run(line)
            case _:
                op, lookup = op_of(typed), lookup_of(typed)
                if op is not None:
                    self._conversation.send(op)
                if lookup is not None:
                    self._conversation.look_up(lookup)

    @staticmethod
    def _echoed(result: CommandResult, argument: str) -> bool:
        """Every command stands above what it brings, but for those that open a list and those that say words of the
        person's own, which stand there themselves."""
        picks = any(
            isinstance(item, ALWAYS) or (not argument.strip() and isinstance(item, PICKERS)) for item in result.lookups
        )
        says = any(isinstance(op, SubmitPrompt | UseInvocable) for op in result.ops)
        if result.ends or result.leave:
            return False
        return bool(result.lines) or not (picks or says)

    def run(self, line: str) -> None:
        """A slash command."""
        name, _, argument = line.strip().partition(" ")
        if name in ("/help", "/?") and not argument.strip():
            self._open_help()
            return
        if name in CHOICES and not argument.strip():
            self._open(dialog_named("setting_picker", name[1:], self._context()))
            return
        if name in ("/resume", "/sessions") and not argument.strip():
            self._conversation.look_up(ListSessions(limit=MAX_SESSIONS), self._offer)
            return
        result = run_command(line, self._context())
        if self._echoed(result, argument):
            self._conversation.remark(result.lines, is_error=result.is_error, command=line.strip())
        for op in result.ops:
            self._conversation.send(op)
        for lookup in result.lookups:
            picked = isinstance(lookup, ALWAYS) or (not argument.strip() and isinstance(lookup, PICKERS))
            self._conversation.look_up(lookup, self._offer if picked else None)
        self._effect(result)
