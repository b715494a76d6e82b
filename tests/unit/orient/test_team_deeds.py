"""Calls about teams, mail and the list of work are told as what they did."""

from typing import Any

import pytest

from clew.orient.deeds import grouped, of_blocks
from clew.parts.work_items.changes import change_words
from clew.protocol.display import Block, TextBlock, TodoBlock, TodoItem
from clew.protocol.ids import CallId
from clew.protocol.messages import ToolCallPart

ITEMS = (
    TodoItem(content="Parse it", status="completed", number=2),
    TodoItem(content="Build", status="in_progress", number=3, owner="ann"),
)


def call(name: str, **arguments: Any) -> ToolCallPart:
    return ToolCallPart(id=CallId("c"), name=name, arguments=arguments)


def line(tool: str, /, *blocks: Block, **arguments: Any) -> str:
    (deed,) = of_blocks(ToolCallPart(id=CallId("c"), name=tool, arguments=arguments), blocks)
    return deed.line()


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("TaskCreate", {"subject": "Build"}, "Added #3 Build"),
        ("TaskUpdate", {"taskId": "2", "status": "completed"}, "Completed #2 Parse it"),
        ("TaskUpdate", {"taskId": "#3", "status": "in_progress"}, "Claimed #3 Build"),
        ("TaskUpdate", {"taskId": "3", "owner": "ann"}, "Gave #3 Build to ann"),
        ("TaskUpdate", {"taskId": "3", "owner": ""}, "Put back #3 Build"),
        ("TaskUpdate", {"taskId": "3", "subject": "Build it"}, "Changed #3 Build"),
        ("TaskUpdate", {"taskId": "9", "status": "deleted"}, "Removed #9"),
    ],
)
def test_a_change_of_the_list_names_the_item(name: str, arguments: dict[str, Any], told: str) -> None:
    assert line(name, TodoBlock(items=ITEMS), **arguments) == told


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("TaskList", {}, "Looked at the work list"),
        ("TaskGet", {"taskId": "3"}, "Looked at #3"),
        ("TeamCreate", {"team_name": "alpha"}, "Made the team alpha"),
        ("TeamDelete", {"wait_ms": 100}, "Ended the team"),
        ("TeamShutdown", {"name": "ann", "reason": "done"}, "Asked to stop ann: done"),
        ("ShutdownReply", {"approve": True}, "Agreed to stop"),
        ("ShutdownReply", {"approve": False, "reason": "two files left"}, "Wants to go on: two files left"),
        ("PlanReply", {"name": "ann", "approve": True}, "Accepted the plan of ann"),
        ("SendMessage", {"to": "ann", "message": "begin\nnow"}, "Wrote to ann: begin"),
        ("SendMessage", {"to": "*", "message": "begin"}, "Wrote to everybody: begin"),
    ],
)
def test_no_call_about_a_team_is_an_empty_noun(name: str, arguments: dict[str, Any], told: str) -> None:
    assert line(name, TextBlock(text="words for the model"), **arguments) == told


def test_names_with_control_characters_are_never_raw() -> None:
    assert "\x1b" not in line("SendMessage", to="ann\x1b[31m", message="a\x1b]0;x\x07b")


def test_several_are_told_together_and_a_whole_list_once() -> None:
    first = TodoBlock(items=ITEMS[:1])
    both = TodoBlock(items=ITEMS)
    made = [*of_blocks(call("TaskCreate", subject="Parse it"), (first,)), *of_blocks(call("TeamDelete"), ())]
    made += of_blocks(call("TaskCreate", subject="Build"), (both,))
    assert grouped(made) == ["Added #2 Parse it, #3 Build", "Ended the team"]
    written = [deed for block in (first, both) for deed in of_blocks(call("TodoWrite"), (block,))]
    assert grouped(written) == ["Tasks 1/2 done"]


def test_what_changed_between_two_lists_is_a_few_words() -> None:
    after = (
        TodoItem(content="Build", status="completed", number=3, owner="ann"),
        *(TodoItem(content=f"N{at}", status="pending", number=at) for at in (4, 5, 6)),
    )
    assert change_words(ITEMS, after) == "completed #3 Build; added #4 N4, #5 N5 and 1 more; removed #2 Parse it"
    assert change_words(after, after) == ""
    given = (TodoItem(content="N4", status="pending", number=4, owner="bob"),)
    assert change_words(after[1:2], given) == "gave to bob: #4 N4"
