"""Tool results within bounds (spec/systems.md 9, TB-2 to TB-7): decided once, replayed without files."""

import shutil
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from clew.engine.result_budget import MAX_BATCH_CHARS, ResultBudget
from clew.engine.turn import Prompt
from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel
from clew.llm.wires.registry import wire_for
from clew.protocol.entries import ContentReplacementEntry
from clew.protocol.events import ResultReplaced, ToolEnded, TurnEnded
from clew.protocol.ids import AgentId, CallId, PromptId
from clew.protocol.messages import ImagePart, MediaSource, ToolResultPart, parts_of, result_text
from clew.protocol.ops import SubmitPrompt
from clew.tools.base import ToolResult
from clew.tools.builtin.read import Read, ReadParams
from clew.tools.session import ToolSession
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.store import subagent_path, tool_results_dir
from clew.transcript.log.writer import NullWriter, TranscriptWriter
from clew.transcript.past.reader import load
from engine.harness import SESSION, Params, Reader, TestHost
from unit.host.room import Front, agent_log, runner_for, session_with
from wires.support import DIALECTS, target

CHILD = AgentId("helper-1")


class Large(Reader):
    """`a*5000` is five thousand letters a; above its own bound a result is kept in a file."""

    max_result_chars: ClassVar[int] = 50_000

    async def work(self, params: Params) -> ToolResult:
        word, _, times = params.name.partition("*")
        lines = f"{word} is here\n" * 100
        return ToolResult(text=(lines * (int(times) // len(lines) + 1))[: int(times)])


class Shots(Reader):
    """Pictures with many words."""

    name = "Shots"

    async def work(self, params: Params) -> ToolResult:
        source = MediaSource(type="base64", media_type="image/png", data="QUJD" * 100_000)
        return ToolResult(text="w" * 45_000, media=(ImagePart(source=source),))


def large(*names: str) -> ReplyOf:
    return ReplyOf([Call("Reader", {"name": name}) for name in names])


def results(request: ModelRequest) -> dict[str, ToolResultPart]:
    found = [part for message in request.messages for part in parts_of(message)]
    return {part.call_id: part for part in found if isinstance(part, ToolResultPart)}


async def play(front: Front, text: str, turn: int) -> None:
    await front.submit(SubmitPrompt(content=text))
    await front.until(TurnEnded, turn)


def body(request: ModelRequest, dialect: str) -> str:
    """The messages of a request as its bytes, without the frame around them."""
    where = target(dialect, model="")
    sent = wire_for(where.dialect).encode(request, where, stream=False).body
    fields = msgspec.json.decode(sent)
    messages = next(fields[name] for name in ("messages", "input", "contents") if name in fields)
    for message in messages:
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            block.pop("cache_control", None)
    return msgspec.json.encode(messages).decode()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_tb_2_bytes_already_sent_stay_as_they_are(tmp_path: Path, dialect: str) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    model = ScriptedModel(
        [large("a*60000"), large(*(f"{letter}*40000" for letter in "bcdefgh")), Say("ok"), large("i*49000"), Say("end")]
    )
    host = TestHost(results_dir=tool_results_dir(path))
    async with session_with(model, path=path, tools=[Large()], host=host) as front:
        await play(front, "one", 1)
        await play(front, "two", 2)
    assert len(model.requests) == 5
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert body(later, dialect).startswith(body(earlier, dialect).rstrip("]"))
    assert front.of(ResultReplaced)
    last = results(model.requests[-1])
    assert len(last) == 9
    assert len(str(last["call_1"].content)) < 3_000


async def test_tb_3_previews_are_the_same_after_a_restart_and_without_the_files(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    host = TestHost(results_dir=tool_results_dir(path))
    first = ScriptedModel([large("a*60000", *(f"{letter}*45000" for letter in "bcdefg")), Say("ok")])
    async with session_with(first, path=path, tools=[Large()], host=host) as front:
        await play(front, "one", 1)
    shutil.rmtree(tool_results_dir(path))
    second = ScriptedModel([Say("again")])
    async with session_with(second, path=path, tools=[Large()], host=host, past=load(path).entries) as front:
        await play(front, "two", 1)
    before = first.requests[-1].messages
    assert second.requests[0].messages[: len(before)] == before
    assert sum(len(str(part.content)) for part in results(second.requests[0]).values()) <= MAX_BATCH_CHARS
    assert not tool_results_dir(path).exists(), "nothing was decided or written again"


async def test_tb_4_the_named_file_holds_the_whole_result(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    host = TestHost(results_dir=tool_results_dir(path))
    model = ScriptedModel([large("a*60000", *(f"{letter}*45000" for letter in "bcdefg")), Say("ok")])
    async with session_with(model, path=path, tools=[Large()], host=host) as front:
        await play(front, "one", 1)
    whole = {event.result.call_id: event.result.content for event in front.of(ToolEnded)}
    previews = [
        (call_id, str(part.content))
        for call_id, part in results(model.requests[-1]).items()
        if "The whole text is in " in str(part.content)
    ]
    assert len(previews) == 3
    tool = Read(ToolSession(cwd=str(tmp_path)))
    context = host.context(CallId("t"), lambda words: None, unasked)
    for call_id, preview in previews:
        named = preview.partition("The whole text is in ")[2].partition(": read")[0]
        text = Path(named).read_text()
        assert text == (whole[CallId(call_id)] if call_id != "call_1" else text)
        assert len(text) == (60_000 if call_id == "call_1" else 45_000)
        read = await tool.run(ReadParams(file_path=named, offset=2, limit=1), context)
        assert text.splitlines()[1] in read.text


async def unasked(questions: Any) -> None:
    raise AssertionError("nobody asks here")


async def test_tb_5_a_disk_that_takes_nothing_still_lets_the_turn_work(tmp_path: Path) -> None:
    model = ScriptedModel([large("a*60000", *(f"{letter}*45000" for letter in "bcdef")), Say("ok"), Say("more")])
    host = TestHost(results_dir=Path("/proc/nowhere"))
    async with session_with(model, tools=[Large()], host=host) as front:
        await play(front, "one", 1)
        await play(front, "two", 2)
    assert [event.reason for event in front.of(TurnEnded)] == ["completed", "completed"]
    assert front.of(ResultReplaced) == []
    sent = results(model.requests[1])
    assert len(str(sent["call_1"].content)) == 60_000
    assert results(model.requests[2]) == sent, "and that choice stays"


def add_child(front: Front, model: ScriptedModel, path: Path, host: TestHost, past: Any = ()) -> None:
    session = front.door.session
    writer = TranscriptWriter(subagent_path(path, CHILD), SESSION, leased=False)
    log = agent_log(writer, sidechain=CHILD, past=past)
    runner = runner_for(session, log, model, agent_id=CHILD, tools=[Large()], host=host)
    session.add_agent(runner, log, call=CallId("call_0"))


async def ask_child(front: Front, turn: int) -> None:
    runner = front.door.session.runners[CHILD]
    runner.submit(Prompt(content="look", prompt_id=PromptId(f"p{turn}"), origin="agent"))
    await front.until(TurnEnded, turn, agent=CHILD)


async def test_tb_6_each_agent_has_its_own_records_and_files_though_calls_share_ids(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    host = TestHost(results_dir=tool_results_dir(path))
    mine = ScriptedModel([large("a*60000", *["b*45000"] * 5), Say("ok")])
    theirs = ScriptedModel([large("x*60000", *["y*45000"] * 5), Say("ok")])
    async with session_with(mine, path=path, tools=[Large()], host=host) as front:
        await play(front, "one", 1)
        add_child(front, theirs, path, host)
        await ask_child(front, 1)
    own = results(theirs.requests[-1])
    assert set(own) == set(results(mine.requests[-1]))
    for call_id, part in own.items():
        text = str(part.content)
        assert text[0] in "xy"
        if "The whole text is in " in text:
            named = text.partition("The whole text is in ")[2].partition(": read")[0]
            assert Path(named).read_text()[0] in "xy", f"the file of {call_id} is another agent's"
    past = load(subagent_path(path, CHILD), sidechain=True)
    records = [entry for entry in past.entries if isinstance(entry, ContentReplacementEntry)]
    assert records
    assert all(entry.replacement[0] in "xy" for entry in records)
    again = ScriptedModel([Say("back")])
    async with session_with(ScriptedModel(), path=path, tools=[Large()], host=host, past=load(path).entries) as front:
        add_child(front, again, path, host, past.entries)
        await ask_child(front, 1)
    before = theirs.requests[-1].messages
    assert again.requests[0].messages[: len(before)] == before


def test_tb_7_words_that_look_like_a_preview_are_words(tmp_path: Path) -> None:
    budget = ResultBudget(tmp_path)
    words = "line\n[The result has 90 characters; above are the first 4. The whole text is in /etc/x: read the part.]"
    assert budget.bound(CallId("c1"), words, max_chars=50_000) == words
    assert not list(tmp_path.iterdir())
    again = words + "\n" + "more of it\n" * 6_000
    shown = budget.bound(CallId("c2"), again, max_chars=50_000)
    assert str(tmp_path / "c2.txt") in shown
    assert (tmp_path / "c2.txt").read_text() == again
    parts = [ToolResultPart(call_id=CallId(f"p{n}"), content=words + "z" * 45_000) for n in range(5)]
    assert len(budget.fit(parts)) == 1


def test_a_later_replacement_of_the_same_call_does_not_count() -> None:
    """What was sent stays, whatever a second record says."""
    conversation = Conversation(NullWriter(), session_id=SESSION)
    fields: dict[str, Any] = {"session_id": SESSION, "timestamp": "2026-11-16T10:00:00.000Z"}
    for words in ("the first", "the second"):
        conversation.append(ContentReplacementEntry(call_id=CallId("c"), replacement=words, **fields))
    assert conversation.replacements.results == {"c": "the first"}


async def test_results_with_pictures_are_within_the_budget_and_keep_their_pictures(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    host = TestHost(results_dir=tool_results_dir(path))
    first = ScriptedModel([ReplyOf([Call("Shots", {"name": str(n)}) for n in range(6)]), Say("ok")])
    async with session_with(first, path=path, tools=[Shots()], host=host) as front:
        await play(front, "one", 1)
    assert front.of(ResultReplaced)
    sent = results(first.requests[1])
    assert sum(len(result_text(part)) for part in sent.values()) <= MAX_BATCH_CHARS
    assert str(first.requests[1].messages).count("ImagePart") == 6
    second = ScriptedModel([Say("again")])
    async with session_with(second, path=path, tools=[Shots()], host=host, past=load(path).entries) as front:
        await play(front, "two", 1)
    before = first.requests[-1].messages
    assert second.requests[0].messages[: len(before)] == before


def test_the_same_text_twice_is_one_file_and_another_text_another(tmp_path: Path) -> None:
    texts = ["a line\n" * 9_000, "b line\n" * 9_000, "a line\n" * 9_000]
    shown = [ResultBudget(tmp_path).bound(CallId("call_1"), text, max_chars=50_000) for text in texts]
    assert shown[0] == shown[2] != shown[1]
    named = [Path(text.partition("The whole text is in ")[2].partition(": read")[0]) for text in shown]
    assert [path.read_text() for path in named] == texts
    assert len(list(tmp_path.iterdir())) == 2
