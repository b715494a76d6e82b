"""AskUser: questions with choices; a denial when nobody can answer."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import TableBlock
from clew.protocol.events import Choice, Question
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool

MAX_QUESTIONS = 4


class OptionParam(Struct, frozen=True, kw_only=True):
    """One choice."""

    label: str
    description: str = ""


class QuestionParam(Struct, frozen=True, kw_only=True, rename="camel"):
    """One question."""

    question: str
    header: Annotated[str, Meta(description="One or two words")] = ""
    options: tuple[OptionParam, ...] = ()
    multi_select: bool = False


class AskUserParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to ask."""

    questions: tuple[QuestionParam, ...]


class AskUser(BuiltinTool[AskUserParams]):
    """Ask, wait, tell the model what was said."""

    name = "AskUser"
    params: ClassVar[type[Struct]] = AskUserParams
    effect: ClassVar[Effect] = "session"

    def accesses(self, params: AskUserParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: AskUserParams, context: ToolContext) -> ToolResult:
        if not 1 <= len(params.questions) <= MAX_QUESTIONS:
            return problem(f"Ask one to {MAX_QUESTIONS} questions, not {len(params.questions)}.")
        questions = tuple(
            Question(
                question=asked.question,
                header=asked.header,
                multiple=asked.multi_select,
                choices=tuple(Choice(label=option.label, description=option.description) for option in asked.options),
            )
            for asked in params.questions
        )
        answers = await context.ask(questions)
        if answers is None:
            return problem(
                "The question was not answered: the user declined or nobody is there to answer. "
                "Go on with the safest assumption and say which one you made, or stop and say what you need."
            )
        rows = tuple(
            (question.question, ", ".join(answer) or "(no answer)")
            for question, answer in zip(questions, (*answers, *[()] * len(questions)), strict=False)
        )
        text = "The user answered:\n" + "\n".join(f"- {question}: {answer}" for question, answer in rows)
        return ToolResult(text=text, display=(TableBlock(columns=("question", "answer"), rows=rows),))
