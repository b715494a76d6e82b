"""The `*** Begin Patch` notation of Codex and others, taken apart into one change per file."""

from typing import Literal, NamedTuple

_ADD = "*** Add File: "
_UPDATE = "*** Update File: "
_DELETE = "*** Delete File: "
_MOVE = "*** Move to: "


class PatchedFile(NamedTuple):
    """What a patch does to one file. `old` and `new` hold the hunks' lines with context, joined."""

    action: Literal["add", "update", "delete"]
    path: str
    old: str
    new: str
    diff: str
    """The hunks as they stand, without headers."""
    added: int
    removed: int
    moved_to: str = ""


def parse_patch(text: str) -> list[PatchedFile]:
    """The changes in a patch text; text around the patch is passed over, an unclosed patch is read to its end."""
    changes: list[PatchedFile] = []
    action: Literal["add", "update", "delete"] | None = None
    path = moved_to = ""
    body: list[str] = []

    def finish() -> None:
        if action is not None:
            changes.append(_change(action, path, body, moved_to))

    for line in text.splitlines():
        header = _header(line)
        if header is not None:
            finish()
            (action, path), body, moved_to = header, [], ""
        elif line.startswith(_MOVE):
            moved_to = line[len(_MOVE) :].strip()
        elif line.startswith("*** End Patch"):
            finish()
            action = None
        elif action is not None and not line.startswith("*** End of File"):
            body.append(line)
    finish()
    return changes


def count_diff(diff: str) -> tuple[int, int]:
    """Added and removed lines of a unified diff."""
    added = removed = 0
    for line in diff.splitlines():
        if line.startswith("+") and not line.startswith("+++ "):
            added += 1
        elif line.startswith("-") and not line.startswith("--- "):
            removed += 1
    return added, removed


def diff_sides(diff: str) -> tuple[str, str]:
    """The text before and after, as far as the hunks of a diff show it."""
    old: list[str] = []
    new: list[str] = []
    for line in diff.splitlines():
        mark, rest = line[:1], line[1:]
        if mark == "+":
            new.append(rest)
        elif mark == "-":
            old.append(rest)
        elif mark in (" ", ""):
            old.append(rest)
            new.append(rest)
    return "\n".join(old), "\n".join(new)


def _header(line: str) -> tuple[Literal["add", "update", "delete"], str] | None:
    if line.startswith(_UPDATE):
        return "update", line[len(_UPDATE) :].strip()
    if line.startswith(_ADD):
        return "add", line[len(_ADD) :].strip()
    if line.startswith(_DELETE):
        return "delete", line[len(_DELETE) :].strip()
    return None


def _change(action: Literal["add", "update", "delete"], path: str, body: list[str], moved_to: str) -> PatchedFile:
    diff = "\n".join(body)
    added, removed = count_diff(diff)
    old, new = diff_sides(diff)
    if action == "add":
        old = ""
    return PatchedFile(action, path, old, new, diff, added, removed, moved_to)
