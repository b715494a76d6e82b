"""Output of a command: the first and last part in memory, the rest in a file, both bounded."""

import os
from pathlib import Path

from clew.system.private_files import open_new

HEAD_BYTES = 14_000
TAIL_BYTES = 16_000
MAX_FILE_BYTES = 64_000_000


class OutputBuffer:
    """Takes everything, keeps little. The file is made only when the output does not fit in memory."""

    def __init__(self, path: Path | None, *, always_file: bool = False) -> None:
        self.total = 0
        self.path = path
        self.written = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._file = -1
        self._spilled = False
        if always_file:
            self._spill()

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self.total += len(data)
        if self._file >= 0:
            self._write(data)
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if not self._spilled and len(self._tail) > TAIL_BYTES:
            self._spill()
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def text(self) -> str:
        """What the model sees: all of it, or both ends with a notice between them."""
        if len(self._head) + len(self._tail) >= self.total and len(self._tail) <= TAIL_BYTES:
            return (self._head + self._tail).decode(errors="replace")
        tail = bytes(self._tail[-TAIL_BYTES:])
        left_out = self.total - len(self._head) - len(tail)
        where = f"; the output is in {self.path}" if self._file >= 0 or self.written else ""
        if self.written and self.written < self.total:
            where += f" up to byte {self.written:,}"
        notice = f"\n\n[… {left_out:,} of {self.total:,} bytes left out{where} …]\n\n"
        return self._head.decode(errors="replace") + notice + tail.decode(errors="replace")

    def last(self, max_bytes: int) -> str:
        """The end of what came, as far as it is in memory."""
        held = self._tail if len(self._tail) >= max_bytes else self._head + self._tail
        return bytes(held[-max_bytes:]).decode(errors="replace")

    def close(self) -> None:
        """Nothing more will come."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _spill(self) -> None:
        """Once: a file that could not be written to its end is not begun again."""
        self._spilled = True
        if self.path is None:
            return
        try:
            self._file = open_new(self.path)
        except OSError:
            self.path = None
            return
        self._write(bytes(self._head + self._tail))

    def _write(self, data: bytes) -> None:
        data = data[: MAX_FILE_BYTES - self.written]
        try:
            while data:
                count = os.write(self._file, data)
                self.written += count
                data = data[count:]
        except OSError:
            self.close()
