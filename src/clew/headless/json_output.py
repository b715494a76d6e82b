"""The lines of a run for programs: loaded where a run prints JSON, since one that prints words has none."""

from typing import TextIO

from clew.headless.printer import Printer, encoded
from clew.streaming.joined_deltas import joined
from clew.streaming.lines import StreamLines, init_without_session
from clew.streaming.results import failed_result, result_of, told_result
from clew.streaming.shapes.stream import StreamLine

__all__ = ["StreamLines", "print_failed", "result_of", "stream_printer", "told_result"]


def stream_printer(out: TextIO, err: TextIO) -> Printer:
    """A reader of a stream is watched, and gets pieces that waited for it as one."""
    return Printer(out, err, watched=True, join=joined)


def print_failed(error: str, *, stream: bool, out: TextIO) -> None:
    """The lines of a run that could not begin: programs that read JSON wait for a result."""
    lines: list[StreamLine] = [failed_result(error)]
    if stream:
        lines.insert(0, init_without_session())
    for line in lines:
        out.write(encoded(line).decode())
