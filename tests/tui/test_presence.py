"""Focus out, notices in: what the full screen tells the session and writes to the terminal."""

from types import SimpleNamespace
from typing import Any

import pytest
from textual import events

from clew.protocol.events import Notified
from clew.protocol.ops import ReportFocus, ReportTyping, RequestRecap
from clew.tui import app as app_module
from tui.screen_lab import ScreenLab, asks, call, over, prompt, screen, started, turn, words

NOTICE = Notified(kind="done", text="Done: parcels", notice_id="n1")


def listened(lab: ScreenLab, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written to the terminal's frame from here on."""
    written: list[str] = []
    monkeypatch.setattr(lab.app.presence, "_write", written.append)
    return written


def reports(lab: ScreenLab) -> list[bool]:
    return [op.focused for op in lab.client.asked(ReportFocus)]


async def test_the_session_learns_of_the_focus(monkeypatch: pytest.MonkeyPatch) -> None:
    async with screen() as lab:
        for event in (events.AppBlur(), events.AppFocus(), events.AppBlur()):
            lab.app.post_message(event)
            await lab.settle()
        assert reports(lab) == [False, True, False]
        await lab.press("a")
        assert reports(lab) == [False, True, False, True]
        await lab.tell(started())
        assert reports(lab)[4:] == [True]


@pytest.mark.parametrize(("how", "codes"), [("auto", "\x1b]9;Done: parcels\x07"), ("bell", "\x07"), ("off", "")])
async def test_a_notice_rings(monkeypatch: pytest.MonkeyPatch, how: Any, codes: str) -> None:
    async with screen(notifications=how) as lab:
        written = listened(lab, monkeypatch)
        await lab.tell(NOTICE)
        rung = "".join(text for text in written if not text.startswith("\x1b]2;"))
        assert rung.startswith(codes)
        assert rung.endswith("\x07") or how == "off"
        assert bool(rung) is (how != "off")


async def test_the_screen_makes_no_notice_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async with screen() as lab:
        lab.app.post_message(events.AppBlur())
        await lab.settle()
        written = listened(lab, monkeypatch)
        await lab.tell(turn(), prompt("x"), words("fine"), call("Bash", command="x"), asks(), over())
        assert not [text for text in written if "]9;Done" in text or "777" in text or text == "\x07"]


async def test_a_key_press_is_told_where_the_terminal_reports_no_focus() -> None:
    async with screen() as lab:
        await lab.press("a", "b", "c")
        assert len(lab.client.asked(ReportTyping)) == 1
        assert reports(lab) == []


class FocusLab:
    """A screen whose terminal reports the focus as a test says, with a clock that the test sets."""

    def __init__(self, lab: ScreenLab, monkeypatch: pytest.MonkeyPatch) -> None:
        self._lab = lab
        self._now_s = 1_000.0
        monkeypatch.setattr(
            app_module, "time", SimpleNamespace(monotonic=lambda: self._now_s, time=app_module.time.time)
        )

    async def worked(self) -> None:
        for number in (1, 2, 3):
            await self._lab.tell(turn(number), prompt("x", number), words("y", reply=f"r{number}"), over(number))

    async def told(self, reports: str) -> int:
        """In and out as I and O, a key as k, six minutes as a dot; how many recaps were asked for meanwhile."""
        before = len(self._lab.client.asked(RequestRecap))
        for sign in reports:
            match sign:
                case "I":
                    self._lab.app.post_message(events.AppFocus())
                case "O":
                    self._lab.app.post_message(events.AppBlur())
                case "k":
                    await self._lab.press("left")
                case _:
                    self._now_s += 360.0
            self._now_s += 0.1
            await self._lab.settle()
        return len(self._lab.client.asked(RequestRecap)) - before


@pytest.mark.parametrize(
    ("reports", "recaps"),
    [
        ("OO.II", 1),  # doubled
        ("O.OI", 1),  # the second is no new leaving
        ("OIOIOIOI", 0),  # at random, within a second
        ("OI.OI", 0),  # it was there all the time
        ("O.k", 1),  # in was never told: who types is here
        ("OkIk.OkI", 0),  # out while somebody types
        ("k.k", 1),  # never any report
        ("O.OIOIOI", 1),  # flaps on return
    ],
)
async def test_a_terminal_that_lies_about_the_focus(reports: str, recaps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with screen() as lab:
        focus = FocusLab(lab, monkeypatch)
        await focus.worked()
        assert await focus.told(reports) == recaps


async def test_who_types_is_shown_everything_at_once_although_the_terminal_said_that_nobody_looks() -> None:
    async with screen() as lab:
        lab.app.post_message(events.AppBlur())
        await lab.settle()
        assert not lab.app.drawing.seen
        await lab.press("a")
        assert lab.app.drawing.seen
