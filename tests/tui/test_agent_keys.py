"""Keys and figures of agents on the screen: Esc leaves a view, keys are the user's, figures are told in time."""

import time
from pathlib import Path

import pytest

from clew.protocol.base import EventBase
from clew.protocol.events import AgentEnded, AgentStarted, Envelope, ReplyBegan
from clew.protocol.ids import MAIN_AGENT, AgentId, MessageId
from clew.protocol.lookups.tasks import StopTask
from clew.protocol.ops import Interrupt
from clew.protocol.standing import Standing
from clew.protocol.usage import Usage
from clew.system.clock import iso_utc
from clew.text.terminal_text import display_width
from tui.screen_lab import SESSION, ScreenLab, call, prompt, ran, screen, turn, words
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


async def test_a_call_that_runs_while_its_agent_is_viewed_is_not_told_as_cut_off() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        await say(lab, turn(1), "a1")
        await view(lab, history=page(prompt("count the files", 7), call("Bash", command="sleep 99")))
        assert "Cut off" not in lab.text()
        assert "Bash sleep 99" in lab.text()
        await say(lab, ran("sleep 99", "done"), "a1")
        assert "Ran sleep 99" in lab.text()
        assert lab.text().count("sleep 99") == 1


EVIL = "数\x1b[31m据\x07库 👩‍👩‍👧 \x1b]0;title\x07" + "很长的任务" * 30 + "\n\r\x9b31m end"


@pytest.mark.parametrize("size", [(60, 20), (100, 30)])
async def test_names_of_others_never_reach_the_terminal_raw_and_never_break_a_row(size: tuple[int, int]) -> None:
    async with screen(size=size) as lab:
        await start(lab, "a1", name=EVIL, kind=EVIL, task=EVIL)
        await start(lab, "a2", task="短")
        await lab.press("down", "down")
        assert_safe(lab, size[0])
        assert "数" in rows_of(lab)
        assert "短" in rows_of(lab)
        await view(lab, down=0, history=page(prompt(EVIL, 7), words(EVIL, reply="old")))
        assert_safe(lab, size[0])
        assert "to 数" in lab.text()
        await say(lab, AgentEnded(child=AgentId("a1"), standing=Standing.FAILED, kind=EVIL, task=EVIL, error=EVIL))
        await lab.press("escape", "escape")
        assert_safe(lab, size[0])


def assert_safe(lab: ScreenLab, columns: int) -> None:
    """No row holds a control character or more than the screen is wide."""
    shown = "".join(lab.rows())
    assert not [char for char in shown if ord(char) < 32 or 127 <= ord(char) < 160]
    assert all(display_width(row) <= columns for row in lab.rows())


async def test_a_thousand_agents_leave_the_list_small_and_nothing_behind() -> None:
    async with screen(size=(60, 20)) as lab:
        for number in range(1000):
            child = AgentId(f"a{number}")
            lab.client.tell_envelope(envelope(AgentStarted(child=child, kind="worker", task="t", background=True)))
            if number < 990:
                lab.client.tell_envelope(envelope(AgentEnded(child=child, standing=Standing.COMPLETED, kind="worker")))
        await lab.settle()
        await lab.later(40)
        await start(lab, "last")
        selector = lab.app.agents.selector
        assert selector.size.height <= 4
        assert len(lab.app.agents.listed.rows) == 11
        assert lab.app.agents.listed.known <= 40, "those that the session has forgotten are forgotten here, too"
        await lab.press(*["down"] * 12)
        assert selector.marked == "last"


def envelope(event: EventBase) -> Envelope:
    return Envelope(seq=1, at="2026-11-16T08:00:00.000Z", session_id=SESSION, event=event, agent=MAIN_AGENT)
