"""What waits to join while the agent works: seen above the prompt, taken back to be edited or dropped."""

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from clew.composing.keymap import Keymap
from clew.protocol.event_kinds.turns import PromptQueued
from clew.protocol.ids import PromptId
from clew.protocol.messages import text_of
from clew.text.terminal_text import clip, display_width, sanitize
from clew.tui.owning_app import app_of

MAX_SHOWN = 5
MAX_ROW_CHARS = 500
LABEL = "queued "
DROP = " x"
"""At the right end of each row, for the mouse."""


class QueueList(ScrollView, can_focus=True):
    """A row for each queued prompt, the next to join first. Nothing is shown while nothing waits.

    It takes nothing back by itself: a prompt is gone from the queue when `PromptWithdrawn` says so.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"queue--label", "queue--row", "queue--marked"}

    class EditWanted(Message):
        """This prompt is to be withdrawn and brought back into the prompt."""

        def __init__(self, prompt_id: PromptId) -> None:
            super().__init__()
            self.prompt_id = prompt_id

    class DropWanted(Message):
        """This prompt is to be withdrawn."""

        def __init__(self, prompt_id: PromptId) -> None:
            super().__init__()
            self.prompt_id = prompt_id

    class SendWanted(Message):
        """This prompt is to be sent now: what runs is interrupted for it."""

        def __init__(self, prompt_id: PromptId) -> None:
            super().__init__()
            self.prompt_id = prompt_id

    class Left(Message):
        """Typing goes on in the prompt."""

    def __init__(self, *, keymap: Keymap | None = None, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keymap = keymap or Keymap()
        self._queued: tuple[PromptQueued, ...] = ()
        self._lines: tuple[str, ...] = ()
        self._marked = 0
        self._actions: dict[str, Callable[[], object]] = {
            "next": lambda: self._step(1),
            "previous": lambda: self._step(-1),
            "edit": lambda: self._ask(self._marked, self.EditWanted),
            "send_now": lambda: self._ask(self._marked, self.SendWanted),
            "remove": lambda: self._ask(self._marked, self.DropWanted),
            "close": lambda: self.post_message(self.Left()),
        }
        self.display = False

    @property
    def first(self) -> PromptQueued | None:
        """The one that joins next."""
        return self._queued[0] if self._queued else None

    @property
    def last(self) -> PromptQueued | None:
        """The one that was queued last."""
        return self._queued[-1] if self._queued else None

    @property
    def held(self) -> bool:
        """Whether an earlier process left some: they wait for a key."""
        return any(item.held for item in self._queued)

    @property
    def _height(self) -> int:
        """Never more than a part of the screen: on a small one the prompt must stay in sight."""
        return min(len(self._queued), MAX_SHOWN, max(1, app_of(self).size.height // 5))

    def show(self, queued: tuple[PromptQueued, ...]) -> None:
        """Show what waits now: `SessionState.queued`. What the program itself queued is not the person's to edit."""
        mine = tuple(item for item in queued if item.origin == "user")
        if mine == self._queued:
            return
        marked = self._queued[self._marked].prompt_id if self._queued else None
        self._queued = mine
        self._lines = tuple(sanitize(text_of(item.content)[:MAX_ROW_CHARS], one_line=True) for item in mine)
        self._marked = next((at for at, item in enumerate(mine) if item.prompt_id == marked), max(0, len(mine) - 1))
        had_focus = self.has_focus
        self.display = bool(mine)
        self.styles.height = self._height
        self.virtual_size = Size(0, len(mine))
        self._show_marked()
        if had_focus and not mine:
            self.post_message(self.Left())

    def _step(self, count: int) -> None:
        target = self._marked + count
        if target >= len(self._queued):
            # Below the last row is the prompt.
            self.post_message(self.Left())
        else:
            self._marked = max(0, target)
            self._show_marked()

    def _show_marked(self) -> None:
        top = self.scroll_offset.y
        height = self._height
        if not top <= self._marked < top + height:
            top = self._marked if self._marked < top else self._marked - height + 1
            self.scroll_to(0, max(0, top), animate=False, force=True)
        self.refresh()

    def _ask(self, index: int, wanted: type[EditWanted] | type[DropWanted] | type[SendWanted]) -> None:
        if index < len(self._queued):
            self.post_message(wanted(self._queued[index].prompt_id))

    def on_focus(self) -> None:
        """The last one is what people come for."""
        self._marked = max(0, len(self._queued) - 1)
        self._show_marked()

    def on_blur(self) -> None:
        """No row is marked while the prompt has the keys."""
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        """Its own keys; every other one goes on."""
        action = self._keymap.action(("queue",), (event.key,))
        if action is not None:
            event.stop()
            event.prevent_default()
            self._actions[action]()

    def on_click(self, event: events.Click) -> None:
        """A click takes a prompt back to be edited; one at its right end drops it."""
        index = event.y + self.scroll_offset.y
        drop = event.x >= self.scrollable_content_region.width - len(DROP)
        event.stop()
        self._ask(index, self.DropWanted if drop else self.EditWanted)

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if index >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        marked = self.has_focus and index == self._marked
        label = self.get_component_rich_style("queue--label")
        style = self.get_component_rich_style("queue--marked" if marked else "queue--row")
        lead = "> " if marked else "  "
        room = max(1, width - len(lead) - len(LABEL) - len(DROP))
        text = clip(self._lines[index], room)
        gap = " " * max(0, room - display_width(text))
        strip = Strip([Segment(lead + LABEL, label), Segment(text + gap, style), Segment(DROP, label)])
        return strip.crop(0, width)
