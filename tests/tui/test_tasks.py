"""The dialog of tasks: the list, the output of one, stopping it after a second word; and the key that opens it."""

from typing import Any

from clew.protocol.events import TaskEnded, TaskRow
from clew.protocol.ids import AgentId, TaskId
from clew.protocol.lookups.base import Lookup
from clew.protocol.lookups.tasks import ListTasks, ShowTask, StopTask, TaskShown, TasksListed
from clew.protocol.standing import Standing
from clew.tui.dialogs.registry import DialogContext, dialog_for, opens
from clew.tui.dialogs.tasks import TasksDialog
from tui.hosting import Host
from tui.screen_lab import screen

RUNNING = TaskRow(task_id=TaskId("bash_1"), kind="shell", title="npm run\n dev", age_s=65, tail=("ready \x1b[31mred",))
ENDED = TaskRow(task_id=TaskId("bash_2"), kind="shell", title="make", standing=Standing.FAILED, exit_code=2)
CHILDS = TaskRow(task_id=TaskId("bash_3"), kind="shell", title="watch", owner=AgentId("a1"))
LISTED = TasksListed(tasks=(RUNNING, ENDED, CHILDS))


def host(listed: TasksListed = LISTED) -> Host:
    return Host(lambda: TasksDialog(listed))


def last(app: Host) -> Lookup[Any]:
    return app.inquiries[-1]


async def test_the_list_shows_what_runs_first_and_whose_it_is() -> None:
    app = host()
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.pause()
        assert not opens(LISTED)
        assert isinstance(dialog_for(LISTED, DialogContext()), TasksDialog)
        shown = "\n".join(app.rows())
        assert "2 running" in shown
        first, second, third = (shown.index(name) for name in ("bash_1", "bash_3", "bash_2"))
        assert first < second < third
        assert "npm run dev" in shown
        assert "running for 1 min 5 s" in shown
        assert "agent a1" in shown
        assert "exited with code 2" in shown
        assert "\x1b" not in shown
        await pilot.press("m", "a", "k", "e")
        assert [option.value for option in app.dialog.options.items] == ["bash_2"]
        await pilot.press("escape")
        assert app.dismissals == 1


async def test_the_output_of_one_and_its_end_after_a_second_word() -> None:
    app = host()
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.press("enter")
        asked = last(app)
        assert isinstance(asked, ShowTask)
        assert asked.task_id == "bash_1"
        app.answer(TaskShown(task=CHILDS, output="not mine"))
        app.answer(TaskShown(task=RUNNING, output="line one\nline two\n"))
        await pilot.pause()
        assert "not mine" not in "\n".join(app.rows())
        assert "line two" in "\n".join(app.rows())
        await pilot.press("s")
        assert not any(isinstance(op, StopTask) for op in app.inquiries)
        await pilot.press("n", "s", "escape", "s")
        assert not any(isinstance(op, StopTask) for op in app.inquiries)
        await pilot.press("y")
        stop = last(app)
        assert isinstance(stop, StopTask)
        assert stop.task_id == "bash_1"
        over = TaskRow(task_id=TaskId("bash_1"), kind="shell", title="npm", standing=Standing.STOPPED, by="user")
        app.answer(TasksListed(tasks=(over, ENDED, CHILDS)))
        await pilot.pause()
        assert isinstance(last(app), ShowTask)
        app.answer(TaskShown(task=over, output="line one\n"))
        await pilot.pause()
        assert "stopped by you" in "\n".join(app.rows())
        assert not app.dialog.options.items, "there is nothing to stop any more"
        await pilot.press("escape")
        await pilot.pause()
        assert "1 running" in "\n".join(app.rows())
        assert not app.answers


async def test_what_cannot_be_done_is_told_and_news_ask_for_the_list_again() -> None:
    app = host()
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.press("enter")
        app.refuse("there is no task bash_1")
        await pilot.pause()
        assert "Not possible: there is no task bash_1" in "\n".join(app.rows())
        await pilot.press("escape")
        app.dialog.news(TaskEnded(task_id=TaskId("bash_1"), standing=Standing.COMPLETED, exit_code=0))
        await pilot.pause()
        assert isinstance(last(app), ListTasks)
        app.answer(TasksListed(tasks=(ENDED,)))
        await pilot.pause()
        assert [option.value for option in app.dialog.options.items] == ["bash_2"]


async def test_shift_down_opens_it_where_nothing_is_typed_and_selects_in_a_text() -> None:
    async with screen() as lab:
        await lab.press("shift+down")
        assert len(lab.client.asked(ListTasks)) == 1
        await lab.tell(TasksListed(tasks=(RUNNING,)))
        assert isinstance(lab.app.bottom.dialog, TasksDialog)
        await lab.press("escape")
        assert lab.app.bottom.dialog is None
        await lab.type("one")
        await lab.press("home", "shift+down")
        assert len(lab.client.asked(ListTasks)) == 1
        assert lab.app.prompt.selected_text == "one"


async def test_both_names_open_it_and_an_argument_is_answered_in_lines() -> None:
    async with screen() as lab:
        for name in ("/tasks", "/bashes"):
            await lab.type(name)
            await lab.press("escape", "enter")
        assert len(lab.client.asked(ListTasks)) == 2
        await lab.type("/tasks bash_1")
        await lab.press("enter")
        assert len(lab.client.asked(ShowTask)) == 1
        await lab.tell(TaskShown(task=RUNNING, output="all of it"))
        assert lab.app.bottom.dialog is None
        assert "all of it" in lab.text()


async def test_nothing_to_list_says_so() -> None:
    app = host(TasksListed(tasks=()))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert "Nothing runs or ran beside" in "\n".join(app.rows())
