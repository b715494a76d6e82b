"""Edit: exact replacements in one file, all or none."""

import asyncio
import re
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access
from clew.system.files import Snapshot, replace_file
from clew.text.encoding import UTF8, Encoding, decode, dominant_newline, encode
from clew.tools.base import ToolContext, ToolResult
from clew.tools.builtin.write import existing, unencodable
from clew.tools.extras import text_diff
from clew.tools.paths import describe_os_error, digest_of, file_accesses, missing, problem, stale, state_of, unread
from clew.tools.session import BuiltinTool

ANY_NEWLINE = "(?:\r\n|\n|\r)"
NUMBERED = re.compile(r"^ *\d+\t", re.MULTILINE)
MAX_LINES_NAMED = 5


class Replacement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One exact replacement."""

    old_string: str
    new_string: str
    replace_all: bool = False


class NoReplacement(ValueError):
    """An edit does not apply; the message tells the model why and how to mend it."""


def apply_all(text: str, wanted: tuple[Replacement, ...]) -> tuple[str, int]:
    """The text after all edits in order, and how many places changed. Raises before anything is lost."""
    count = 0
    for number, edit in enumerate(wanted, 1):
        try:
            text, places = apply(text, edit)
        except NoReplacement as error:
            if len(wanted) == 1:
                raise
            raise NoReplacement(f"edit {number} of {len(wanted)}: {error} No edit of this call was applied.") from None
        count += places
    return text, count


def apply(text: str, edit: Replacement) -> tuple[str, int]:
    """One edit."""
    if edit.old_string == edit.new_string:
        raise NoReplacement("old_string and new_string are the same.")
    if not edit.old_string:
        if text.strip():
            raise NoReplacement("old_string is empty, but the file has content. Give the text to replace.")
        return edit.new_string, 1
    spans = find(text, edit.old_string)
    if not spans:
        raise NoReplacement("old_string was not found. " + hint(text, edit.old_string))
    if len(spans) > 1 and not edit.replace_all:
        lines = ", ".join(str(line_of(text, start)) for start, _ in spans[:MAX_LINES_NAMED])
        more = ", …" if len(spans) > MAX_LINES_NAMED else ""
        raise NoReplacement(
            f"old_string matches {len(spans)} places (lines {lines}{more}). "
            "Add surrounding lines to make it unique, or set replace_all."
        )
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces += (text[position:start], in_style(edit.new_string, text[start:end], text))
        position = end
    return "".join(pieces) + text[position:], len(spans)


def find(text: str, old: str) -> list[tuple[int, int]]:
    """Where `old` stands, without overlaps. Newlines match whatever newline the file has there."""
    if "\r" not in text and "\r" not in old:
        pattern = re.escape(old)
    else:
        pattern = ANY_NEWLINE.join(re.escape(line) for line in re.split(ANY_NEWLINE, old))
        if old.startswith("\n"):
            pattern = pattern.replace(ANY_NEWLINE, "(?:\r\n|(?<!\r)\n|\r)", 1)
    return [match.span() for match in re.finditer(pattern, text)]


def in_style(new: str, replaced: str, text: str) -> str:
    """The new text with the newlines of what it replaces, or of the file when that has none."""
    if "\r" not in text:
        return new
    newline = dominant_newline(replaced if "\n" in replaced or "\r" in replaced else text)
    return re.sub(ANY_NEWLINE, lambda _: newline, new)


def line_of(text: str, position: int) -> int:
    """Line number, from 1."""
    return len(re.findall(ANY_NEWLINE, text[:position])) + 1


def hint(text: str, old: str) -> str:
    """What is probably wrong."""
    if NUMBERED.match(old):
        return "It seems to contain line numbers; leave them out."
    lines = re.split(ANY_NEWLINE, text)
    wanted = [line.strip() for line in old.split("\n")]
    stripped = [line.strip() for line in lines]
    while wanted and not wanted[0]:
        wanted.pop(0)
    while wanted and not wanted[-1]:
        wanted.pop()
    if not wanted:
        return "It is only white space."
    for index in range(len(lines) - len(wanted) + 1):
        if stripped[index : index + len(wanted)] == wanted:
            return f"Lines {index + 1}-{index + len(wanted)} match except for white space; copy the text exactly."
    near = text_diff().nearest_line(wanted[0], lines)
    if near is None:
        return "No similar line exists. Read the file again."
    return (
        f"The nearest line is {near + 1}: {lines[near].strip()[:200]!r}. Read the file again and copy the text exactly."
    )


class EditParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One replacement, or several in `edits`."""

    file_path: str
    old_string: str = ""
    new_string: str = ""
    replace_all: bool = False
    edits: Annotated[tuple[Replacement, ...], Meta(description="Several replacements")] = ()


def wanted_of(params: EditParams) -> tuple[Replacement, ...]:
    """The replacements of a call."""
    single = Replacement(old_string=params.old_string, new_string=params.new_string, replace_all=params.replace_all)
    return params.edits or (single,)


class Edit(BuiltinTool[EditParams]):
    """Change parts of a file."""

    name = "Edit"
    params: ClassVar[type[Struct]] = EditParams

    def accesses(self, params: EditParams, context: ToolContext) -> tuple[Access, ...]:
        return file_accesses(self.session, context, "write", params.file_path)

    async def impossible(self, params: EditParams, context: ToolContext) -> ToolResult | None:
        """A file that was not read, a text that is not there."""
        if (why := unread(self.session, params.file_path, context)) is not None:
            return why
        target = self.session.known_target(params.file_path, context.cwd)
        return await asyncio.to_thread(self._would_fail, target, params) if target else None

    def _would_fail(self, target: str, params: EditParams) -> ToolResult | None:
        try:
            before, _ = text_of(existing(target))
            if before is not None:
                apply_all(before, wanted_of(params))
        except NoReplacement as error:
            return problem(f"{target} was not changed: {error}")
        except OSError:
            return None  # what is wrong is told where it is tried
        return None

    async def run(self, params: EditParams, context: ToolContext) -> ToolResult:
        (target,) = self.session.claimed(context.call_id, self.session.locate(params.file_path, context.cwd))
        if params.edits and (params.old_string or params.new_string):
            return problem("Give either old_string and new_string, or edits, not both.")
        try:
            return await self._edit(target, wanted_of(params))
        except OSError as error:
            return describe_os_error(error, target, doing="editing")
        except UnicodeEncodeError as error:
            return unencodable(target, error)
        except NoReplacement as error:
            return problem(f"{target} was not changed: {error}")

    async def _edit(self, target: str, wanted: tuple[Replacement, ...]) -> ToolResult:
        old = existing(target)
        if old is None and wanted[0].old_string:
            return missing(target)
        if old is not None and old.data and (why := stale(self.session, target, old.status, old.data)):
            return problem(why)
        before, encoding = text_of(old)
        if before is None:
            return problem(f"{target} is a binary file and cannot be edited as text.")
        after, count = apply_all(before, wanted)
        data = encode(after, encoding)
        status = await asyncio.to_thread(replace_file, target, data, expected=old.status if old else None)
        self.session.saw(target, state_of(status, digest_of(data)))
        block = text_diff().diff_block(target, before, after, created=old is None)
        places = "1 place" if count == 1 else f"{count} places"
        words = f"Created {target}" if old is None else f"Edited {target} in {places}"
        return ToolResult(text=f"{words} (+{block.added} -{block.removed} lines).", display=(block,))


def text_of(old: Snapshot | None) -> tuple[str | None, Encoding]:
    """The text to edit and how to write it back; a missing or empty file is empty UTF-8."""
    if old is None or not old.data:
        return "", UTF8
    return decode(old.data) or (None, UTF8)
