"""Lines of a descriptor: from pipes, files and nothing; numbered; a huge one does not stop the rest."""

import asyncio
import os
from pathlib import Path

import pytest

from clew.headless.stdin_lines import CHUNK_BYTES, LineCutter, StdinLine, StdinLines


async def all_lines(lines: StdinLines) -> list[StdinLine]:
    return [line async for line in lines]


def piped(data: bytes) -> int:
    """A pipe that holds this and is closed."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading


@pytest.fixture
def pipe_ends() -> tuple[int, int]:
    return os.pipe()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"one\ntwo\n", [b"one", b"two"]),
        (b"one\n\ntwo", [b"one", b"", b"two"]),
        (b"no end", [b"no end"]),
        (b"\xff\xfe\n", [b"\xff\xfe"]),
        (b"a\r\nb\r\n", [b"a\r", b"b\r"]),
    ],
)
async def test_a_pipe_is_cut_at_newlines_and_its_lines_are_numbered(data: bytes, expected: list[bytes]) -> None:
    lines = await all_lines(StdinLines(piped(data)))
    assert [line.data for line in lines] == expected
    assert [line.number for line in lines] == list(range(1, len(expected) + 1))
    assert not any(line.problem for line in lines)


async def test_a_file_is_read_to_its_end_without_being_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(50_000)))
    descriptor = os.open(path, os.O_RDONLY)
    lines = await all_lines(StdinLines(descriptor))
    os.close(descriptor)
    assert len(lines) == 50_000
    assert lines[-1] == StdinLine(50_000, b"line 49999")


@pytest.mark.parametrize("where", ["null device", "closed descriptor", "no descriptor", "a directory"])
async def test_what_cannot_be_read_is_at_its_end(where: str, tmp_path: Path) -> None:
    descriptors = {
        "null device": lambda: os.open(os.devnull, os.O_RDONLY),
        "closed descriptor": closed,
        "no descriptor": lambda: -1,
        "a directory": lambda: os.open(tmp_path, os.O_RDONLY),
    }
    assert await all_lines(StdinLines(descriptors[where]())) == []


def closed() -> int:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    return descriptor


async def test_a_line_comes_as_soon_as_it_is_whole(pipe_ends: tuple[int, int]) -> None:
    reading, writing = pipe_ends
    lines = StdinLines(reading)
    os.write(writing, b"first\nsec")
    assert (await anext(lines)).data == b"first"
    second = asyncio.ensure_future(anext(lines))
    await asyncio.sleep(0)
    assert not second.done()
    os.write(writing, b"ond\n")
    assert (await second) == StdinLine(2, b"second")
    os.close(writing)
    with pytest.raises(StopAsyncIteration):
        await anext(lines)
    os.close(reading)


async def test_who_stops_listening_is_not_kept_waiting(pipe_ends: tuple[int, int]) -> None:
    reading, writing = pipe_ends
    lines = StdinLines(reading)
    waiting = asyncio.ensure_future(all_lines(lines))
    await asyncio.sleep(0)
    lines.close()
    assert await waiting == []
    os.close(writing)
    os.close(reading)


async def test_who_stops_listening_hears_nothing_more(pipe_ends: tuple[int, int]) -> None:
    reading, writing = pipe_ends
    lines = StdinLines(reading)
    os.write(writing, b"one\ntwo\nthree\n")
    assert (await anext(lines)).data == b"one"
    lines.close()
    assert await all_lines(lines) == []
    os.close(writing)
    os.close(reading)


@pytest.mark.parametrize("pieces", [1, 7, 4096])
def test_a_line_that_is_too_long_is_named_and_the_next_one_is_whole(pieces: int) -> None:
    data = b"short\n" + b"x" * 5000 + b"\nafter\n" + b"y" * 5000
    cutter = LineCutter(max_line_bytes=1000)
    lines = [line for at in range(0, len(data), pieces) for line in cutter.feed(data[at : at + pieces])]
    lines += cutter.finish()
    assert [line.data for line in lines] == [b"short", b"", b"after", b""]
    assert [bool(line.problem) for line in lines] == [False, True, False, True]
    assert "1,000 bytes" in lines[1].problem
    assert lines[3].number == 4


def test_a_long_line_is_not_kept_while_it_goes_on() -> None:
    cutter = LineCutter(max_line_bytes=1000)
    for _ in range(100):
        cutter.feed(b"x" * CHUNK_BYTES)
    assert sum(map(len, cutter._pieces)) <= 1000
