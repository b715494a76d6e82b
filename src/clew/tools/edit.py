"""Edit: exact replacements in one file, all or none."""

import asyncio
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access
from clew.system.encoding import UTF8, Encoding, decode, encode
from clew.system.files import Snapshot, replace_file
from clew.tools.base import ToolContext, ToolResult
from clew.tools.builtin import BuiltinTool
from clew.tools.extras import text_diff
from clew.tools.paths import describe_os_error, digest_of, file_accesses, missing, problem, stale, state_of
from clew.tools.replacement import NoReplacement, Replacement, apply_all
from clew.tools.write import existing, unencodable


class EditParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One replacement, or several in `edits`."""

    file_path: Annotated[str, Meta(description="Path of the file")]
    old_string: Annotated[str, Meta(description="Text to replace")] = ""
    new_string: Annotated[str, Meta(description="Text to put there")] = ""
    replace_all: Annotated[bool, Meta(description="Replace every occurrence")] = False
    edits: Annotated[tuple[Replacement, ...], Meta(description="Several replacements")] = ()


class Edit(BuiltinTool[EditParams]):
    """Change parts of a file."""

    name = "Edit"
    params: ClassVar[type[Struct]] = EditParams

    def accesses(self, params: EditParams, context: ToolContext) -> tuple[Access, ...]:
        return file_accesses(self.session, context, "write", params.file_path)

    async def run(self, params: EditParams, context: ToolContext) -> ToolResult:
        (target,) = self.session.claimed(context.call_id, self.session.locate(params.file_path, context.cwd))
        if params.edits and (params.old_string or params.new_string):
            return problem("Give either old_string and new_string, or edits, not both.")
        single = Replacement(old_string=params.old_string, new_string=params.new_string, replace_all=params.replace_all)
        wanted = params.edits or (single,)
        try:
            return await self._edit(target, wanted)
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
