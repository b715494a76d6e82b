"""Commands a person typed with `!`: seen while they run, stopped by Esc, told once."""

from clew.protocol.events import ShellEnded, ShellProgress, ShellStarted
from clew.protocol.ids import EntryId, RequestId
from clew.protocol.ops import Interrupt
from tui.screen_lab import over, prompt, screen, turn, words

RUN = RequestId("sh1")


def starts(command: str = "sleep 100") -> ShellStarted:
    return ShellStarted(request_id=RUN, command=command)


def ends(command: str = "sleep 100", output: str = "") -> ShellEnded:
    return ShellEnded(
        request_id=RUN, entry_id=EntryId("e9"), parent_id=None, command=command, output=output, exit_code=None
    )


async def test_escape_stops_it_and_keeps_what_is_typed() -> None:
    async with screen() as lab:
        await lab.tell(starts())
        await lab.type("draft")
        assert "Running sleep 100" in lab.text()
        assert "Esc interrupts" in lab.rows()[-1]
        await lab.press("escape")
        assert len(lab.client.asked(Interrupt)) == 1
        assert "Stopping" in lab.text()
        await lab.tell(ends())
        assert lab.app.prompt.text == "draft"
        assert "Stopping" not in lab.text()
        assert "Running" not in lab.text()
        await lab.tell(starts())
        await lab.press("escape")
        assert len(lab.client.asked(Interrupt)) == 2


async def test_one_that_outlives_the_turn_beside_it_is_told_once() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), starts("make all"), words("done"), over())
        assert any("Running make all" in row for row in lab.rows())
        await lab.tell(ShellProgress(request_id=RUN, text="half\n"))
        assert "half" in lab.text()
        await lab.tell(ends("make all", "half\nwhole"))
        assert [row for row in lab.rows() if "make all" in row] == ["! make all"]
        assert lab.text().count("whole") == 1


async def test_the_way_down_is_not_a_key_that_interrupts() -> None:
    async with screen((60, 12)) as lab:
        await lab.tell(turn(), prompt("x"), words("\n\n".join(map(str, range(30)))))
        await lab.press("pageup")
        assert lab.rows()[-1].endswith("↓ Esc newest, then interrupts")
        await lab.press("alt+end")
        assert "Esc newest" not in lab.text()
        await lab.tell(over())
        await lab.press("pageup")
        assert lab.rows()[-1].endswith("↓ Esc newest")
        await lab.press("escape")
        assert "Esc newest" not in lab.text()
        assert not lab.client.asked(Interrupt)
