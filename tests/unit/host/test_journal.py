"""What is shown is on disk before, and what must survive a power cut is synced before it takes effect."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel
from clew.protocol.entries import Entry, SessionStateEntry
from clew.protocol.events import Durable, Event, PromptAccepted, RecapReady, ToolEnded, ToolStarted
from clew.protocol.ids import CallId, PromptId, SessionId, new_entry_id
from clew.protocol.messages import ToolCallPart, ToolResultPart
from clew.transcript.log.codec import decode, encode
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import NullWriter, TranscriptWriter
from clew.transcript.mapping.recording import entries_of
from clew.transcript.mapping.retelling import events_of
from clew.transcript.past.reader import iterate
from engine.harness import SESSION, Reader, Shell, Stage, Writer

STAMP = Stamp(session_id=SESSION, cwd="/project")


class Watched(NullWriter):
    """Remembers what was appended and when it was synced."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def append(self, entry: Entry) -> bool:
        self.log.append(type(entry).__name__)
        return True

    def sync(self) -> bool:
        self.log.append("sync")
        return True


async def test_the_log_is_synced_before_an_effectful_call_runs_and_not_before_a_read() -> None:
    sink = Watched()

    class Noting(Writer):
        """Tells when it runs."""

        async def work(self, params: Any) -> Any:
            sink.log.append("ran")
            return await super().work(params)

    class Looking(Reader):
        """Tells when it runs."""

        async def work(self, params: Any) -> Any:
            sink.log.append("read")
            return await super().work(params)

    script = [Call("Reader", {"name": "r"}), Call("Writer", {"name": "w"}), Say("ok")]
    await Stage(ScriptedModel(script), [Noting(), Looking()], sink=sink).play()
    assert sink.log[sink.log.index("ran") - 1] == "sync"
    assert sink.log[sink.log.index("read") - 1] != "sync"
    assert sink.log[:2] == ["UserEntry", "sync"]
    assert sink.log[-1] == "sync"


async def test_a_complete_text_is_on_disk_before_the_rest_of_the_reply(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    writer = TranscriptWriter(path, SESSION)
    seen: list[bool] = []

    class Looking(Reader):
        """Looks into the file while the reply is still open."""

        async def work(self, params: Any) -> Any:
            seen.append(b"Words that are whole." in path.read_bytes())
            return await super().work(params)

    script = [ReplyOf([Say("Words that are whole."), Call("Reader", {"name": "a"})]), Say("ok")]
    await Stage(ScriptedModel(script), [Looking()], sink=writer).play()
    writer.close()
    assert seen == [True]


async def test_every_durable_event_comes_back_from_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    writer = TranscriptWriter(path, SESSION)
    script = [ReplyOf([Say("So."), Call("Reader", {"name": "a"}), Call("Shell", {"name": "b"})]), Say("Done.")]
    stage = Stage(ScriptedModel(script), [Reader(), Shell()], sink=writer)
    await stage.play("go")
    writer.close()
    back = [event for located in iterate(path) if located.entry is not None for event in events_of(located.entry)]
    told = [event for event in stage.events if isinstance(event, Durable)]
    assert [comparable(event) for event in back] == [comparable(event) for event in told]
    last = [located.entry for located in iterate(path)][-1]
    assert isinstance(last, SessionStateEntry)
    assert last.state.turns == 1
    assert last.state.calls == 2


def comparable(event: Event) -> Any:
    """Ids of input that only one process knows are not kept."""
    return replace(event, prompt_id=PromptId("")) if isinstance(event, PromptAccepted) else event


@given(st.text(), st.booleans(), st.booleans())
def test_input_of_any_kind_survives_the_file(text: str, hidden: bool, queued: bool) -> None:
    event = PromptAccepted(
        entry_id=new_entry_id(),
        parent_id=None,
        content=text.encode("utf-8", "replace").decode(),
        origin="clew" if hidden else "user",
        hidden=hidden,
        queued=queued,
    )
    (entry,) = entries_of(event, STAMP)
    back, problem = decode(encode(entry).rstrip(b"\n"))
    assert not problem
    assert back is not None
    assert events_of(back) == (event,)


def test_live_events_and_words_already_there_write_nothing() -> None:
    call = ToolCallPart(id=CallId("c"), name="X", arguments={})
    assert entries_of(ToolStarted(call=call), STAMP) == ()
    assert entries_of(RecapReady(text="again"), STAMP) == ()


@pytest.mark.parametrize("refused", [True, False])
def test_a_refusal_is_kept_as_a_refusal(refused: bool) -> None:
    result = ToolResultPart(call_id=CallId("c"), content="no", is_error=True)
    event = ToolEnded(
        entry_id=new_entry_id(), parent_id=new_entry_id(), name="Bash", result=result, refused=refused, duration_ms=3
    )
    (entry,) = entries_of(event, Stamp(session_id=SessionId("s"), cwd="/"))
    assert events_of(entry) == (event,)
