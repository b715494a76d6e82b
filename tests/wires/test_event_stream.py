"""AWS's event stream: recorded vectors that botocore read the same way, any pieces, and damage."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.llm.errors import StreamBroken
from clew.llm.http.event_stream import ERROR_KINDS, EventStreamParser
from fakes.event_frames import chunk, exception, frame

VECTORS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("vectors_event_stream.json").read_text())
"""Bytes, and what botocore 1.44's EventStreamBuffer and EventStreamJSONParser made of them. The first three are the
published examples of the format."""


def told(said: list[dict[str, Any]]) -> list[Any]:
    """What botocore said, as the dialect says it."""
    found: list[Any] = []
    for one in said:
        if "chunk" in one:
            found.append(json.loads(one["chunk"]))
        elif "error" in one:
            kind = ERROR_KINDS.get(one["error"]["Code"], one["error"]["Code"])
            found.append({"type": "error", "error": {"type": kind, "message": one["error"]["Message"]}})
    return found


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_recorded_stream_says_what_it_said_to_botocore(vector: dict[str, Any]):
    data = bytes.fromhex(vector["hex"])
    whole = EventStreamParser().feed(data)
    parser = EventStreamParser()
    dripped = [event for byte in data for event in parser.feed(bytes([byte]))]
    assert [json.loads(event.data) for event in whole] == told(vector["botocore"])
    assert dripped == whole
    assert parser.close() == []


def test_the_event_carries_the_name_of_its_kind():
    (event,) = EventStreamParser().feed(chunk({"type": "ping"}))
    assert event.event == "ping"


STREAM = chunk({"type": "message_start", "message": {}}) + exception("throttlingException", "slow down")


@given(at=st.integers(0, len(STREAM) - 1), bit=st.integers(0, 7))
def test_one_flipped_bit_never_passes_for_another_message(at: int, bit: int):
    damaged = bytearray(STREAM)
    damaged[at] ^= 1 << bit
    good = [event.data for event in EventStreamParser().feed(STREAM)]
    parser = EventStreamParser()
    heard: list[bytes] = []
    try:
        for start in range(0, len(damaged), 7):
            heard += [event.data for event in parser.feed(bytes(damaged[start : start + 7]))]
    except StreamBroken:
        pass
    assert heard == good[: len(heard)]
    assert len(heard) < len(good)


@given(st.binary(max_size=300))
def test_any_bytes_break_the_stream_or_wait_for_more(data: bytes):
    parser = EventStreamParser()
    with suppress(StreamBroken):
        assert parser.feed(data) == []


@pytest.mark.parametrize(
    "message",
    [
        frame({":message-type": "event", ":event-type": "chunk"}, b'{"bytes": "not base64!"}'),
        frame({"x" * 200: "v" * 60_000, "y": "v" * 65_000, "z": "v" * 10_000}),
    ],
    ids=["chunk", "headers"],
)
def test_what_fits_the_framing_and_is_nonsense_breaks_the_stream(message: bytes):
    with pytest.raises(StreamBroken):
        EventStreamParser().feed(message)


def test_a_length_beyond_the_bound_is_refused_before_it_is_waited_for():
    message = chunk({"type": "ping", "filler": "x" * 2_000})
    with pytest.raises(StreamBroken, match="announced a message of"):
        EventStreamParser(max_message_bytes=1_000).feed(message[:12])


def test_payloads_without_bytes_and_unknown_events_are_passed_over():
    quiet = frame({":message-type": "event", ":event-type": "chunk"}, b"{}")
    later = frame({":message-type": "event", ":event-type": "something-new"}, b"[1]")
    parser = EventStreamParser()
    assert [event.event for event in parser.feed(quiet + later + chunk({"type": "ping"}))] == ["ping"]
