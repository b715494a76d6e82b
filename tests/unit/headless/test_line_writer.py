"""What leaves on stdout: whole lines in order, also to a reader that stops and goes on, and none lost."""

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from clew.headless.line_writer import LineWriter
from fakes.effort import HANG_S


class Said(msgspec.Struct):
    """A line."""

    number: int
    text: str = ""


def numbers(data: bytes) -> list[int]:
    return [msgspec.json.decode(line, type=Said).number for line in data.splitlines()]


async def test_lines_leave_whole_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "out"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    writer = LineWriter(descriptor)
    for number in range(1000):
        writer.put(Said(number, "x\n" * number))
        await writer.room()
    await writer.flush()
    os.close(descriptor)
    assert numbers(path.read_bytes()) == list(range(1000))


async def test_a_reader_that_stops_is_waited_for_and_nothing_is_lost() -> None:
    reading, writing = os.pipe()
    writer = LineWriter(writing)
    made = 0

    async def make() -> None:
        nonlocal made
        for number in range(200):
            writer.put(Said(number, "x" * 50_000))
            made += 1
            await writer.room()

    making = asyncio.create_task(make())
    for _ in range(500):
        await asyncio.sleep(0)  # the loop goes on while the pipe is full
    assert not making.done()
    assert 0 < made < 200

    async def drained() -> bytes:
        whole = bytearray()
        while whole.count(b"\n") < 200:
            whole += await asyncio.to_thread(os.read, reading, 1 << 20)
        return bytes(whole)

    data = await asyncio.wait_for(drained(), HANG_S)
    await making
    await writer.flush()
    assert numbers(data) == list(range(200))
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("blocking", [True, False])
async def test_the_mode_of_the_descriptor_does_not_matter(blocking: bool) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, blocking)
    writer = LineWriter(writing)
    writer.put(Said(1, "y" * 300_000))
    reader = asyncio.to_thread(read_line, reading)
    assert numbers(await asyncio.wait_for(reader, HANG_S)) == [1]
    await writer.flush()
    assert os.get_blocking(writing) is blocking
    os.close(reading)
    os.close(writing)


def read_line(descriptor: int) -> bytes:
    whole = bytearray()
    while not whole.endswith(b"\n"):
        whole += os.read(descriptor, 1 << 16)
    return bytes(whole)


async def test_a_reader_that_is_gone_is_told_to_whoever_makes_lines() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    writer = LineWriter(writing)
    writer.put(Said(1))
    with pytest.raises(BrokenPipeError):
        await writer.flush()
    writer.put(Said(2))
    with pytest.raises(BrokenPipeError):
        await writer.room()
    os.close(writing)


async def test_a_reader_that_never_reads_can_be_given_up() -> None:
    reading, writing = os.pipe()
    writer = LineWriter(writing)
    writer.put(Said(1, "x" * 500_000))
    waiting = asyncio.create_task(writer.flush())
    await asyncio.wait_for(writer.give_up_unread(0.001), HANG_S)
    with pytest.raises(BrokenPipeError):
        await asyncio.wait_for(waiting, HANG_S)
    os.close(reading)
    os.close(writing)
