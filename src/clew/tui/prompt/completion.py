"""Completion at the caret: follows the text, keeps the list, and puts the row that was taken into the prompt."""

from collections.abc import Callable

from clew.commands.base import CommandHelp
from clew.composing.completion import Candidate, CompletionTarget, accepted, command_rows, file_rows, wanted_at
from clew.tui.prompt.completion_list import CompletionList
from clew.tui.prompt.edit_area import EditArea


class PromptCompletion:
    """One for each prompt. Files are asked for and come later; an answer to an older question is dropped."""

    def __init__(
        self,
        area: EditArea,
        rows: CompletionList,
        commands: Callable[[], tuple[CommandHelp, ...]],
        ask_files: Callable[[str], None],
    ) -> None:
        self._area = area
        self._list = rows
        self._commands = commands
        self._ask_files = ask_files
        self._wanted: CompletionTarget | None = None
        self._closed_at: tuple[int, str, int] | None = None
        self._gone_to = False
        """The marked row was chosen by key, for the word as it stands."""

    @property
    def is_open(self) -> bool:
        """Whether its keys count now."""
        return self._list.is_open

    def changed(self) -> None:
        """The text changed: look at what stands before the caret now. Costs one line, whatever the text."""
        wanted = self._at_caret()
        self._wanted = wanted
        self._gone_to = False
        if wanted is None or self._place(wanted) == self._closed_at:
            self._closed_at = None if wanted is None else self._closed_at
            self._list.close()
        elif wanted.kind == "command":
            self._list.show(command_rows(wanted.query, self._commands()))
        else:
            # What is listed stays until the answer comes, so that the list does not flicker.
            if self._list.rows and not self._list.rows[0].text.startswith("@"):
                self._list.close()
            self._ask_files(wanted.query)

    def moved(self) -> None:
        """Only the caret moved: away from what is being completed, the list closes."""
        if self._wanted is not None and self._at_caret() != self._wanted:
            self._wanted = None
            self._list.close()

    def open(self) -> bool:
        """Asked for by key: also where the list was closed before."""
        self._closed_at = None
        self.changed()
        return self._wanted is not None

    def files(self, query: str, paths: tuple[str, ...]) -> None:
        """The files that were found."""
        if self._wanted is not None and self._wanted.kind == "file" and self._wanted.query == query:
            self._list.show(file_rows(paths))

    def close(self) -> None:
        """Closed by the person: it stays closed for this word."""
        if self._wanted is not None:
            self._closed_at = self._place(self._wanted)
        self._wanted = None
        self._list.close()

    def is_answered(self) -> bool:
        """Whether Enter sends the command as it was typed: it is whole, or nothing that is listed begins with it.

        A row that only fits by what it is for would be another command than the one that was typed. Who wants it goes
        to it by key, or takes it with Tab.
        """
        wanted, row = self._wanted, self._list.choice
        if wanted is None or wanted.kind != "command":
            return False
        typed = wanted.query.lower()
        if any(typed == about.name or typed in about.aliases for about in self._commands()):
            return True
        return not self._gone_to and (row is None or not row.text.lower().startswith(f"/{typed}"))

    def step(self, count: int, *, around: bool = True) -> None:
        """Mark another row."""
        self._gone_to = True
        self._list.step(count, around=around)

    def accept(self, index: int | None = None) -> bool:
        """Put the marked row (or this one) into the text."""
        row = self._list.choice if index is None else self._list.rows[index]
        wanted = self._at_caret()
        if row is None or wanted is None:
            self._list.close()
            return False
        self._insert(wanted, row)
        return True

    def _insert(self, wanted: CompletionTarget, row: Candidate) -> None:
        line, _ = self._area.cursor_location
        text, start, end = accepted(self._area.document.get_line(line), wanted, row)
        if not row.more:
            # Known before the edit tells us of itself: what was just taken is not offered again.
            self._closed_at = (line, wanted.kind, wanted.start)
        self._area.history.checkpoint()
        self._area.replace(text, (line, start), (line, end), maintain_selection_offset=False)
        if not row.more:
            self._wanted = None
            self._list.close()

    def _at_caret(self) -> CompletionTarget | None:
        row, column = self._area.cursor_location
        if not self._area.selection.is_empty:
            return None
        return wanted_at(self._area.document.get_line(row), column, first_line=row == 0)

    def _place(self, wanted: CompletionTarget) -> tuple[int, str, int]:
        return self._area.cursor_location[0], wanted.kind, wanted.start
