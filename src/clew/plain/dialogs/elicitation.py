"""What a server asks for, line by line: one field after the other, then all of it once more before it is sent."""

from clew.plain.dialogs.dialog import DialogReply, Shown, quoted
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
from clew.protocol.events import ElicitationRequested
from clew.protocol.form_fields import FormField, Value, fields_to_show, read_value
from clew.protocol.ops import AnswerElicitation, Answerer

YES = frozenset({"y", "yes"})
NO = frozenset({"n", "no", "d", "decline"})
BACK = frozenset({"b", "back"})


class ElicitationLines:
    """One ElicitationRequested. Nothing is sent before a last yes."""

    def __init__(self, request: ElicitationRequested) -> None:
        self._request = request
        self._fields = () if request.url else fields_to_show(request.schema)
        self._values: dict[str, Value] = {}
        self._at = 0

    @property
    def request_id(self) -> str:
        """The id of the request it answers."""
        return self._request.request_id

    @property
    def _field(self) -> FormField | None:
        return self._fields[self._at] if self._at < len(self._fields) else None

    @property
    def prompt(self) -> str:
        """Says what can be typed."""
        field = self._field
        if field is None:
            if self._request.url:
                return "[y]es, I go there / [n]o > "
            return "Send this? [y]es / [b]ack / [n]o > " if self._fields else "Agree? [y]es / [n]o > "
        skip = "" if field.required else ", empty: nothing"
        default = f", empty: {value_words(field, field.default)}" if field.default is not None else skip
        return f"{wanted_of(field)}{default} > "

    def opening(self) -> tuple[Shown, ...]:
        """Who asks, and what; then the first field."""
        lines = [Shown(f"The MCP server {server_name(self._request)} asks you:", "bold")]
        lines += quoted(self._request.message)
        if self._request.url:
            lines += [Shown("It wants you to go to this address, in a browser of yours:"), *quoted(self._request.url)]
        lines += [Shown(words, "warning") for words in cares(self._request)]
        return (*lines, *self._step())

    def reply(self, typed: str) -> DialogReply:
        """Take a value, or the last word."""
        field = self._field
        if field is None:
            return self._last(typed.strip().lower())
        if not typed.strip():
            if field.default is None and field.required:
                return DialogReply(lines=(Shown("This one is needed. Ctrl-C declines the whole."),))
            self._take(field, field.default)
        else:
            try:
                self._take(field, read_value(field, typed))
            except ValueError as problem:
                return DialogReply(lines=(Shown(str(problem)),))
        self._at += 1
        return DialogReply(lines=self._step())

    def decline(self, reason: str, *, stop: bool, by: Answerer = "user") -> AnswerElicitation:
        """No answer."""
        return AnswerElicitation(request_id=self._request.request_id, action="decline", by=by)

    def _take(self, field: FormField, value: Value | None) -> None:
        if value is None:
            self._values.pop(field.name, None)
        else:
            self._values[field.name] = value

    def _last(self, word: str) -> DialogReply:
        if word in YES:
            values = dict(self._values)
            return DialogReply(
                op=AnswerElicitation(request_id=self._request.request_id, action="accept", values=values)
            )
        if word in NO:
            return DialogReply(op=self.decline("", stop=False))
        if word in BACK and self._fields:
            self._at = 0
            return DialogReply(lines=self._step())
        return DialogReply(lines=(Shown("y or n."),))

    def _step(self) -> tuple[Shown, ...]:
        field = self._field
        if field is None:
            return self._review()
        place = f"{self._at + 1} of {len(self._fields)}: " if len(self._fields) > 1 else ""
        lines = [Shown(f"{place}{heading_of(field)}", "bold")]
        if field.description:
            lines += quoted(told_of(field))
        for number, choice in enumerate(field.choices, start=1):
            lines.append(Shown(f"  {number}. {label_of(choice)}"))
        if field.looks_secret:
            lines.append(Shown(SECRET_CARE, "warning"))
        return tuple(lines)

    def _review(self) -> tuple[Shown, ...]:
        if not self._fields:
            return ()
        lines = [Shown(f"{server_name(self._request)} would get:", "bold")]
        for field in self._fields:
            name, value = one_line(field.name, columns=TITLE_COLUMNS), self._values.get(field.name)
            lines.append(Shown(f"  {name}: {value_words(field, value)}"))
        return tuple(lines)
