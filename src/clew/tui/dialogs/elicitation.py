"""What a server asks for: its fields one after the other, then all values at once, and only then an answer."""

from collections.abc import Sequence

from textual import events

from clew.presentation.elicitation_text import (
    SECRET_CARE,
    TITLE_COLUMNS,
    cares,
    heading_of,
    label_of,
    one_line,
    server_name,
    told_of,
    value_words,
    wanted_of,
)
from clew.presentation.rows.spans import Row, Span, preformatted, wrapped
from clew.protocol.events import ElicitationAnswered, ElicitationRequested, Event
from clew.protocol.form_fields import FormField, Value, fields_to_show, problem_with, read_value
from clew.protocol.lookups.base import Answer
from clew.protocol.ops import AnswerElicitation, Op
from clew.text.terminal_text import reveal
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.registry import DialogContext

BAR = (Span("│ ", "dim"),)
MAX_NUMBER = 9
SEND, BACK, DECLINE, SKIP = "send", "back", "decline", "skip"


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, ElicitationRequested)
    return ElicitationDialog(event, asker=context.asker)


class ElicitationDialog(Dialog):
    """One ElicitationRequested. Values are kept while somebody goes back and forth; nothing is sent before the end."""

    field_last = True

    def __init__(self, asked: ElicitationRequested, *, asker: str = "", quiet_s: float = QUIET_S) -> None:
        super().__init__(quiet_s=quiet_s)
        self.asked = asked
        self._asker = asker
        """The way to the agent whose call it is; empty: the main one."""
        self._fields = () if asked.url else fields_to_show(asked.schema)
        self._values: dict[str, Value] = {
            field.name: field.default for field in self._fields if field.default is not None
        }
        self._at = 0

    @property
    def _field(self) -> FormField | None:
        """The one that is due; None when all were asked for."""
        return self._fields[self._at] if self._at < len(self._fields) else None

    def title(self) -> str:
        who = f" for {one_line(self._asker)}" if self._asker else ""
        return f"MCP server {server_name(self.asked)} asks you{who}"

    def note(self) -> str:
        if not self._fields:
            return ""
        return f"{self._at + 1} of {len(self._fields)}" if self._field is not None else "what is sent"

    def begin(self) -> None:
        self._show()

    def body_rows(self, columns: int) -> Sequence[Row]:
        """Its words behind a bar, so that none of them can pose as ours."""
        lines: list[Row] = [(Span(line),) for line in reveal(self.asked.message).split("\n")]
        rows = list(preformatted(lines, columns, indent=BAR))
        if self.asked.url:
            rows += wrapped((Span("It wants you to go to this address, in a browser of yours:"),), columns)
            rows += preformatted([(Span(reveal(self.asked.url), "code"),)], columns, indent=BAR)
        for words in cares(self.asked):
            rows += wrapped((Span(words, "warning"),), columns, hang=(Span("  "),))
        field = self._field
        return rows + (self._field_rows(field, columns) if field is not None else self._review_rows(columns))

    def _field_rows(self, field: FormField, columns: int) -> list[Row]:
        rows = wrapped((Span(heading_of(field), "bold"), Span(f"  {wanted_of(field)}", "dim")), columns)
        if field.description:
            rows += preformatted([(Span(told_of(field)),)], columns, indent=BAR)
        if field.looks_secret:
            rows += wrapped((Span(SECRET_CARE, "warning"),), columns, hang=(Span("  "),))
        return rows

    def _review_rows(self, columns: int) -> list[Row]:
        rows: list[Row] = []
        for field in self._fields:
            value = value_words(field, self._values.get(field.name))
            name = one_line(field.name, columns=TITLE_COLUMNS)
            rows += wrapped((Span(f"{name}: ", "dim"), Span(value)), columns, hang=(Span("  "),))
        return rows

    def hint(self) -> str:
        field = self._field
        turn = " · ← back" if self._at and not self.writing else ""
        if field is None:
            return f"letters, or ↑ ↓ and Enter{turn} · Esc declines"
        if field.kind == "choices":
            return f"numbers or Space tick · Enter goes on{turn} · Esc declines"
        if self.writing:
            skip = "" if field.required else " · empty: nothing"
            return f"Enter goes on{skip} · Esc declines"
        return f"numbers, or ↑ ↓ and Enter{turn} · Esc declines"

    def _show(self, cursor: int = NOWHERE) -> None:
        self.close_field()
        field = self._field
        if field is None:
            self.options.set(self._answers(), cursor=NOWHERE)
        elif field.kind in ("boolean", "choice", "choices"):
            self.options.set(self._choices(field), cursor=cursor)
        else:
            self.options.set(())
            given = self._values.get(field.name)
            self.open_field(wanted_of(field), "" if given is None else value_text(given))
        self.redraw()

    def _answers(self) -> list[Option]:
        """The last word."""
        who = server_name(self.asked)
        yes = "I go there" if self.asked.url else f"Send this to {who}" if self._fields else "Agree"
        found = [Option(value=SEND, key="y", label=(Span(yes),))]
        if self._fields:
            found.append(Option(value=BACK, key="b", label=(Span("Change something"),)))
        return [*found, Option(value=DECLINE, key="n", label=(Span("Decline"), Span("  Esc", "dim")))]

    def _choices(self, field: FormField) -> list[Option]:
        given = self._values.get(field.name)
        pairs = [(one.value, label_of(one)) for one in field.choices] or [("yes", "Yes"), ("no", "No")]
        found: list[Option] = []
        for at, (value, label) in enumerate(pairs):
            if field.kind == "choices":
                box = isinstance(given, list) and value in given
                found.append(Option(value=value, key=_key(at), label=(Span(label),), checked=box))
                continue
            is_given = given == value if field.kind == "choice" else given is (value == "yes")
            chosen = (Span("  (chosen)", "dim"),) if given is not None and is_given else ()
            found.append(Option(value=value, key=_key(at), label=(Span(label), *chosen)))
        if not field.required and field.kind != "choices":
            found.append(Option(value=SKIP, key=_key(len(pairs)), label=(Span("Nothing", "dim"),)))
        return found

    def press(self, event: events.Key) -> bool:
        if not self.writing and event.key == "left":
            self._step_back()
            return True
        if self.writing and self._at and event.key in ("up", "shift+tab"):
            self._step_back()
            return True
        return super().press(event)

    def _step_back(self) -> None:
        if self._at:
            self._at -= 1
            self._show()

    def chosen(self, place: int) -> None:
        field, value = self._field, self.options.items[place].value
        if field is None:
            self._decided(value)
        elif field.kind == "choices":
            self._go_on(field, self._values.get(field.name, []))
        elif place == len(self.options.items) - 1 and value == SKIP and not field.required:
            self._go_on(field, None)
        else:
            self._go_on(field, value == "yes" if field.kind == "boolean" else value)

    def toggled(self, place: int) -> None:
        field = self._field
        if field is None:
            return
        given = self._values.get(field.name)
        ticked = set(given) if isinstance(given, list) else set[str]()
        ticked ^= {self.options.items[place].value}
        self._values[field.name] = [one.value for one in field.choices if one.value in ticked]
        self._show(cursor=place)

    def entered(self, text: str) -> None:
        field = self._field
        if field is None:
            return
        if not text.strip():
            self._go_on(field, None)
            return
        try:
            self._go_on(field, read_value(field, text))
        except ValueError as problem:
            self.say(str(problem))

    def _go_on(self, field: FormField, value: Value | None) -> None:
        if value is None:
            if field.required:
                self.say("This one is needed. Esc declines the whole.")
                return
            self._values.pop(field.name, None)
        elif problem := problem_with(field, value):
            self.say(problem)
            return
        else:
            self._values[field.name] = value
        self._at += 1
        self._show()

    def _decided(self, value: str) -> None:
        match value:
            case "send":
                values = dict(self._values)
                self.finish(AnswerElicitation(request_id=self.asked.request_id, action="accept", values=values))
            case "back":
                self._at = 0
                self._show()
            case _:
                self.back()

    def back(self) -> None:
        self.finish(*self.refusal(stop=False))

    def refusal(self, *, stop: bool) -> tuple[Op, ...]:
        return (AnswerElicitation(request_id=self.asked.request_id, action="decline"),)

    def settled_by(self, event: Event | Answer) -> bool:
        return isinstance(event, ElicitationAnswered) and event.request_id == self.asked.request_id


def value_text(value: Value) -> str:
    """A value as it is typed."""
    return str(value)


def _key(at: int) -> str:
    return str(at + 1) if at < MAX_NUMBER else " "
