"""/tasks in words: the tree as lines, and what is asked for by its words."""

from clew.commands.base import CommandContext, SessionFacts
from clew.commands.tasks import COMMAND, as_tree, listing
from clew.protocol.events import TaskRow
from clew.protocol.ids import AgentId, TaskId
from clew.protocol.lookups.tasks import ClearTasks
from clew.protocol.ops import MessageAgent, SendToBackground
from clew.protocol.standing import Standing

CONTEXT = CommandContext(facts=SessionFacts())
PARENT = TaskRow(task_id=TaskId("a1"), kind="agent", title="look", agent_kind="Explore", tokens=1_200, cost_usd=0.02)
BELOW = TaskRow(task_id=TaskId("bash_1"), kind="shell", title="make", owner=AgentId("a1"))
ENDED = TaskRow(task_id=TaskId("a9"), kind="agent", title="old", agent_kind="Plan", standing=Standing.COMPLETED)


def test_the_lines_are_a_tree() -> None:
    lines = list(listing((ENDED, BELOW, PARENT)))
    assert lines[0] == "a1  look  (running for 0.0 s, agent Explore, 1,200 tokens, $0.0200)"
    assert lines[1] == "  bash_1  make  (running for 0.0 s)"
    assert lines[2] == "a9  old  (completed, agent Plan)"


def test_agents_that_own_each_other_are_all_listed_once() -> None:
    one = TaskRow(task_id=TaskId("x"), kind="agent", title="x", owner=AgentId("y"))
    two = TaskRow(task_id=TaskId("y"), kind="agent", title="y", owner=AgentId("x"))
    own = TaskRow(task_id=TaskId("z"), kind="agent", title="z", owner=AgentId("z"))
    assert sorted(row.task_id for _, row in as_tree((one, two, own))) == ["x", "y", "z"]


def test_words_move_tell_and_clear() -> None:
    assert COMMAND.run(CONTEXT, "background a1").ops == (SendToBackground(task_id="a1"),)
    assert COMMAND.run(CONTEXT, "tell a1  be brief,\n please").ops == (
        MessageAgent(to="a1", text="be brief,\n please"),
    )
    assert COMMAND.run(CONTEXT, "clear").lookups == (ClearTasks(),)
    assert COMMAND.run(CONTEXT, "tell").is_error
    assert COMMAND.run(CONTEXT, "tell a1").is_error
