"""An ask that the screen has no dialog of its own for is shown all the same: named, declined, or left to others."""

from typing import ClassVar, Self

from clew.protocol.event_kinds.asks import Answered, Ask
from clew.protocol.ids import RequestId
from clew.protocol.op_kinds.answers import Answerer, AnswerOp
from clew.tui.dialogs.registry import DialogContext, dialog_for, opens
from clew.tui.dialogs.unknown_ask import UnknownAskDialog
from tui.hosting import Host


class GongAsked(Ask, frozen=True, kw_only=True, tag="test.gong.asked"):
    """May it sound?"""


class GongDecided(Answered, frozen=True, kw_only=True, tag="test.gong.decided"):
    """Whether it may."""


class AnswerGong(AnswerOp, frozen=True, kw_only=True, tag="test.gong.answer"):
    """Whether it may sound."""

    settles: ClassVar[type[Ask]] = GongAsked
    yes: bool

    @classmethod
    def no(cls, request_id: RequestId, *, reason: str, by: Answerer) -> Self:
        return cls(request_id=request_id, yes=False, by=by)


ASK = GongAsked(request_id=RequestId("r1"))


def test_every_ask_opens_a_dialog() -> None:
    assert opens(ASK)
    assert isinstance(dialog_for(ASK, DialogContext()), UnknownAskDialog)


async def test_it_is_named_and_declined() -> None:
    app = Host(lambda: UnknownAskDialog(ASK, quiet_s=0))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        shown = " ".join(app.rows())
        assert "something that this screen" in shown
        assert "gong" in shown
        await pilot.press("d")
        await pilot.pause()
        assert app.answers == [(AnswerGong(request_id=RequestId("r1"), yes=False),)]


async def test_escape_leaves_it_open_and_an_answer_elsewhere_settles_it() -> None:
    app = Host(lambda: UnknownAskDialog(ASK, quiet_s=0))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("escape")
        await pilot.pause()
        assert (app.answers, app.dismissals) == ([], 1)
    assert UnknownAskDialog(ASK).settled_by(GongDecided(request_id=RequestId("r1")))
    assert not UnknownAskDialog(ASK).settled_by(GongDecided(request_id=RequestId("r2")))
