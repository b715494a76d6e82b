"""The model's questions: one after the other, with choices to pick or tick, and always room for words of one's own."""

from collections.abc import Sequence

from textual import events

from clew.presentation.rows.spans import Row, Span, wrapped
from clew.protocol.events import Event, Question, QuestionAnswered, QuestionAsked
from clew.protocol.lookups.base import Answer
from clew.protocol.ops import AnswerQuestion, Op
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.registry import DialogContext

OWN = "own words"
MAX_NUMBER = 9


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, QuestionAsked)
    return QuestionDialog(event, context)


class QuestionDialog(Dialog):
    """One QuestionAsked. Answers are kept while somebody goes back and forth; the last one sends them all."""

    field_last = True

    def __init__(self, asked: QuestionAsked, context: DialogContext, *, quiet_s: float = QUIET_S) -> None:
        super().__init__(quiet_s=quiet_s)
        self.asked = asked
        self._asker = context.asker
        self._at = 0
        self._ticked: list[set[int]] = [set() for _ in asked.questions]
        """The choices taken, by question."""
        self._own: list[str] = [""] * len(asked.questions)
        """Words of one's own, by question."""

    @property
    def _question(self) -> Question:
        return self.asked.questions[self._at] if self.asked.questions else Question(question="(no question)")

    def title(self) -> str:
        header = sanitize(self._question.header, one_line=True)
        who = f" of {sanitize(self._asker, one_line=True)}" if self._asker else ""
        return f"Question{who} · {header}" if header else f"Question{who}"

    def note(self) -> str:
        total = len(self.asked.questions)
        return f"{self._at + 1} of {total}" if total > 1 else ""

    def begin(self) -> None:
        self._show()

    def body_rows(self, columns: int) -> Sequence[Row]:
        return wrapped((Span(sanitize(self._question.question), "bold"),), columns)

    def _show(self, cursor: int = NOWHERE) -> None:
        """The question that is due; one without choices is answered in the field."""
        self.close_field()
        if self._question.choices:
            self.options.set(self._choices(), cursor=cursor)
        else:
            self.options.set(())
            self._write()
        self.redraw()

    def _choices(self) -> list[Option]:
        question, ticked = self._question, self._ticked[self._at]
        found: list[Option] = []
        for at, choice in enumerate(question.choices):
            label = [Span(sanitize(choice.label, one_line=True))]
            if not question.multiple and at in ticked:
                label.append(Span("  (chosen)", "dim"))
            if choice.description:
                label.append(Span(f"  {sanitize(choice.description, one_line=True)}", "dim"))
            box = at in ticked if question.multiple else None
            found.append(Option(value=str(at), key=_key(at), label=tuple(label), checked=box))
        own = sanitize(self._own[self._at], one_line=True)
        words = (Span("Your own words"), Span(f"  {own}" if own else " …", "dim"))
        box = bool(own) if question.multiple else None
        found.append(Option(value=OWN, key=_key(len(question.choices)), label=words, checked=box))
        return found

    def hint(self) -> str:
        leave = "Esc back" if self.writing and self._question.choices else "Esc declines"
        turn = " · ← → questions" if len(self.asked.questions) > 1 and not self.writing else ""
        if self.writing:
            return f"Enter answers · {leave}"
        if self._question.multiple:
            return f"numbers or Space tick · Enter answers{turn} · {leave}"
        return f"numbers, or ↑ ↓ and Enter{turn} · {leave}"

    def press(self, event: events.Key) -> bool:
        if not self.writing and event.key in ("left", "right"):
            self._turn(1 if event.key == "right" else -1)
            return True
        if self.writing and self._question.choices and event.key in ("up", "shift+tab"):
            self._own[self._at] = self.field.value.strip()
            self._show(cursor=len(self._question.choices) - 1)
            return True
        return super().press(event)

    def _turn(self, step: int) -> None:
        at = self._at + step
        if 0 <= at < len(self.asked.questions) and (step < 0 or self._answer(self._at)):
            self._at = at
            self._show()
        elif step > 0:
            self.say("Answer this one first." if not self._answer(self._at) else "This is the last question.")

    def chosen(self, place: int) -> None:
        if self.options.items[place].value == OWN and not (self._question.multiple and self._answer(self._at)):
            self._write()
        elif self._question.multiple:
            self._go_on()
        else:
            self._ticked[self._at] = {place}
            self._own[self._at] = ""
            self._go_on()

    def toggled(self, place: int) -> None:
        if self.options.items[place].value == OWN:
            self._write()
            return
        self._ticked[self._at] ^= {place}
        self.options.set(self._choices(), cursor=place)
        self.redraw()

    def _write(self) -> None:
        self.options.point(NOWHERE)
        self.open_field("your answer", self._own[self._at])
        self.redraw()

    def entered(self, text: str) -> None:
        self._own[self._at] = text.strip()
        if not self._question.multiple:
            self._ticked[self._at] = set()
        self._go_on()

    def _answer(self, at: int) -> tuple[str, ...]:
        choices = self.asked.questions[at].choices
        labels = [choice.label for place, choice in enumerate(choices) if place in self._ticked[at]]
        return (*labels, self._own[at]) if self._own[at] else tuple(labels)

    def _go_on(self) -> None:
        if not self.asked.questions:
            self.finish(AnswerQuestion(request_id=self.asked.request_id, answers=()))
        elif not self._answer(self._at):
            self.say("Nothing is answered yet. Esc declines.")
        elif self._at + 1 < len(self.asked.questions):
            self._at += 1
            self._show()
        else:
            answers = tuple(self._answer(at) for at in range(len(self.asked.questions)))
            self.finish(AnswerQuestion(request_id=self.asked.request_id, answers=answers))

    def back(self) -> None:
        if self.writing and self._question.choices:
            self._own[self._at] = self.field.value.strip() if self._question.multiple else ""
            self._show(cursor=len(self._question.choices))
        else:
            self.finish(*self.refusal(stop=False))

    def refusal(self, *, stop: bool) -> tuple[Op, ...]:
        return (AnswerQuestion(request_id=self.asked.request_id, answers=(), declined=True),)

    def settled_by(self, event: Event | Answer) -> bool:
        return isinstance(event, QuestionAnswered) and event.request_id == self.asked.request_id


def _key(at: int) -> str:
    return str(at + 1) if at < MAX_NUMBER else " "
