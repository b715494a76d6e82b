"""TodoWrite and AskUser, schemas and decoding errors."""

import json
from typing import Any

import pytest

from clew.permissions.access import ToolAccess
from clew.protocol.display import TodoBlock
from clew.protocol.events import Question
from clew.tools.base import Tool
from clew.tools.registry import BUILTIN, builtin_tools
from clew.tools.schema import BadArguments, decode_arguments, schema_of
from clew.tools.session import ToolSession

from .conftest import Answers, Caller


async def test_todos_are_kept_and_shown(call: Caller, session: ToolSession):
    result = await call("TodoWrite", todos=[{"content": "a", "status": "completed", "activeForm": "doing a"}])
    assert result.text == "Task list saved: 1 of 1 done."
    (block,) = result.display
    assert isinstance(block, TodoBlock)
    assert session.todos == block.items
    assert block.items[0].active_form == "doing a"


async def test_answers_reach_the_model(call: Caller, answers: list[Answers | None], asked: list[tuple[Question, ...]]):
    answers.append((("blue",),))
    ask = [{"question": "Colour?", "options": [{"label": "blue"}, {"label": "red", "description": "warm"}]}]
    result = await call("AskUser", questions=ask)
    assert result.text == "The user answered:\n- Colour?: blue"
    assert asked[0][0].choices[1].description == "warm"


async def test_nobody_there_is_a_denial(call: Caller):
    result = await call("AskUser", questions=[{"question": "Colour?"}])
    assert result.is_error
    assert "nobody is there" in result.text
    assert (await call("AskUser", questions=[])).is_error


def test_bad_arguments_say_what_is_expected(tools: dict[str, Tool[Any]]):
    with pytest.raises(BadArguments, match="missing required field 'file_path'") as caught:
        decode_arguments("Read", tools["Read"].params, {})
    assert "file_path: string, offset: integer (optional)" in str(caught.value)
    with pytest.raises(BadArguments, match="for 'limit'"):
        decode_arguments("Read", tools["Read"].params, {"file_path": "a", "limit": "many"})
    with pytest.raises(BadArguments, match="unknown field 'filename'"):
        decode_arguments("Read", tools["Read"].params, {"file_path": "a", "filename": 1})
    decode_arguments("Read", tools["Read"].params, {"file_path": "a", "limit": None})


def test_specs_are_small_and_whole(tools: dict[str, Tool[Any]]):
    specs = [tool.spec() for tool in tools.values()]
    for spec in specs:
        assert spec.description
        assert spec.schema["type"] == "object"
        whole, untold = schema_of(tools[spec.name].params), tools[spec.name].untold
        told = {name: value for name, value in whole["properties"].items() if name not in untold}
        assert spec.schema == whole | {"properties": told}
    size = sum(len(json.dumps([s.name, s.description, s.schema], separators=(",", ":"))) for s in specs)
    assert size <= 11_000, f"tool specs take {size} bytes"


def test_the_registry_filters_and_keeps_its_order(session: ToolSession):
    names = [tool.name for tool in builtin_tools(session)]
    assert names == [tool.name for tool in BUILTIN]
    assert [tool.name for tool in builtin_tools(session, allowed={"Write", "Read"})] == ["Read", "Write"]
    assert "Bash" not in [tool.name for tool in builtin_tools(session, disallowed={"Bash"})]


def test_only_reading_tools_are_concurrency_safe(tools: dict[str, Tool[Any]]):
    safe: dict[str, dict[str, Any]] = {"Read": {"file_path": "a"}, "Glob": {"pattern": "a"}, "Grep": {"pattern": "a"}}
    unsafe: dict[str, dict[str, Any]] = {"Write": {"file_path": "a", "content": ""}, "Edit": {"file_path": "a"}}
    unsafe |= {"Bash": {"command": "true"}, "TodoWrite": {"todos": []}}
    for expected, calls in ((True, safe), (False, unsafe)):
        for name, arguments in calls.items():
            params = decode_arguments(name, tools[name].params, arguments)
            assert tools[name].is_concurrency_safe(params) is expected, name


def test_tools_without_a_subject_say_so(tools: dict[str, Tool[Any]], make_context: Any):
    params = decode_arguments("TodoWrite", tools["TodoWrite"].params, {"todos": []})
    assert tools["TodoWrite"].accesses(params, make_context()) == (ToolAccess(tool="TodoWrite", read_only=True),)
