"""Keys that come in one burst, faster than anything is drawn: each goes where the one before it has led."""

from collections.abc import Iterable

import pytest
from textual import events

from clew.protocol.events import ApprovalResolved, QuestionAsked
from clew.protocol.events import Question as AskedQuestion
from clew.protocol.ids import CallId, RequestId
from clew.protocol.ops import AnswerApproval, AnswerQuestion, SubmitPrompt
from tui.screen_lab import ScreenLab, asks, call, over, prompt, screen, turn, words

STILL_S = 0.4
NAMED = {"\n": "enter", "\b": "backspace", " ": "space", "\x1b": "escape", "\x01": "home", "<": "left"}


def keys(text: str) -> list[events.Key]:
    return [events.Key(NAMED.get(char, char), char if char not in NAMED or char == " " else None) for char in text]


async def burst(lab: ScreenLab, *parts: str | events.Event) -> None:
    """All at once: nothing is looked at before the last one is there."""
    found: Iterable[events.Event]
    for part in parts:
        found = keys(part) if isinstance(part, str) else (part,)
        for event in found:
            lab.app.post_message(event)
    await lab.settle()


async def asked(lab: ScreenLab, *, number: int = 1) -> None:
    await lab.tell(turn(), prompt("x"), call("Bash", command="rm -rf build"), asks(number=number))
    await lab.later(STILL_S)


def answers(lab: ScreenLab) -> list[AnswerApproval]:
    return lab.client.asked(AnswerApproval)


@pytest.mark.parametrize("key", ["y", "x", "\x1b"])
async def test_words_behind_an_answer_reach_the_prompt(key: str) -> None:
    async with screen() as lab:
        await asked(lab)
        await burst(lab, f"{key}then run the tests")
        assert [answer.decision for answer in answers(lab)] == ["allow" if key == "y" else "deny"]
        assert lab.app.prompt.text == "then run the tests"


async def test_words_behind_an_answer_can_be_sent() -> None:
    async with screen() as lab:
        await asked(lab)
        await burst(lab, "ynow this\nand")
        assert [op.content for op in lab.client.asked(SubmitPrompt)] == ["now this"]
        assert lab.app.prompt.text == "and"


async def test_a_paste_behind_an_answer_reaches_the_prompt() -> None:
    async with screen() as lab:
        await asked(lab)
        await burst(lab, "ysee ", events.Paste("pasted"), " it")
        assert lab.app.prompt.text == "see pasted it"


async def test_a_reason_is_what_was_typed_before_enter() -> None:
    async with screen() as lab:
        await asked(lab)
        await burst(lab, "nnot yep\bt\nlater then")
        assert [(answer.decision, answer.reason) for answer in answers(lab)] == [("deny", "not yet")]
        assert lab.app.prompt.text == "later then"


async def test_the_caret_of_a_field_moves_in_order() -> None:
    async with screen() as lab:
        await asked(lab)
        await burst(lab, "nbc<<a\x01>\n")
        assert [answer.reason for answer in answers(lab)] == [">abc"]


async def test_a_field_that_is_left_again_keeps_no_key() -> None:
    async with screen() as lab:
        await asked(lab)
        await burst(lab, "nwhy\x1bygo on")
        assert [answer.decision for answer in answers(lab)] == ["allow"]
        assert lab.app.prompt.text == "go on"


async def test_several_questions_are_answered_in_one_go() -> None:
    async with screen() as lab:
        questions = (AskedQuestion(question="Name?"), AskedQuestion(question="Size?"))
        await lab.tell(turn(), QuestionAsked(request_id=RequestId("q1"), call_id=CallId("c1"), questions=questions))
        await lab.later(STILL_S)
        await burst(lab, "anna\nlarge\nthanks")
        assert [answer.answers for answer in lab.client.asked(AnswerQuestion)] == [(("anna",), ("large",))]
        assert lab.app.prompt.text == "thanks"


async def test_what_is_typed_when_a_question_is_settled_elsewhere_is_not_lost() -> None:
    async with screen() as lab:
        await asked(lab)
        settled = ApprovalResolved(
            request_id=RequestId("ask-1"), call_id=CallId("c1"), tool="Bash", subject="rm", decision="deny"
        )
        dialog = lab.app.bottom.dialog
        assert dialog is not None
        for key in keys("what"):
            dialog.post_message(key)
        lab.app.bottom.follow(settled, lab.app.conversation.story)
        await burst(lab, " now")
        assert lab.app.prompt.text == "what now"


async def test_words_behind_help_reach_the_prompt() -> None:
    async with screen() as lab:
        await lab.press("f1")
        await lab.later(STILL_S)
        await burst(lab, "\x1bhello")
        assert lab.app.prompt.text == "hello"


async def test_no_key_is_without_an_owner() -> None:
    async with screen() as lab:
        lab.app.screen.set_focus(None)
        await burst(lab, "abc")
        assert lab.app.prompt.text == "abc"
        lab.app.screen.set_focus(lab.app.transcript)
        await burst(lab, "def")
        assert lab.app.prompt.text == "abcdef"


@pytest.mark.parametrize("before", ["", "a draft"])
async def test_words_behind_the_key_for_finding_are_looked_for(before: str) -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), words("one needle\n\ntwo needles"), over())
        await burst(lab, before, events.Key("ctrl+f", None), "needle\n")
        assert lab.app.prompt.text == before
        assert "Find: needle" in "\n".join(lab.rows())
        assert "2 of 2" in "\n".join(lab.rows())


@pytest.mark.parametrize("key", ["/", "ctrl+f"])
async def test_words_behind_the_key_for_finding_are_looked_for_while_reading(key: str) -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), words("one needle\n\ntwo needles"), over())
        await lab.press("ctrl+f")
        await lab.type("two")
        await lab.press("enter")
        await burst(lab, events.Key(key, key if key == "/" else None), "\x01needle\n")
        assert "needle" in next(row for row in lab.rows() if "Find:" in row)
        assert not lab.app.prompt.text
