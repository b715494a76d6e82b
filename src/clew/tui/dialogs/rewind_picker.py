"""Going back: first the prompt, then what goes back with it; all that would change is in sight before it does."""

from collections.abc import Sequence
from functools import partial

from clew.presentation.rows.diffs import diff_rows
from clew.presentation.rows.spans import Row, Span, clipped, wrapped
from clew.protocol.event_kinds.context import FileRestore, RewindScope
from clew.protocol.events import Event
from clew.protocol.ids import EntryId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.session import PreviewRewind, RewindPreviewed
from clew.protocol.ops import Rewind
from clew.text.figures import change, count, shown_path
from clew.text.terminal_text import reveal, sanitize
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.picker import Picker, holds
from clew.tui.dialogs.registry import DialogContext

SCOPES: tuple[tuple[RewindScope, str, str], ...] = (
    ("both", "b", "Files and conversation"),
    ("conversation", "c", "Only the conversation"),
    ("files", "f", "Only the files"),
)
MAX_PATCH_LINES = 200
CLEARED = "── /clear emptied the window here; what is below brings the window of then back"


def open_dialog(event: Event | Answer, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, RewindPreviewed)
    return RewindPicker(event, context)


class RewindPicker(Picker):
    """The prompts of RewindPreviewed; the one that is chosen is previewed, and going back is a choice of its own."""

    asks_for = "words of a prompt"

    def __init__(self, listed: RewindPreviewed, context: DialogContext) -> None:
        super().__init__()
        self._prompts = [_numbered(text) for text in listed.prompts]
        self._windows = {str(number) for number in listed.windows}
        self._cwd = context.facts.cwd
        self._target = ""
        """The number of the prompt to go back to; empty while none is chosen."""
        self._preview: RewindPreviewed | None = None
        self._refused = ""
        self._force = False

    def title(self) -> str:
        return f"Back to before prompt {self._target}" if self._target else "Go back to before a prompt"

    def note(self) -> str:
        return "" if self._target else count(len(self._prompts), "prompt")

    def rows_for(self, words: list[str]) -> Sequence[Option]:
        """Newest first: that is where people want to go."""
        found: list[Option] = []
        for number, text in reversed(self._prompts):
            if holds(f"{number} {text}", words):
                row = partial(_prompt_row, number, text)
                found.append(Option(value=number, rows=lambda columns, row=row: [row(columns)]))
            if not words and number in self._windows:
                found.append(Option(value="", heading=True, label=(Span(CLEARED, "dim"),)))
        return found

    def hint(self) -> str:
        if not self._target:
            return "Enter shows what would change · Esc closes" if self.options.items else "Nothing fits · Esc closes"
        scroll = "PgUp PgDn scroll · " if self.body.max_scroll_y else ""
        return f"{scroll}letters, or ↑ ↓ and Enter · Esc back"

    def chosen(self, place: int) -> None:
        value = self.options.items[place].value
        if not self._target:
            self._look(value)
        elif value == "force":
            self._force = not self._force
            self._offer(cursor=place)
        else:
            scope: RewindScope = next(known[0] for known in SCOPES if known[0] == value)
            force = self._force and scope != "conversation"
            self.finish(Rewind(to=EntryId(self._target), scope=scope, force=force))

    def toggled(self, place: int) -> None:
        self.chosen(place)

    def _look(self, number: str) -> None:
        """Ask what would change; nothing can be chosen before that is known."""
        self._target, self._preview, self._refused, self._force = number, None, "", False
        self.clicks_choose = True
        self.close_field()
        self.options.tallest = 0
        self.options.set(())
        self.inquire(PreviewRewind(to=EntryId(number)), self._previewed, self._not_possible)
        self.redraw()

    def _previewed(self, preview: RewindPreviewed) -> None:
        self._preview = preview
        self._offer(cursor=NOWHERE)

    def _not_possible(self, reason: str) -> None:
        self._refused = reason
        self._offer(cursor=NOWHERE)

    def _offer(self, *, cursor: int) -> None:
        """Files can go back only where some would; what somebody else changed since needs consent of its own."""
        if self._preview is None:
            self.redraw()
            return
        files = self._preview.files
        scopes = SCOPES if files else SCOPES[1:2]
        found = [Option(value=scope, key=key, label=(Span(words),)) for scope, key, words in scopes]
        blocked = sum(bool(item.conflict) for item in files)
        if blocked:
            words = f"Also {count(blocked, 'file')} that somebody else changed since"
            found.append(Option(value="force", key="o", label=(Span(words),), checked=self._force))
        self.options.set(found, cursor=cursor)
        self.redraw()

    def back(self) -> None:
        if not self._target:
            self.dismiss()
            return
        self._target, self.clicks_choose = "", False
        self.options.set(())
        self.begin()

    def body_rows(self, columns: int) -> Sequence[Row]:
        if not self._target:
            return ()
        if self._refused:
            return wrapped((Span(f"Not possible: {sanitize(self._refused, one_line=True)}", "error"),), columns)
        if self._preview is None:
            return [(Span("Looking at what would change …", "dim"),)]
        rows: list[Row] = []
        if self._preview.prompts:
            rows += wrapped((Span(f"Leaves the conversation: {count(len(self._preview.prompts), 'prompt')}"),), columns)
            for text in self._preview.prompts:
                rows += wrapped((Span(sanitize(text, one_line=True), "dim"),), columns, first=(Span("  "),), hang=_DEEP)
        if self._preview.windows:
            rows += wrapped((Span("Brings back what was in the window before /clear emptied it."),), columns)
        for item in self._preview.files:
            rows += _file_rows(item, self._cwd, columns)
        if not self._preview.files:
            rows += wrapped((Span("No file was changed since.", "dim"),), columns)
        for text in self._preview.warnings:
            rows += wrapped((Span(f"Not restored: {sanitize(text, one_line=True)}", "warning"),), columns)
        return rows


_DEEP: Row = (Span("     "),)


def _numbered(text: str) -> tuple[str, str]:
    """The number of a prompt and its words."""
    number, _, words = text.partition("  ")
    return number.strip(), sanitize(words, one_line=True)


def _prompt_row(number: str, text: str, columns: int) -> Row:
    return clipped((Span(f"{number:>3}  ", "dim"), Span(text)), columns)


def _file_rows(item: FileRestore, cwd: str, columns: int) -> list[Row]:
    lines = item.patch.splitlines()
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    name = " ".join(reveal(shown_path(item.path, cwd)).split("\n"))
    rows = wrapped((Span(name, "bold"), Span(f"  {change(added, removed)}", "dim")), columns)
    if item.conflict:
        why = f"stays as it is without your consent: {sanitize(item.conflict, one_line=True)}"
        rows += wrapped((Span(why, "warning"),), columns, first=(Span("  "),), hang=(Span("  "),))
    rows += diff_rows(item.patch, columns, path=item.path, indent="  ", max_lines=MAX_PATCH_LINES)
    return rows
