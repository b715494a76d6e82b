"""The writer: order, no loss, and nobody waits for a reader but the end."""

import asyncio
import io
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TextIO

import pytest

from clew.headless.printer import MAX_WAITING_WORDS, OutputWriter
from clew.streaming.joined_deltas import MAX_JOINED_CHARS, joined
from clew.streaming.shapes.stream import NoticeLine, PartialLine
from clew.streaming.shapes.stream_content import BlockDelta, BlockStop, Growth, InputPiece, TextPiece
from fakes.effort import HANG_S


@pytest.fixture
def pipe() -> Iterator[tuple[int, TextIO]]:
    """Where it is read, and what it is written to."""
    read, write = os.pipe()
    with os.fdopen(write, "w") as stream:
        yield read, stream
    with suppress(OSError):  # the test may have closed it
        os.close(read)


def notice(text: str) -> NoticeLine:
    return NoticeLine(session_id="s", uuid="u", level="info", text=text)


def grown(event: Growth) -> PartialLine:
    return PartialLine(session_id="s", uuid="u", event=event)


def read_all(descriptor: int) -> bytes:
    chunks: list[bytes] = []
    while chunk := os.read(descriptor, 65_536):
        chunks.append(chunk)
    return b"".join(chunks)


async def taken(reading: int, stream: TextIO, writer: OutputWriter) -> list[dict[str, Any]]:
    """Finish and read everything there was."""
    finishing = asyncio.create_task(writer.finish())
    data = asyncio.create_task(asyncio.to_thread(read_all, reading))
    async with asyncio.timeout(HANG_S):
        await finishing
        stream.close()
        return [json.loads(line) for line in (await data).splitlines()]


async def test_a_reader_that_stops_reading_holds_up_nothing_and_loses_nothing(pipe: tuple[int, TextIO]) -> None:
    reading, stream = pipe
    writer = OutputWriter(stream, join=joined)
    for number in range(2_000):  # far more than a pipe holds; every await would hang if it waited for the reader
        await writer.write(notice(f"{number} " + "x" * 500))
    finishing = asyncio.create_task(writer.finish())
    for _ in range(100):
        await asyncio.sleep(0)
    assert not finishing.done()
    lines = await taken(reading, stream, writer)
    assert [line["text"].split()[0] for line in lines] == [str(number) for number in range(2_000)]


async def test_growing_words_are_joined_while_nobody_reads_and_come_to_the_same(pipe: tuple[int, TextIO]) -> None:
    reading, stream = pipe
    writer = OutputWriter(stream, join=joined)
    writer.put(notice("x" * 200_000))  # the pipe is full from here on
    while writer.waiting:  # noqa: ASYNC110  (a thread takes it, and tells nobody)
        await asyncio.sleep(0)
    events: list[Growth] = []
    for number in range(3_000):
        events.append(BlockDelta(index=0, delta=TextPiece(text=f"{number} ")))
        if number % 3 == 0:
            events.append(BlockDelta(index=1, delta=InputPiece(partial_json="{")))
    events += [BlockDelta(index=0, delta=TextPiece(text="y"))] * 5_000
    events.append(BlockStop(index=0))
    for event in events:
        writer.put(grown(event))
    told = [line["event"] for line in (await taken(reading, stream, writer))[1:]]
    texts = [event["delta"] for event in told if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in texts) == "".join(f"{n} " for n in range(3_000)) + "y" * 5_000
    assert "".join(delta.get("partial_json", "") for delta in texts) == "{" * 1_000
    assert told[-1]["type"] == "content_block_stop"
    assert len(told) < 2_100
    assert max(len(delta.get("text", "")) for delta in texts) <= MAX_JOINED_CHARS + 1


@pytest.mark.parametrize("watched", [True, False])
async def test_a_reader_that_leaves_is_noticed(pipe: tuple[int, TextIO], watched: bool) -> None:
    reading, stream = pipe
    writer = OutputWriter(stream, watched=watched, join=joined)
    await writer.write(notice("one"))
    os.read(reading, 65_536)
    os.close(reading)
    if not watched:
        await writer.write(notice("two"))
    async with asyncio.timeout(HANG_S):
        await writer.closed.wait()
        assert isinstance(writer.error, BrokenPipeError)
        await writer.write(notice("dropped"))
        await writer.finish()


async def test_a_pipe_that_does_not_wait_is_written_all_the_same(pipe: tuple[int, TextIO]) -> None:
    reading, stream = pipe
    os.set_blocking(stream.fileno(), False)
    writer = OutputWriter(stream, join=joined)
    for number in range(1_000):
        await writer.write(notice(f"{number} " + "x" * 500))
    assert len(await taken(reading, stream, writer)) == 1_000


async def test_words_for_people_are_bounded_while_nobody_reads(pipe: tuple[int, TextIO]) -> None:
    reading, stream = pipe
    writer = OutputWriter(stream, for_people=True)
    writer.put("x" * 200_000)
    for number in range(3 * MAX_WAITING_WORDS):
        writer.put(f"{number}\n")
    assert writer.waiting <= MAX_WAITING_WORDS
    os.close(reading)
    await writer.finish()


async def test_a_path_that_is_no_text_is_still_a_line(pipe: tuple[int, TextIO]) -> None:
    reading, stream = pipe
    writer = OutputWriter(stream, join=joined)
    await writer.write(notice("caf\udce9"))
    (line,) = await taken(reading, stream, writer)
    assert line["text"] == "caf\udce9"


async def test_a_stream_without_a_descriptor_is_written_too() -> None:
    out = io.StringIO()
    writer = OutputWriter(out, join=joined)
    writer.put("words\n")
    await writer.write(notice("line"))
    await writer.finish()
    words, line = out.getvalue().splitlines()
    assert (words, json.loads(line)["text"]) == ("words", "line")
