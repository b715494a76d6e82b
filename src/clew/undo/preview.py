"""A restore as a diff: from what is there now to what would be there."""

import difflib

from msgspec.structs import replace

from clew.protocol.display import DiffBlock
from clew.undo.capture import row_of
from clew.undo.errors import UndoError
from clew.undo.limits import MIB
from clew.undo.packs import PackStore
from clew.undo.plan import FilePlan
from clew.undo.state import Checkpoint, State, path_of

_MAX_BYTES = 2 * MIB
_MAX_LINES = 20_000
_MAX_PATCH_CHARS = 100_000
_MAX_TOLD = 20
_MAX_TOLD_CHARS = 60_000
_NO_TEXT = "\0"


def preview(file: FilePlan, store: PackStore) -> DiffBlock:
    """One path of a plan. What is no text, or too long to compare, is said in words inside the patch."""
    texts = _text(file.current, file, store, now=True), _text(file.target, file, store, now=False)
    return _block(file, file.current, file.target, *texts)


def made_change(file: FilePlan, store: PackStore) -> DiffBlock:
    """The other way round: what was done to the path since the state that the plan would bring back."""
    texts = _text(file.target, file, store, now=False), _text(file.current, file, store, now=True)
    return _block(file, file.target, file.current, *texts)


def made_by(checkpoint: Checkpoint, store: PackStore) -> tuple[DiffBlock, ...]:
    """What a call did to files that are there now, as diffs. What is no text, as most that programs make for
    themselves, is only counted. Of many files the first are told, and once so much was told that nobody reads it in one
    piece, a change is told by its figures alone."""
    blocks: list[DiffBlock] = []
    left = _MAX_TOLD_CHARS
    for change in checkpoint.changes:
        if change.after.kind not in ("file", "link") or len(blocks) == _MAX_TOLD:
            continue
        file = FilePlan(path=change.path, action="none", current=change.after, target=change.before)
        try:
            before, after = _text(file.target, file, store, now=False), _text(file.current, file, store, now=True)
        except (UndoError, OSError):
            continue  # undo is a courtesy: what cannot be shown is counted all the same
        if _NO_TEXT in (before, after):
            continue
        block = _block(file, file.target, file.current, before, after)
        block = replace(block, path=path_of(block.path), patch=block.patch if len(block.patch) <= left else "")
        left -= len(block.patch)
        blocks.append(block)
    return tuple(blocks)


def _block(file: FilePlan, old_state: State, new_state: State, before: str, after: str) -> DiffBlock:
    created = old_state.kind == "missing"
    head = _mode_lines(old_state, new_state)
    if _NO_TEXT in (before, after):
        words = f"{_words(old_state)} becomes {_words(new_state)}"
        return DiffBlock(path=file.path, patch="\n".join([*head, words]), added=0, removed=0, created=created)
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _MAX_LINES:
        words = f"{len(old):,} lines become {len(new):,}"
        return DiffBlock(
            path=file.path, patch="\n".join([*head, words]), added=len(new), removed=len(old), created=created
        )
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    patch = "\n".join([*head, *lines])
    if len(patch) > _MAX_PATCH_CHARS:
        patch = patch[:_MAX_PATCH_CHARS] + "\n… (cut)"
    return DiffBlock(
        path=file.path,
        patch=patch,
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        created=created,
    )


def _mode_lines(current: State, target: State) -> list[str]:
    if "missing" in (current.kind, target.kind):
        return [] if "directory" not in (current.kind, target.kind) else [f"{_words(current)} becomes {_words(target)}"]
    if current.kind != target.kind:
        return [f"{_words(current)} becomes {_words(target)}"]
    return [f"mode {current.mode:04o} becomes {target.mode:04o}"] if current.mode != target.mode else []


def _text(state: State, file: FilePlan, store: PackStore, *, now: bool) -> str:
    """The text of a state; empty for what has none; one NUL for what cannot be shown as lines."""
    if state.kind in ("missing", "directory"):
        return ""
    if state.kind == "special" or not state.digest or state.size > _MAX_BYTES:
        return _NO_TEXT
    digest = bytes.fromhex(state.digest)
    if now and digest not in store and not _read_into(file, store):
        return _NO_TEXT
    try:
        text = store.get(digest).decode()
    except (UndoError, UnicodeDecodeError):
        return _NO_TEXT
    return _NO_TEXT if "\0" in text else text


def _read_into(file: FilePlan, store: PackStore) -> bool:
    """Somebody's edit is kept before it is shown: it must be kept before it can be overwritten anyway."""
    try:
        found = row_of(path_of(file.path), store=store, max_bytes=_MAX_BYTES)
    except OSError:
        return False
    return found is not None and found.row.digest.hex() == file.current.digest


def _words(state: State) -> str:
    if state.kind == "missing":
        return "nothing"
    if state.kind == "file":
        return f"a file of {state.size:,} bytes"
    return {"link": "a link", "directory": "a directory", "special": "a pipe, socket or device"}[state.kind]
