"""Protected names that a confined command put into an index are put back as they were. Standard library only."""

import contextlib
import os
from typing import NamedTuple

from clew.system.git.index_entries import IndexEntry, IndexUnclear, hash_bytes, index_entries
from clew.system.git.keeper_call import KeptRepository
from clew.system.git.left_behind import HeldFolder, Judged, opened
from clew.text.guarded_names import protected_name

MAX_INDEX = 64_000_000


class IndexBefore(NamedTuple):
    """An index as it was before the command."""

    data: bytes
    stamp: tuple[int, ...]


def remembered_index(git: HeldFolder) -> IndexBefore:
    """The index as it is now."""
    return IndexBefore(index_bytes(git), stamp_of(git))


def stamp_of(git: HeldFolder) -> tuple[int, ...]:
    """Changes whenever the index does."""
    try:
        status = os.stat("index", dir_fd=git.descriptor, follow_symlinks=False)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def index_bytes(git: HeldFolder) -> bytes:
    """The index, as far as it is of a reasonable size."""
    try:
        file = os.open("index", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=git.descriptor)
    except OSError:
        return b""
    with os.fdopen(file, "rb") as data:
        return data.read(MAX_INDEX)


def planted_names(git: HeldFolder, before: IndexBefore, commit: str, unclear: list[Judged]) -> list[Judged]:
    """Names that entered the index with a content that no file has and that `commit`, which was checked out before,
    has not either. What cannot be read is added to `unclear`."""
    if stamp_of(git) == before.stamp:
        return []
    if before.data and not git.mode("index"):
        put_back(git, before)
        return []
    repository = KeptRepository(git.path)
    new = current_entries(git, repository)
    if new is None:
        why = "it cannot be read, so nobody knows which names are in it"
        unclear.append(Judged(os.path.join(git.path, "index"), "", why))
        return []
    old = entries_before(git, before)
    changed = [entry for path, entry in new.items() if old.get(path) != entry and not is_file(repository.root, entry)]
    committed = committed_entries(repository, commit, [entry.path for entry in changed]) if changed else {}
    planted = [entry for entry in changed if committed.get(entry.path) != entry.object]
    if not planted:
        return []
    lines = "".join(restoring_line(entry, old.get(entry.path)) for entry in planted)
    done = repository.write(["update-index", "-z", "--index-info"], lines, locks=("index",))
    found = [os.path.join(repository.root, entry.path) for entry in planted]
    if not done:
        unclear += [Judged(path, "", "it stays in the index with a content that no file has") for path in found]
        return []
    return [Judged(path, "", "it was in the index with a content that no file has") for path in found]


def put_back(git: HeldFolder, before: IndexBefore) -> None:
    """An index that is gone, or was a link, is the one before again."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(OSError), os.fdopen(os.open("index", flags, 0o644, dir_fd=git.descriptor), "wb") as file:
        file.write(before.data)


def entries_before(git: HeldFolder, before: IndexBefore) -> dict[str, IndexEntry]:
    """Protected names of the index before; none where it had a form that is not read here."""
    try:
        return protected_entries(before.data, hash_size_of(git)) if before.data else {}
    except IndexUnclear:
        return {}


def hash_size_of(git: HeldFolder) -> int:
    return hash_bytes((git.text("config") or "").encode(errors="surrogateescape"))


def current_entries(git: HeldFolder, repository: KeptRepository) -> dict[str, IndexEntry] | None:
    """Protected names of the index; a form that is not read here is left to git. None: it cannot be read."""
    data = index_bytes(git)
    if not git.mode("index"):
        return {}
    with contextlib.suppress(IndexUnclear):
        if len(data) < MAX_INDEX:
            return protected_entries(data, hash_size_of(git))
    listed = repository.run(["ls-files", "--stage", "-z"])
    return None if listed is None else dict(_listed(listed))


def _listed(text: str) -> list[tuple[str, IndexEntry]]:
    found: list[tuple[str, IndexEntry]] = []
    for record in filter(None, text.split("\0")):
        words, _, path = record.partition("\t")
        mode, name, stage = words.split()
        if stage == "0" and protected_name(path):
            found.append((path, IndexEntry(int(mode, 8), name, 0, path)))
    return found


def protected_entries(index: bytes, hash_size: int) -> dict[str, IndexEntry]:
    """Entries of stage 0 whose names are protected."""
    return {
        entry.path: entry
        for entry in index_entries(index, hash_size=hash_size, whole=True)
        if entry.stage == 0 and protected_name(entry.path)
    }


def is_file(root: str, entry: IndexEntry) -> bool:
    """Whether the file of the work tree has this content: then somebody was asked when it was written."""
    folder, name = os.path.split(os.path.join(root, entry.path))
    with opened(folder) as place:
        if place is None:
            return False
        if (entry.mode & 0o170000) == 0o120000:
            try:
                data = os.fsencode(os.readlink(name, dir_fd=place.descriptor))
            except OSError:
                return False
            return object_name(data, len(entry.object)) == entry.object
        text = place.text(name)
    if not text:
        return text == "" and object_name(b"", len(entry.object)) == entry.object
    data = text.encode("utf-8", "surrogateescape")
    return entry.object in (object_name(form, len(entry.object)) for form in (data, data.replace(b"\r\n", b"\n")))


def object_name(data: bytes, digits: int) -> str:
    """The name that git gives to a file of this content."""
    import hashlib  # few commands need it, and the process starter is to start fast

    kind = hashlib.sha256 if digits == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def committed_entries(repository: KeptRepository, commit: str, paths: list[str]) -> dict[str, str]:
    """The objects of these paths in a commit."""
    listed = repository.run(["ls-tree", "-z", commit, "--", *paths]) if commit else ""
    records = (line.partition("\t") for line in (listed or "").split("\0"))
    return {path: words.split()[2] for words, _, path in records if path}


def restoring_line(entry: IndexEntry, old: IndexEntry | None) -> str:
    """One record for `git update-index --index-info`."""
    if old is None:
        return f"0 {'0' * len(entry.object)}\t{entry.path}\0"
    return f"{old.mode:o} {old.object}\t{old.path}\0"
