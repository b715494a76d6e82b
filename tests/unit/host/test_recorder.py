"""What is recorded live is what a later process loads: same conversation, nothing of withdrawn tries."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from clew.host.recorder import Recorder
from clew.host.stamp import Stamp
from clew.llm.errors import StreamBroken
from clew.llm.request import ModelRequest
from clew.llm.scripted import BreakAfter, Call, Say, ScriptedModel, Turn
from clew.protocol.entries import AssistantEntry, KnownEntry, TombstoneEntry, UserEntry
from clew.protocol.events import Event, ToolEnded, ToolStarted
from clew.protocol.history import valid_history
from clew.protocol.ids import SessionId
from clew.protocol.messages import Message, ToolCallPart, ToolResultPart
from clew.protocol.usage import Usage
from clew.transcript.reader import iterate, load
from clew.transcript.writer import TranscriptWriter
from engine.harness import Reader, Stage

SESSION = SessionId("11111111-2222-4333-8444-555555555555")


class Recorded:
    """A stage whose events are recorded to a real file."""

    def __init__(self, path: Path, stage: Stage) -> None:
        self.path = path
        self.stage = stage
        self.writer = TranscriptWriter(path, SESSION)
        self.recorder = Recorder(self.writer, Stamp(session_id=SESSION, cwd="/project"))

    async def play(self, prompt: str, on: Callable[[Event], None] | None = None) -> None:
        def record(event: Event) -> None:
            self.recorder(event)
            if on is not None:
                on(event)

        await self.stage.play(prompt, on=record)

    def close(self) -> None:
        self.writer.close()

    def entries(self) -> list[KnownEntry]:
        return [item.entry for item in iterate(self.path) if isinstance(item.entry, KnownEntry)]


def said(messages: Sequence[Message]) -> list[tuple[str, object]]:
    """What a provider is sent of a conversation."""
    return [(message.role, message.content) for message in valid_history(messages)]


async def test_a_resumed_session_sends_what_the_live_one_would(tmp_path: Path) -> None:
    gate = asyncio.Event()
    calls = [
        Say("Looking."),
        Call("Reader", {"name": "slow"}),
        Call("Reader", {"name": "quick"}),
        Call("Reader", {"name": "third"}),
    ]
    model = ScriptedModel([Turn(calls), Call("Reader", {"name": "x"}), Say("Done."), Say("More.")])
    live = Recorded(tmp_path / f"{SESSION}.jsonl", Stage(model, [Reader(gates={"slow": gate})]))

    def open_gate(event: Event) -> None:
        if isinstance(event, ToolEnded):
            gate.set()

    await live.play("first", on=open_gate)
    await live.play("second")
    live.close()
    loaded = load(live.path)
    assert said(loaded.messages) == said(live.stage.agent.messages)
    assert not loaded.problems
    sent = said(model.requests[-1].messages)
    assert said(loaded.messages)[: len(sent)] == sent


async def test_al_7_the_loaded_conversation_holds_only_the_second_attempt(tmp_path: Path) -> None:
    broken = BreakAfter([Say("first"), Call("Reader", {"name": "a"}, id="lost")], StreamBroken("cut"))
    model = ScriptedModel([broken, Turn([Say("second"), Call("Reader", {"name": "b"}, id="kept")]), Say("Done.")])
    live = Recorded(tmp_path / f"{SESSION}.jsonl", Stage(model, [Reader()]))
    await live.play("go")
    live.close()
    messages = load(live.path).messages
    assert "lost" not in str(messages)
    assert "first" not in str(messages)
    assert said(messages) == said(live.stage.agent.messages)
    assert [type(entry) for entry in live.entries()].count(TombstoneEntry) == 1


async def test_the_prompt_is_on_disk_before_the_request_leaves(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    seen: list[bytes] = []

    def answer(request: ModelRequest) -> Say:
        seen.append(path.read_bytes())
        return Say("ok")

    live = Recorded(path, Stage(ScriptedModel([answer])))
    await live.play("remember this")
    live.close()
    assert b"remember this" in seen[0]


async def test_a_call_is_on_disk_before_it_runs_and_each_result_hangs_under_its_call(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    calls = [Call("Reader", {"name": "a"}), Call("Reader", {"name": "b"})]
    live = Recorded(path, Stage(ScriptedModel([Turn(calls), Say("ok")]), [Reader()]))
    on_disk: list[bool] = []

    def check(event: Event) -> None:
        if isinstance(event, ToolStarted):
            on_disk.append(event.call.id.encode() in path.read_bytes())

    await live.play("go", on=check)
    live.close()
    assert on_disk == [True, True]
    entries = live.entries()
    calls_by_uuid = {
        entry.uuid: part.id
        for entry in entries
        if isinstance(entry, AssistantEntry)
        for part in entry.message.content
        if isinstance(part, ToolCallPart)
    }
    results = [entry for entry in entries if isinstance(entry, UserEntry) and entry.source_tool_assistant_uuid]
    assert len(results) == 2
    for entry in results:
        assert entry.parent_uuid is not None
        (part,) = entry.message.content
        assert isinstance(part, ToolResultPart)
        assert calls_by_uuid[entry.parent_uuid] == part.call_id


async def test_usage_is_written_once_per_reply(tmp_path: Path) -> None:
    usage = Usage(input_tokens=10, output_tokens=3)
    replies = [Turn([Say("a"), Call("Reader", {"name": "a"})], usage=usage), Turn([Say("b")], usage=usage)]
    live = Recorded(tmp_path / f"{SESSION}.jsonl", Stage(ScriptedModel(replies), [Reader()]))
    await live.play("go")
    live.close()
    assistants = [entry for entry in live.entries() if isinstance(entry, AssistantEntry)]
    by_reply: dict[str, list[Usage]] = {}
    for entry in assistants:
        by_reply.setdefault(entry.message.id, []).extend([entry.message.usage] if entry.message.usage else [])
    assert list(by_reply.values()) == [[usage], [usage]]
