"""What was shown stays: answers to questions, outcomes of plans, withdrawn words, cleared windows."""

from typing import Any

from clew.protocol.display import TableBlock
from clew.protocol.event_kinds.asks import Question
from clew.protocol.events import (
    AttemptEnded,
    CompactionEnded,
    PlanAnswered,
    PlanProposed,
    QuestionAnswered,
    QuestionAsked,
    ReplyWithdrawn,
    ToolEnded,
)
from clew.protocol.ids import CallId, EntryId, MessageId, RequestId
from clew.protocol.lookups.session import PreviewRewind, RewindPreviewed
from clew.protocol.messages import ToolResultPart
from tui.screen_lab import ScreenLab, call, delta, over, prompt, runs, screen, turn, words

PLAN = "# Round the weights\n\n1. Read the tariff\n2. Change heaviest"


def asked() -> QuestionAsked:
    return QuestionAsked(
        request_id=RequestId("q1"), call_id=CallId("c1"), questions=(Question(question="Which tariff?"),)
    )


def answered(answer: str) -> tuple[Any, ...]:
    table = TableBlock(columns=("question", "answer"), rows=(("Which tariff?", answer),))
    return (
        QuestionAnswered(request_id=RequestId("q1"), call_id=CallId("c1"), answers=((answer,),)),
        ToolEnded(
            entry_id=EntryId("c1-end"),
            parent_id=EntryId("x"),
            name="AskUser",
            result=ToolResultPart(call_id=CallId("c1"), content="The user answered"),
            display=(table,),
        ),
    )


async def test_a_question_stands_with_its_answer() -> None:
    async with screen() as lab:
        made = call("AskUser", questions=[{"question": "Which tariff?"}])
        await lab.tell(turn(), prompt("x"), made, runs(made), asked())
        await lab.tell(*answered("The new one"), words("fine", reply="r2"), over())
        rows = lab.rows()
        at = next(number for number, row in enumerate(rows) if row.strip() == "Which tariff?")
        assert rows[at + 1].strip() == "→ The new one"


def proposed(lab: ScreenLab) -> tuple[Any, ...]:
    made = call("ExitPlanMode", plan=PLAN)
    return made, runs(made), PlanProposed(request_id=RequestId("p1"), call_id=CallId("c1"), plan=PLAN)


def said(decision: Any, **more: Any) -> PlanAnswered:
    return PlanAnswered(request_id=RequestId("p1"), call_id=CallId("c1"), decision=decision, **more)


async def test_an_accepted_plan_is_folded_under_its_heading_and_opens() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), *proposed(lab), said("accept"), words("I begin", reply="r2"), over())
        row = next(at for at, text in enumerate(lab.rows()) if "Plan accepted" in text)
        assert "Round the weights" in lab.rows()[row]
        assert "Change heaviest" not in lab.text()
        await lab.pilot.click(offset=(5, row))
        await lab.settle()
        assert "Change heaviest" in lab.text()


async def test_a_plan_that_was_sent_back_stands_with_its_comment() -> None:
    async with screen() as lab:
        answer = said("keep_planning", comment="not the tariff")
        await lab.tell(turn(), prompt("x"), *proposed(lab), answer, words("I see", reply="r2"), over())
        assert "Plan sent back: not the tariff · Round the weights" in lab.text()


async def test_words_of_a_stream_that_broke_off_stay_as_a_trace() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), delta("The scale rounds "), delta("up, and the"))
        await lab.tell(
            ReplyWithdrawn(reply_id=MessageId("r1"), entry_ids=(), reason="the stream ended early"),
            AttemptEnded(reply_id=MessageId("r1"), step=1, model="m", outcome="failed"),
        )
        assert "┆ withdrawn, the stream broke off: The scale rounds up, and the" in lab.rows()
        await lab.tell(words("The scale rounds up, and the sum is more.", reply="r2"), over())
        assert "┆ withdrawn, the stream broke off: The scale rounds up, and the" in lab.rows()
        assert "  The scale rounds up, and the sum is more." in lab.rows()


async def test_a_cleared_window_begins_with_a_line_and_rewind_lists_what_was_before() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("first"), words("one"), over())
        cleared = CompactionEnded(
            entry_id=EntryId("b"), logical_parent_id=None, kind="clear", tokens_before=100, tokens_after=0
        )
        await lab.tell(cleared, turn(2), prompt("second", 2), words("two", reply="r2"), over(2))
        assert any(row.startswith("── a new window begins here") for row in lab.rows())
        await lab.type("/rewind")
        await lab.press("enter")
        assert lab.client.asked(PreviewRewind)
        await lab.tell(RewindPreviewed(to=None, prompts=("1  first", "2  second"), windows=(2,)))
        rows = [row.strip() for row in lab.rows()]
        assert any("2  second" in row for row in rows)
        assert any("/clear emptied the window here" in row for row in rows)
        assert any("1  first" in row for row in rows)
