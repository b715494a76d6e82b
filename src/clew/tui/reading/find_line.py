"""The line for finding words in the transcript: a label, what is looked for, and which of how many places this is."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from clew.tui.terminal.key_order import LineField, Typed, focus_now


class FindLine(Horizontal):
    """Seen while words are typed and while their places are walked."""

    class Given(Message):
        """Enter was pressed, or it was closed with nothing."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    def __init__(self) -> None:
        super().__init__(id="find")
        self._label = Static("  Find: ", markup=False, classes="label")
        self.field = LineField(placeholder="words of the conversation", compact=True, select_on_focus=False)
        self._state = Static("", markup=False, classes="state")
        self.field.first = self._take
        self.field.cursor_blink = False
        self.display = False

    def compose(self) -> ComposeResult:
        """From the left."""
        yield self._label
        yield self.field
        yield self._state

    def open(self) -> None:
        """Ask; what was looked for last is there to be changed."""
        had = self.screen.focused
        self.display = True
        self.field.select_all()
        self.say("Enter finds · Esc closes")
        focus_now(self.field, *([had] if had is not None else []))

    def close(self) -> None:
        """Gone again."""
        self.display = False

    def say(self, state: str) -> None:
        """What stands at its end."""
        self._state.update(Content(state))

    async def _take(self, event: Typed) -> bool:
        """Enter and Escape are the line's, everything else is typed."""
        if isinstance(event, events.Key) and event.key in ("escape", "ctrl+c"):
            self.close()
            self.post_message(self.Given(""))
            return True
        if isinstance(event, events.Key) and event.key == "enter":
            self.post_message(self.Given(self.field.value))
            return True
        return await self.field.write(event)
