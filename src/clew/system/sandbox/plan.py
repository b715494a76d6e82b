"""What a confined command may touch, as plain data that travels to the process starter. Standard library only."""

from typing import TypedDict

from clew.text.lazy_pattern import LazyPattern

HELD_BACK = LazyPattern(
    r"Read-only file system|Operation not permitted|Permission denied|Device or resource busy|[Cc]ould not resolve"
    r"|[Nn]etwork is unreachable|Temporary failure in name resolution|EACCES|EROFS|PermissionError"
)
"""What programs print when the sandbox kept them from something."""


class Guarded(TypedDict):
    """A directory in which names must not come into being while the command runs."""

    path: str
    prefix: str
    """What it is to its workspace root: empty for the root itself, else a directory that has protected names in it."""
    known: list[str]
    """Entries that were there before: read-only mounts hold those, and what replaces them is the user's own."""
    names: list[str]
    """Further names that must not come into being here, whatever the list says."""
    repository: bool
    """Whether its workspace root has a git directory."""


class SandboxPlan(TypedDict):
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
    guarded: list[Guarded]
    """Directories in which protected names are refused before they exist."""
    watched: list[Guarded]
    """Directories in which they are taken away as they appear, where refusing is not possible."""
    nested: bool
    """Whether repositories may come into being; what git would obey of them is taken away after the command."""
    git_configs: list[str]
    """The user's own git configurations: which programs they give files to."""
    aside: str
    """Where names are moved that came into being in watched directories."""
    hidden: list[str]
    """Files and directories that nobody inside can open."""
    withheld: list[str]
    """Those of them that are credential files of the workspace."""
    shown: dict[str, str]
    """Files that are shown with other content: path and the file that holds it."""
    mask_file: str
    mask_dir: str
    """Both are empty and without any rights; they stand where something is hidden."""
    tmp: str
    """The session's own directory, seen as /tmp."""
    kept: list[str]
    """Places below /tmp and /var/tmp that are seen there all the same, read-only: programs that the user runs."""
    network: bool
    bwrap: str
    max_memory: int
    """Bytes of data of each process; 0: as the user has it."""
    max_processes: int
    """Processes of the command; 0: as the user has it."""


def has_mounts(plan: SandboxPlan) -> bool:
    """Whether the command gets its own view of the file system and its own network."""
    return plan["kind"] == "bwrap" or plan["namespaces"]
