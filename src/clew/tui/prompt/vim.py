"""The keys of vi in the prompt: a view of the text area that they can act on."""

from clew.composing.vim import Vim
from clew.composing.vim_motions import Place
from clew.tui.prompt.edit_area import EditArea


class AreaBuffer:
    """The text area as the keys of vi see it."""

    def __init__(self, area: EditArea) -> None:
        self._area = area

    @property
    def count(self) -> int:
        """How many lines there are."""
        return self._area.document.line_count

    def line(self, row: int) -> str:
        """One of them."""
        return self._area.document.get_line(row)

    @property
    def caret(self) -> Place:
        """Where typing goes."""
        return self._area.cursor_location

    def move(self, place: Place) -> None:
        """Put the caret there."""
        self._area.move_cursor(place)

    def replace(self, text: str, start: Place, end: Place) -> None:
        """Put text in the place of a range, folded pastes as a whole."""
        self._area.history.checkpoint()
        self._area.replace_range(text, start, end)

    def undo(self, *, redo: bool = False) -> None:
        """Take the last change back, or the last taking back."""
        if redo:
            self._area.redo()
        else:
            self._area.undo()


def vim_for(area: EditArea) -> Vim:
    """The keys of vi over this text."""
    return Vim(AreaBuffer(area))
