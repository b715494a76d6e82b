"""Narrow and low screens: whole words instead of cut ones, and nothing that is said twice."""

import pytest

from clew.protocol.events import PlanAnswered, PlanProposed, RecapReady, SessionRow, TaskRow, TaskStarted, ToolEnded
from clew.protocol.ids import CallId, EntryId, RequestId, TaskId
from clew.protocol.lookups.place import SessionsListed
from clew.protocol.lookups.tasks import TasksListed
from clew.protocol.messages import ToolResultPart
from tui.screen_lab import call, edited, over, prompt, ran, runs, screen, turn, words

PLAN = "# Round the weights\n\n1. Read\n2. Write"


async def test_the_first_line_is_not_cut_where_help_does_not_fit() -> None:
    async with screen((60, 20)) as lab:
        row = SessionRow(session_id="s", agent="clew", title="Round all the weights", project="parcels", age_s=7_200.0)
        await lab.tell(SessionsListed(sessions=(row,)))
        assert lab.rows()[1].endswith("2 h ago")
        assert "F1" in lab.rows()[-1]


@pytest.mark.parametrize(
    ("columns", "told"), [(60, "1 bg: ready on 5173"), (100, "1 in the background: ready on 5173")]
)
async def test_the_newest_line_of_a_background_command_takes_the_room_there_is(columns: int, told: str) -> None:
    async with screen((columns, 20)) as lab:
        begun = TaskStarted(task_id=TaskId("b1"), kind="shell", title="npm run dev")
        await lab.tell(turn(), prompt("x"), begun, words("it runs"), over())
        await lab.tell(
            TasksListed(tasks=(TaskRow(task_id=TaskId("b1"), kind="shell", title="x", tail=("ready on 5173",)),))
        )
        assert told in lab.rows()[-1]
        assert "…" not in lab.rows()[-1]


async def test_the_line_of_a_turn_ends_with_a_whole_part() -> None:
    async with screen((60, 20)) as lab:
        edit, test = call("Edit", file_path="weights.py"), call("Bash", "c2", "r1", 2, command="pytest -q")
        await lab.tell(turn(), prompt("x"), edit, test, runs(edit), runs(test), edited("c1"))
        await lab.tell(ran("pytest -q", "2 passed in 0.03 s", call_id="c2"), over(cost_usd=0.03, steps=3))
        line = next(row for row in lab.rows() if row.startswith("── 7.0 s"))
        assert line.startswith("── 7.0 s · $0.0300 · 3 steps · Edited weights.py +1 -1 … ─")


@pytest.mark.parametrize("columns", [40, 60, 80])
async def test_what_keys_do_while_reading_is_told_in_whole(columns: int) -> None:
    async with screen((columns, 20)) as lab:
        await lab.tell(turn(), prompt("x"), words("yes"), over())
        await lab.press("ctrl+t")
        assert lab.rows()[-1].strip().startswith("reading:")
        assert lab.rows()[-1].strip().endswith("Esc back")


async def test_a_change_names_its_file_once() -> None:
    async with screen() as lab:
        edit = call("Edit", file_path="weights.py")
        await lab.tell(turn(), prompt("x"), edit, runs(edit), edited(), over())
        rows = [row for row in lab.rows() if "weights.py" in row and "7.0 s" not in row]
        assert len(rows) == 1
        assert any("best = None" in row for row in lab.rows())


async def test_a_plan_stands_once_above_its_dialog_and_after_it() -> None:
    async with screen() as lab:
        made = call("ExitPlanMode", plan=PLAN)
        asked = PlanProposed(request_id=RequestId("p"), call_id=CallId("c1"), plan=PLAN, path="/h/s/plan.md")
        await lab.tell(turn(), prompt("x"), made, runs(made), asked)
        assert "ExitPlanMode" not in lab.text()
        assert "Plan proposed · Round the weights" in lab.text()
        await lab.tell(PlanAnswered(request_id=RequestId("p"), call_id=CallId("c1"), decision="accept"))
        result = ToolResultPart(call_id=CallId("c1"), content="go on")
        ended = ToolEnded(entry_id=EntryId("e"), parent_id=EntryId("x"), name="ExitPlanMode", result=result)
        await lab.tell(ended, words("I begin.", reply="r2"))
        assert "ExitPlanMode" not in lab.text()
        assert "Plan accepted" in lab.text()
        await lab.press("ctrl+o")
        assert "ExitPlanMode" in lab.text()


async def test_a_recap_on_return_says_once_that_one_was_away() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), words("y"), over())
        await lab.tell(RecapReady(text="Fix it.", away="Während du weg warst: 2 Dateien geändert", occasion="returned"))
        assert "※ Während du weg warst: 2 Dateien geändert" in lab.rows()
        assert "away" not in lab.text()
