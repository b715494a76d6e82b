"""Display blocks: what people see of a tool result. Typed, so that every front end renders the same facts."""

from msgspec import Struct
from msgspec.structs import replace


class BlockBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Text inside blocks is untrusted: front ends sanitise it at their own boundary."""


class TextBlock(BlockBase, frozen=True, kw_only=True, tag="text"):
    """Plain words."""

    text: str


class DiffBlock(BlockBase, frozen=True, kw_only=True, tag="diff"):
    """A change of one file."""

    path: str
    patch: str
    """Unified diff without file headers."""
    added: int
    removed: int
    created: bool = False


class TerminalBlock(BlockBase, frozen=True, kw_only=True, tag="terminal"):
    """A shell command and its outcome."""

    command: str
    output: str
    exit_code: int | None
    """None while running in the background or when it was killed."""
    timed_out: bool = False
    stopped: bool = False
    """Somebody ended it, or the session was: `output` is what it had printed until then."""
    background_id: str = ""


class ChangesBlock(BlockBase, frozen=True, kw_only=True, tag="changes"):
    """What a command did to the files of the workspace, as far as it could be seen."""

    changed: int = 0
    created: int = 0
    deleted: int = 0
    gone: tuple[str, ...] = ()
    """The first deleted paths."""
    lost: tuple[str, ...] = ()
    """What undo could not bring back, one line each."""


class FileBlock(BlockBase, frozen=True, kw_only=True, tag="file"):
    """A file, or a part of it, was read."""

    path: str
    first_line: int = 0
    lines: int = 0
    total_lines: int = 0


class MatchesBlock(BlockBase, frozen=True, kw_only=True, tag="matches"):
    """A search result."""

    pattern: str
    matches: int
    files: tuple[str, ...] = ()


class TodoItem(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One item of the agent's task list."""

    content: str
    status: str
    """pending, in_progress or completed."""
    active_form: str = ""
    number: int = 0
    """Its id in the list of work; 0: it has none (lists of children, and old logs)."""
    owner: str = ""
    """Who works on it, where that is not the main agent."""
    blocked_by: tuple[int, ...] = ()
    """What must be done before it and is not."""
    description: str = ""
    todo_of: str = ""
    """Whose TodoWrite wrote it."""


class TodoBlock(BlockBase, frozen=True, kw_only=True, tag="todo"):
    """The whole task list after a change."""

    items: tuple[TodoItem, ...]


class TableBlock(BlockBase, frozen=True, kw_only=True, tag="table"):
    """Rows under column names."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = TextBlock | DiffBlock | TerminalBlock | ChangesBlock | FileBlock | MatchesBlock | TodoBlock | TableBlock


MAX_FILES = 500


class FileChange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines added to and removed from one file, over all its edits."""

    path: str
    added: int = 0
    removed: int = 0
    created: bool = False


def with_change(files: tuple[FileChange, ...], block: DiffBlock) -> tuple[FileChange, ...]:
    """The list with this change added to its file's row; order of first change, bounded."""
    for index, known in enumerate(files):
        if known.path == block.path:
            summed = replace(known, added=known.added + block.added, removed=known.removed + block.removed)
            return (*files[:index], summed, *files[index + 1 :])
    fresh = FileChange(path=block.path, added=block.added, removed=block.removed, created=block.created)
    return (*files, fresh)[-MAX_FILES:]
