"""How much is kept, and what is out of reach whatever the limits."""

from msgspec import Struct

MIB = 1024 * 1024

OUT_OF_SCOPE = (
    "Not covered: files outside the workspace, history inside .git, what left over the network, "
    "running programs, owners, extended attributes and times of files."
)


class UndoLimits(Struct, frozen=True, kw_only=True):
    """The caps. Each one that is reached is told with the path it left out."""

    max_files: int = 200_000
    """Entries of the workspace that are watched and kept, directories included."""
    max_file_bytes: int = 8 * MIB
    max_ignored_file_bytes: int = MIB
    """The same for files in directories that git ignores or that are marked as a cache."""
    max_tree_bytes: int = 2048 * MIB
    """Content of one state of the workspace."""
    max_store_bytes: int = 4096 * MIB
    """All kept content of a project; above it the oldest states go (`prune.py`)."""
    before_s: float = 2.0
    """A call never waits longer than this for its state to be kept."""
    after_s: float = 20.0
