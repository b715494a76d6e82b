"""Tasks: one registry, one beginning and one end each, and who brought it about."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from clew.agents.tasks import MAX_KNOWN, NoSuchTask, TaskRegistry
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel
from clew.protocol.entries import EventEntry
from clew.protocol.events import (
    Actor,
    TaskChanged,
    TaskEnded,
    TaskStarted,
    TurnEnded,
)
from clew.protocol.ids import MAIN_AGENT, TaskId
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.tasks import ClearTasks, ListTasks, ShowTask, StopTask
from clew.protocol.ops import SubmitPrompt
from clew.protocol.standing import Standing
from clew.transcript.past.reader import load
from unit.agents.house import House, house

KEY = "sk-ant-api03-" + "Zb3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2


def background(command: str) -> Call:
    return Call("Bash", {"command": command, "run_in_background": True})


def scripted(*commands: str) -> dict[str, ScriptedModel]:
    return {"main": ScriptedModel([ReplyOf([background(command) for command in commands]), Say("ok")])}


async def started(place: House) -> None:
    await place.front.submit(SubmitPrompt(content="go"))
    await place.front.until(TurnEnded)


def on_disk(place: House) -> list[tuple[str, str]]:
    told = [entry.event for entry in load(place.path).entries if isinstance(entry, EventEntry)]
    return [(type(event).__name__, event.task_id) for event in told if isinstance(event, TaskStarted | TaskEnded)]


class Work:
    """A task of another kind, moved by hand."""

    kind = "monitor"
    title = "watch it"
    output_file = ""
    exit_code = None

    def __init__(self, task_id: str) -> None:
        self.task_id = TaskId(task_id)
        self.standing = Standing.WORKING
        self.by: Actor = "itself"
        self.started_s = time.monotonic()
        self.ended = asyncio.Event()

    def more(self) -> dict[str, Any]:
        return {}

    def text(self) -> str:
        return "seen\n"

    def last(self, max_chars: int) -> str:
        return self.text()[-max_chars:]

    async def over(self) -> None:
        await self.ended.wait()

    async def stop(self, by: Actor) -> None:
        self.standing, self.by = Standing.STOPPED, by
        self.ended.set()


async def test_background_commands_begin_and_end_once_each_with_code_and_actor(tmp_path: Path) -> None:
    async with house(
        tmp_path, models=scripted("exit 4", "true", f"echo {KEY}; sleep 3600"), mode="bypassPermissions"
    ) as place:
        await started(place)
        await place.front.until(TaskEnded, 2)
        begun: list[TaskStarted] = place.front.of(TaskStarted)
        assert [(task.task_id, task.kind, task.owner) for task in begun] == [
            ("bash_1", "shell", "main"),
            ("bash_2", "shell", "main"),
            ("bash_3", "shell", "main"),
        ]
        assert KEY not in begun[2].title
        over = {task.task_id: task for task in place.front.of(TaskEnded)}
        assert (over["bash_1"].standing, over["bash_1"].exit_code, over["bash_1"].by) == (Standing.FAILED, 4, "itself")
        assert (over["bash_2"].standing, over["bash_2"].exit_code) == (Standing.COMPLETED, 0)
        await place.shared.registry.stop("3", "user")
        stopped: TaskEnded = await place.front.until(TaskEnded, 3)
        assert (stopped.task_id, stopped.standing, stopped.by) == ("bash_3", Standing.STOPPED, "user")
        rows = place.shared.registry.rows()
        assert [row.standing for row in rows] == [Standing.FAILED, Standing.COMPLETED, Standing.STOPPED]
        assert KEY not in str(rows)
    assert len(on_disk(place)) == len(set(on_disk(place))) == 6


async def test_the_agents_own_stop_names_the_agent(tmp_path: Path) -> None:
    kill = Call("KillShell", {"shell_id": "bash_1"})
    models = {"main": ScriptedModel([background("sleep 3600"), kill, Say("ok")])}
    async with house(tmp_path, models=models, mode="bypassPermissions") as place:
        await started(place)
        ended: TaskEnded = await place.front.until(TaskEnded)
        assert (ended.standing, ended.by) == (Standing.STOPPED, "agent")


async def test_closing_the_session_ends_tasks_and_that_is_on_disk(tmp_path: Path) -> None:
    async with house(tmp_path, models=scripted("sleep 3600"), mode="bypassPermissions") as place:
        await started(place)
    ended: TaskEnded = place.front.of(TaskEnded)[0]
    assert (ended.standing, ended.by) == (Standing.STOPPED, "session")
    assert on_disk(place) == [("TaskStarted", "bash_1"), ("TaskEnded", "bash_1")]


async def test_a_task_of_another_kind_is_told_of_when_it_changes(tmp_path: Path) -> None:
    async with house(tmp_path, models=scripted("true"), mode="bypassPermissions") as place:
        registry = TaskRegistry(place.session)
        port = registry.of(MAIN_AGENT)
        work = Work(port.new_id("monitor"))
        assert port.new_id("monitor") == "monitor_2"
        port.began(work)
        work.standing = Standing.SUSPENDED
        port.changed(work)
        assert (await place.front.until(TaskEnded)).standing is Standing.SUSPENDED
        port.changed(work)
        other = Work("monitor_3")
        port.began(other)
        other.standing = Standing.WAITING
        port.changed(other)
        port.changed(other)
        await place.front.until(TaskChanged)
        assert [event.standing for event in place.front.of(TaskChanged)] == [Standing.WAITING]
        await registry.close()
        assert (other.standing, other.by) == (Standing.STOPPED, "session")
        assert len(place.front.of(TaskEnded)) <= 2


async def test_what_is_not_there_or_over_is_refused_in_words(tmp_path: Path) -> None:
    async with house(tmp_path, models=scripted("true"), mode="bypassPermissions") as place:
        registry = TaskRegistry(place.session)
        with pytest.raises(NoSuchTask, match="known: none"):
            registry.shown("bash_9")
        work = Work("w")
        registry.add(work, MAIN_AGENT)
        await registry.stop("w", "user")
        registry.changed(work)
        with pytest.raises(NoSuchTask, match="ended already"):
            await registry.stop("w", "user")


async def test_a_front_end_lists_looks_and_stops(tmp_path: Path) -> None:
    models = scripted(f"echo started; echo {KEY}; sleep 3600", "exit 4")
    async with house(tmp_path, models=models, mode="bypassPermissions") as place:
        assert (await place.front.look_up(ListTasks())).tasks == ()
        await started(place)
        await place.front.until(TaskEnded)
        shown = await place.front.look_up(ShowTask(task_id="bash_2"))
        assert (shown.task.exit_code, shown.output) == (4, "")
        with pytest.raises(LookupRefused, match="there is no task x"):
            await place.front.look_up(ShowTask(task_id="x"))
        with pytest.raises(LookupRefused, match="ended already"):
            await place.front.look_up(StopTask(task_id="bash_2"))
        listed = await place.front.look_up(StopTask(task_id="bash_1"))
        assert (listed.tasks[0].standing, listed.tasks[0].by) == (Standing.STOPPED, "user")
        await place.front.until(TaskEnded, 2)
        assert place.front.of(TaskEnded)[-1].by == "user"
        assert KEY not in str((listed, place.front.seen[-5:]))


async def test_ended_tasks_are_forgotten_beyond_a_bound_and_running_ones_never(tmp_path: Path) -> None:
    async with house(tmp_path, models=scripted("true"), mode="bypassPermissions") as place:
        registry = TaskRegistry(place.session)
        lasting = Work("first")
        registry.add(lasting, MAIN_AGENT)
        for number in range(MAX_KNOWN + 50):
            work = Work(f"w{number}")
            registry.add(work, MAIN_AGENT)
            work.standing = Standing.COMPLETED
            registry.changed(work)
        rows = [row for row in registry.rows() if row.standing.open]
        assert [row.task_id for row in rows] == ["first"]
        assert len(registry.rows()) <= MAX_KNOWN + 30
        await registry.close()


async def test_what_ended_is_cleared_from_the_list_and_stays_in_the_log(tmp_path: Path) -> None:
    async with house(tmp_path, models=scripted("true", "sleep 3600"), mode="bypassPermissions") as place:
        await started(place)
        await place.front.until(TaskEnded)
        listed = await place.front.look_up(ClearTasks())
        assert [row.title for row in listed.tasks] == ["sleep 3600"]
        assert [row.title for row in (await place.front.look_up(ListTasks())).tasks] == ["sleep 3600"]
        assert len([name for name, _ in on_disk(place) if name == "TaskStarted"]) == 2
