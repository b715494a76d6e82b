"""Whether a directory is trusted, asked on the screen before there is a session."""

from collections.abc import Mapping

from textual import events
from textual.app import App, ComposeResult

from clew.config.schema import ScreenSettings
from clew.tui.dialogs.registry import STYLES
from clew.tui.dialogs.trust import TrustDialog
from clew.tui.terminal.driver import TerminalDriver
from clew.tui.themes import register, theme_for, without_colour


class TrustApp(App[bool], inherit_bindings=False):
    """One dialog; its answer is the result, and Ctrl-C is none."""

    CSS = "Screen { align: left bottom; background: $background; color: $foreground; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, path: str, screen: ScreenSettings, env: Mapping[str, str]) -> None:
        super().__init__(
            driver_class=TerminalDriver, css_path=[STYLES], ansi_color=True if without_colour(env) else None
        )
        register(self, theme_for(screen.theme, env))
        self._path = path

    def compose(self) -> ComposeResult:
        """The question."""
        yield TrustDialog(self._path, self.exit)

    def on_key(self, event: events.Key) -> None:
        """Ctrl-C leaves."""
        if event.key == "ctrl+c":
            self.exit(None)


def ask_trust_on_screen(path: str, screen: ScreenSettings, env: Mapping[str, str]) -> bool:
    """The answer. Ctrl-C raises KeyboardInterrupt, as it does where there is no screen."""
    answer = TrustApp(path, screen, env).run(mouse=screen.mouse)
    if answer is None:
        raise KeyboardInterrupt
    return answer
