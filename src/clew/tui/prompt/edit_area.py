"""Textual's text area as we need it: own keys, cutting and yanking, folded pastes in one piece, a mark at the left."""

import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from rich.segment import Segment
from rich.text import Text
from textual.document._document import EditResult, Location, Selection
from textual.document._history import EditHistory
from textual.screen import Screen
from textual.signal import Signal
from textual.strip import Strip
from textual.widgets import TextArea

from clew.composing.pasted import Pastes, is_showable
from clew.text.terminal_text import sanitize
from clew.text.unicode_marks import JOINABLE, JOINERS, SELECTORS
from clew.tui.owning_app import app_of

BAR = "▌"
ADDRESSED_BAR = "@"
"""Beside words for an agent that is viewed."""
MARK_WIDTH = 2
MAX_UNDO = 200
_WORD = re.compile(r"\w+")
_layout_signal: Callable[[Screen[Any]], Signal[Any]] = attrgetter("screen_layout_refresh_signal")


class EditArea(TextArea, inherit_bindings=False):
    """Editing without keys: every key is looked up elsewhere and becomes one of these methods."""

    COMPONENT_CLASSES = TextArea.COMPONENT_CLASSES | {"edit-area--mark", "edit-area--token"}

    def __init__(self, *, id: str | None = None, placeholder: str = "") -> None:
        self.pastes = Pastes()
        self._cut = ""
        self._cutting = False
        self._mark = ""
        self._usual = BAR
        super().__init__(
            id=id,
            placeholder=placeholder,
            highlight_cursor_line=False,
            compact=True,
            max_checkpoints=MAX_UNDO,
            soft_wrap=True,
        )
        # A blinking cursor costs a timer and a redraw twice a second, also when nobody is there.
        self.set_reactive(TextArea.cursor_blink, False)
        self.set_reactive(TextArea.match_cursor_bracket, False)

    def on_mount(self) -> None:
        """The terminal's own cursor follows the caret also when the layout moves: input methods draw beside it."""
        _layout_signal(self.screen).subscribe(self, self._place_cursor, immediate=True)

    def _place_cursor(self, _screen: Screen[Any]) -> None:
        if self.has_focus:
            self._recompute_cursor_offset()
            app_of(self).cursor_position = self.cursor_screen_offset

    # Textual scrolls to the caret before it knows the new height, and so stays one line behind.
    def _refresh_size(self) -> None:
        super()._refresh_size()
        if self.is_mounted:
            self.scroll_cursor_visible()
            app_of(self).cursor_position = self.cursor_screen_offset

    # Looking for the partner of a bracket walks through the whole text on every move of the caret.
    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        return None

    @property
    def is_blank(self) -> bool:
        """Nothing stands in it; costs the same for any text."""
        return self.document.line_count == 1 and not self.document.get_line(0)

    # The mark takes the place where Textual would draw line numbers.
    @property
    def gutter_width(self) -> int:
        return MARK_WIDTH

    def address(self, who: str, otherwise: str) -> None:
        """Whom words go to: the empty area says it, and a mark at the left while something is typed. Empty: nobody
        besides, and the empty area says something else."""
        self.placeholder = f"to {sanitize(who, one_line=True)} · Esc goes back" if who else otherwise
        self._usual = ADDRESSED_BAR if who else BAR
        self.refresh()

    def set_bar(self, mark: str) -> None:
        """What stands at the left of the first line in place of the bar; empty: the bar."""
        if mark != self._mark:
            self._mark = mark
            self.refresh()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        first = y + self.scroll_offset.y == 0
        bar = self._mark if first and self._mark else self._usual if first else BAR
        mark = Strip([Segment(f"{bar} ", self.get_component_rich_style("edit-area--mark"))], MARK_WIDTH)
        room = max(0, self.scrollable_content_region.width - MARK_WIDTH)
        return Strip.join([mark, strip.crop(0, room)])

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn: folded pastes are told from typed words."""
        line = super().get_line(line_index)
        for first, last, _ in self.pastes.spans(line.plain):
            line.stylize(self.get_component_rich_style("edit-area--token", partial=True), first, last)
        return line

    def _validate_selection(self, selection: Selection) -> Selection:
        """The caret never stands inside a folded paste: coming from the left it goes to its end, else to its start."""
        start, end = super()._validate_selection(selection)
        if not len(self.pastes):
            return Selection(start, end)
        caret = self._outside(end, forward=end > self.selection.end)
        return Selection(caret if start == end else self._outside(start, forward=start > end), caret)

    def _outside(self, location: Location, *, forward: bool) -> Location:
        row, column = location
        for first, last, _ in self.pastes.spans(self.document.get_line(row)):
            if first < column < last:
                return row, last if forward else first
        return location

    def _widened(self, start: Location, end: Location) -> tuple[Location, Location]:
        """A range with every folded paste it touches as a whole."""
        (top, first), (bottom, last) = sorted((start, end))
        if not len(self.pastes) or (top, first) == (bottom, last):
            return (top, first), (bottom, last)
        if top == bottom:
            first, last = self.pastes.widened(self.document.get_line(top), first, last)
        else:
            first, _ = self.pastes.widened(self.document.get_line(top), first, first + 1)
            if last:
                _, last = self.pastes.widened(self.document.get_line(bottom), last - 1, last)
        return (top, first), (bottom, last)

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        return super()._delete_via_keyboard(*self._widened(start, end))

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        return super()._replace_via_keyboard(insert, *self._widened(start, end))

    def shown_form(self, text: str) -> str:
        """The text as it may stand here: what is too long or cannot be shown is folded."""
        return text if is_showable(text) else self.pastes.fold(text)

    def set_text(self, text: str, *, caret: Location | None = None) -> str:
        """Replace everything; undo brings it back. The form in which it stands now."""
        form = self.shown_form(text)
        self.history.checkpoint()
        self.replace(form, (0, 0), self.document.end, maintain_selection_offset=False)
        self.history.checkpoint()
        self.move_cursor(self.document.end if caret is None else caret)
        return form

    def preview(self, text: str) -> None:
        """Replace everything for now: undo knows nothing of it."""
        kept = self.history
        self.history = EditHistory(max_checkpoints=1, checkpoint_timer=0.0, checkpoint_max_characters=0)
        try:
            self.set_text(text)
        finally:
            self.history = kept

    def replace_range(self, text: str, start: Location, end: Location) -> None:
        """Put text in the place of a range; the caret goes to its end."""
        self._replace_via_keyboard(text, start, end)

    def joins(self, character: str | None) -> bool:
        """Whether this would join the letter before the caret with the next: in an emoji, in Persian, in Hindi."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column][-1:]
        return bool(character) and character in JOINERS and bool(JOINABLE.match(before) or before in (*SELECTORS,))

    def put(self, text: str) -> None:
        """Insert at the caret, over the selection."""
        self._replace_via_keyboard(text, *self.selection)

    def cut(self, start: Location, end: Location) -> None:
        """Delete and remember; cuts in a row are remembered as one."""
        start, end = self._widened(start, end)
        if start == end:
            return
        text = self.get_text_range(start, end)
        backward = end == self.cursor_location
        joined = text + self._cut if backward else self._cut + text
        self._cut = joined if self._cutting else text
        self._delete_via_keyboard(start, end)
        self._cutting = True

    def end_cutting(self) -> None:
        """The next cut is one of its own."""
        self._cutting = False

    def keep_cut(self, text: str) -> None:
        """What `yank` inserts next."""
        self._cut = text
        self._cutting = False

    def yank(self) -> None:
        """Insert what was cut last."""
        if self._cut:
            self.put(self._cut)

    def cut_selection(self) -> bool:
        """Cut what is selected, if anything is."""
        if self.selection.is_empty:
            return False
        self.cut(*self.selection)
        return True

    def word_left(self) -> Location:
        """Where the word before the caret starts; over line ends too."""
        row, column = self.cursor_location
        while True:
            words = [match.start() for match in _WORD.finditer(self.document.get_line(row)[:column])]
            if words:
                return row, words[-1]
            if row == 0:
                return 0, 0
            row -= 1
            column = len(self.document.get_line(row))

    def word_right(self) -> Location:
        """Where the word at or after the caret ends; over line ends too."""
        row, column = self.cursor_location
        while True:
            match = _WORD.search(self.document.get_line(row), column)
            if match:
                return row, match.end()
            if row == self.document.line_count - 1:
                return self.document.end
            row, column = row + 1, 0

    def blank_left(self) -> Location:
        """Where the text up to the blank before the caret starts; at the start of a line, the line end above."""
        row, column = self.cursor_location
        if column == 0:
            return (row - 1, len(self.document.get_line(row - 1))) if row else (0, 0)
        line = self.document.get_line(row)
        for first, last, _ in self.pastes.spans(line):
            # A folded paste is one word, whatever blanks its token has.
            line = f"{line[:first]}{'x' * (last - first)}{line[last:]}"
        before = line[:column].rstrip()
        return row, max(before.rfind(" "), before.rfind("\t")) + 1
