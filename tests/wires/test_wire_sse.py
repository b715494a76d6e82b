"""Server-sent events: any cut of the bytes gives the same events, and nothing grows without bound."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.llm.errors import StreamBroken
from clew.llm.http.sse import SseEvent, SseParser

STREAM = (
    b': a comment\r\n\r\nevent: one\r\ndata: {"a":1}\r\n\r\n'
    b"data: two\ndata:lines\nid: 7\nretry: 5\n\nnonsense\n\ndata\n\rdata: after a lone CR\r\revent: no data\n\n"
    b"data: caf\xc3\xa9\n\ndata: no final newline"
)
EXPECTED = [
    SseEvent("one", b'{"a":1}'),
    SseEvent("", b"two\nlines"),
    SseEvent("", b""),
    SseEvent("", b"after a lone CR"),
    SseEvent("", "café".encode()),
    SseEvent("", b"no final newline"),
]


def parse(pieces: list[bytes]) -> list[SseEvent]:
    parser = SseParser()
    return [event for piece in pieces for event in parser.feed(piece)] + parser.close()


def test_the_whole_stream_at_once():
    assert parse([STREAM]) == EXPECTED


def test_byte_by_byte():
    assert parse([STREAM[i : i + 1] for i in range(len(STREAM))]) == EXPECTED


@settings(deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_cut(cuts: list[int]):
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse([STREAM[a:b] for a, b in pairwise(edges)]) == EXPECTED


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=20))
def test_any_bytes_are_survived(pieces: list[bytes]):
    assert parse(pieces) == parse([b"".join(pieces)])


def test_an_endless_line_is_refused():
    parser = SseParser(max_event_bytes=1000)
    parser.feed(b"data: " + b"x" * 900)
    with pytest.raises(StreamBroken, match="1000 bytes"):
        parser.feed(b"x" * 200)


def test_an_endless_event_is_refused():
    parser = SseParser(max_event_bytes=1000)
    with pytest.raises(StreamBroken, match="1000 bytes"):
        parser.feed((b"data: " + b"x" * 100 + b"\n") * 20)


def test_many_small_pieces_of_a_long_line_cost_linear_time():
    """A line of a megabyte in pieces of ten bytes: searching from the start each time would take minutes."""
    parser = SseParser()
    for _ in range(100_000):
        parser.feed(b"x" * 10)
    assert parser.feed(b"\n\n") == []
