"""The screen: composes its parts and hands events, keys and inputs to whom they concern. It decides nothing itself."""

import time
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.timer import Timer

from clew.commands.base import CommandContext, CommandResult
from clew.composing.keymap import Keymap, KeymapError, load_keymap
from clew.presentation.status import activity_row, footer_row, header_row
from clew.protocol.client import Client
from clew.protocol.events import Envelope, FilesFound, SessionEnded, SessionStarted, TurnEnded, TurnStarted
from clew.protocol.ids import OpId
from clew.protocol.ops import FindFiles, RequestRecap, SubmitPrompt
from clew.tui.commanding import Commanding
from clew.tui.conversation import Conversation
from clew.tui.dialogs.registry import STYLES
from clew.tui.dock import Dock
from clew.tui.driver import TerminalDriver
from clew.tui.find_line import FindLine
from clew.tui.options import ScreenOptions
from clew.tui.presence import Presence
from clew.tui.prompt import Prompt
from clew.tui.prompt_panel import PromptPanel
from clew.tui.reading import Reading
from clew.tui.row_line import RowLine
from clew.tui.stopping import Stopping
from clew.tui.themes import animation, register, theme_for, without_colour
from clew.tui.transcript import Transcript

FLUSH_S = 1 / 20
"""The least time between two drawings of words that stream in."""
HINT_S = 4.0
HERE = Path(__file__).parent


class ClewApp(App[int], inherit_bindings=False):
    """Holds a Client, through the conversation, and nothing else of the machine."""

    CSS_PATH: ClassVar[list[Any]] = [HERE / "app.tcss", HERE / "prompt.tcss", STYLES]
    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, client: Client, options: ScreenOptions) -> None:
        env = options.env
        super().__init__(driver_class=TerminalDriver, ansi_color=True if without_colour(env) else None)
        self.options = options
        register(self, theme_for(options.screen.theme, env))
        self.animation_level = animation(env, reduced=options.screen.reduced_motion)
        self.keymap, self._keys_problem = _keymap(options.home)
        self.conversation = Conversation(client, on_change=self._changed, on_end=self._over)
        self.transcript = Transcript()
        self.find = FindLine()
        self._hint = ""
        self._frame = 0
        self.header = RowLine(lambda columns: header_row(self.story.facts, columns), id="header")
        self.activity = RowLine(self._activity_row, id="activity")
        self.footer = RowLine(lambda columns: footer_row(self.story.facts, columns, hint=self._hint), id="footer")
        self.dock_ = Dock(PromptPanel(home=options.home, keymap=self.keymap), send=self.conversation.send)
        self.stopping = Stopping(
            self.conversation,
            self.dock_,
            window_s=options.quit_window_s,
            now_s=time.monotonic,
            hint=self.hint,
            leave=self.leave,
        )
        self.presence = Presence(
            away_s=options.away_s,
            notifications=options.screen.notifications,
            env=env,
            write=self.write_raw,
            want_recap=lambda: self.conversation.send(RequestRecap()),
            unsent=lambda: not self.prompt.is_blank or self.dock_.asking,
        )
        self.commanding = Commanding(
            self.conversation, context=self._command_context, effect=self._carry_out, open_help=self.open_help
        )
        self.reading = Reading(self.transcript, self.find, self.keymap, leave=self._to_prompt, hint=self.hint)
        self._pulse: Timer | None = None
        self._flush: Timer | None = None
        self._flushed_at = 0.0
        self._hint_timer: Timer | None = None

    @property
    def story(self) -> Any:
        """What is shown."""
        return self.conversation.story

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.dock_.panel.prompt

    def compose(self) -> ComposeResult:
        """From the top."""
        yield self.header
        yield self.transcript
        yield self.activity
        yield self.find
        yield self.dock_
        yield self.footer
