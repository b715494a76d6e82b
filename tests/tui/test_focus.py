"""Where keys go: whatever is opened, clicked or read, an answer reaches its question and words reach the prompt."""

import pytest

from clew.protocol.events import ApprovalResolved, ArgumentsDelta
from clew.protocol.ids import CallId, MessageId, RequestId
from clew.protocol.ops import AnswerApproval
from tui.screen_lab import ScreenLab, asks, call, over, prompt, screen, turn, words

STILL_S = 0.4
"""Longer than a dialog that has just opened does not listen."""


async def asked(lab: ScreenLab) -> None:
    """An approval is open, and listens."""
    await lab.tell(turn(), prompt("x"), call("Bash", command="rm -rf build"), asks())
    await lab.later(STILL_S)


async def answered(lab: ScreenLab) -> str:
    await lab.later(STILL_S)
    await lab.press("y")
    answers = lab.client.asked(AnswerApproval)
    return answers[0].decision if answers else "nothing"


@pytest.mark.parametrize("keys", [("f1",), ("ctrl+t",), ("ctrl+t", "up"), ("ctrl+f",), ("ctrl+f", "x", "enter")])
async def test_what_is_looked_at_over_an_approval_gives_it_back(keys: tuple[str, ...]) -> None:
    async with screen() as lab:
        await asked(lab)
        await lab.press(*keys)
        await lab.press("escape")
        if keys == ("ctrl+f",):  # the first one closes the line, the second one ends reading
            await lab.press("escape")
        assert "Allow Bash?" in lab.text()
        assert await answered(lab) == "allow"


async def test_what_is_asked_while_help_is_open_is_asked_after_it() -> None:
    async with screen() as lab:
        await lab.press("f1")
        await asked(lab)
        await lab.press("escape")
        assert "Allow Bash?" in lab.text()
        assert await answered(lab) == "allow"


async def test_a_click_into_the_transcript_takes_no_key_from_prompt_or_dialog() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), words("hello\n\nworld"), over())
        await lab.pilot.click("#transcript", offset=(5, 3))
        await lab.type("yes go")
        assert lab.app.prompt.text == "yes go"
        await asked(lab)
        await lab.pilot.click("#transcript", offset=(5, 3))
        assert await answered(lab) == "allow"


@pytest.mark.parametrize("key", ["ctrl+t", "ctrl+f"])
async def test_a_question_ends_reading(key: str) -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), words("hello"))
        await lab.press(key)
        await asked(lab)
        assert not lab.app.transcript.reading
        assert not lab.app.find.display
        assert await answered(lab) == "allow"
        resolved = ApprovalResolved(
            request_id=RequestId("ask-1"), call_id=CallId("c1"), tool="Bash", subject="rm", decision="allow"
        )
        await lab.tell(resolved)
        await lab.type("abc")
        assert lab.app.prompt.text == "abc"


async def test_what_arrives_beside_a_question_does_not_hide_that_it_is_open() -> None:
    async with screen() as lab:
        await asked(lab)
        await lab.tell(ArgumentsDelta(reply_id=MessageId("r1"), part=2, tool="Bash", text="{"))
        assert "Waiting for your answer" in lab.text()
        assert "Preparing" not in lab.text()
