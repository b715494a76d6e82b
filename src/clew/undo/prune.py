"""Making room: kept content goes by the stated cap, oldest sessions first, and never while a session uses it."""

import contextlib
import os
from pathlib import Path

from msgspec import Struct

from clew.transcript.errors import UnsafeTranscript
from clew.undo.journal import FileJournal, digests
from clew.undo.limits import UndoLimits
from clew.undo.packs import PackStore, pack_rows
from clew.undo.tree import FileTree

_JOURNALS_SHARE = 0.75
"""How full the store may be after pruning, so that the next session does not prune again."""


class Pruned(Struct, frozen=True, kw_only=True):
    """What was done."""

    freed_bytes: int = 0
    sessions: tuple[str, ...] = ()
    """Sessions whose older states cannot be brought back any more."""
    busy: bool = False
    """Another session uses the store; nothing was done."""


def prune(kept: PackStore, store: Path, sessions: Path, limits: UndoLimits, *, roots: tuple[str, ...]) -> Pruned:
    """Bring a project's store below its cap, if it is above. `sessions`: the directory of its transcripts.

    Raises OSError or NotKept when the disk refuses; then nothing was lost."""
    before = store_bytes(store)
    if before <= limits.max_store_bytes:
        return Pruned()
    if not kept.alone():
        return Pruned(busy=True)
    try:
        kept.refresh()
        live, dropped = _live(kept, store, sessions, limits, roots)
        _rewrite(kept, store / "packs", live)
    finally:
        kept.shared()
    return Pruned(freed_bytes=before - store_bytes(store), sessions=tuple(dropped))


def store_bytes(store: Path) -> int:
    """What a project's kept content takes on disk."""
    total = 0
    with contextlib.suppress(OSError), os.scandir(store / "packs") as listing:
        for item in listing:
            total += item.stat(follow_symlinks=False).st_size
    return total


def _live(
    kept: PackStore, store: Path, sessions: Path, limits: UndoLimits, roots: tuple[str, ...]
) -> tuple[set[bytes], list[str]]:
    """What the present workspace needs, then what the newest sessions need, as far as there is room."""
    tree = FileTree(roots, limits)
    tree.load(store / "tree.msgpack", kept)
    live = {row.digest for rows in tree.folders.values() for row in rows.values() if row.digest}
    room = limits.max_store_bytes * _JOURNALS_SHARE - sum(kept.size_of(digest) for digest in live)
    dropped: list[str] = []
    journals = sorted(sessions.glob("*/undo.jsonl"), key=lambda path: path.lstat().st_mtime_ns, reverse=True)
    for path in journals:
        needed = {
            digest for digest in digests(FileJournal(path.parent.with_suffix(".jsonl")).checkpoints) if digest in kept
        } - live
        size = sum(kept.size_of(digest) for digest in needed)
        if size <= room:
            live |= needed
            room -= size
        else:
            dropped.append(path.parent.name)
            room = 0
    return live, dropped


def _rewrite(kept: PackStore, packs: Path, live: set[bytes]) -> None:
    """Packs that nobody needs go; those that are mostly dead are copied first."""
    for index in sorted(packs.glob("*.idx")):
        try:
            rows = pack_rows(index)
        except (OSError, UnsafeTranscript):
            continue
        needed = [(digest, length) for digest, _, length in rows if digest in live]
        if sum(length for _, length in needed) * 2 > sum(length for _, _, length in rows):
            continue
        for digest, _ in needed:
            kept.copy(digest)
        kept.sync()
        kept.remove_pack(index)
