"""Which names must not come into being in a directory that commands may write. Standard library only."""

from clew.text.guarded_names import GIT_REDIRECTORS, PROTECTED_PAIRS, folded, protected_name

IN_GIT = frozenset(name for name in GIT_REDIRECTORS if "/" not in name)
PAIR_PARENTS = frozenset(parent for parent, _ in PROTECTED_PAIRS)


def forbidden(prefix: str, name: str, *, repository: bool) -> bool:
    """`prefix`: what the directory is to its workspace root; `elsewhere` when only names of its own matter.
    `repository`: the root has a git directory of its own."""
    if prefix == "elsewhere":
        return False
    if prefix == ".git":
        return folded(name) in IN_GIT
    if prefix == ".git/objects":
        return folded(name) == "info"
    if prefix:
        return bool(protected_name(f"{prefix}/{name}"))
    # Without a repository of its own, HEAD beside objects and refs would make the directory itself one.
    return bool(protected_name(name)) or (name == "HEAD" and not repository)


def inner_prefix(prefix: str, name: str) -> str:
    """What a new directory of this name is to its root, when names in it are forbidden too; else empty."""
    name = folded(name)
    if not prefix and name in PAIR_PARENTS:
        return name
    return ".git/objects" if prefix == ".git" and name == "objects" else ""
