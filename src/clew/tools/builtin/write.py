"""Write: a whole file, made or replaced in one step."""

import asyncio
import os
from typing import ClassVar

from msgspec import Struct

from clew.permissions.access import Access
from clew.system.files import Snapshot, read_regular, replace_file
from clew.text.encoding import UTF8, decode, dominant_newline, encode
from clew.tools.base import ToolContext, ToolResult
from clew.tools.extras import text_diff
from clew.tools.paths import describe_os_error, digest_of, file_accesses, problem, stale, state_of, unread
from clew.tools.session import BuiltinTool

MAX_FILE_BYTES = 50_000_000


class WriteParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to write where."""

    file_path: str
    content: str


class Write(BuiltinTool[WriteParams]):
    """Put this content into this file."""

    name = "Write"
    params: ClassVar[type[Struct]] = WriteParams

    def accesses(self, params: WriteParams, context: ToolContext) -> tuple[Access, ...]:
        return file_accesses(self.session, context, "write", params.file_path)

    async def impossible(self, params: WriteParams, context: ToolContext) -> ToolResult | None:
        """A file that was not read."""
        return unread(self.session, params.file_path, context)

    async def run(self, params: WriteParams, context: ToolContext) -> ToolResult:
        (target,) = self.session.claimed(context.call_id, self.session.locate(params.file_path, context.cwd))
        try:
            old = existing(target)
            if old is not None and (why := stale(self.session, target, old.status, old.data)):
                return problem(why)
            before, data = prepare(params.content, old)
            status = await asyncio.to_thread(replace_file, target, data, expected=old.status if old else None)
        except OSError as error:
            return describe_os_error(error, target, doing="writing")
        except UnicodeEncodeError as error:
            return unencodable(target, error)
        self.session.saw(target, state_of(status, digest_of(data)))
        block = text_diff().diff_block(target, before, params.content, created=old is None)
        verb = "Created" if old is None else "Replaced"
        return ToolResult(text=f"{verb} {target} (+{block.added} -{block.removed} lines).", display=(block,))


def existing(target: str) -> Snapshot | None:
    """The file that is there now, if any."""
    try:
        return read_regular(target, max_bytes=MAX_FILE_BYTES)
    except FileNotFoundError:
        return None


def prepare(content: str, old: Snapshot | None) -> tuple[str, bytes]:
    """The old text, and the new bytes in the old encoding and newline style."""
    decoded = decode(old.data) if old is not None and old.data else None
    if decoded is None:
        return "", encode(content, UTF8)
    before, encoding = decoded
    newline = dominant_newline(before)
    if newline != "\n" and "\r" not in content:
        content = content.replace("\n", newline)
    if encoding.name == "latin-1" and not content.isascii():
        try:
            return before, encode(content, encoding)
        except UnicodeEncodeError:
            return before, encode(content, UTF8)
    return before, encode(content, encoding)


def unencodable(path: str, error: UnicodeEncodeError) -> ToolResult:
    """Nothing is written rather than written wrongly."""
    bad = error.object[error.start : error.start + 1]
    return problem(
        f"{os.path.basename(path)} is {error.encoding.upper()}, which cannot hold {bad!a}; nothing was written."
    )
