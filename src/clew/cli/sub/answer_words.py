"""What a person types as an answer, as the op it means; and an ask as one line that holds the exact call."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from clew.presentation.approval_text import one_line
from clew.protocol.events import ApprovalRequested, Ask, ElicitationRequested, PlanProposed, Question, QuestionAsked
from clew.protocol.form_fields import fields_of
from clew.protocol.ids import OpId
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import (
    AnswerApproval,
    AnswerElicitation,
    AnswerOp,
    AnswerPlan,
    AnswerQuestion,
    declined,
    kind_of,
)
from clew.protocol.state import OpenAsk

OP_ID = OpId("answer")
ALLOW, DENY = "allow", "deny"


def ask_line(asked: OpenAsk, call: ToolCallPart | None, path: str = "") -> str:
    """One line: the request's id, its kind, exactly what would happen, and by which way its agent is reached."""
    who = f"  [{one_line(path)}]" if path else ""
    return f"{asked.ask.request_id}  {_about(asked.ask, call)}{who}"


def _about(ask: Ask, call: ToolCallPart | None) -> str:
    match ask:
        case ApprovalRequested():
            given = _json(call.arguments if call is not None else ask.input())
            return f"approval  {one_line(ask.tool)}  {one_line(ask.subject)}  {given}  ({one_line(ask.why)})"
        case QuestionAsked():
            asked = "; ".join(f"{item.question} [{_labels(item)}]" for item in ask.questions)
            return f"question  {one_line(asked)}"
        case PlanProposed():
            return f"plan  {one_line(ask.plan)}"
        case ElicitationRequested():
            what = ask.url or ", ".join(ask.schema.get("properties", {}))
            return f"form  {one_line(ask.server)}: {one_line(ask.message)} [{one_line(what)}]"
        case _:
            return kind_of(ask)


def _labels(question: Question) -> str:
    return " | ".join(choice.label for choice in question.choices)


def _json(value: dict[str, Any]) -> str:
    return one_line(msgspec.json.encode(value).decode("utf-8", "replace"))


def op_for(ask: Ask, words: Sequence[str], why: str) -> AnswerOp:
    """The op that these words mean for an ask. Raises ValueError for words that answer nothing."""
    if not words:
        raise ValueError("say what you answer: allow, deny, or your words")
    if why and words[0] != DENY:
        raise ValueError("--why goes with deny")
    return replace(_meant(ask, words, why), op_id=OP_ID)


def _meant(ask: Ask, words: Sequence[str], why: str) -> AnswerOp:
    match ask:
        case ApprovalRequested():
            if len(words) > 1 or words[0] not in (ALLOW, DENY):
                raise ValueError("an approval is answered with allow or deny [--why TEXT]")
            decision = "allow" if words[0] == ALLOW else "deny"
            return AnswerApproval(request_id=ask.request_id, decision=decision, reason=why)
        case QuestionAsked() if words[0] != DENY or _is_choice(ask, DENY):
            if len(words) != len(ask.questions):
                raise ValueError(f"there are {len(ask.questions)} questions: give one answer for each")
            return AnswerQuestion(request_id=ask.request_id, answers=tuple((word,) for word in words))
        case PlanProposed() if words[0] != DENY:
            if words[0] == ALLOW:
                return AnswerPlan(request_id=ask.request_id, decision="accept")
            return AnswerPlan(request_id=ask.request_id, decision="keep_planning", comment=" ".join(words))
        case ElicitationRequested() if words[0] != DENY:
            return AnswerElicitation(request_id=ask.request_id, action="accept", values=_values(ask, words))
        case _ if words[0] == DENY:
            return declined(ask, reason=why)
        case _:
            raise ValueError(f"clew answer knows only deny for this ({kind_of(ask)})")


def _is_choice(ask: QuestionAsked, word: str) -> bool:
    return any(choice.label == word for question in ask.questions for choice in question.choices)


def _values(ask: ElicitationRequested, words: Sequence[str]) -> dict[str, Any]:
    if ask.url or (len(words) == 1 and words[0] == ALLOW):
        return {}
    fields = fields_of(ask.schema)
    text = " ".join(words)
    if len(fields) == 1 and not text.lstrip().startswith("{"):
        return {fields[0].name: text}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ValueError(f"a form is answered with a JSON object of its fields: {error}") from error
