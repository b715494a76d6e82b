"""The list of agents in the background: BS-1 to BS-7 of the specification, and words to an agent that is viewed."""

from typing import Any

from clew.protocol.base import DurableEvent, EventBase
from clew.protocol.events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    Envelope,
    OpRejected,
    Recorded,
    SessionStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.lookups.tasks import ListTasks, StopTask, TasksListed
from clew.protocol.ops import MessageAgent, SubmitPrompt
from clew.protocol.standing import Standing
from tui.screen_lab import SESSION, ScreenLab, call, delta, over, prompt, ran, screen, turn, words

NAMES = ("a1", "a2", "a3")
DIRECTIVE = "You are a fork: you know all of it.\n\nDirective: count the files"


async def say(lab: ScreenLab, event: EventBase, agent: str = MAIN_AGENT, at: str = "2026-11-16T08:00:00.000Z") -> None:
    lab.client.tell_envelope(Envelope(seq=1, at=at, session_id=SESSION, event=event, agent=AgentId(agent)))
    await lab.settle()


async def start(lab: ScreenLab, *names: str, **more: Any) -> None:
    for name in names:
        facts: dict[str, Any] = {"kind": "worker", "task": f"task of {name}", "background": True, **more}
        await say(lab, AgentStarted(child=AgentId(name), **facts))


async def end(lab: ScreenLab, name: str, standing: Standing = Standing.COMPLETED) -> None:
    await say(lab, AgentEnded(child=AgentId(name), standing=standing, kind="worker", task=f"task of {name}"))


def page(*events: DurableEvent) -> HistoryLoaded:
    return HistoryLoaded(
        events=tuple(Recorded(at="2026-11-16T07:00:00.000Z", event=event) for event in events), before=None
    )


async def view(lab: ScreenLab, down: int = 2, history: HistoryLoaded | None = None) -> None:
    await lab.press(*["down"] * down, "enter")
    await lab.tell(history or page(prompt("count the files", 7), words("I count.", reply="old")))


async def test_bs_1_without_agents_there_is_no_extra_line() -> None:
    async with screen() as lab:
        before = lab.app.transcript.size.height
        assert not lab.app.agents.selector.display
        await start(lab, "a1", background=False)
        assert not lab.app.agents.selector.display, "one that a call waits for is not in the background"
        assert lab.app.transcript.size.height == before
        await say(lab, AgentChanged(child=AgentId("a1"), standing=Standing.WORKING, background=True))
        assert lab.app.transcript.size.height == before - 2
        await lab.press("down")
        assert lab.app.focused is lab.app.agents.selector


async def test_bs_2_down_walks_to_the_last_agent_and_stays_there() -> None:
    async with screen() as lab:
        await start(lab, *NAMES)
        await lab.press("down", "down", "down", "down")
        assert lab.app.agents.selector.marked == "a3"
        await lab.press("down")
        assert lab.app.agents.selector.marked == "a3"
        await lab.press("up", "up", "up")
        assert lab.app.agents.selector.marked == MAIN_AGENT
        await lab.press("up")
        assert lab.app.focused is lab.app.prompt, "above main is the prompt"
        shown = lab.text()
        assert shown.index("task of a1") < shown.index("task of a2") < shown.index("task of a3")


async def test_bs_3_an_agent_is_viewed_live_and_main_is_untouched() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("start them"), words("They work now."), over())
        await start(lab, "a1")
        before = lab.app.conversation.story.past
        await view(lab)
        (asked,) = [one for one in lab.client.asked(LoadHistory) if one.agent == "a1"]
        assert asked.before is None
        assert "I count." in lab.text()
        assert "They work now." not in lab.text()
        await say(lab, turn(1), "a1")
        await say(lab, delta("So far 12", reply="live"), "a1")
        assert "So far 12" in lab.text()
        await say(lab, words("So far 12 files.", reply="live"), "a1")
        assert "12 files." in lab.text()
        assert lab.app.focused is lab.app.agents.selector, "Enter keeps the focus"
        await lab.press("up", "enter")
        assert "They work now." in lab.text()
        assert "12 files." not in lab.text()
        assert lab.app.conversation.story.past[: len(before)] == before
        assert not any(isinstance(op, SubmitPrompt | MessageAgent) for op in lab.client.ops)


async def test_bs_4_down_in_a_text_moves_the_caret() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        await lab.type("one")
        await lab.press("shift+enter")
        await lab.type("two")
        await lab.press("up", "down")
        assert lab.app.focused is lab.app.prompt
        assert lab.app.prompt.cursor_location[0] == 1
        await lab.press("down")
        assert lab.app.focused is lab.app.prompt
        assert lab.app.prompt.text == "one\ntwo"


async def test_bs_5_one_that_ended_goes_after_thirty_seconds() -> None:
    async with screen() as lab:
        await start(lab, "a1", "a2")
        await lab.later(0)
        await end(lab, "a1")
        assert "task of a1" in rows_of(lab)
        await lab.later(29)
        assert "task of a1" in rows_of(lab)
        await lab.later(2)
        assert "task of a1" not in rows_of(lab)
        assert "task of a2" in rows_of(lab)


async def test_bs_5_one_that_is_viewed_stays_until_it_is_left() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        await lab.later(0)
        await view(lab)
        await end(lab, "a1")
        await lab.later(60)
        assert "task of a1" in rows_of(lab)
        await lab.press("up", "enter")
        await lab.later(29)
        assert "task of a1" in rows_of(lab)
        await lab.later(2)
        assert not lab.app.agents.selector.display


async def test_bs_6_a_forks_directive_appears_exactly_once() -> None:
    async with screen() as lab:
        await start(lab, "a1", kind="fork", task="look at it")
        inherited = (prompt("start them", 1), words("They work now.", reply="r0"))
        await view(lab, history=page(*inherited, prompt(DIRECTIVE, 2)))
        assert lab.text().count("count the files") == 1
        assert "You are a fork" not in lab.text()
        assert lab.text().index("They work now.") < lab.text().index("count the files")


async def test_bs_7_x_stops_one_that_runs_and_clears_one_that_ended() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        await lab.press("down", "x")
        assert not lab.client.asked(StopTask), "main is not stopped here"
        await lab.press("down", "x")
        assert [one.task_id for one in lab.client.asked(StopTask)] == ["a1"]
        await end(lab, "a1", Standing.STOPPED)
        await lab.tell(TasksListed(tasks=()))
        assert "x clears" in rows_of(lab)
        await lab.press("x")
        assert not lab.app.agents.selector.display
        assert lab.app.focused is lab.app.prompt
        assert len(lab.client.asked(StopTask)) == 1


async def test_words_go_to_the_agent_that_is_viewed_and_commands_to_the_conversation() -> None:
    async with screen(size=(90, 24)) as lab:
        await start(lab, "a1", name="scout")
        await view(lab)
        await lab.press("escape")
        assert 'to scout "task of a1"' in lab.text()
        await lab.type("be brief")
        assert "@ be brief" in lab.text()
        await lab.press("enter")
        (said,) = lab.client.asked(MessageAgent)
        assert (said.to, said.text) == ("a1", "be brief")
        assert not lab.client.asked(SubmitPrompt)
        await say(lab, OpRejected(op_id=said.op_id, op="agent.message", reason="nothing was sent: it is gone"))
        assert "it is gone" in lab.text(), "told where somebody looks"
        await lab.type("/cost")
        await lab.press("escape", "enter")
        assert lab.app.agents.viewed == MAIN_AGENT
        await lab.type("go on")
        await lab.press("enter")
        assert [one.content for one in lab.client.asked(SubmitPrompt)] == ["go on"]


async def test_a_letter_in_the_list_goes_into_the_prompt() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        await lab.press("down", "h", "i")
        assert lab.app.prompt.text == "hi"
        assert lab.app.focused is lab.app.prompt


async def test_a_log_that_cannot_be_read_is_a_note_and_the_rest_works() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        await lab.press("down", "down", "enter")
        lab.client.refuse(LoadHistory, "there is no transcript of the agent a1")
        await lab.settle()
        assert "cannot be read: there is no" in lab.text()
        await say(lab, turn(1), "a1")
        await say(lab, call("Bash", command="ls"), "a1")
        await say(lab, ran("ls", "a\nb"), "a1")
        assert "Ran ls" in lab.text()
        await lab.press("up", "enter", "escape")
        await lab.type("still here")
        assert lab.app.prompt.text == "still here"


async def test_a_mark_says_where_the_unseen_part_begins() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        await view(lab)
        assert "new since you looked" not in lab.text()
        await lab.press("up", "enter")
        await say(lab, words("Something new.", reply="n1"), "a1", at="2026-11-16T08:30:00.000Z")
        await lab.press("down", "enter")
        old = (prompt("count the files", 7), words("I count.", reply="old"))
        later = Recorded(at="2026-11-16T08:30:00.000Z", event=words("Something new.", reply="n1"))
        await lab.tell(HistoryLoaded(events=(*page(*old).events, later), before=None))
        shown = lab.text()
        assert shown.index("I count.") < shown.index("new since you looked") < shown.index("Something new.")


async def test_another_session_shows_its_own_conversation() -> None:
    async with screen() as lab:
        await start(lab, "a1")
        await view(lab)
        fresh = SessionStarted(
            session_id=SESSION, cwd="/work/parcels", model="m", permission_mode="default", tools=(), version="1"
        )
        await say(lab, fresh)
        assert lab.app.agents.viewed == MAIN_AGENT


async def test_it_fits_a_small_screen_with_many_agents() -> None:
    async with screen(size=(60, 20)) as lab:
        await start(lab, *(f"a{number}" for number in range(30)))
        assert lab.app.agents.selector.size.height <= 4
        await lab.press(*["down"] * 31)
        assert lab.app.agents.selector.marked == "a29"
        assert "task of a29" in rows_of(lab)
        assert not lab.client.asked(ListTasks)


async def test_a_dialog_has_the_place_of_the_list() -> None:
    async with screen(size=(60, 20)) as lab:
        await start(lab, *NAMES)
        await lab.press("shift+down")
        await lab.tell(TasksListed(tasks=()))
        assert not lab.app.agents.selector.display
        assert lab.app.screen.max_scroll_y == 0
        await lab.press("escape")
        assert lab.app.agents.selector.display


def rows_of(lab: ScreenLab) -> str:
    """The list alone."""
    region = lab.app.agents.selector.region
    return "\n".join(lab.rows()[region.y : region.y + region.height]) if lab.app.agents.selector.display else ""
