"""`/tasks ID` of an agent in plain: its story from its log, bounded, then its words; talk to it, stop it."""

from clew.protocol.events import AgentStarted, PartCompleted, PromptAccepted, Recorded, TaskRow
from clew.protocol.ids import AgentId, EntryId, MessageId, PromptId, TaskId
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.lookups.tasks import ShowTask, StopTask, TaskShown
from clew.protocol.messages import TextPart
from clew.protocol.ops import MessageAgent
from unit.plain.play import Stage

AT = "2026-11-16T08:00:00.000Z"


def words(number: int, text: str) -> Recorded:
    event = PartCompleted(
        reply_id=MessageId(f"m{number}"),
        entry_id=EntryId(f"w{number}"),
        parent_id=None,
        part_number=0,
        model="m",
        part=TextPart(text=text),
    )
    return Recorded(at=AT, event=event)


def told(text: str) -> Recorded:
    return Recorded(
        at=AT, event=PromptAccepted(prompt_id=PromptId("p"), entry_id=EntryId("p1"), parent_id=None, content=text)
    )


async def begun(stage: Stage) -> None:
    task = "count \x1b[31mfiles"
    stage.client.push(AgentStarted(child=AgentId("a1"), kind="worker", name="bob", task=task, background=True))
    await stage.settled()


async def show(stage: Stage, name: str, *events: Recorded, more: bool = False) -> None:
    stage.terminal.type(f"/tasks {name}\n".encode())
    await stage.until(lambda: any(isinstance(op, LoadHistory) and op.agent == "a1" for op in stage.ops))
    stage.client.answer(HistoryLoaded(events=events, before=EntryId("x") if more else None))
    await stage.until(lambda: any(isinstance(op, ShowTask) for op in stage.ops))
    row = TaskRow(task_id=TaskId("a1"), kind="agent", title="count files", output_file="/logs/agent-a1.jsonl")
    stage.client.answer(TaskShown(task=row, output="There are 12."))


async def test_the_story_of_an_agent_is_read_from_its_log() -> None:
    async with Stage() as stage:
        await begun(stage)
        await show(
            stage, "bob", told("count the files"), words(1, "I begin \x1b]0;evil\x07here."), words(2, "There are 12.")
        )
        await stage.shows("It was told:\n  count the files\n")
        await stage.shows("All of it: /logs/agent-a1.jsonl")
        (asked,) = [op for op in stage.ops if isinstance(op, LoadHistory) and op.agent == "a1"]
        assert asked.before is None
        assert [op.task_id for op in stage.ops if isinstance(op, ShowTask)] == ["a1"], "a name finds it, too"
        shown = stage.output
        assert shown.count("There are 12.") == 1, "its last words stand once"
        assert shown.index("It was told:") < shown.index("There are 12."), "the story comes first"
        assert "here." in shown
        assert "\x1b]0;" not in shown
        assert "\x1b[31mfiles" not in shown


async def test_a_long_story_is_bounded_and_says_so() -> None:
    async with Stage() as stage:
        await begun(stage)
        await show(stage, "a1", *(words(number, f"line {number} " * 40) for number in range(100)), more=True)
        await stage.shows("(what came before is left out)")
        await stage.shows("All of it:")
        assert "line 3 " not in stage.output
        assert stage.output.count("\n") < 140


async def test_an_agent_is_talked_to_and_stopped() -> None:
    async with Stage() as stage:
        await begun(stage)
        stage.terminal.type(b"/tasks tell a1 be quick\n/tasks stop a1\n")
        await stage.until(lambda: any(isinstance(op, StopTask) for op in stage.ops))
        (said,) = [op for op in stage.ops if isinstance(op, MessageAgent)]
        assert (said.to, said.text) == ("a1", "be quick")
