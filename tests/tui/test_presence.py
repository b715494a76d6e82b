"""Focus out, notices in: what the full screen tells the session and writes to the terminal."""

from typing import Any

import pytest
from textual import events

from clew.protocol.events import Notified
from clew.protocol.ops import ReportFocus, ReportTyping
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
