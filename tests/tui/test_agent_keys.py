"""Keys and figures of agents on the screen: Esc leaves a view, keys are the user's, figures are told in time."""

import time
from pathlib import Path

from clew.protocol.events import ReplyBegan
from clew.protocol.ids import MAIN_AGENT, MessageId
from clew.protocol.lookups.tasks import StopTask
from clew.protocol.ops import Interrupt
from clew.protocol.standing import Standing
from clew.protocol.usage import Usage
from clew.system.clock import iso_utc
from tui.screen_lab import prompt, screen, turn, words
from tui.test_selector import end, page, rows_of, say, start, view


async def test_escape_leaves_the_view_and_only_then_interrupts() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("start them"))
        await start(lab, "a1")
        await view(lab)
        await lab.press("escape")  # out of the list
        assert lab.app.agents.viewed == "a1"
        assert "Esc goes back to main" in lab.text()
        await lab.press("escape")
        assert lab.app.agents.viewed == MAIN_AGENT
        assert not lab.client.asked(Interrupt), "the main turn goes on"
        assert "Esc interrupts" in lab.text()
        await lab.press("escape")
        assert len(lab.client.asked(Interrupt)) == 1


async def test_escape_leaves_the_view_of_one_that_has_ended_too() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("start them"))
        await start(lab, "a1")
        await view(lab)
        await end(lab, "a1", Standing.FAILED)
        await lab.press("escape", "escape")
        assert lab.app.agents.viewed == MAIN_AGENT
        assert not lab.client.asked(Interrupt)


async def test_the_keys_of_the_list_are_the_users(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('{"agents": {"x": "none", "delete": "end", "ctrl+n": "next", "v": "view"}}')
    async with screen(home=tmp_path) as lab:
        await start(lab, "a1", "a2")
        await lab.press("down", "ctrl+n")
        assert lab.app.agents.selector.marked == "a1"
        assert "Delete stops" in rows_of(lab)
        await lab.press("delete")
        assert [one.task_id for one in lab.client.asked(StopTask)] == ["a1"]
        await lab.press("v")
        await lab.tell(page(words("I count.", reply="old")))
        assert lab.app.agents.viewed == "a1"
        await lab.press("x")
        assert lab.app.prompt.text == "x", "a key without an action is a letter"


async def test_elapsed_counts_from_the_start_that_the_log_tells() -> None:
    async with screen() as lab:
        await start(lab, "a1", since=iso_utc(time.time() - 3700))
        assert "1 h 1 min" in rows_of(lab)
        await start(lab, "a2", since=iso_utc(time.time() + 3700))
        assert "-" not in rows_of(lab), "a clock that went back makes no time negative"


async def test_tokens_are_told_when_the_first_reply_begins() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        assert "tokens" not in rows_of(lab), "none is known: none is told"
        usage = Usage(input_tokens=1200, output_tokens=1)
        await say(lab, ReplyBegan(reply_id=MessageId("r1"), model="m", usage=usage), "a1")
        assert "1,201 tokens" in rows_of(lab)
