"""The line in which words to search the transcript for are typed."""

from textual import events
from textual.message import Message
from textual.widgets import Input


class FindLine(Input):
    """Seen only while it is open."""

    class Given(Message):
        """Enter was pressed, or it was closed with nothing."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    def __init__(self) -> None:
        super().__init__(placeholder="find in the conversation", compact=True, id="find")
        self.display = False
        self.cursor_blink = False

    def open(self) -> None:
        """Ask."""
        self.display = True
        self.value = ""
        self.focus()

    def close(self) -> None:
        """Gone again."""
        self.display = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search."""
        event.stop()
        self.close()
        self.post_message(self.Given(event.value))

    def on_key(self, event: events.Key) -> None:
        """Escape gives nothing."""
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(self.Given(""))
