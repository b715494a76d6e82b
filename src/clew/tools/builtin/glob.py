"""Glob: find files by name."""

import os
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access
from clew.protocol.display import MatchesBlock
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.builtin.extras import search
from clew.tools.paths import file_accesses, missing, problem
from clew.tools.search_paths import glob_regex, modified_ns, relative_to, search_note
from clew.tools.session import BuiltinTool

MAX_FILES = 100


class GlobParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which names, where."""

    pattern: str
    path: Annotated[str, Meta(description="Directory; default: current directory")] | None = None


class Glob(BuiltinTool[GlobParams]):
    """List matching files."""

    name = "Glob"
    params: ClassVar[type[Struct]] = GlobParams
    effect: ClassVar[Effect] = "none"

    def is_concurrency_safe(self, params: GlobParams) -> bool:
        return True

    def accesses(self, params: GlobParams, context: ToolContext) -> tuple[Access, ...]:
        root, _ = split_base(params)
        return file_accesses(self.session, context, "list", root)

    async def run(self, params: GlobParams, context: ToolContext) -> ToolResult:
        base, pattern = split_base(params)
        (root,) = self.session.claimed(context.call_id, self.session.locate(base, context.cwd))
        if not os.path.lexists(root):
            return missing(root)
        if not os.path.isdir(root):
            return problem(f"{root} is not a directory.")
        try:
            files, binary, timed_out = await search().files_below(self.session, root)
        except OSError as error:
            chosen = search().binary_for(self.session)
            return problem(f"The search program {chosen.path} could not be run: {error}. {chosen.note}".strip())
        matcher = glob_regex(pattern)
        found = [os.path.join(root, name) for name in files if matcher.fullmatch(name)]
        found.sort(key=lambda path: (-modified_ns(path), path))
        shown = [relative_to(path, context.cwd) for path in found[:MAX_FILES]]
        notes = search_note(self.session, binary, timed_out=timed_out)
        if len(found) > MAX_FILES:
            notes.insert(0, f"{len(found)} files match; the {MAX_FILES} newest are shown.")
        body = "\n".join(shown) or f"No files match {params.pattern!r} in {relative_to(root, context.cwd)}."
        block = MatchesBlock(pattern=params.pattern, matches=len(found), files=tuple(shown[:50]))
        return ToolResult(text=body + "".join(f"\n({note})" for note in notes), display=(block,))


def split_base(params: GlobParams) -> tuple[str, str]:
    """The directory and the pattern below it; an absolute pattern brings its own directory."""
    pattern, base = params.pattern, params.path or "."
    if pattern.startswith(("/", "~", "../")):
        fixed: list[str] = []
        parts = pattern.split("/")
        while len(parts) > 1 and not any(char in parts[0] for char in "*?[{"):
            fixed.append(parts.pop(0))
        head = "/".join(fixed) or "/"
        base, pattern = (head if head.startswith(("/", "~")) else os.path.join(base, head)), "/" + "/".join(parts)
    return base, pattern
