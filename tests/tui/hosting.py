"""A small App that shows one dialog under a conversation, and what its screen looks like as text."""

from collections.abc import Callable
from typing import Any

from textual.app import App, ComposeResult
from textual.containers import Container
from textual.pilot import Pilot
from textual.widgets import Static

from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.ops import Op
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.registry import STYLES
from clew.tui.themes import DEFAULT, register

SIZES = ((60, 20), (80, 24), (120, 40))


class Host(App[None]):
    """A conversation above, the dialog at the bottom; it keeps what the dialog said."""

    CSS_PATH = STYLES
    CSS = """
    Screen { layout: vertical; }
    #talk { height: 1fr; padding: 0 1; }
    #dock { height: auto; }
    """

    def __init__(self, make: Callable[[], Dialog], *, theme: str = DEFAULT, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.make = make
        self.wanted_theme = theme
        self.answers: list[tuple[Op | Lookup[Any], ...]] = []
        self.dismissals = 0
        self.inquiries: list[Lookup[Any]] = []
        self._inquired: list[Dialog.Inquired] = []
        self.overtyped = ""

    def compose(self) -> ComposeResult:
        yield Static("clew · parcels · main\n\n▌ test_heaviest fails, please fix it\n\nI look at it first.", id="talk")
        with Container(id="dock"):
            yield self.make()

    def on_mount(self) -> None:
        register(self, self.wanted_theme)

    @property
    def dialog(self) -> Dialog:
        return self.query_one(Dialog)

    def on_dialog_answered(self, event: Dialog.Answered) -> None:
        self.answers.append((*event.ops, *event.lookups))

    def on_dialog_dismissed(self) -> None:
        self.dismissals += 1

    def on_dialog_inquired(self, event: Dialog.Inquired) -> None:
        self.inquiries.append(event.lookup)
        self._inquired.append(event)

    def answer(self, answer: Answer, *, to: int = -1) -> None:
        """Answer one of the inquiries."""
        self._inquired[to].then(answer)

    def refuse(self, reason: str) -> None:
        """There is no answer to the last inquiry."""
        self._inquired[-1].refused(reason)

    def on_dialog_overtyped(self, event: Dialog.Overtyped) -> None:
        self.overtyped += event.text

    def rows(self) -> list[str]:
        """The screen as lines of text."""
        height = self.size.height
        strips = self.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips][:height]

    async def click(self, pilot: Pilot[None], words: str) -> None:
        """Click on the last row that shows these words."""
        await pilot.pause()
        rows = self.rows()
        row = max(at for at, line in enumerate(rows) if words in line)
        await pilot.click(offset=(rows[row].index(words) + 1, row))
        await pilot.pause()
