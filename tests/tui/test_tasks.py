"""The dialog of tasks: the list, the output of one, stopping it after a second word; and the key that opens it."""

from typing import Any

from clew.protocol.events import AgentStarted, Envelope, OpAccepted, OpRejected, TaskEnded, TaskRow
from clew.protocol.ids import AgentId, OpId, TaskId
from clew.protocol.lookups.base import Lookup
from clew.protocol.lookups.tasks import (
    CleanWorktrees,
    ClearTasks,
    ListTasks,
    ShowTask,
    StopTask,
    TaskShown,
    TasksListed,
)
from clew.protocol.ops import MessageAgent, SendToBackground
from clew.protocol.standing import Standing
from clew.tui.dialogs.registry import DialogContext, dialog_for, opens
from clew.tui.dialogs.tasks import TasksDialog
from tui.hosting import Host
from tui.screen_lab import AT, SESSION, asks, call, over, screen, turn

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


PARENT = TaskRow(
    task_id=TaskId("a1"),
    kind="agent",
    title="look around",
    agent_kind="Explore",
    name="scout",
    tokens=1_200,
    cost_usd=0.02,
    age_s=65,
)
DEEPER = TaskRow(
    task_id=TaskId("a2"), kind="agent", title="count", owner=AgentId("a1"), agent_kind="worker", background=True
)
DONE = TaskRow(task_id=TaskId("a3"), kind="agent", title="old", agent_kind="Plan", standing=Standing.COMPLETED)
TREE = TasksListed(tasks=(DONE, CHILDS, PARENT, DEEPER))


async def test_the_list_is_a_tree_with_kind_name_and_figures() -> None:
    app = host(TREE)
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.pause()
        shown = [row.strip() for row in app.rows() if row.strip()]
        assert [option.value for option in app.dialog.options.items] == ["a1", "bash_3", "a2", "a3"]
        assert any("agent Explore · named scout · 1,200 tokens · $0.0200" in row for row in shown)
        assert any("› a2  count" in row for row in shown)
        assert any("agent worker · in the background" in row for row in shown)
        await pilot.press("s", "c", "o", "u", "t")
        assert [option.value for option in app.dialog.options.items] == ["a1"]


async def test_an_agent_is_talked_to_and_moved_to_the_background() -> None:
    async with screen(size=(90, 30)) as lab:
        await lab.press("shift+down")
        await lab.tell(TREE)
        await lab.press("enter")
        await lab.tell(TaskShown(task=PARENT, output="all that it said\nuntil now"))
        assert "until now" in lab.text(), "read without a call of a model"
        await lab.press("b")
        (moved,) = lab.client.asked(SendToBackground)
        assert moved.task_id == "a1"
        await lab.tell(OpRejected(op_id=moved.op_id, op="shell.to_background", reason="nothing runs"))
        assert "Not possible: nothing runs" in lab.text()
        await lab.press("m")
        await lab.type("be brief")
        await lab.press("enter")
        (said,) = lab.client.asked(MessageAgent)
        assert (said.to, said.text) == ("a1", "be brief")
        await lab.tell(OpAccepted(op_id=OpId("tasks")))
        assert "Not possible" not in lab.text()
        await lab.press("m", "x", "escape", "s", "y")
        assert len(lab.client.asked(MessageAgent)) == 1
        assert [stop.task_id for stop in lab.client.asked(StopTask)] == ["a1"]


async def test_ended_ones_are_cleared_and_one_that_ended_can_be_talked_to() -> None:
    app = host(TREE)
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.press("delete")
        assert isinstance(last(app), ClearTasks)
        app.answer(TasksListed(tasks=(CHILDS, PARENT, DEEPER)))
        await pilot.pause()
        assert [option.value for option in app.dialog.options.items] == ["a1", "bash_3", "a2"]
    app = host(TasksListed(tasks=(DONE,)))
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert [option.value for option in app.dialog.options.items] == ["tell"]


async def test_answering_goes_to_what_this_agent_asks() -> None:
    async with screen(size=(90, 30)) as lab:
        await lab.press("shift+down")
        waits = TaskRow(task_id=TaskId("a2"), kind="agent", title="count", standing=Standing.WAITING)
        await lab.tell(TasksListed(tasks=(waits,)))
        for number, (agent, event) in enumerate(
            (
                ("main", AgentStarted(child=AgentId("a1"), kind="Explore", task="look")),
                ("main", AgentStarted(child=AgentId("a2"), kind="worker", task="count")),
                ("a1", asks(subject="first", number=1)),
                ("a2", asks(subject="second", number=2)),
            )
        ):
            lab.client.tell_envelope(Envelope(seq=number, at=AT, session_id=SESSION, event=event, agent=AgentId(agent)))
        await lab.settle()
        await lab.press("enter", "a")
        assert 'main > worker "count"' in lab.text()
        assert "second" in lab.text()


async def test_b_in_the_list_moves_whatever_is_waited_for_to_the_background() -> None:
    async with screen(size=(100, 24)) as lab:
        await lab.press("shift+down")
        await lab.tell(TasksListed(tasks=(RUNNING,)))
        await lab.press("b")
        assert not lab.client.asked(SendToBackground), "nothing is waited for: a letter that filters"
        await lab.press("escape", "escape")
        await lab.tell(turn(), call("Bash", command="sleep 99"))
        await lab.press("shift+down")
        await lab.tell(TasksListed(tasks=(RUNNING,)))
        assert "b moves what is waited for" in lab.text()
        await lab.press("b")
        (op,) = lab.client.asked(SendToBackground)
        assert op.task_id == "", "commands and agents alike"
        await lab.tell(OpRejected(op_id=op.op_id, op="background", reason="nothing runs that could go on"))
        assert "Not possible: nothing runs" in lab.text()
        await lab.tell(over())
        assert "b moves" not in lab.text()


async def test_a_checkout_that_was_left_is_listed_looked_at_and_removed() -> None:
    left = TaskRow(
        task_id=TaskId("worktree:a1"),
        kind="worktree",
        title="/w/a1: 1 commit; saved in refs/clew/a1/head",
        standing=Standing.COMPLETED,
        tail=("1.2 MB, 3 days old",),
    )
    app = host(TasksListed(tasks=(ENDED, left)))
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.pause()
        assert "checkout that was left" in "\n".join(app.rows())
        await pilot.press("w", "o", "r", "k", "enter")
        asked = last(app)
        assert isinstance(asked, ShowTask)
        app.answer(TaskShown(task=left, output="Kept because: 1 commit"))
        await pilot.pause()
        assert "Kept because" in "\n".join(app.rows())
        await pilot.press("c")
        assert last(app) == CleanWorktrees(name="worktree:a1")
        app.answer(TasksListed(tasks=(ENDED,)))
        await pilot.pause()
        shown = "\n".join(app.rows())
        assert "worktree:a1" not in shown
        assert "bash_2" in shown
