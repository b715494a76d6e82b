"""What a confined command may touch, as plain data that travels to the process starter. Standard library only."""

from typing import TypedDict


class Plan(TypedDict):
    """All paths are absolute and resolved."""

    kind: str
    """`bwrap` or `landlock`."""
    namespaces: bool
    """With `landlock`: mounts hide and protect; without, only Landlock's grants do."""
    writable: list[str]
    pinned: list[str]
    """Writable directories that may not be renamed away, because protected names lie in them."""
    protected: list[str]
    """Existing paths that stay read-only inside writable ones."""
    missing: list[str]
    """Protected names that do not exist; placeholders stand there while the command runs."""
    files: list[str]
    """Those of the missing names that would be files."""
    hidden: list[str]
    tmp: str
    """The session's own directory, seen as /tmp."""
    network: bool
    bwrap: str
