"""The model's questions: numbered choices, several at once where allowed, or words of one's own."""

from clew.plain.dialogs.dialog import DialogReply, Shown
from clew.protocol.events import Question, QuestionAsked
from clew.protocol.ops import Answerer, AnswerQuestion
from clew.text.terminal_text import sanitize


class QuestionLines:
    """One QuestionAsked; its questions are put one after the other."""

    def __init__(self, request: QuestionAsked) -> None:
        self._request = request
        self._answers: list[tuple[str, ...]] = []

    @property
    def request_id(self) -> str:
        """The id of the request it answers."""
        return self._request.request_id

    @property
    def _current(self) -> Question:
        return self._request.questions[len(self._answers)]

    @property
    def prompt(self) -> str:
        """Says what can be typed."""
        question = self._current
        if not question.choices:
            return "Your answer > "
        return "Numbers, or your own words > " if question.multiple else "Number, or your own words > "

    def opening(self) -> tuple[Shown, ...]:
        """The question that is due, with its choices."""
        if not self._request.questions:
            return ()
        question = self._current
        total = len(self._request.questions)
        place = f" {len(self._answers) + 1} of {total}" if total > 1 else ""
        header = f" ({_one_line(question.header)})" if question.header else ""
        lines = [Shown(f"Question{place}{header}: {_one_line(question.question)}", "bold")]
        for number, choice in enumerate(question.choices, start=1):
            described = f": {_one_line(choice.description)}" if choice.description else ""
            lines.append(Shown(f"  {number}. {_one_line(choice.label)}{described}"))
        if question.multiple:
            lines.append(Shown("  Several are possible, for example 1 3."))
        return tuple(lines)

    def reply(self, typed: str) -> DialogReply:
        """Take the answer of the current question; the last one completes the op."""
        if not self._request.questions:
            return DialogReply(op=AnswerQuestion(request_id=self._request.request_id, answers=()))
        answer = read_answer(self._current, typed.strip())
        if isinstance(answer, str):
            return DialogReply(lines=(Shown(answer),))
        self._answers.append(answer)
        if len(self._answers) < len(self._request.questions):
            return DialogReply(lines=self.opening())
        return DialogReply(op=AnswerQuestion(request_id=self._request.request_id, answers=tuple(self._answers)))

    def decline(self, reason: str, *, stop: bool, by: Answerer = "user") -> AnswerQuestion:
        """No answer."""
        return AnswerQuestion(request_id=self._request.request_id, answers=(), declined=True, by=by)


def read_answer(question: Question, typed: str) -> tuple[str, ...] | str:
    """The chosen labels or the free text; a plain string says what was wrong."""
    if not typed:
        return "An empty line is no answer. Ctrl-C declines."
    labels = [choice.label for choice in question.choices]
    numbers = typed.replace(",", " ").split()
    if labels and all(number.isdecimal() for number in numbers):
        picked = [int(number) for number in dict.fromkeys(numbers)]
        if not all(1 <= number <= len(labels) for number in picked):
            return f"The choices have numbers 1 to {len(labels)}."
        if len(picked) > 1 and not question.multiple:
            return "Only one choice is possible here."
        return tuple(labels[number - 1] for number in picked)
    same = next((label for label in labels if label.casefold() == typed.casefold()), None)
    return (same or typed,)


def _one_line(text: str) -> str:
    return sanitize(text, one_line=True)
