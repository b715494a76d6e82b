"""Tab: commands with what they are for, files of the project. As far as it is clear, then a list, then one by one."""

from collections.abc import Callable, Sequence

from clew.commands.base import CommandHelp
from clew.composing.completion import Candidate, CompletionTarget, accepted, command_rows, file_rows, wanted_at
from clew.plain.dialogs.dialog import Shown
from clew.plain.line.editor import Editor
from clew.text.terminal_text import sanitize

MAX_LISTED = 12


class LineCompletion:
    """For one line. Files are asked for and come later; an answer to an older question is dropped."""

    def __init__(
        self,
        editor: Editor,
        commands: Callable[[], Sequence[CommandHelp]],
        *,
        ask_files: Callable[[str], None],
        show: Callable[[list[Shown]], None],
    ) -> None:
        self._editor = editor
        self._commands = commands
        self._ask_files = ask_files
        self._show = show
        self._asked: CompletionTarget | None = None
        self._rows: tuple[Candidate, ...] = ()
        """What was listed, to be gone through by further presses."""
        self._at = -1
        self._range = (0, 0)
        """Where the one that was put in stands."""
        self._left_as: tuple[str, int] | None = None
        """The line as the last press left it."""

    def press(self) -> None:
        """Tab."""
        if self._rows and self._left_as == (self._editor.text, self._editor.cursor):
            self._next()
            return
        self._rows, self._asked = (), self._wanted()
        if self._asked is None:
            return
        if self._asked.kind == "command":
            rows = command_rows(self._asked.query, self._commands())
            # Commands that are only for something of that name are told where no name begins like it.
            named = tuple(row for row in rows if row.text.startswith(f"/{self._asked.query.lower()}"))
            if named:
                self._offer(self._asked, named)
            else:
                self._list(self._asked, rows)  # another command than the one typed is seen before it is taken
        else:
            self._ask_files(self._asked.query)

    def files(self, query: str, paths: tuple[str, ...]) -> None:
        """The files that were found."""
        wanted = self._wanted()
        if wanted is not None and wanted == self._asked and wanted.kind == "file" and wanted.query == query:
            self._offer(wanted, file_rows(paths))

    def _wanted(self) -> CompletionTarget | None:
        line, start = self._editor.caret_line()
        return wanted_at(line, self._editor.cursor - start, first_line=start == 0)

    def _offer(self, wanted: CompletionTarget, rows: tuple[Candidate, ...]) -> None:
        line, _ = self._editor.caret_line()
        typed = line[wanted.start : wanted.end]
        shared = _shared([row.text for row in rows])
        if len(rows) == 1 or any(row.text == typed for row in rows[:1]):
            self._take(wanted, rows[0])
        elif len(shared) > len(typed) and shared.lower().startswith(typed.lower()):
            self._replace(*self._place(wanted), shared)
        else:
            self._list(wanted, rows)

    def _list(self, wanted: CompletionTarget, rows: tuple[Candidate, ...]) -> None:
        if not rows:
            self._show([Shown("(nothing fits)", "dim")])
            return
        self._rows, self._at, self._range = rows, -1, self._place(wanted)
        self._left_as = (self._editor.text, self._editor.cursor)
        self._show([*map(_listed, rows[:MAX_LISTED]), *_more(len(rows) - MAX_LISTED)])

    def _next(self) -> None:
        """The next one of the list in place of the one before."""
        self._at = (self._at + 1) % len(self._rows)
        self._replace(*self._range, self._rows[self._at].text)

    def _take(self, wanted: CompletionTarget, row: Candidate) -> None:
        line, start = self._editor.caret_line()
        text, first, last = accepted(line, wanted, row)
        self._editor.replace(start + first, start + last, text)
        self._rows = ()

    def _place(self, wanted: CompletionTarget) -> tuple[int, int]:
        _, start = self._editor.caret_line()
        return start + wanted.start, start + wanted.end

    def _replace(self, first: int, last: int, text: str) -> None:
        self._editor.replace(first, last, text)
        self._range = (first, first + len(text))
        self._left_as = (self._editor.text, self._editor.cursor)


def _shared(texts: list[str]) -> str:
    """What all of them begin with."""
    shared = texts[0] if texts else ""
    while not all(text.startswith(shared) for text in texts):
        shared = shared[:-1]
    return shared


def _listed(row: Candidate) -> Shown:
    label = sanitize(row.label, one_line=True)
    detail = sanitize(row.detail, one_line=True)
    return Shown(f"  {label}{f': {detail}' if detail else ''}", "dim", hang="      ")


def _more(count: int) -> list[Shown]:
    return [Shown(f"  and {count} more; type on to narrow it down", "dim")] if count > 0 else []
