"""Trust, cold return, cost and quit: what each says, what each key answers, and the colours and windows all share."""

from collections.abc import Callable

import pytest

from clew.protocol.events import ColdReturn, CostThresholdReached
from clew.protocol.ops import Close, Compact, Interrupt, Op, SwitchSession
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.cold_return import ColdReturnDialog
from clew.tui.dialogs.cost_threshold import CostThresholdDialog
from clew.tui.dialogs.quit import QuitDialog
from clew.tui.dialogs.registry import DialogContext, dialog_for
from clew.tui.dialogs.row_view import RowView
from clew.tui.dialogs.trust import TrustDialog
from clew.tui.themes import THEMES, theme_for
from fakes.loop_clock import LoopClock
from tui.hosting import Host

COLD = ColdReturn(idle_s=9000, tokens=148_230, cost_usd=1.5)
COST = CostThresholdReached(spent_usd=4, budget_usd=5)


def cold() -> Dialog:
    return ColdReturnDialog(COLD, quiet_s=0)


def cost() -> Dialog:
    return CostThresholdDialog(COST, quiet_s=0)


def leaving() -> Dialog:
    return QuitDialog(["the turn that runs", "npm run dev\x1b[2J"], quiet_s=0)


@pytest.mark.parametrize(
    ("make", "keys", "ops"),
    [
        (cold, ["g"], ()),
        (cold, ["c"], (Compact(),)),
        (cold, ["down", "down", "down", "enter"], (SwitchSession(),)),
        (cost, ["1"], ()),
        (cost, ["s"], (Interrupt(),)),
        (cost, ["c"], (Interrupt(), Compact())),
        (leaving, ["q"], (Close(),)),
    ],
)
async def test_keys_answer(make: Callable[[], Dialog], keys: list[str], ops: tuple[Op, ...]) -> None:
    app = Host(make)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        assert app.answers == [ops]


@pytest.mark.parametrize("make", [cold, cost, leaving])
async def test_escape_closes_and_enter_alone_does_nothing(make: Callable[[], Dialog]) -> None:
    app = Host(make)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("enter", "z")
        await pilot.pause()
        assert (app.answers, app.dismissals) == ([], 0)
        await pilot.press("escape")
        await pilot.pause()
        assert (app.answers, app.dismissals) == ([], 1)


@pytest.mark.parametrize("make", [cold, cost, leaving])
async def test_a_click_answers(make: Callable[[], Dialog]) -> None:
    app = Host(make)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        await app.click(pilot, "Quit" if make is leaving else "Go on")
        assert len(app.answers) == 1


async def test_what_they_say() -> None:
    told = {
        cold: [
            "After 2 h 30 min the provider's cache is likely cold.",
            "The next request reads 148,230 tokens anew, about $1.50.",
        ],
        cost: ["This session has cost $4.00 of its budget of $5.00, 80 %."],
        leaving: ["  · the turn that runs", "  · npm run dev", "The conversation is kept: clew -c goes on with it."],
    }
    for make, lines in told.items():
        app = Host(make)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            rows = app.rows()
            assert [line for line in lines if f" {line}" not in rows] == []


@pytest.mark.parametrize(
    ("keys", "answer"), [(["y"], True), (["n"], False), (["escape"], False), (["down", "enter"], True)]
)
async def test_trust_is_answered_once(keys: list[str], answer: bool) -> None:
    given: list[bool] = []
    app = Host(lambda: TrustDialog("/home/ada/包裹\u202e/x", given.append, quiet_s=0))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        rows = app.rows()
        assert " │ /home/ada/包裹\\u{202E}/x" in rows
        assert any("Careful: the path holds invisible" in row for row in rows)
        await pilot.press(*keys, "y", "n", "escape")
        await pilot.pause()
        assert given == [answer]
        assert app.answers == [()]


async def test_trust_is_not_given_by_what_was_typed_before() -> None:
    given: list[bool] = []
    app = Host(lambda: TrustDialog("/x", given.append, quiet_s=1000))
    async with app.run_test(size=(60, 20)) as pilot:
        clock = LoopClock()
        await pilot.press("y", "enter", "y")
        assert given == []
        clock.forward(1000)
        await pilot.pause()
        await pilot.press("n")
        assert given == [False]


@pytest.mark.parametrize("theme", THEMES)
async def test_every_theme_can_be_used(theme: str) -> None:
    app = Host(cold, theme=theme)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("down")
        await pilot.pause()
        assert any(row.startswith(" › g  Go on") for row in app.rows())


async def test_without_colour_nothing_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert theme_for("clew-light", {"NO_COLOR": "1"}) == "terminal"
    app = Host(cold, theme="terminal", ansi_color=True)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("down")
        await pilot.pause()
        assert app.no_color
        colours = {
            (segment.style.color, segment.style.bgcolor)
            for strip in app.screen._compositor.render_strips()
            for segment in strip.apply_filter(app._filters[-1], app.screen.background_colors[0])
            if segment.style is not None
        }
        assert all(part is None or part.is_default for pair in colours for part in pair)


def test_the_registry_knows_them() -> None:
    assert isinstance(dialog_for(COLD, DialogContext()), ColdReturnDialog)
    assert isinstance(dialog_for(COST, DialogContext()), CostThresholdDialog)


async def test_a_terminal_without_unicode_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RowView, "ascii_only", True)
    app = Host(lambda: TrustDialog("/home/ada/包裹", print, quiet_s=0))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("down")
        await pilot.pause()
        rows = app.rows()
        first = next(at for at, row in enumerate(rows) if "Do you trust" in row)
        assert all(row.isascii() for row in rows[first:])
        assert rows[first].startswith(" -- Do you trust this directory? ---")
