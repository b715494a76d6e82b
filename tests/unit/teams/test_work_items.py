"""The one list of work in a session: tools, TodoWrite, hooks, resume, compaction's facts; through its front door."""

import json
import shutil
from typing import Any

from msgspec.structs import replace

from clew.ledger.fold import fold
from clew.llm.scripted import Call, Say
from clew.protocol.events import AgentEnded, ToolEnded, TurnEnded, WorkChanged
from clew.protocol.messages import result_text
from clew.protocol.ops import SubmitPrompt
from clew.transcript.past.reader import load
from unit.agents.opened_place import Place, opened
from unit.host.room import Front
from unit.teams.team_lab import CREATE, deferred, member, results, team


def todo(*items: tuple[str, str]) -> Call:
    return Call("TodoWrite", {"todos": [{"content": text, "status": status} for text, status in items]})


def listed(front: Front) -> list[tuple[int, str, str, str]]:
    return [(one.number, one.content, one.status, one.owner) for one in front.door.session.journal.main.state.todos]


async def played(place: Place, script: list[Any], **more: Any) -> Front:
    request, _ = team(place, [*script, Say("done")])
    async with opened(replace(request, **more)) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
    return front


async def test_items_are_created_claimed_and_finished(place: Place) -> None:
    script = [
        deferred("TaskCreate", subject="build"),
        deferred("TaskCreate", subject="ship", blockedBy=["1"]),
        deferred("TaskUpdate", taskId="2", status="in_progress"),
        deferred("TaskUpdate", taskId="#1", status="completed"),
        deferred("TaskUpdate", taskId="2", status="in_progress"),
        deferred("TaskList"),
        deferred("TaskGet", taskId="2"),
        deferred("TaskUpdate", taskId="9", status="completed"),
    ]
    front = await played(place, script)
    said = results(front)
    assert said[2].startswith("blocked: #2 is blocked: first comes #1 'build'")
    assert "#1 completed (lead): build" in said[3]
    assert said[5].splitlines() == ["#1 completed (lead): build", "#2 in_progress (lead): ship [after #1]"]
    assert said[7].startswith("not_found: there is no item #9; items are #1, #2")
    assert listed(front) == [(1, "build", "completed", ""), (2, "ship", "in_progress", "")]
    ledger = fold(load(place.transcript).entries, held=True)
    assert ledger.todos is not None
    assert [item.content for item in ledger.todos.open_items] == ["ship"]


async def test_todo_write_replaces_the_callers_items_and_no_others(place: Place) -> None:
    front = await played(
        place,
        [
            deferred("TaskCreate", subject="shared"),
            todo(("mine", "pending"), ("more", "in_progress")),
            todo(("mine", "completed")),
        ],
    )
    assert listed(front) == [(1, "shared", "pending", ""), (2, "mine", "completed", "")]


async def test_a_list_of_one_agent_leaves_the_log_as_it_was(place: Place) -> None:
    """Old readers of logs know calls of TodoWrite; events are told only where the calls do not say it all."""
    front = await played(place, [todo(("one", "pending"), ("two", "in_progress"))])
    assert not front.of(WorkChanged)
    assert [one.content for one in front.door.session.journal.main.state.todos] == ["one", "two"]


async def test_the_list_goes_on_with_the_session_and_is_made_again_where_its_file_is_gone(place: Place) -> None:
    await played(place, [deferred("TaskCreate", subject="a"), deferred("TaskCreate", subject="b", blockedBy=["1"])])
    front = await played(place, [deferred("TaskList")], resume=place.transcript.stem)
    assert results(front)[-1].splitlines() == ["#1 pending: a", "#2 pending: b [after #1]"]
    shutil.rmtree(place.home / "tasks")
    front = await played(place, [deferred("TaskCreate", subject="c")], resume=place.transcript.stem)
    assert listed(front) == [(1, "a", "pending", ""), (2, "b", "pending", ""), (3, "c", "pending", "")]


async def test_tk_7_a_hook_that_blocks_completion_keeps_the_status(place: Place) -> None:
    script = place.base / "no.sh"
    script.write_text("echo 'not verified' >&2; exit 2\n")
    hooks = {"TaskCompleted": [{"hooks": [{"type": "command", "command": f"sh {script}"}]}]}
    (place.home / "settings.json").write_text(json.dumps({"hooks": hooks}))
    front = await played(
        place,
        [
            deferred("TaskCreate", subject="build"),
            deferred("TaskUpdate", taskId="1", status="completed"),
            todo(("mine", "completed")),
        ],
    )
    said = results(front)
    assert "a hook does not let #1 be completed: not verified" in said[1]
    assert "'mine' stays open: a hook says not verified" in said[2]
    assert listed(front) == [(1, "build", "pending", ""), (2, "mine", "in_progress", "")]


async def test_three_items_without_a_check_are_nudged(place: Place) -> None:
    steps = [("a", "completed"), ("b", "completed"), ("c", "completed")]
    front = await played(place, [todo(*steps), todo(*steps, ("run the tests", "completed"))])
    said = results(front)
    assert "none of them checks the work" in said[0]
    assert "none of them checks" not in said[1]


async def test_an_item_given_to_a_member_is_told_and_a_member_shares_the_list(place: Place) -> None:
    request, models = team(
        place,
        [
            CREATE,
            deferred("TaskCreate", subject="look around"),
            member("scout"),
            deferred("TaskUpdate", taskId="1", owner="scout"),
            *[Say("ok")] * 4,
        ],
        scout=[
            Say("ready"),
            Call("TaskUpdate", {"taskId": "1", "status": "completed"}),
            Say("x"),
        ],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(AgentEnded, 2)
        assert [(one.status, one.owner) for one in front.door.session.journal.main.state.todos] == [
            ("completed", "scout")
        ]
    assert any("Item #1 of the work list is assigned to you" in str(one.messages) for one in models["scout"].requests)
    names = [tool.name for tool in models["scout"].requests[0].tools]
    assert {"TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "ShutdownReply"} <= set(names)
    ended = [result_text(event.result) for event in front.of(ToolEnded)]
    assert any("scout is told" in text for text in ended)


async def test_an_owner_is_written_as_the_team_has_it_and_told_is_said_only_where_it_is_so(place: Place) -> None:
    request, _ = team(
        place,
        [
            deferred("TaskCreate", subject="look around"),
            deferred("TaskUpdate", taskId="1", owner="nobody-there"),
            CREATE,
            member("scout"),
            deferred("TaskUpdate", taskId="1", owner="ghost"),
            deferred("TaskUpdate", taskId="1", owner="Scout"),
            *[Say("ok")] * 4,
        ],
        scout=[Say("ready"), Call("TaskUpdate", {"taskId": "1", "status": "in_progress"}), Say("x")],
    )
    async with opened(request) as front:
        await front.submit(SubmitPrompt(content="go"))
        await front.until(AgentEnded, 2)
        assert [(one.status, one.owner) for one in front.door.session.journal.main.state.todos] == [
            ("in_progress", "scout")
        ]
    said = [result_text(event.result) for event in front.of(ToolEnded)]
    assert any("nobody-there is NOT told: there is no team" in text for text in said)
    assert any("ghost is NOT told: there is no 'ghost' in the team blue" in text for text in said)
    assert any("scout is told" in text for text in said)
