"""A small app around the prompt: notes what it says."""

from pathlib import Path, PurePath
from typing import Any

from textual.app import App, ComposeResult
from textual.theme import Theme
from textual.widgets import Static

import clew.tui
from clew.composing.keymap import Keymap
from clew.composing.typed_input import TypedInput
from clew.tui.prompt.prompt import Prompt
from clew.tui.prompt.prompt_panel import PromptPanel

OURS = ("prompt_panel", "prompt", "completion_list", "history_search", "queue_list")
STYLES: list[str | PurePath] = [Path(clew.tui.__file__).parent / "prompt" / f"{name}.tcss" for name in OURS]
THEME = Theme(name="test", primary="cyan", variables={"user-bar": "cyan", "dim": "gray", "notice": "yellow"})


class PromptApp(App[None]):
    """The prompt at the bottom of an otherwise empty screen."""

    CSS_PATH = STYLES
    CSS = "#above { height: 1fr; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, home: Path | None = None, keymap: Keymap | None = None, project: str = "", *, vim: bool = False
    ) -> None:
        super().__init__()
        self.panel = PromptPanel(home=home, keymap=keymap, vim=vim)
        self.prompt.project = project
        self.entries: list[TypedInput] = []
        self.refused: list[str] = []
        self.asked: list[str] = []
        self.bubbled: list[str] = []
        self.messages: list[Any] = []
        self.register_theme(THEME)
        self.theme = "test"

    @property
    def prompt(self) -> Prompt:
        return self.panel.prompt

    def compose(self) -> ComposeResult:
        yield Static(id="above")
        yield self.panel

    def on_mount(self) -> None:
        self.prompt.focus()

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        self.entries.append(event.typed)

    def on_prompt_refused(self, event: Prompt.Refused) -> None:
        self.refused.append(event.reason)

    def on_prompt_completion_wanted(self, event: Prompt.CompletionWanted) -> None:
        self.asked.append(event.query)

    def on_prompt_queued_wanted(self, event: Prompt.QueuedWanted) -> None:
        self.messages.append(event)

    def on_key(self, event: Any) -> None:
        self.bubbled.append(event.key)
