"""The prompt with what belongs to it: the list of completions and the line of the history search above."""

from collections.abc import Callable
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical

from clew.commands.base import CommandHelp
from clew.commands.registry import COMMANDS
from clew.composing.keymap import Keymap
from clew.tui.prompt.completion_list import CompletionList
from clew.tui.prompt.history_search import SearchLine
from clew.tui.prompt.prompt import Prompt


def all_commands() -> tuple[CommandHelp, ...]:
    """Every command there is."""
    return tuple(command.help for command in COMMANDS)


class PromptPanel(Vertical):
    """What the dock shows while no dialog is open."""

    def __init__(
        self,
        *,
        home: Path | None,
        keymap: Keymap | None = None,
        commands: Callable[[], tuple[CommandHelp, ...]] = all_commands,
        vim: bool = False,
        elsewhere: Callable[[str], bool] = lambda _: False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.completions = CompletionList()
        self.search_line = SearchLine()
        self.prompt = Prompt(
            self.completions,
            self.search_line,
            home=home,
            keymap=keymap,
            commands=commands,
            vim=vim,
            elsewhere=elsewhere,
        )

    def compose(self) -> ComposeResult:
        yield self.search_line
        yield self.completions
        yield self.prompt

    def on_completion_list_picked(self, event: CompletionList.Picked) -> None:
        """A click takes a row; typing goes on."""
        event.stop()
        self.prompt.completing.accept(event.index)
        self.prompt.focus()
