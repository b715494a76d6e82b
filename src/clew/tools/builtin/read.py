"""Read: text with line numbers, images, PDF pages as text, notebooks."""

import asyncio
import io
import os
import re
from io import BufferedReader
from typing import Annotated, ClassVar, NamedTuple

from msgspec import Meta, Struct

from clew.permissions.access import Access
from clew.protocol.display import FileBlock
from clew.system.files import open_regular
from clew.text.encoding import SNIFF_BYTES, Encoding, decode, sniff
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.builtin.extras import read_forms
from clew.tools.paths import describe_os_error, digest_of, file_accesses, problem, state_of
from clew.tools.session import BuiltinTool, ReadState

MAX_CHARS = 48_000
MAX_LINE_CHARS = 2_000
NEWLINES = re.compile("\r\n|\n|\r")


class LineWindow(NamedTuple):
    """Some lines of a file, numbered."""

    text: str
    first: int
    shown: int
    total: int | None
    """Lines of the whole file; None when it is too large to count."""
    more: bool
    cut_lines: int


class LineCollector:
    """Takes lines until the window is full."""

    def __init__(self, first: int, limit: int) -> None:
        self.first = first
        self.limit = limit
        self.lines: list[str] = []
        self.chars = 0
        self.cut = 0

    def take(self, line: str) -> bool:
        """Add one line; False when it no longer fits."""
        if len(self.lines) >= self.limit:
            return False
        if len(line) > MAX_LINE_CHARS:
            line = line[:MAX_LINE_CHARS] + "… (line cut)"
            cut = 1
        else:
            cut = 0
        numbered = f"{self.first + len(self.lines):>6}\t{line}"
        if self.lines and self.chars + len(numbered) > MAX_CHARS:
            return False
        self.lines.append(numbered)
        self.chars += len(numbered) + 1
        self.cut += cut
        return True

    def window(self, *, total: int | None, more: bool) -> LineWindow:
        """What was taken."""
        return LineWindow("\n".join(self.lines), self.first, len(self.lines), total, more, self.cut)


def window_of_text(text: str, first: int, limit: int) -> LineWindow:
    """Lines of a text in memory. Every newline style ends a line."""
    lines = text.split("\n") if "\r" not in text else NEWLINES.split(text)
    if lines and not lines[-1]:
        lines.pop()
    collector = LineCollector(first, limit)
    more = any(not collector.take(line) for line in lines[first - 1 : first + limit])
    return collector.window(total=len(lines), more=more)


def window_of_file(file: io.BufferedReader, encoding: Encoding, first: int, limit: int) -> LineWindow:
    """Lines of a large file, read piece by piece: one endless line never fills the memory."""
    file.seek(len(encoding.bom))
    text = io.TextIOWrapper(file, encoding=encoding.name, errors="replace", newline=None)
    collector = LineCollector(first, limit)
    number = 1
    try:
        while number < first:
            piece = text.readline(65_536)
            if not piece:
                return collector.window(total=number - 1, more=False)
            number += piece.endswith("\n")
        while line := text.readline(MAX_LINE_CHARS + 2):
            whole = line.endswith("\n")
            if not collector.take(line.removesuffix("\n")):
                return collector.window(total=None, more=True)
            while not whole and (rest := text.readline(65_536)):
                whole = rest.endswith("\n")
        return collector.window(total=first + len(collector.lines) - 1, more=False)
    finally:
        text.detach()


WHOLE_FILE_BYTES = 4_000_000
DEFAULT_LINES = 2_000
FORMS = {".png": "image", ".jpg": "image", ".jpeg": "image", ".gif": "image", ".webp": "image", ".pdf": "pdf"}


class ReadParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to read."""

    file_path: str
    offset: Annotated[int, Meta(ge=0, description="First line, from 1")] | None = None
    limit: Annotated[int, Meta(ge=1, description="Number of lines")] | None = None
    pages: Annotated[str, Meta(description='PDF pages, such as "3" or "1-5"')] | None = None


class Read(BuiltinTool[ReadParams]):
    """Look at one file."""

    name = "Read"
    params: ClassVar[type[Struct]] = ReadParams
    effect: ClassVar[Effect] = "none"
    max_result_chars: ClassVar[int] = 0

    def is_concurrency_safe(self, params: ReadParams) -> bool:
        return True

    def accesses(self, params: ReadParams, context: ToolContext) -> tuple[Access, ...]:
        return file_accesses(self.session, context, "read", params.file_path)

    async def run(self, params: ReadParams, context: ToolContext) -> ToolResult:
        given = self.session.locate(params.file_path, context.cwd)
        (target,) = self.session.claimed(context.call_id, given)
        try:
            with os.fdopen(open_regular(target), "rb") as file:
                return await self._read(target, file, params)
        except OSError as error:
            return describe_os_error(error, target, doing="reading")

    async def _read(self, target: str, file: BufferedReader, params: ReadParams) -> ToolResult:
        status = os.fstat(file.fileno())
        form = FORMS.get(os.path.splitext(target)[1].lower())
        if form is not None or target.endswith(".ipynb"):
            return await read_forms().read_form(form or "notebook", file, target, params.pages, self._note)
        if status.st_size <= WHOLE_FILE_BYTES:
            # Kernel files say they are empty and may have nothing to give right now: then read answers None.
            return self._whole(target, file.read(WHOLE_FILE_BYTES + 1) or b"", status, params)
        encoding = sniff(file.peek(SNIFF_BYTES)[:SNIFF_BYTES], whole=False)
        if encoding is None:
            return binary(target, status.st_size)
        first, count = window(params)
        shown = await asyncio.to_thread(window_of_file, file, encoding, first, count)
        self.session.saw(target, state_of(status, b""))
        return text_result(target, shown, encoding)

    def _note(self, path: str, state: ReadState) -> None:
        self.session.saw(path, state)

    def _whole(self, target: str, data: bytes, status: os.stat_result, params: ReadParams) -> ToolResult:
        decoded = decode(data)
        if decoded is None:
            return binary(target, len(data))
        text, encoding = decoded
        self.session.saw(target, state_of(status, digest_of(data)))
        if not text:
            return ToolResult(text=f"{target} is empty.", display=(FileBlock(path=target),))
        first, count = window(params)
        return text_result(target, window_of_text(text, first, count), encoding)


def window(params: ReadParams) -> tuple[int, int]:
    """First line and number of lines asked for."""
    return max(params.offset or 1, 1), params.limit or DEFAULT_LINES


def binary(path: str, size: int) -> ToolResult:
    """Bytes are not shown to a model."""
    return problem(
        f"{path} is a binary file ({size:,} bytes), so it was not shown. `file` or `xxd | head` can say more."
    )


def text_result(path: str, view: LineWindow, encoding: Encoding) -> ToolResult:
    """Numbered lines, and a note on what is not shown."""
    if not view.shown and view.total is not None:
        return problem(f"{path} has only {view.total} lines; there is nothing from line {view.first} on.")
    notes: list[str] = []
    if view.more:
        total = f" of {view.total}" if view.total is not None else ""
        last = view.first + view.shown - 1
        notes.append(f"Lines {view.first}-{last}{total}; continue with offset={last + 1}.")
    if view.cut_lines:
        notes.append(f"{view.cut_lines} long lines were cut.")
    if encoding.name != "utf-8" or encoding.bom:
        notes.append(f"Encoding: {encoding.label}; edits keep it.")
    text = view.text + ("\n\n(" + " ".join(notes) + ")" if notes else "")
    block = FileBlock(path=path, first_line=view.first, lines=view.shown, total_lines=view.total or 0)
    return ToolResult(text=text, display=(block,))
