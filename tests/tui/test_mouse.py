"""The mouse on the transcript: selecting past the edge, several clicks, the right button, and each of them off."""

from textual import events

from clew.protocol.events import ScreenChanged
from clew.protocol.ops import SetScreen
from tui.screen_lab import ScreenLab, call, over, prompt, ran, runs, screen, turn, words

PARAGRAPHS = [f"paragraph {number}" for number in range(60)]


async def told(lab: ScreenLab) -> None:
    await lab.tell(turn(), prompt("x"), words("\n\n".join(PARAGRAPHS)), over())


def mouse(kind: type[events.MouseEvent], lab: ScreenLab, x: int, y: int, button: int = 1) -> events.MouseEvent:
    """An event as the transcript gets it, at a column and row of the transcript."""
    return kind(
        widget=lab.app.transcript,
        x=x,
        y=y,
        delta_x=0,
        delta_y=0,
        button=button,
        shift=False,
        meta=False,
        ctrl=False,
        screen_x=x,
        screen_y=y + 1,
    )


async def test_a_selection_runs_past_the_edge_for_as_long_as_the_button_is_held() -> None:
    async with screen() as lab:
        await told(lab)
        view = lab.app.transcript
        view.on_mouse_down(mouse(events.MouseDown, lab, 20, 2))  # type: ignore[arg-type] - the kind is the caller's
        view.on_mouse_move(mouse(events.MouseMove, lab, 4, -1))  # type: ignore[arg-type] - as above
        for _ in range(500):  # the screen moves by itself, row by row
            if view.viewport.passage_at(0) == (0, 0):
                break
            await lab.later(0.05)
        assert "▌ x" in lab.rows()
        view.on_mouse_up(mouse(events.MouseUp, lab, 4, -1))  # type: ignore[arg-type] - as above
        await lab.settle()
        assert lab.app.clipboard.startswith("x\n\nparagraph 0\n\nparagraph 1\n\n")
        assert lab.app.clipboard.count("\n\n") > 40
        before = lab.rows()
        await lab.later(1)
        assert lab.rows()[:10] == before[:10]  # it stands still once the button is up


async def test_a_second_click_takes_back_what_the_first_opened_and_takes_the_word() -> None:
    async with screen() as lab:
        made = call("Bash", command="make all")
        await lab.tell(turn(), prompt("x"), made, runs(made), ran("make all", "one\ntwo\nthree"), over())
        row = next(at for at, text in enumerate(lab.rows()) if "make all" in text)
        column = lab.rows()[row].index("make")
        await lab.pilot.click(offset=(column, row), times=2)
        await lab.settle()
        assert lab.app.clipboard == "make"
        assert "three" not in lab.text()
        await lab.later(2)
        await lab.pilot.click(offset=(column, row))
        await lab.settle()
        assert "three" in lab.text()


async def test_the_right_button_extends_a_selection_and_takes_a_passage_where_there_is_none() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("first words"), words("one two three"), over())
        row = next(at for at, text in enumerate(lab.rows()) if "one two" in text)
        await lab.pilot.click(offset=(4, row), button=3)
        await lab.settle()
        assert lab.app.clipboard == "one two three"
        await lab.pilot.click(offset=(3, row), times=2)
        await lab.pilot.click(offset=(8, row), button=3)
        await lab.settle()
        assert lab.app.clipboard == "one two"


async def test_each_part_of_the_mouse_is_switched_off_for_itself() -> None:
    async with screen() as lab:
        await told(lab)
        await lab.type("/mouse wheel off")
        await lab.press("enter")
        assert lab.client.asked(SetScreen) == [SetScreen(name="mouseWheel", value="off")]
        await lab.tell(ScreenChanged(name="mouseWheel", value="off"))
        await lab.pilot.mouse_down(offset=(4, 5))
        bottom = lab.rows()
        lab.app.transcript.on_mouse_scroll_up(mouse(events.MouseScrollUp, lab, 4, 5))  # type: ignore[arg-type] - as above
        await lab.settle()
        assert lab.rows()[1:10] == bottom[1:10]
        await lab.tell(ScreenChanged(name="mouseSelect", value="off"), ScreenChanged(name="mouseRight", value="off"))
        await lab.pilot.click(offset=(4, 5), times=2)
        await lab.pilot.click(offset=(4, 5), button=3)
        await lab.settle()
        assert lab.app.clipboard == ""


async def test_settings_are_changed_in_a_list_that_stays_open() -> None:
    async with screen() as lab:
        await lab.type("/config")
        await lab.press("enter")
        assert "mouseWheel  on" in lab.text()
        await lab.type("wheel")
        await lab.press("enter")
        assert lab.client.asked(SetScreen) == [SetScreen(name="mouseWheel", value="off")]
        await lab.tell(ScreenChanged(name="mouseWheel", value="off"))
        assert "mouseWheel  off" in lab.text()
        await lab.press("escape")
        assert lab.app.focused is lab.app.prompt
