"""Requests with ids both ways: answered once, cancelled, and what nobody asked for changes nothing."""

import asyncio
from collections.abc import Awaitable

import pytest

from clew.headless.control_channel import NotAnswered
from clew.headless.op_answers import OpFailed
from clew.streaming.shapes.control import ControlResponse, HookCallbackRequest, Json, RequestDone
from clew.streaming.shapes.control_answers import AnswerBase, EffortUsed
from unit.headless.program import Program, soon

REQUEST = HookCallbackRequest(callback_id="hook_0", input={"a": 1}, tool_use_id="call_1")


async def test_a_question_is_asked_with_an_id_and_answered_by_it() -> None:
    program = Program()
    asked = asyncio.create_task(program.channel.ask(REQUEST))
    await soon(lambda: program.requests)
    assert program.requests[0]["request"] == {
        "subtype": "hook_callback",
        "callback_id": "hook_0",
        "input": {"a": 1},
        "tool_use_id": "call_1",
    }
    program.succeed({"continue": True})
    assert await asked == {"continue": True}
    assert not program.cancelled


async def test_answers_find_their_questions_in_any_order() -> None:
    program = Program()
    asked = [asyncio.create_task(program.channel.ask(REQUEST)) for _ in range(3)]
    await soon(lambda: len(program.requests) == 3)
    assert len({line["request_id"] for line in program.requests}) == 3
    for at in (2, 0, 1):
        program.succeed({"at": at}, at=at)
    assert [answer["at"] for answer in await asyncio.gather(*asked)] == [0, 1, 2]


async def test_a_program_that_fails_says_why() -> None:
    program = Program()
    asked = asyncio.create_task(program.channel.ask(REQUEST))
    await soon(lambda: program.requests)
    program.fail("the callback raised")
    with pytest.raises(NotAnswered, match="the callback raised"):
        await asked


async def test_who_stops_waiting_takes_the_question_back_and_a_late_answer_changes_nothing() -> None:
    program = Program()
    asked = asyncio.create_task(program.channel.ask(REQUEST))
    await soon(lambda: program.requests)
    asked.cancel()
    await soon(lambda: program.cancelled)
    assert program.cancelled == [program.requests[0]["request_id"]]
    program.succeed({})
    assert "nobody waits" in program.complaints[0]


async def test_wrong_and_repeated_ids_change_nothing() -> None:
    program = Program()
    asked = asyncio.create_task(program.channel.ask(REQUEST))
    await soon(lambda: program.requests)
    program.channel.take_response(ControlResponse(response=RequestDone(request_id="made up", response={"x": 1})))
    assert not asked.done()
    program.succeed({"real": True})
    program.succeed({"again": True})
    assert await asked == {"real": True}
    assert len(program.complaints) == 2
    assert "'made up'" in program.complaints[0]


async def test_a_program_that_is_gone_is_asked_nothing_and_waited_for_no_longer() -> None:
    program = Program()
    asked = asyncio.create_task(program.channel.ask(REQUEST))
    await soon(lambda: program.requests)
    program.channel.close()
    with pytest.raises(NotAnswered, match="closed stdin"):
        await asked
    with pytest.raises(NotAnswered, match="closed stdin"):
        await program.channel.ask(REQUEST)
    assert len(program.requests) == 1


async def test_a_request_is_answered_with_its_own_id() -> None:
    async def begin(request: Json) -> Awaitable[AnswerBase | None]:
        return asyncio.ensure_future(answer(str(request["subtype"])))

    async def answer(name: str) -> AnswerBase:
        return EffortUsed(effort=name)

    program = Program(begin)
    await program.ask("r1", subtype="one")
    await program.ask("r2", subtype="two")
    await soon(lambda: len(program.responses) == 2)
    assert program.responses[0] == {"subtype": "success", "request_id": "r1", "response": {"effort": "one"}}
    assert program.responses[1]["response"] == {"effort": "two"}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("error", "words"), [(OpFailed("not now"), "not now"), (KeyError("x"), "internal error: KeyError")]
)
async def test_what_goes_wrong_is_an_error_response(late: bool, error: Exception, words: str) -> None:
    async def begin(request: Json) -> Awaitable[AnswerBase | None]:
        if not late:
            raise error
        return asyncio.ensure_future(fail())

    async def fail() -> AnswerBase:
        raise error

    program = Program(begin)
    await program.ask("r1", subtype="x")
    await soon(lambda: program.responses)
    assert program.responses[0]["subtype"] == "error"
    assert words in program.responses[0]["error"]


async def test_a_second_request_with_an_open_id_is_ignored_and_the_first_is_answered_once() -> None:
    gate = asyncio.Event()
    begun = 0

    async def begin(request: Json) -> Awaitable[AnswerBase | None]:
        nonlocal begun
        begun += 1
        return asyncio.ensure_future(wait())

    async def wait() -> None:
        await gate.wait()

    program = Program(begin)
    await program.ask("r1", subtype="x")
    await program.ask("r1", subtype="x")
    gate.set()
    await program.channel.settle()
    await soon(lambda: program.responses)
    assert begun == 1
    assert len(program.responses) == 1
    assert "second request" in program.complaints[0]
    await program.ask("r1", subtype="x")  # an id may be used again once it is answered
    await soon(lambda: len(program.responses) == 2)


async def test_a_cancelled_request_is_not_answered_and_others_are() -> None:
    gate = asyncio.Event()

    async def begin(request: Json) -> Awaitable[AnswerBase | None]:
        return asyncio.ensure_future(wait())

    async def wait() -> None:
        await gate.wait()

    program = Program(begin)
    await program.ask("r1", subtype="x")
    await program.ask("r2", subtype="x")
    program.cancel("r1")
    program.cancel("never asked")
    gate.set()
    await soon(lambda: program.responses)
    await program.channel.settle()
    assert [response["request_id"] for response in program.responses] == ["r2"]
    assert "'never asked'" in program.complaints[0]
