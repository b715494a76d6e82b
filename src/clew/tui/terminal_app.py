"""What the App owes the terminal: its driver, codes of the frame, the mouse, how far behind it is."""

from typing import Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.types import CSSPathType

from clew.tui.terminal.driver import TerminalDriver

MAX_BEHIND = 32_768
"""Characters on their way to a slow terminal above which nothing more is drawn."""


class TerminalApp(App[int], inherit_bindings=False):
    """An App on our driver. It knows nothing of sessions."""

    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *, css_path: CSSPathType, ansi_color: bool | None) -> None:
        super().__init__(driver_class=TerminalDriver, css_path=css_path, ansi_color=ansi_color)

    @property
    def terminal(self) -> TerminalDriver | None:
        """The driver; None where there is no terminal, as in tests."""
        return self._driver if isinstance(self._driver, TerminalDriver) else None

    def lagging(self) -> bool:
        """The terminal has not taken what was drawn before."""
        return self.terminal is not None and self.terminal.behind > MAX_BEHIND

    def draw_anew(self, _resumed: object = None) -> None:
        """Everything anew: after a suspension, or where something else wrote on the terminal."""
        self.write_raw("\x1b[2J")
        self.screen.refresh(layout=True)

    def _print_error_renderables(self) -> None:
        """Textual would print the whole stack with its values; the command line tells the error in its own words."""

    def write_raw(self, codes: str) -> None:
        """Codes for the terminal's frame; our own words only."""
        if self._driver is not None:
            self._driver.write(codes)

    def take_mouse(self, wanted: Any) -> None:
        """Take the mouse, or leave it to the terminal."""
        if self.terminal is not None:
            self.terminal.use_mouse(wanted=bool(wanted))
