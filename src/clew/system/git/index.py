"""Names in a repository's index: which entries are other repositories, and which names it holds. Runs nothing."""

from pathlib import Path

from clew.system.git.index_entries import GITLINK, IndexUnclear, hash_bytes, index_entries
from clew.system.git.layout import Repository, file_start

MAX_INDEX = 16_000_000


def gitlinks(repository: Repository) -> list[str]:
    """Paths of entries that are repositories of their own. Raises IndexUnclear."""
    mark = GITLINK.to_bytes(4)
    return [
        entry.path
        for data, hash_size in _files(repository)
        if mark in data
        for entry in index_entries(data, hash_size=hash_size)
        if entry.mode == GITLINK
    ]


def index_names(repository: Repository, *, limit: int = 30_000) -> list[str]:
    """Every name in the index. Raises IndexUnclear where it is too large or has another form."""
    names: list[str] = []
    for data, hash_size in _files(repository):
        if len(names) + int.from_bytes(data[8:12]) > limit:
            raise IndexUnclear("the index holds too many names")
        names += [entry.path for entry in index_entries(data, hash_size=hash_size)]
    return names


def _files(repository: Repository) -> list[tuple[bytes, int]]:
    """The index and what it shares, each with the length of an object's name in it."""
    paths: list[Path] = [repository.git_dir / "index"]
    try:
        paths += [path for path in repository.git_dir.iterdir() if path.name.startswith("sharedindex.")]
    except OSError as problem:
        raise IndexUnclear("the repository cannot be read") from problem
    found = [file_start(path, MAX_INDEX) for path in paths]
    if any(len(data) >= MAX_INDEX for data in found):
        raise IndexUnclear("the index is too large to be read")
    hash_size = hash_bytes(file_start(repository.common_dir / "config"))
    return [(data, hash_size) for data in found if data]
