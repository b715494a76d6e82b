"""Focus reports and notices at a terminal that is written line by line."""

from typing import Any

import pytest

from clew.protocol.events import Notified
from clew.protocol.ops import Interrupt, ReportFocus, SubmitPrompt
from unit.plain.play import PlayedTerminal, Stage, asks, call, turn

NOTICE = Notified(kind="done", text="Done: parcels", notice_id="n1")


def reports(stage: Stage) -> list[bool]:
    return [op.focused for op in stage.ops if isinstance(op, ReportFocus)]


async def test_focus_reports_are_no_keys() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.terminal.type("\x1b[Ohel\x1b[Ilo\x1b[O")
        await stage.until(lambda: len(reports(stage)) == 3)
        assert reports(stage) == [False, True, False]
        stage.terminal.type("\x1b[I\r")
        await stage.until(lambda: any(isinstance(op, SubmitPrompt) for op in stage.ops))
        assert [op.content for op in stage.ops if isinstance(op, SubmitPrompt)] == ["hello"]
        assert not [op for op in stage.ops if isinstance(op, Interrupt)]


async def test_a_focus_report_does_not_answer_or_disturb_a_question() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True), guard_s=0.02) as stage:
        stage.client.push(*turn(1, call(1), asks(1))[:-1])
        stage.terminal.type("\x1b[O")
        await stage.shows("Allow?")
        stage.terminal.type("\x1b[I")
        await stage.until(lambda: len(reports(stage)) == 2)
        assert [type(op).__name__ for op in stage.ops] == ["ReportFocus", "ReportFocus"]


@pytest.mark.parametrize(
    ("terminal", "how", "codes"),
    [
        (PlayedTerminal(editing=True), "auto", "\x1b]777;notify;clew;Done: parcels\x07\x07"),
        (PlayedTerminal(editing=True), "bell", "\x07"),
        (PlayedTerminal(editing=False), "auto", "\x07"),
        (PlayedTerminal(editing=True), "off", ""),
        (PlayedTerminal(interactive=False), "auto", ""),
        (PlayedTerminal(columns=0), "auto", ""),
    ],
    ids=["own", "bell", "dumb", "off", "pipe", "no output"],
)
async def test_a_notice_rings_where_there_is_a_terminal(terminal: PlayedTerminal, how: Any, codes: str) -> None:
    async with Stage(terminal=terminal, notifications=how) as stage:
        before = len(stage.output)
        stage.client.push(NOTICE, *turn(1))
        await stage.until(lambda: "1.2 s" in stage.output[before:])
        rung = stage.output[before:]
        assert codes in rung
        assert rung.count("\x07") == codes.count("\x07") + codes.count("777")  # OSC 9 before it ends with one too
