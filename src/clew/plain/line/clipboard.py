"""What plain mode says to a copy: who took the text, where else it is, or the text itself where nobody did."""

from clew.commands.copy import copied_line, lost_lines
from clew.plain.dialogs.dialog import Shown
from clew.system.clipboard import Copy


def copy_shown(done: Copy, text: str) -> list[Shown]:
    """The lines to print after a copy; the text is safe."""
    if not (done.way or done.sent or done.file):
        return [Shown("The clipboard cannot be reached from here; the text:", "warning"), Shown(text)]
    return [Shown(copied_line(done, text), "dim"), *(Shown(line, "dim") for line in lost_lines(done))]
