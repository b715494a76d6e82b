"""Which session to go on with, asked on the screen before there is one: search, and the last exchange beside it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from textual import events
from textual.app import App, ComposeResult

from clew.commands.base import SessionFacts
from clew.composing.keymap import Keymap
from clew.config.schema import ScreenSettings
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.lookups.place import ListSessions, SessionsListed
from clew.protocol.ops import SwitchSession
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.registry import STYLES, DialogContext
from clew.tui.dialogs.resume_picker import LIMIT, ResumePicker
from clew.tui.terminal.driver import TerminalDriver
from clew.tui.themes import register, theme_for, without_colour

A = TypeVar("A", bound=Answer)


class AskPlace(Protocol):
    """Answers lookups that need no session."""

    def __call__(self, lookup: Lookup[A]) -> Awaitable[A]: ...


class ResumeApp(App[str], inherit_bindings=False):
    """One picker; the name of the chosen session is the result, an empty one where none was chosen."""

    CSS = "Screen { align: left bottom; background: $background; color: $foreground; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        listed: SessionsListed,
        ask: AskPlace,
        *,
        cwd: str,
        screen: ScreenSettings,
        env: Mapping[str, str],
        keymap: Keymap,
    ) -> None:
        super().__init__(
            driver_class=TerminalDriver, css_path=[STYLES], ansi_color=True if without_colour(env) else None
        )
        register(self, theme_for(screen.theme, env))
        self._listed = listed
        self._ask = ask
        self._cwd = cwd
        self._keys = keymap

    def compose(self) -> ComposeResult:
        """The list."""
        picker = ResumePicker(self._listed, DialogContext(facts=SessionFacts(cwd=self._cwd)))
        picker.action_of = lambda key: self._keys.action((picker.context,), (key,))
        yield picker

    def on_key(self, event: events.Key) -> None:
        """Ctrl-C leaves."""
        if event.key == "ctrl+c":
            self.exit("")

    def on_dialog_answered(self, event: Dialog.Answered) -> None:
        """One was chosen."""
        chosen = next((op.resume for op in event.ops if isinstance(op, SwitchSession)), "")
        self.exit(chosen)

    def on_dialog_dismissed(self, event: Dialog.Dismissed) -> None:
        """None was."""
        self.exit("")

    def on_dialog_inquired(self, event: Dialog.Inquired) -> None:
        """Another list, or the last exchange of one."""
        self.run_worker(self._answer(event.lookup, event.then, event.refused))

    async def _answer(self, lookup: Lookup[Any], then: Callable[[Any], None], refused: Callable[[str], None]) -> None:
        try:
            then(await self._ask(lookup))
        except LookupRefused as error:
            refused(str(error))


async def choose_on_screen(
    ask: AskPlace, *, cwd: str, screen: ScreenSettings, env: Mapping[str, str], keymap: Keymap
) -> str | None:
    """The name of the session that a person chose; empty: none. None where there is no session at all."""
    listed = await ask(ListSessions(limit=LIMIT))
    if not listed.sessions:
        return None
    app = ResumeApp(listed, ask, cwd=cwd, screen=screen, env=env, keymap=keymap)
    return await app.run_async(mouse=screen.mouse) or ""
