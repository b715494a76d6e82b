"""A dialog: shown in place of the prompt, walked by keys or mouse, and over after exactly one answer.

Keys and clicks that come before it has been still for `QUIET_S` never answer it: whoever types a sentence while it
opens must not allow something by its letters. What was typed so is posted as `Overtyped`, for the draft.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from textual import events
from textual.message import Message
from textual.widgets import Input

from clew.protocol.events import Event
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.ops import Op, OpBase
from clew.tui.dialogs.frame import Frame
from clew.tui.dialogs.options import NOWHERE, Options
from clew.tui.dialogs.quiet import QuietTime
from clew.tui.terminal.key_order import Typed, focus_now, waiting_keys

A = TypeVar("A", bound=Answer)
QUIET_S = 0.3

KEYS = {
    "up": "previous",
    "ctrl+p": "previous",
    "shift+tab": "previous",
    "down": "next",
    "ctrl+n": "next",
    "tab": "next",
    "enter": "accept",
    "escape": "dismiss",
    "pageup": "page_up",
    "pagedown": "page_down",
}
"""Which key does what, unless the App gives an `action_of` of its own."""
ALWAYS = {
    "space": "toggle",
    "ctrl+up": "scroll_up",
    "shift+up": "scroll_up",
    "ctrl+down": "scroll_down",
    "shift+down": "scroll_down",
}
"""Further keys of every dialog."""


class Dialog(Frame):
    """One decision, or one thing to choose."""

    class Answered(Message):
        """It is over; these say what was decided."""

        def __init__(self, decided: tuple[Op | Lookup[Any], ...]) -> None:
            super().__init__()
            self.ops = tuple(one for one in decided if isinstance(one, OpBase))
            self.lookups = tuple(one for one in decided if isinstance(one, Lookup))

    class Dismissed(Message):
        """It is over, and nothing was decided."""

    class Sent(Message):
        """It asks for something to be done, and stays open."""

        def __init__(self, op: Op) -> None:
            super().__init__()
            self.op = op

    class Inquired(Message):
        """It wants to know something, and takes the answer, or why there is none."""

        def __init__(self, lookup: Lookup[A], then: Callable[[A], None], refused: Callable[[str], None]) -> None:
            super().__init__()
            self.lookup: Lookup[Any] = lookup
            self.then: Callable[[Any], None] = then
            self.refused = refused

    class Overtyped(Message):
        """This text belongs into the prompt: somebody typed it as the dialog opened, or took it from there."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    wanted_command = ""
    """A command that somebody took; it goes into the prompt when the dialog closes."""
    wanted_agent = MAIN_AGENT
    """The agent whose asks come first when the dialog closes."""
    viewed_agent = MAIN_AGENT
    """The agent that is shown when the dialog closes; the main one: nothing changes."""
    clicks_choose = True
    """A click on an option chooses it; otherwise the first one points and the next one chooses."""
    context = "dialog"
    """The context of its keys in the user's key map."""

    def __init__(self, *, quiet_s: float = QUIET_S) -> None:
        super().__init__()
        self.action_of: Callable[[str], str | None] = self.usual_keys().get
        """What a key means here; the App may put the user's own keys in."""
        self.field.first = self._take_key
        self._quiet = QuietTime(quiet_s, over=self._listen)
        self._overtyped = False
        self._over = False
        self._late: list[Typed] = []
        """What was typed after the decision."""
        self._seen: Typed | None = None
        self._asked: dict[str, int] = {}
        """How often something was asked, by what it was about."""
        self._text = ""
        """What the field held when it was last looked at."""

    def on_mount(self) -> None:
        """Open: nothing counts until it has been still for a moment."""
        focus_now(self)
        self._quiet.begin()
        self.options.live = not self.quiet
        self.begin()

    def on_unmount(self) -> None:
        self._quiet.end()

    @classmethod
    def usual_keys(cls) -> dict[str, str]:
        """The keys of a dialog nobody changed."""
        return KEYS

    def begin(self) -> None:
        """Fill the options and whatever else it starts with."""

    def chosen(self, place: int) -> None:
        """An option was chosen."""

    def toggled(self, place: int) -> None:
        """The box of an option was ticked or cleared."""

    def pointed(self) -> None:
        """The cursor moved."""

    def typed(self, text: str) -> None:
        """The text of the field changed."""

    def entered(self, text: str) -> None:
        """Enter was pressed in the field."""

    def back(self) -> None:
        """Esc."""
        self.dismiss()

    def news(self, event: Event) -> None:
        """Something happened while it is open."""

    def settled_by(self, event: Event | Answer) -> bool:
        """Whether this event means that nothing is to be decided here any more."""
        return False

    def refusal(self, *, stop: bool) -> tuple[Op, ...]:
        """What closing it without an answer sends, as when the turn is interrupted; `stop` ends the turn as well."""
        return ()

    def finish(self, *decided: Op | Lookup[Any]) -> None:
        """Decide; only the first time counts."""
        if not self._over:
            self._over = True
            self.post_message(self.Answered(decided))

    def ask_for(self, op: Op) -> None:
        """Have something done without closing; `news` tells what came of it."""
        if not self._over:
            self.post_message(self.Sent(op))

    def dismiss(self) -> None:
        """Close without deciding."""
        if not self._over:
            self._over = True
            self.post_message(self.Dismissed())

    def inquire(
        self, lookup: Lookup[A], then: Callable[[A], None], refused: Callable[[str], None], *, about: str = ""
    ) -> None:
        """Ask the machine something. What comes back counts as long as it is open and nothing else was asked `about`
        the same."""
        if self._over:
            return
        number = self._asked[about] = self._asked.get(about, 0) + 1

        def counts() -> bool:
            return self.is_attached and not self._over and self._asked[about] == number

        self.post_message(
            self.Inquired(
                lookup,
                lambda answer: then(answer) if counts() else None,
                lambda reason: refused(reason) if counts() else None,
            )
        )

    def open_field(self, placeholder: str, value: str = "") -> None:
        """Let something be typed."""
        self.field.placeholder = placeholder
        self._text = value
        self.field.value = value
        self.field.cursor_position = len(value)
        self.field.display = True
        if not self.quiet:
            focus_now(self.field, self)

    def close_field(self) -> None:
        """Nothing to type any more."""
        if self.field.display:
            self.field.display = False
            focus_now(self, self.field)

    @property
    def quiet(self) -> bool:
        """Keys and clicks do not count yet."""
        return self._quiet.runs

    @property
    def writing(self) -> bool:
        """Keys that write go to the field."""
        return self.field.display and not self.quiet

    def _listen(self) -> None:
        """The quiet time is over."""
        if not self.is_attached:
            return
        self.options.live = True
        if self.field.display and self.has_focus:
            focus_now(self.field, self)
        if self._overtyped:
            self.say("What you typed as this opened did not count.")
        self.redraw()

    async def on_key(self, event: events.Key) -> None:
        await self._keep(event)

    async def on_paste(self, event: events.Paste) -> None:
        await self._keep(event)

    async def _keep(self, event: Typed) -> None:
        if event is not self._seen and await self._take_key(event):
            event.stop()
            event.prevent_default()

    async def _take_key(self, event: Typed) -> bool:
        """What was typed here or in the field, one after the other; whether it meant something."""
        self._seen = event
        is_key = isinstance(event, events.Key)
        if self._over:
            self._late.append(event)
            return True
        if self.quiet:
            self._note_overtyped(event.text if not is_key else event.character if event.is_printable else "")
            return True
        if is_key:
            self.unsay()
            if self.press(event):
                return True
        taken = self.writing and await self.field.write(event)
        self._read_field()
        return taken

    def leave_keys(self) -> list[Typed]:
        """What was typed and is not for this dialog any more."""
        return [*self._late, *waiting_keys(self), *waiting_keys(self.field)]

    def _note_overtyped(self, text: str | None) -> None:
        self._overtyped = True
        self._quiet.begin()
        if text:
            self.post_message(self.Overtyped(text))

    def press(self, event: events.Key) -> bool:
        """A key that counts; whether it meant something here."""
        action = self.action_of(event.key) or ALWAYS.get(event.key, "")
        if action == "toggle" and self.writing:
            return False
        if action:
            return self._act(action)
        if self.writing or not event.is_printable or not event.character:
            return False
        place = self.options.named(event.character)
        if place != NOWHERE:
            self._take(place)
        return True

    def _act(self, action: str) -> bool:
        match action:
            case "previous" | "next":
                if self.options.walk(1 if action == "next" else -1):
                    self.pointed()
            case "accept":
                self._choose()
            case "dismiss":
                self.back()
            case "page_up" | "page_down":
                self.page(1 if action == "page_down" else -1)
            case "preview":
                self.aside_below = not self.aside_below
                self.pointed()
                self.redraw()
            case "scroll_up" | "scroll_down":
                self.scroll_body(1 if action == "scroll_down" else -1)
            case "toggle" if self.options.cursor != NOWHERE:
                self._take(self.options.cursor)
            case _:
                return False
        return True

    def page(self, direction: int) -> None:
        """A screenful of the text, or of the options where there is no text to scroll."""
        if self.body.max_scroll_y:
            self.scroll_body(direction * max(self.body.size.height - 1, 1))
        elif self.options.walk(direction * max(self.options.size.height - 1, 1)):
            self.pointed()

    def _choose(self) -> None:
        if self.options.cursor != NOWHERE:
            self.chosen(self.options.cursor)
        elif self.writing:
            self.entered(self.field.value)
        else:
            self.say("Nothing is chosen yet: go there with the arrows, or press its letter.")

    def _take(self, place: int) -> None:
        self.options.point(place)
        if self.options.items[place].checked is not None:
            self.toggled(place)
        else:
            self.chosen(place)

    def on_options_clicked(self, event: Options.Clicked) -> None:
        event.stop()
        if self.quiet:
            return
        self.unsay()
        if self.clicks_choose or event.place == self.options.cursor:
            self._take(event.place)
        else:
            self.options.point(event.place)
            self.pointed()

    def take_focus(self) -> None:
        """Keys come here, or to the field where something is typed."""
        focus_now(self.field if self.writing else self, self, self.field)

    def on_click(self, event: events.Click) -> None:
        self.take_focus()
        if event.widget is self.divider:
            self.page(1)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._read_field()

    def _read_field(self) -> None:
        """What is shown fits what was typed, before the next key is looked at."""
        if self.field.display and self.field.value != self._text:
            self._text = self.field.value
            self.typed(self._text)
