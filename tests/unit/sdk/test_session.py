"""The SDK over the real host: prompts in, lines out, callbacks between, nothing left behind."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clew.sdk import (
    Allow,
    AssistantLine,
    ClewError,
    Deny,
    InitLine,
    NotOpen,
    NotOpened,
    Options,
    PartialLine,
    Question,
    Refused,
    ResultLine,
    Session,
    StreamLine,
    TextContent,
    ToolRequest,
    UserLine,
    query,
)
from fakes.effort import HANG_S
from unit.sdk.conftest import Serve

WRITE = {"call": "Write", "arguments": {"file_path": "a.txt", "content": "one"}}
LIMIT_S = HANG_S


async def all_of(lines: AsyncIterator[StreamLine]) -> list[StreamLine]:
    return [line async for line in lines]


def words(lines: list[StreamLine]) -> str:
    parts = [part for line in lines if isinstance(line, AssistantLine) for part in line.message.content]
    return "".join(part.text for part in parts if isinstance(part, TextContent))


def transcripts(options: Options) -> list[Path]:
    return sorted(Path(options.env["CLEW_HOME"]).glob("projects/*/*.jsonl"))


async def test_one_question(serve: Serve, capfd: pytest.CaptureFixture[str]) -> None:
    options, server = serve([{"text": "Forty-two."}])
    lines = await all_of(query("what is it?", options))
    assert isinstance(lines[0], InitLine)
    assert isinstance(lines[-1], ResultLine)
    assert words(lines) == lines[-1].result == "Forty-two."
    assert (lines[-1].subtype, lines[-1].is_error, lines[-1].session_id) == ("success", False, lines[0].session_id)
    assert "what is it?" in str(server.requests[0].body["messages"])
    assert capfd.readouterr() == ("", ""), "nothing is printed"
    assert len(transcripts(options)) == 1


async def test_a_conversation_has_one_result_for_each_turn(serve: Serve) -> None:
    options, server = serve([{"text": "one"}, {"text": "two"}])
    async with Session(options) as session:
        assert session.id
        await session.send("first")
        first = await all_of(session.receive())
        second = await session.ask("second")
    assert [isinstance(line, ResultLine) for line in first].count(True) == 1
    assert (words(first), second.result) == ("one", "two")
    assert len(server.requests[1].body["messages"]) == 3


async def test_all_messages_until_the_session_is_closed(serve: Serve) -> None:
    options, _ = serve([{"text": "one"}, {"text": "two"}])
    session = Session(options)
    told = asyncio.Semaphore(0)

    async def read() -> list[StreamLine]:
        lines: list[StreamLine] = []
        async for line in session.messages():
            lines.append(line)
            if isinstance(line, ResultLine):
                told.release()
        return lines

    async with session:
        reading = asyncio.create_task(read())
        for prompt in ("first", "second"):
            await session.send(prompt)
            await told.acquire()
    lines = await reading
    assert [line.result for line in lines if isinstance(line, ResultLine)] == ["one", "two"]
    assert await all_of(session.messages()) == [], "it stays closed"


async def test_partial_messages_come_when_they_are_asked_for(serve: Serve) -> None:
    options, _ = serve({"replies": [], "last": {"text": "word by word"}})
    assert not any(isinstance(line, PartialLine) for line in await all_of(query("hi", options)))
    growing = await all_of(query("hi", replace(options, partial_messages=True)))
    assert any(isinstance(line, PartialLine) for line in growing)


async def test_what_would_ask_is_put_to_the_program(serve: Serve, tmp_path: Path) -> None:
    asked: list[ToolRequest] = []

    async def allow(request: ToolRequest) -> Allow:
        asked.append(request)
        return Allow()

    options, server = serve([{"calls": [WRITE]}, {"text": "done"}], can_use_tool=allow)
    result = (await all_of(query("write", options)))[-1]
    assert isinstance(result, ResultLine)
    assert (result.subtype, result.permission_denials) == ("success", ())
    assert (tmp_path / "project" / "a.txt").read_text() == "one"
    assert [(request.tool, request.arguments) for request in asked] == [("Write", WRITE["arguments"])]
    assert "a.txt" in asked[0].subject
    assert "Nobody is watching" not in str(server.requests[0].body["system"])


@pytest.mark.parametrize("answer", ["deny", "raise", "nonsense", "nobody"])
async def test_everything_but_a_yes_is_a_no(serve: Serve, tmp_path: Path, answer: str) -> None:
    def decide(request: ToolRequest) -> Any:
        if answer == "raise":
            raise ValueError("cannot tell")
        return Deny(reason="not today") if answer == "deny" else "sure"

    options, server = serve(
        [{"calls": [WRITE]}, {"text": "understood"}], can_use_tool=None if answer == "nobody" else decide
    )
    result = (await all_of(query("write", options)))[-1]
    assert isinstance(result, ResultLine)
    assert [denial.tool_name for denial in result.permission_denials] == ["Write"]
    assert not (tmp_path / "project" / "a.txt").exists()
    told = str(server.requests[1].body["messages"][-1])
    expected = {"deny": "not today", "raise": "cannot tell", "nonsense": "no decision", "nobody": "can_use_tool"}
    assert expected[answer] in told


async def test_a_no_can_end_the_turn(serve: Serve) -> None:
    options, server = serve([{"calls": [WRITE]}], can_use_tool=lambda request: Deny(reason="stop it", stop=True))
    result = (await all_of(query("write", options)))[-1]
    assert isinstance(result, ResultLine)
    assert (result.stop_reason, len(server.requests)) == ("stopped_by_denial", 1)


async def test_a_yes_can_hold_for_the_session(serve: Serve, tmp_path: Path) -> None:
    asked: list[str] = []

    def always(request: ToolRequest) -> Allow:
        asked.append(request.subject)
        return Allow(always="session")

    again = {"call": "Write", "arguments": {"file_path": "a.txt", "content": "two"}}
    read = {"call": "Read", "arguments": {"file_path": "a.txt"}}
    script = [{"calls": [WRITE]}, {"calls": [read]}, {"calls": [again]}, {"text": "done"}]
    options, _ = serve(script, can_use_tool=always)
    await all_of(query("write twice", options))
    assert (tmp_path / "project" / "a.txt").read_text() == "two"
    assert len(asked) == 1


async def test_questions_of_the_model_are_answered_by_the_program(serve: Serve) -> None:
    ask = {"call": "AskUser", "arguments": {"questions": [{"question": "Which?", "options": [{"label": "red"}]}]}}
    heard: list[Question] = []

    def answer(questions: tuple[Question, ...]) -> list[list[str]]:
        heard.extend(questions)
        return [["red"]]

    options, server = serve([{"calls": [ask]}, {"text": "red it is"}], answer_questions=answer)
    await all_of(query("go", options))
    assert [question.question for question in heard] == ["Which?"]
    assert "Which?: red" in str(server.requests[1].body["messages"][-1])


async def test_without_an_answer_the_model_goes_on(serve: Serve) -> None:
    ask = {"call": "AskUser", "arguments": {"questions": [{"question": "Which?"}]}}
    options, server = serve([{"calls": [ask]}, {"text": "I chose blue"}])
    lines = await all_of(query("go", options))
    assert words(lines) == "I chose blue"
    assert "not answered" in str(server.requests[1].body["messages"][-1])


async def test_an_interrupt_ends_the_turn_and_the_next_one_works(serve: Serve) -> None:
    options, server = serve(
        [{"parts": [{"text": "I begin"}, {"wait": "gate"}]}, {"text": "back"}], partial_messages=True
    )
    async with Session(options) as session:
        await session.send("work")
        result: StreamLine | None = None
        async with asyncio.timeout(LIMIT_S):
            async for line in session.receive():
                result = line
                if isinstance(line, PartialLine):
                    await session.interrupt()
        assert isinstance(result, ResultLine)
        assert result.stop_reason == "interrupted"
        assert (await session.ask("again")).result == "back"
    assert len(server.requests) == 2


async def test_an_interrupt_withdraws_the_question_from_the_program(serve: Serve) -> None:
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def never(request: ToolRequest) -> Allow:
        asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            withdrawn.set()
            raise
        return Allow()

    options, _ = serve([{"calls": [WRITE]}], can_use_tool=never)
    async with Session(options) as session, asyncio.timeout(LIMIT_S):
        await session.send("write")
        await asked.wait()
        await session.interrupt()
        lines = await all_of(session.receive())
        await withdrawn.wait()
    assert isinstance(lines[-1], ResultLine)
    assert lines[-1].stop_reason == "interrupted"


async def test_model_and_mode_change_between_turns(serve: Serve, tmp_path: Path) -> None:
    options, server = serve([{"text": "one"}, {"calls": [WRITE]}, {"text": "two"}])
    async with Session(options) as session:
        await session.ask("first")
        await session.set_model("claude-haiku-4-5")
        await session.set_permission_mode("acceptEdits")
        await session.ask("second")
        with pytest.raises(Refused, match="nonsense"):
            await session.set_model("nonsense/none")
        with pytest.raises(Refused):
            await session.set_permission_mode("auto")  # pyright: ignore[reportArgumentType]  what a program may send
    assert [request.body["model"] for request in server.requests[:2]] == ["claude-sonnet-4-5", "claude-haiku-4-5"]


async def test_a_session_is_resumed_and_forked(serve: Serve) -> None:
    options, server = serve({"replies": [], "last": {"text": "fine"}})
    async with Session(options) as session:
        await session.ask("the first words")
        copy = session.fork()
        async with copy:
            assert copy.id != session.id
            await copy.ask("in the copy")
        await session.ask("in the original")
    async with Session.resume(session.id, options) as again:
        assert again.id == session.id
        await again.ask("once more")
    copied, original, resumed = (str(server.requests[number].body["messages"]) for number in (1, 2, 3))
    assert "the first words" in copied
    assert "in the copy" not in original
    assert all(part in resumed for part in ("the first words", "in the original", "once more"))
    assert len(transcripts(options)) == 2


async def test_each_turn_has_its_own_tries_and_output(serve: Serve) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def output(value: Any) -> dict[str, Any]:
        return {"calls": [{"call": "StructuredOutput", "arguments": {"n": value}}]}

    script = [{"text": "no"}, output(1), *[{"text": "no"}] * 4, output(2), *[{"text": "no"}] * 5, output(3)]
    options, server = serve(script, json_schema=schema)
    async with Session(options) as session:
        results = [await session.ask(f"turn {number}") for number in range(4)]
    assert [result.structured_output for result in results[:2]] == [{"n": 1}, {"n": 2}]
    assert results[2].subtype == "error_max_structured_output_retries"
    assert not results[2].structured_output
    assert results[3].structured_output == {"n": 3}
    assert len(server.requests) == 13


async def test_several_sessions_at_once(serve: Serve) -> None:
    options, _ = serve({"replies": [], "last": {"text": "fine"}})

    async def one(number: int) -> str:
        async with Session(options) as session:
            result = await session.ask(f"question {number}")
            assert result.result == "fine"
            return session.id

    ids = await asyncio.gather(*(one(number) for number in range(5)))
    assert len(set(ids)) == 5
    assert {path.stem for path in transcripts(options)} == set(ids)


async def test_cancellation_leaves_a_complete_transcript(serve: Serve) -> None:
    slow = {"call": "Bash", "arguments": {"command": "sleep 600", "timeout": 600000}}
    options, server = serve([{"calls": [slow]}], permission_mode="bypassPermissions")

    started = asyncio.Event()

    async def work() -> None:
        async for line in query("wait", options):
            if isinstance(line, AssistantLine):
                started.set()

    task = asyncio.create_task(work())
    async with asyncio.timeout(LIMIT_S):
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    (path,) = transcripts(options)
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    calls = [
        part["id"]
        for entry in entries
        if entry["type"] == "assistant"
        for part in entry["message"]["content"]
        if part["type"] == "tool_use"
    ]
    results = [
        part["tool_use_id"]
        for entry in entries
        if entry["type"] == "user" and isinstance(entry["message"]["content"], list)
        for part in entry["message"]["content"]
        if part.get("type") == "tool_result"
    ]
    assert calls == results != []
    assert len(server.requests) == 1
    async with Session.resume(path.stem, options) as session:
        assert session.id == path.stem, "the lease was let go"


async def test_cancellation_while_it_opens_leaves_nothing_open(serve: Serve) -> None:
    options, _ = serve({"replies": [], "last": {"text": "fine"}})
    async with Session(options) as session:
        await session.ask("hello")

    async def enter() -> None:
        async with Session.resume(session.id, options):
            await asyncio.Event().wait()

    task = asyncio.create_task(enter())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with Session.resume(session.id, options) as again:
        assert (await again.ask("still there?")).result == "fine"


async def test_who_stops_reading_stops_the_turn(serve: Serve) -> None:
    options, server = serve(
        [{"calls": [{"call": "Read", "arguments": {"file_path": "a"}}]}, {"parts": [{"wait": "gate"}]}]
    )
    lines = query("go", options)
    async for line in lines:
        if isinstance(line, UserLine):
            break
    await lines.aclose()
    (path,) = transcripts(options)
    assert "closed before the reply was complete" in path.read_text() or len(server.requests) == 1


async def test_a_model_that_fails_is_told_by_the_result(serve: Serve) -> None:
    options, _ = serve([{"fault": "unauthorized"}])
    result = (await all_of(query("hi", options)))[-1]
    assert isinstance(result, ResultLine)
    assert (result.subtype, result.is_error, result.api_error_status) == ("success", True, 401)
    assert "ANTHROPIC_API_KEY" in str(result.error)
    assert result.result == f"API Error: {result.error}"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"model": "nonsense/none"}, "nonsense"),
        ({"tools": ["Reed"]}, "Reed"),
        ({"settings": {"modle": "x"}}, "modle"),
        ({"settings": "/gone/settings.json"}, "/gone"),
        ({"resume": "gone-session-id"}, "gone-session-id"),
        ({"json_schema": {"type": "strin"}}, "type"),
        ({"cwd": "/gone/for/good"}, "/gone/for/good"),
        ({"fork": True}, "fork"),
        ({"allowed_tools": ["Bash("]}, "Bash("),
        ({"continue_newest": True}, "no session"),
    ],
)
async def test_what_cannot_be_opened_is_one_exception(serve: Serve, changes: dict[str, Any], word: str) -> None:
    options, server = serve([])
    with pytest.raises(NotOpened, match=None) as refused:
        async with Session(replace(options, **changes)):
            pass
    assert isinstance(refused.value, ClewError)
    assert word in str(refused.value)
    assert not server.requests
    assert not transcripts(options)


async def test_a_session_that_is_not_open_says_so(serve: Serve) -> None:
    options, _ = serve([{"text": "one"}])
    session = Session(options)
    with pytest.raises(NotOpen):
        await session.send("too early")
    with pytest.raises(NotOpen):
        session.fork()
    async with session:
        with pytest.raises(NotOpen, match="nothing was asked"):
            await all_of(session.receive())
        await session.ask("in time")
    for late in (session.send("too late"), session.interrupt()):
        with pytest.raises(NotOpen):
            await late
    await session.close()
    with pytest.raises(NotOpen):
        async with session:
            pass


async def test_settings_and_files_are_those_that_were_chosen(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "project" / "AGENTS.md").write_text("Speak of ducks.")
    options, server = serve({"replies": [], "last": {"text": "fine"}}, trust=True)
    await all_of(query("hi", options))
    await all_of(query("hi", replace(options, setting_sources=(), system_prompt="")))
    await all_of(query("hi", replace(options, settings={"effort": "high"}, tools=["Read"])))
    first, second, third = (request.body for request in server.requests)
    assert "ducks" in str(first["system"])
    assert "system" not in second
    assert [tool["name"] for tool in third["tools"]] == ["Read"]
    assert third["thinking"]["type"] == "enabled"
