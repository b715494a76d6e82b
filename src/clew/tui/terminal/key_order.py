"""The order of keys: what was typed goes where the key before it has led, however fast it came.

Textual hands a key to whoever has the focus when it comes, and each widget looks at its keys when it gets to them. So
whoever gives the focus away gives away the keys with it that it has not looked at yet, in the same moment.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast

from textual import events
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

Typed = events.Key | events.Paste


def waiting_keys(widget: Widget) -> list[Typed]:
    """The keys that a widget was given and has not looked at; they are no longer its own."""
    pump = cast(Any, widget)  # Textual has no way to take something back, and leaves the type of its queue open
    queue = cast("asyncio.Queue[Message | None]", pump._message_queue)
    found: list[Message | None] = []
    if pump._pending_message is not None:  # looked at to see whether it stands for the one before
        found.append(pump._pending_message)
        pump._pending_message = None
        queue.task_done()
    while not queue.empty():
        found.append(queue.get_nowait())
        queue.task_done()
    for message in found:
        if not isinstance(message, Typed):
            queue.put_nowait(message)
    return [message for message in found if isinstance(message, Typed)]


class LineField(Input):
    """One line to type. What a key does is done when it is seen; Textual would do some of it after later keys."""

    first: Callable[[Typed], Awaitable[bool]] | None = None
    """Who looks at a key before the field does, and gives to `write` what is meant for it."""

    async def _on_key(self, event: events.Key) -> None:
        event.prevent_default()
        if await (self.first or self.write)(event):
            event.stop()

    async def on_paste(self, event: events.Paste) -> None:
        """The same for what is pasted."""
        event.prevent_default()
        if await (self.first or self.write)(event):
            event.stop()

    async def write(self, event: Typed) -> bool:
        """Take a key or a paste as text or as an edit. False: it is neither."""
        if isinstance(event, events.Paste):
            self._on_paste(event)
            return True
        if event.is_printable and event.character:
            await Input._on_key(self, event)
            return True
        bindings = self._bindings.key_to_bindings.get(event.key, ())
        for binding in bindings:
            await self.run_action(binding.action)
        return bool(bindings)


def hand_over(keys: Iterable[Typed], to: Widget) -> None:
    """Give keys that nobody looked at, or that came too late for who did, to another widget."""
    for event in keys:
        event.stop(False)
        event.prevent_default(False)
        to.post_message(event)


def focus_now(widget: Widget, *before: Widget) -> None:
    """Give the focus to a widget, with the keys that wait at those who had it. `Widget.focus` would do it some time
    later, and whatever is typed meanwhile would go astray."""
    widget.screen.set_focus(widget, scroll_visible=False)
    hand_over([event for had in before if had is not widget for event in waiting_keys(had)], widget)
