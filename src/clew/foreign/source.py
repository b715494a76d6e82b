"""Bytes of other agents' files: opened for reading only, bounded, and never trusted to be whole."""

import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from clew.foreign.session import SkippedPiece

MAX_LINE_BYTES = 32 * 1024 * 1024
MAX_FILE_BYTES = 192 * 1024 * 1024
"""For formats that are one JSON value or one text: larger files are reported, not read."""
MAX_LINES_BYTES = 4 * 1024 * 1024 * 1024
READ_BUDGET_S = 300.0
"""For files of lines, however many: what lies beyond is told and left out."""
BOM = b"\xef\xbb\xbf"
_CHUNK = 1024 * 1024
_RETRIES = 4
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_decode_any = msgspec.json.Decoder().decode


class SourceLine(NamedTuple):
    """One line without its newline, and where it starts."""

    offset: int
    data: bytes
    ended: bool = True
    """False for a last line without a newline: its program may still be writing it."""


class Source:
    """One file and the problems met while reading it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[SkippedPiece] = []

    def note(self, kind: str, offset: int = 0, detail: str = "") -> None:
        """Remember a piece that was skipped."""
        self.problems.append(SkippedPiece(path=str(self.path), offset=offset, kind=kind, detail=detail))

    def lines(self) -> Iterator[SourceLine]:
        """The lines of the file; over-long ones are skipped while streaming, with a note."""
        handle = self._open()
        if handle is None:
            return
        with handle:
            offset, start, pending, skipping = 0, 0, b"", False
            until_s = time.monotonic() + READ_BUDGET_S
            while chunk := handle.read(_CHUNK):
                if offset > MAX_LINES_BYTES or time.monotonic() > until_s:
                    limit = f"{MAX_LINES_BYTES >> 30} GB or {READ_BUDGET_S:g} s"
                    self.note("too_large", start, f"more than can be read within {limit}; the rest is left out")
                    return
                pieces = chunk.split(b"\n")
                for piece in pieces[:-1]:
                    if skipping:
                        skipping, pending = False, b""
                    else:
                        yield SourceLine(start, pending + piece if pending else piece)
                        pending = b""
                    offset += len(piece) + 1
                    start = offset
                offset += len(pieces[-1])
                if not skipping:
                    pending += pieces[-1]
                if len(pending) > MAX_LINE_BYTES:
                    self.note("too_long", start, f"a line of more than {MAX_LINE_BYTES} bytes")
                    skipping, pending = True, b""
            if pending and not skipping:
                yield SourceLine(start, pending, ended=False)

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The JSON objects of a JSONL file, each with its offset; damaged lines are skipped one by one."""
        for offset, data, ended in self.lines():
            value = self.decode(data, offset, ended=ended)
            if isinstance(value, dict):
                yield offset, value
            elif value is not None:
                self.note("damaged", offset, "not a JSON object")

    def decode(self, data: bytes, offset: int = 0, *, ended: bool = True) -> Any:
        """The JSON value of these bytes; None, with a note, where they are damaged. Blank is None without a note."""
        try:
            return _decode_any(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        if not data.strip():
            return None
        try:
            return _decode_any(_mended(data))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            is_begun = not ended and data.startswith(b"{")
            self.note("unfinished" if is_begun else "damaged", offset, str(error)[:200])
            return None

    def value(self) -> Any:
        """The JSON value that the file is. One that was written anew while we read is read again."""
        for _ in range(_RETRIES):
            known, before = len(self.problems), self._stamp()
            value = self.decode(self.whole())
            if len(self.problems) == known or self._stamp() == before:
                break
            del self.problems[known:]
        else:
            value = self.decode(self.whole())
        return value

    def _stamp(self) -> tuple[int, int, int]:
        try:
            info = self.path.stat()
        except OSError:
            return 0, 0, 0
        return info.st_ino, info.st_size, info.st_mtime_ns

    def whole(self) -> bytes:
        """All bytes of the file, or none with a note when it is too large or not readable."""
        handle = self._open()
        if handle is None:
            return b""
        with handle:
            data = handle.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            self.note("too_large", 0, f"more than {MAX_FILE_BYTES} bytes in one value")
            return b""
        return data

    def text(self) -> str:
        """The whole file as text; bytes that are not UTF-8 become replacement characters."""
        return self.whole().removeprefix(BOM).decode("utf-8", "replace").replace("\r\n", "\n")

    def head(self, limit: int) -> bytes:
        """The first bytes, for telling formats apart."""
        handle = self._open()
        if handle is None:
            return b""
        with handle:
            return handle.read(limit)

    def _open(self) -> Any:
        descriptor = -1
        try:
            # Non-blocking, so that a FIFO under a session's name cannot hang the reader.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                self.note("not_a_file", 0, "a directory, pipe, socket or device")
                return None
            return os.fdopen(descriptor, "rb", buffering=0)
        except (OSError, ValueError) as error:
            self.note("unreadable", 0, getattr(error, "strerror", None) or str(error))
            return None


def _mended(data: bytes) -> bytes:
    """Valid UTF-8 without lone surrogate escapes, which JavaScript programs write when they cut text."""
    text = data.removeprefix(BOM).decode("utf-8", "replace").encode()
    return _LONE_SURROGATE.sub(rb"\\ufffd", text)
