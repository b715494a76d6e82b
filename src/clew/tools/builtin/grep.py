"""Grep: search file contents."""

import os
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from clew.permissions.access import Access
from clew.protocol.display import MatchesBlock
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.builtin.extras import search
from clew.tools.paths import file_accesses, missing, problem
from clew.tools.search_paths import newest_first, relative_to, search_note
from clew.tools.session import BuiltinTool

DEFAULT_HEAD = 250
MAX_CHARS = 48_000
MAX_NAMED = 5
NAMES = {"ignore_case": "-i", "numbers": "-n", "after": "-A", "before": "-B", "context": "-C"}


class GrepParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename=NAMES):
    """What to search for and how to show it."""

    pattern: str
    path: Annotated[str, Meta(description="File or directory; default: current directory")] | None = None
    glob: Annotated[str, Meta(description='Files to search, such as "*.{ts,tsx}"')] | None = None
    type: Annotated[str, Meta(description="File type, such as py, js, rust")] | None = None
    output_mode: Literal["content", "files_with_matches", "count"] = "files_with_matches"
    ignore_case: Annotated[bool, Meta(description="Ignore case")] = False
    numbers: Annotated[bool, Meta(description="Line numbers (default true)")] = True
    after: Annotated[int, Meta(ge=0, description="Lines after")] | None = None
    before: Annotated[int, Meta(ge=0, description="Lines before")] | None = None
    context: Annotated[int, Meta(ge=0, description="Lines around")] | None = None
    multiline: Annotated[bool, Meta(description="Match across lines; . matches newlines")] = False
    head_limit: Annotated[int, Meta(ge=0, description="Rows to show (default 250, 0: all)")] | None = None


class Grep(BuiltinTool[GrepParams]):
    """Find lines, files or counts."""

    name = "Grep"
    params: ClassVar[type[Struct]] = GrepParams
    untold: ClassVar[frozenset[str]] = frozenset({"-n"})
    effect: ClassVar[Effect] = "none"

    def is_concurrency_safe(self, params: GrepParams) -> bool:
        return True

    def accesses(self, params: GrepParams, context: ToolContext) -> tuple[Access, ...]:
        return file_accesses(self.session, context, "read", params.path or ".")

    async def run(self, params: GrepParams, context: ToolContext) -> ToolResult:
        (root,) = self.session.claimed(context.call_id, self.session.locate(params.path or ".", context.cwd))
        if not os.path.exists(root):
            return missing(root)
        if not os.path.isdir(root) and not os.path.isfile(root):
            return problem(f"{root} is neither a file nor a directory; nothing was searched.")
        engine = search()
        head = DEFAULT_HEAD if params.head_limit is None else params.head_limit
        around = params.context or 0
        query = engine.SearchQuery(
            pattern=params.pattern,
            root=root,
            mode=params.output_mode,
            globs=(params.glob,) if params.glob else (),
            type=params.type or "",
            ignore_case=params.ignore_case,
            before=params.before if params.before is not None else around,
            after=params.after if params.after is not None else around,
            multiline=params.multiline,
            max_lines=head if params.output_mode == "content" else 0,
        )
        try:
            found, binary = await engine.grep(self.session, query)
        except OSError as error:
            chosen = engine.binary_for(self.session)
            return problem(f"The search program {chosen.path} could not be run: {error}. {chosen.note}".strip())
        if found.error and not found.rows:
            return problem(f"The search failed: {found.error[:2_000]}")
        rows = newest_first(found.rows) if params.output_mode == "files_with_matches" else found.rows
        lines = [line(path, text, params, context.cwd) for path, text in rows]
        files = tuple(dict.fromkeys(relative_to(path, context.cwd) for path, _ in rows if path))
        notes = search_note(self.session, binary, timed_out=found.timed_out)
        if found.cut or (head and len(lines) > head):
            notes.insert(
                0, f"Only the first {head or len(lines)} rows are shown; narrow the search or raise head_limit."
            )
            lines = lines[:head] if head else lines
        if found.withheld:
            notes.append(left_out(found.withheld, context.cwd))
        if found.error:
            notes.append(f"Some files could not be searched: {found.error[:300]}")
        body = (
            bounded(lines, notes)
            if lines
            else f"No matches for {params.pattern!r} in {relative_to(root, context.cwd)}."
        )
        text = body + "".join(f"\n({note})" for note in notes)
        return ToolResult(
            text=text, display=(MatchesBlock(pattern=params.pattern, matches=found.matches, files=files[:50]),)
        )


def line(path: str, text: str, params: GrepParams, cwd: str) -> str:
    """One row for the model."""
    if not path:
        return text
    name = relative_to(path, cwd)
    if params.output_mode == "files_with_matches":
        return name
    if params.output_mode == "content" and not params.numbers:
        return f"{name}:{text.lstrip('0123456789')[1:]}"
    return f"{name}:{text}"


def left_out(paths: tuple[str, ...], cwd: str) -> str:
    """The same words whether they match or not."""
    names = ", ".join(relative_to(path, cwd) for path in paths[:MAX_NAMED]) + (
        ", ..." if len(paths) > MAX_NAMED else ""
    )
    return f"Not searched, because they may hold secrets: {names}. Name one as path to ask for it."


def bounded(lines: list[str], notes: list[str]) -> str:
    """As many whole rows as fit."""
    size = 0
    for index, row in enumerate(lines):
        size += len(row) + 1
        if size > MAX_CHARS and index:
            notes.insert(0, f"Rows {index + 1}-{len(lines)} did not fit; narrow the search.")
            return "\n".join(lines[:index])
    return "\n".join(lines)
