"""A dialog: shown in place of the prompt, walked by keys or mouse, and over after exactly one answer.

Keys and clicks that come before it has been still for `QUIET_S` never answer it: whoever types a sentence while it
opens must not allow something by its letters. What was typed so is posted as `Overtyped`, for the draft.
"""

import asyncio
from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from clew.presentation.rows import Row, Span, clipped, spread, width_of, wrapped
from clew.protocol.events import Event
from clew.protocol.ids import OpId
from clew.protocol.ops import Op
from clew.tui.dialogs.layout import WIDE, DialogLayout, Part, rows_allowed
from clew.tui.dialogs.options import NOWHERE, Options
from clew.tui.dialogs.row_view import RowView

QUIET_S = 0.3
RULE = "─"
MIN_BODY = 3
MIN_OPTIONS = 3
ASIDE_ROWS = 7
"""What stands beside the options has this many rows where it must stand below them."""

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


class Dialog(Widget, can_focus=True):
    """Heading, text, field, options and hint, of which each kind fills what it needs."""

    class Answered(Message):
        """It is over; these ops say what was decided."""

        def __init__(self, ops: tuple[Op, ...]) -> None:
            super().__init__()
            self.ops = ops

    class Dismissed(Message):
        """It is over, and nothing was decided."""

    class Inquired(Message):
        """It wants to know something: send the op, and give what comes back to `hear`."""

        def __init__(self, op: Op) -> None:
            super().__init__()
            self.op = op

    class Overtyped(Message):
        """This text belongs into the prompt: somebody typed it as the dialog opened, or took it from there."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    field_last = False
    """The field stands under the options."""
    aside_below = False
    """Whether it is shown there at all."""
    clicks_choose = True
    """A click on an option chooses it; otherwise the first one points and the next one chooses."""
    context = "dialog"
    """The context of its keys in the user's key map."""

    def __init__(self, *, quiet_s: float = QUIET_S) -> None:
        super().__init__(classes="dialog")
        self.action_of: Callable[[str], str | None] = self.usual_keys().get
        """What a key means here; the App may put the user's own keys in."""
        self._quiet_s = quiet_s
        self._quiet: asyncio.TimerHandle | None = None
        self._overtyped = False
        self._over = False
        self._said: Row = ()
        self._asked = 0
        self._text = ""
        """What the field held when it was last looked at."""
        self._heading = RowView(lambda columns: [self._heading_row(columns)], classes="heading")
        self.body = RowView(self.body_rows, classes="body")
        self._divider = RowView(self._divider_rows, classes="divider")
        self.field = Input(compact=True, select_on_focus=False, classes="field")
        self.options = Options(classes="options")
        self.aside = RowView(classes="aside")
        self._gap = RowView(lambda columns: [()], classes="gap")
        self._hint = RowView(self._hint_rows, classes="hint")
        self._placing = DialogLayout(self)

    def compose(self) -> ComposeResult:
        """All parts; those a dialog does not use take no rows."""
        yield self._heading
        yield self.body
        yield self._divider
        if self.field_last:
            yield from (self.options, self.aside, self.field)
        else:
            yield from (self.field, self.options, self.aside)
        yield self._gap
        yield self._hint

    def on_mount(self) -> None:
        """Open: nothing counts until it has been still for a moment."""
        self.field.cursor_blink = False
        self.field.display = False
        self.aside.display = False
        self.watch(self.body, "scroll_y", self._count_below, init=False)
        self.watch(self.body, "virtual_size", self._count_below, init=False)
        self.focus()
        if self._quiet_s > 0:
            self.options.live = False
            self._start_quiet()
        self.begin()

    def on_unmount(self) -> None:
        if self._quiet is not None:
            self._quiet.cancel()

    @classmethod
    def usual_keys(cls) -> dict[str, str]:
        """The keys of a dialog nobody changed."""
        return KEYS

    # What a kind of dialog says.

    def begin(self) -> None:
        """Fill the options and whatever else it starts with."""

    def title(self) -> str:
        """What it is about, in a few words."""
        return ""

    def note(self) -> str:
        """At the right end of the heading."""
        return ""

    def body_rows(self, columns: int) -> Sequence[Row]:
        """The text to decide on."""
        return ()

    def hint(self) -> str:
        """Which keys do what."""
        return ""

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

    def hear(self, event: Event) -> bool:
        """An event that came while it is open; whether it was meant for the dialog."""
        return False

    def settled_by(self, event: Event) -> bool:
        """Whether this event means that nothing is to be decided here any more."""
        return False

    def refusal(self, *, stop: bool) -> tuple[Op, ...]:
        """What closing it without an answer sends, as when the turn is interrupted; `stop` ends the turn as well."""
        return ()

    # What it does.

    def finish(self, *ops: Op) -> None:
        """Decide; only the first time counts."""
        if not self._over:
            self._over = True
            self.post_message(self.Answered(ops))

    def dismiss(self) -> None:
        """Close without deciding."""
        if not self._over:
            self._over = True
            self.post_message(self.Dismissed())

    def inquire(self, op: Op) -> None:
        """Ask the machine something."""
        if not self._over:
            self.post_message(self.Inquired(op))

    def next_op_id(self) -> OpId:
        """To tell the answer to the last question from answers to earlier ones."""
        self._asked += 1
        return OpId(f"dialog-{id(self):x}-{self._asked}")

    def say(self, text: str, style: str = "notice") -> None:
        """Something in place of the hint, until the next key."""
        self._said = (Span(text, style),)
        self._hint.changed()

    def redraw(self) -> None:
        """What it shows has changed."""
        for part in (self._heading, self.body, self._divider, self.options, self.aside, self._hint):
            part.changed()
        self.refresh(layout=True)

    def open_field(self, placeholder: str, value: str = "") -> None:
        """Let something be typed."""
        self.field.placeholder = placeholder
        self._text = value
        self.field.value = value
        self.field.cursor_position = len(value)
        self.field.display = True
        if not self.quiet:
            self.field.focus()

    def close_field(self) -> None:
        """Nothing to type any more."""
        if self.field.display:
            self.field.display = False
            self.focus()

    @property
    def quiet(self) -> bool:
        """Keys and clicks do not count yet."""
        return self._quiet is not None

    @property
    def writing(self) -> bool:
        """Keys that write go to the field."""
        return self.field.display and not self.quiet

    def _start_quiet(self) -> None:
        if self._quiet is not None:
            self._quiet.cancel()
        self._quiet = asyncio.get_running_loop().call_later(self._quiet_s, self._end_quiet)

    def _end_quiet(self) -> None:
        self._quiet = None
        if not self.is_attached:
            return
        self.options.live = True
        if self.field.display and self.has_focus:
            self.field.focus()
        if self._overtyped:
            self.say("What you typed as this opened did not count.")
        self.redraw()

    # Keys and mouse.

    def on_key(self, event: events.Key) -> None:
        if self.quiet:
            event.stop()
            event.prevent_default()
            self._note_overtyped(event.character if event.is_printable else "")
            return
        self._unsay()
        if self.press(event):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        if self.quiet:
            event.stop()
            self._note_overtyped(event.text)

    def _note_overtyped(self, text: str | None) -> None:
        self._overtyped = True
        self._start_quiet()
        if text:
            self.post_message(self.Overtyped(text))

    def _unsay(self) -> None:
        if self._said:
            self._said = ()
            self._hint.changed()

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

    def scroll_body(self, rows: int) -> None:
        """Move the text."""
        self.body.scroll_to(y=self.body.scroll_offset.y + rows, animate=False)

    def _count_below(self) -> None:
        self.call_after_refresh(self._divider.changed)

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
        self._unsay()
        if self.clicks_choose or event.place == self.options.cursor:
            self._take(event.place)
        else:
            self.options.point(event.place)
            self.pointed()

    def on_click(self, event: events.Click) -> None:
        (self.field if self.writing else self).focus()
        if event.widget is self._divider:
            self.page(1)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._text:
            self._text = event.value
            self.typed(event.value)

    # Where everything stands.

    @property
    def layout(self) -> DialogLayout:
        return self._placing

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        children = [child for child in self.children if child.display]
        allowed = rows_allowed(viewport.height) - self.styles.gutter.height
        return min(self._placing.height(children, width), allowed)

    def part(self, child: Widget, columns: int) -> Part:
        """The rows a child wants at this width."""
        wants = child.wanted(columns) if isinstance(child, RowView) else 1
        if child is self.aside and self.beside(columns) is None:
            wants = min(wants, ASIDE_ROWS) if self.aside_below else 0
        least = MIN_BODY if child is self.body else MIN_OPTIONS if child is self.options else wants
        return Part(wants=wants, least=0 if child is self._gap else min(least, wants))

    def beside(self, columns: int) -> tuple[Widget, Widget] | None:
        """What stands beside the options."""
        return (self.options, self.aside) if self.aside.display and columns >= WIDE else None

    def _heading_row(self, columns: int) -> Row:
        note = f" {self.note()} {RULE}" if self.note() else ""
        left: Row = (Span(f"{RULE}{RULE} ", "dim"), Span(self.title(), "bold"), Span(" "))
        left = clipped(left, max(columns - width_of((Span(note),)), 8))
        middle = max(columns - width_of(left) - width_of((Span(note),)), 0)
        return (*left, Span(RULE * middle + note, "dim"))

    def _divider_rows(self, columns: int) -> list[Row]:
        if not self.body.rows(columns - 1):
            return []
        below = self.body.below if self.body.size.height else 0
        if not below:
            return [()]
        words = f"↓ {below:,} more row{'' if below == 1 else 's'}"
        return [spread((Span(words, "warning"),), (Span("PgDn, wheel", "dim"),), columns)]

    def _hint_rows(self, columns: int) -> list[Row]:
        rows = wrapped(self._said or (Span(self.hint(), "dim"),), columns)
        return [()] * len(rows) if self.quiet and not self._said else rows
