"""Replies as lines: the pieces, the whole lines and the log tell the same, whatever went wrong."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.host.connection import Listener
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, Think
from clew.protocol.events import (
    ApprovalRequested,
    ArgumentsDelta,
    AttemptEnded,
    Envelope,
    Event,
    PartCompleted,
    ReplyBegan,
    ReplyReceived,
    ReplyWithdrawn,
    TextDelta,
    ToolEnded,
)
from clew.protocol.ids import CallId, EntryId, MessageId, RequestId
from clew.protocol.messages import ReasoningPart, RedactedReasoningPart, TextPart, ToolCallPart, ToolResultPart
from clew.protocol.outcome import TurnOutcome
from clew.protocol.usage import Usage
from clew.streaming.lines import StreamLines
from clew.streaming.results import result_of
from engine.harness import SESSION, Reader, Stage
from fakes.stream_reader import PieceReader, calls, problems
from unit.host.room import STARTED
from unit.host.test_live_and_resumed import Played

Json = dict[str, Any]
SEEDS = range(int(os.environ.get("CLEW_FUZZ_SEEDS", "60")))


def envelope(event: Event) -> Envelope:
    return Envelope(seq=1, at="2026-11-16T08:00:00.000Z", session_id=SESSION, event=event)


def told(events: Iterable[Event], **how: Any) -> list[Json]:
    """What a reader gets of these events, through JSON."""
    stream = StreamLines(**how)
    lines = [line for event in events for line in stream.lines(envelope(event))]
    return [json.loads(msgspec.json.encode(line)) for line in lines]


def run_of(events: Iterable[Event], **how: Any) -> list[Json]:
    """The same as a whole run: init first, the result last."""
    outcome = TurnOutcome()
    events = [STARTED, *events]
    for event in events:
        outcome.feed(event)
    return [*told(events, **how), json.loads(msgspec.json.encode(result_of(outcome)))]


def log_of(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def merged(events: Iterable[Event]) -> list[Event]:
    """As a listener gets them that was slow all the time."""
    listener = Listener(lambda _: None)
    for event in events:
        listener.put(envelope(event))
    listener.end()
    return [item.event async for item in listener]


@pytest.mark.parametrize("seed", SEEDS)
async def test_pieces_whole_lines_and_log_agree_under_random_faults(seed: int, tmp_path: Path) -> None:
    played = Played(seed, tmp_path)
    for number in range(played.chance.randrange(1, 6)):
        await played.turn(number)
    played.writer.close()
    log = log_of(played.path)
    events = [*played.stage.events]
    for seen in (events, await merged(events)):
        assert problems(run_of(seen, partial=True), log) == []
        assert problems(run_of(seen), log) == []


async def test_the_pieces_of_a_reply_in_their_order() -> None:
    script = ReplyOf([Think("let me see", signature="s"), Say("Look. "), Call("Reader", {"name": "a"})])
    stage = Stage(ScriptedModel([script, Say("Done.")], chunk_chars=5), [Reader()])
    await stage.play()
    lines = told(stage.events, partial=True)
    kinds = [line["event"]["type"] if line["type"] == "stream_event" else line["type"] for line in lines]
    assert kinds == [
        "message_start",
        *("content_block_start", *["content_block_delta"] * 3, "content_block_stop"),
        "content_block_start",
        *(*["content_block_delta"] * 2, "content_block_stop"),
        "content_block_start",
        *(*["content_block_delta"] * 3, "content_block_stop"),
        *("assistant", "assistant", "assistant"),
        *("message_delta", "message_stop", "user"),
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("assistant", "message_delta", "message_stop"),
    ]
    growth = [line["event"] for line in lines if line["type"] == "stream_event"]
    starts = [event["content_block"] for event in growth if event["type"] == "content_block_start"]
    assert starts == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "call_1", "name": "Reader", "input": {}},
        {"type": "text", "text": ""},
    ]
    signed = [event["delta"] for event in growth if event["type"] == "content_block_delta"][2]
    assert signed == {"type": "signature_delta", "signature": "s"}
    stops = [event["delta"]["stop_reason"] for event in growth if event["type"] == "message_delta"]
    assert stops == ["tool_use", "end_turn"]


REPLY = MessageId("msg_1")
EARLY = Usage(input_tokens=50, output_tokens=1)
FULL = Usage(input_tokens=50, output_tokens=9)


def part(number: int, what: Any) -> PartCompleted:
    return PartCompleted(
        entry_id=EntryId(f"e{number}"), parent_id=None, reply_id=REPLY, part_number=number, model="m", part=what
    )


def began(usage: Usage | None) -> ReplyBegan:
    return ReplyBegan(reply_id=REPLY, model="m", usage=usage)


def received(usage: Usage | None = FULL) -> ReplyReceived:
    return ReplyReceived(reply_id=REPLY, stop_reason="tool_use", usage=usage)


CALL = ToolCallPart(id=CallId("c"), name="Read", arguments={"a": 1})


def result(number: int = 9) -> ToolEnded:
    done = ToolResultPart(call_id=CallId("c"), content="ok")
    return ToolEnded(entry_id=EntryId(f"r{number}"), parent_id=EntryId("e1"), name="Read", result=done)


def said(lines: list[Json]) -> list[tuple[str, Any, Any]]:
    return [
        (line["type"], (line["message"].get("usage") or {}).get("output_tokens"), line["message"].get("stop_reason"))
        for line in lines
    ]


def test_a_provider_that_tells_its_usage_early_is_passed_on_at_once_and_the_last_line_has_the_whole() -> None:
    events = [began(EARLY), part(0, TextPart(text="a")), part(1, CALL)]
    assert said(told(events)) == [("assistant", 1, None)]
    assert said(told([*events, received()])) == [("assistant", 1, None), ("assistant", 9, "tool_use")]


def test_lines_wait_for_a_usage_that_comes_with_the_end_of_the_reply() -> None:
    events = [began(None), part(0, TextPart(text="a")), part(1, CALL)]
    assert told(events) == []
    assert said(told([*events, received()])) == [("assistant", 9, None), ("assistant", 9, "tool_use")]


def test_a_result_that_is_there_before_the_usage_waits_behind_its_call() -> None:
    events = [began(None), part(0, TextPart(text="a")), part(1, CALL), result()]
    assert told(events) == []
    assert said(told([*events, received()])) == [
        ("assistant", 9, None),
        ("assistant", 9, "tool_use"),
        ("user", None, None),
    ]
    early = said(told([began(EARLY), *events[1:]]))
    assert early == [("assistant", 1, None), ("assistant", 1, None), ("user", None, None)]


def test_nobody_is_asked_about_a_call_that_was_not_told_and_unknown_is_not_zero() -> None:
    asked = ApprovalRequested(request_id=RequestId("q"), call_id=CallId("c"), tool="Read", subject="a", why="")
    lines = told([began(None), part(0, TextPart(text="a")), part(1, CALL), asked])
    assert [(line["type"], line["message"]["usage"]) for line in lines] == [("assistant", None), ("assistant", None)]
    assert told([began(None), part(0, TextPart(text="a")), part(1, CALL), asked], nobody_is_asked=True) == []


def test_a_call_whose_id_is_not_known_yet_is_opened_when_it_is() -> None:
    def delta(text: str, call_id: str) -> ArgumentsDelta:
        return ArgumentsDelta(reply_id=REPLY, part=0, tool="Read", text=text, call_id=CallId(call_id))

    events = [began(EARLY), delta('{"a"', ""), delta(": ", ""), delta("1}", "c")]
    growth = [line["event"] for line in told(events, partial=True)]
    assert growth[1]["content_block"]["id"] == "c"
    assert growth[2]["delta"] == {"type": "input_json_delta", "partial_json": '{"a": 1}'}
    never = told([began(EARLY), delta('{"a": 1}', ""), part(0, CALL), received()], partial=True)
    assert [line["event"]["type"] for line in never if line["type"] == "stream_event"] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


@pytest.mark.parametrize(
    "whole",
    [
        TextPart(text="words"),
        ReasoningPart(text="thought", signature="s"),
        RedactedReasoningPart(data="xyz"),
        CALL,
        ToolCallPart(id=CallId("c"), name="Read", arguments={}),
        ToolCallPart(id=CallId("c"), name="Read", arguments={}, raw_arguments="{oops"),
    ],
)
def test_a_part_that_came_whole_grows_in_one_piece(whole: Any) -> None:
    reader = PieceReader()
    for line in told([began(EARLY), part(0, whole), received()], partial=True):
        reader.take(line)
    assert reader.end() == []


def test_a_reply_that_breaks_off_leaves_nothing_open_and_the_next_begins_cleanly() -> None:
    words = TextDelta(reply_id=REPLY, part=1, text="half a sen")
    gone = ReplyWithdrawn(reply_id=REPLY, entry_ids=(EntryId("e0"),), reason="cut")
    again = ReplyBegan(reply_id=MessageId("msg_2"), model="m", usage=EARLY)
    lines = told([began(EARLY), part(0, TextPart(text="a")), words, gone, again], partial=True)
    kinds = [line["event"]["type"] if line["type"] == "stream_event" else line["subtype"] for line in lines[5:]]
    assert kinds == [
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_stop",
        "reply_withdrawn",
        "message_start",
    ]
    assert (lines[-2]["uuids"], lines[-2]["message_id"]) == (["e0"], "msg_1")


def test_an_interrupted_reply_is_closed_by_the_end_of_its_request() -> None:
    words = TextDelta(reply_id=REPLY, part=0, text="half a sen")
    ended = AttemptEnded(reply_id=REPLY, step=1, model="m", outcome="interrupted", usage=FULL)
    lines = told([began(None), words, part(0, TextPart(text="half a sen")), ended], partial=True)
    assert [line["event"]["type"] for line in lines if line["type"] == "stream_event"][-1] == "message_stop"
    (whole,) = [line for line in lines if line["type"] == "assistant"]
    assert (whole["message"]["usage"]["output_tokens"], whole["message"]["stop_reason"]) == (9, None)


def test_a_usage_that_was_only_estimated_is_not_passed_off_as_told() -> None:
    ended = AttemptEnded(reply_id=REPLY, step=1, model="m", outcome="interrupted", usage=FULL, estimated=True)
    (line,) = told([began(None), part(0, TextPart(text="half")), ended])
    assert line["message"]["usage"] is None


async def test_every_line_of_a_reply_has_the_usage_and_only_the_last_its_stop_reason() -> None:
    model = ScriptedModel([ReplyOf([Say("a"), Say("b")])])
    stage = Stage(model)
    await stage.play()
    lines = told(stage.events)
    assert said(lines) == [("assistant", 10, None), ("assistant", 10, "end_turn")]
    assert calls(lines) == []


async def test_deltas_that_were_merged_keep_the_id_of_their_call() -> None:
    def delta(text: str, call_id: str) -> ArgumentsDelta:
        return ArgumentsDelta(reply_id=REPLY, part=0, tool="Read", text=text, call_id=CallId(call_id))

    (one,) = await merged([delta('{"a"', ""), delta(": 1}", "c")])
    assert isinstance(one, ArgumentsDelta)
    assert (one.text, one.call_id) == ('{"a": 1}', "c")
