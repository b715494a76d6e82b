"""What a command of the table would change: which of its words are written, removed or only read."""

import os
from typing import NamedTuple

from clew.permissions.access import FileOp
from clew.permissions.files import Places, judge_change
from clew.permissions.paths import resolve
from clew.permissions.shell.programs.sed import safe_script
from clew.permissions.shell.programs.spec import Parsed, parse
from clew.permissions.shell.programs.table import program
from clew.permissions.shell.proof.reads import refuse_read
from clew.permissions.shell.reading.braces import expand_braces
from clew.permissions.shell.reading.words import Word, literal

_SUFFIX = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-")


_MOVED: tuple[FileOp, ...] = ("delete", "read")
_LINKED: tuple[FileOp, ...] = ("read", "write")


class Touch(NamedTuple):
    """One file that would be touched, and how."""

    op: FileOp
    word: Word


class Changes(NamedTuple):
    """Everything one command would touch, or why that cannot be told from its row."""

    touches: tuple[Touch, ...] = ()
    recursive: bool = False
    refused: str = ""


def changes_of(words: list[Word]) -> Changes | None:
    """None for a program whose row says nothing about changes."""
    name, rest = words[0].text, words[1:]
    row = program(name)
    if row.writes is None or (name == "sed" and not any(_edits(word.text) for word in rest)):
        return None
    if row.changes is None:
        return Changes(refused=f"{name} can reach further than its words tell")
    written = _written_out(rest)
    if written is None:
        return Changes(refused="it is not written out which files change")
    rest = written
    if row.writes == "of=":
        return _dd(rest)
    parsed = parse(row.changes, rest)
    if parsed.refused:
        return Changes(refused=f"{name}: {parsed.refused}")
    if not parsed.operands:
        return Changes(refused=f"{name} names no file")
    recursive = bool(parsed.flags.keys() & {"-r", "-R", "-a", "--recursive", "--archive"})
    if row.writes == "script files":
        return _sed(parsed)
    if row.writes in ("copy", "move", "link"):
        return _to_destination(name, parsed, recursive=recursive)
    operands = parsed.operands[1:] if row.writes == "after first" else parsed.operands
    op: FileOp = "delete" if row.writes == "remove" else "write"
    touched = [Touch(op, word) for word in operands] + [Touch("read", word) for word in parsed.paths]
    return Changes(tuple(touched), recursive)


def _written_out(words: list[Word]) -> list[Word] | None:
    """Every word that the program gets, lists in braces included; None where that is not plain to see."""
    if any(not word.known or word.globs or (word.braces and ".." in word.text) for word in words):
        return None
    expanded = [expand_braces(word) for word in words]
    return None if None in expanded else [one for found in expanded for one in found or ()]


def _edits(text: str) -> bool:
    return text.startswith(("-i", "--in-place")) or (text.startswith("-") and "i" in text and not text.startswith("--"))


def _dd(rest: list[Word]) -> Changes:
    found: list[Touch] = []
    for word in rest:
        key, _, value = word.text.partition("=")
        if key in ("of", "if"):
            found.append(Touch("write" if key == "of" else "read", literal(value)))
        elif key not in ("bs", "count", "skip", "seek", "status", "conv"):
            return Changes(refused=f"dd {key} is not known")
    return Changes(tuple(found))


def _sed(parsed: Parsed) -> Changes:
    files = parsed.operands
    scripts = [*parsed.flags.get("-e", ()), *parsed.flags.get("--expression", ())]
    if not scripts:
        scripts, files = [files[0].text], files[1:]
    suffixes = [*parsed.flags.get("-i", ()), *parsed.flags.get("--in-place", ())]
    if not all(safe_script(script) for script in scripts):
        return Changes(refused="this sed script is not proven to only edit")
    if any(set(suffix) - _SUFFIX for suffix in suffixes):
        return Changes(refused="the copy that sed keeps would lie elsewhere")
    kept = [Touch("write", literal(word.text + suffix)) for word in files for suffix in suffixes if suffix]
    return Changes((*(Touch("write", word) for word in files), *kept), refused="" if files else "sed names no file")


def _to_destination(name: str, parsed: Parsed, *, recursive: bool) -> Changes:
    into = [word for flag, words in _path_flags(parsed) for word in words if flag in ("-t", "--target-directory")]
    sources = parsed.operands if into else parsed.operands[:-1]
    target = into[0] if into else parsed.operands[-1]
    if not sources:
        return Changes(refused=f"{name} names no destination")
    if recursive and any(os.path.basename(word.text.rstrip("/")) in ("", ".", "..") for word in sources):
        return Changes(refused="it is not written out which names are put in place")
    if recursive and parsed.flags.keys() & {"-T", "--no-target-directory"}:
        return Changes(refused="a copy over what is there could follow its links")
    match program(name).writes:
        case "move":
            # What is moved can be read under its new name.
            touched = [Touch(op, word) for word in sources for op in _MOVED]
        case "link":
            # Whoever writes to a link writes to its end; a relative one counts from where the link is put.
            here = [literal(os.path.join(os.path.dirname(target.text), word.text)) for word in sources]
            touched = [Touch(op, word) for word in (*sources, *here) for op in _LINKED]
        case _:
            touched = [Touch("read", word) for word in sources]
    touched.append(Touch("write", target))
    touched += [Touch("write", literal(_inside(target.text, word.text))) for word in sources]
    return Changes(tuple(touched), recursive)


def _path_flags(parsed: Parsed) -> list[tuple[str, list[Word]]]:
    flags = [flag for flag in ("-t", "--target-directory") if flag in parsed.flags]
    return [(flag, parsed.paths) for flag in flags]


def _inside(directory: str, source: str) -> str:
    return f"{directory.rstrip('/') or '/'}/{os.path.basename(source.rstrip('/'))}"


def refuse_edits(changes: Changes, cwd: str, places: Places, *, alone: bool, trees: bool = False) -> str:
    """Why these changes are more than edits of ordinary files of the workspace, or an empty string.

    `alone`: nothing else runs in the same text, so that no later part can write through what this one put in place.
    `trees`: whole directories may go, but no root.
    """
    if changes.refused:
        return changes.refused
    for op, word in changes.touches:
        if op == "read":
            if why := refuse_read(word, cwd, places):
                return why
            continue
        if op == "delete" and trees and _is_tree(word.text, cwd, places):
            op = "write"  # the directory's own name and place still count
        if op == "write" and _below_a_file(word.text, cwd, places):
            continue  # `cp a b` where b is a file: nothing can be put inside it
        if why := refuse_change(word.text, cwd, places, op=op):
            return why
    if changes.recursive and _over_what_is_there(changes, cwd, places):
        return "a copy over what is there could follow its links"
    sources = [word.text for op, word in changes.touches if op == "read"]
    for source in sources:
        place = resolve(source, cwd=cwd, home=places.home, follow_last=False)
        if place.kind == "link" or (place.kind == "directory" and not alone):
            return f"{source}: what is put in place could lead elsewhere"
    return ""


def _below_a_file(text: str, cwd: str, places: Places) -> bool:
    folder, slash, _ = text.rstrip("/").rpartition("/")
    return bool(slash and folder) and resolve(folder, cwd=cwd, home=places.home).kind == "file"


def _is_tree(text: str, cwd: str, places: Places) -> bool:
    """A directory of the workspace that is not its root."""
    place = resolve(text, cwd=cwd, home=places.home, follow_last=False)
    return place.kind == "directory" and bool(places.inside(place.target)) and place.target not in places.roots


def _over_what_is_there(changes: Changes, cwd: str, places: Places) -> bool:
    """A whole tree is only put where nothing is: existing links inside would be written through."""
    written = [word.text for op, word in changes.touches if op == "write"]
    kinds = [resolve(text, cwd=cwd, home=places.home, follow_last=False).kind for text in written]
    return bool(kinds) and kinds[0] != "missing" and any(kind != "missing" for kind in kinds[1:])


def refuse_change(text: str, cwd: str, places: Places, *, op: FileOp = "write") -> str:
    """Why changing this path is more than an edit of an ordinary file of the workspace, or an empty string."""
    if text.startswith("~") or not text:
        return "outside the workspace" if text else "the path is empty"
    finding = judge_change(op, text, cwd, places)
    if finding.decision == "allow":
        return ""
    return f"{text}: {finding.why}" if len(text) < 80 else finding.why
