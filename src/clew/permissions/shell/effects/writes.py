"""What can be seen in a command and asks even in bypass mode: protected names to be written, secrets to be read."""

import os
from typing import NamedTuple

from clew.permissions.files import Finding, Places, judge_change, judge_place
from clew.permissions.paths import real
from clew.permissions.shell.effects.mentions import may_start_others, only_reads, pieces
from clew.permissions.shell.programs.table import after_git_options, program
from clew.permissions.shell.reading.glob import GLOB, bash_match, matching_names, names_in
from clew.permissions.shell.reading.scan import Scan
from clew.permissions.shell.reading.unwrap import EXEC_FLAGS, Effective
from clew.permissions.shell.reading.values import Value
from clew.text.guarded_names import home_credential, secret_name, word_set

_MAX_WORD = 20_000
_MAX_ENTRIES = 500
_OUT = word_set("""> >> >| &> &>> <>""")
_EDITORS = word_set("""sed perl ed ex vim nano""")
# A pattern in a path to be written may become one of these, whether or not it is there yet.
_LIKELY = (".git", ".vscode", ".claude", ".clew", ".github", ".envrc", ".bashrc", ".mcp.json", ".husky")
_GIT_NAMES_FILES = word_set("config checkout restore mv rm apply am clone init archive bundle format-patch worktree")


class ProtectedWrite(NamedTuple):
    """Why a person must answer; empty: nobody must. `sure`: its row says that the program writes there."""

    why: str = ""
    sure: bool = True


def protected_write(scan: Scan, places: Places, *, held: bool) -> ProtectedWrite:
    """The first protected name to be written. `held`: a sandbox keeps these names read-only for any program."""
    seen: set[tuple[Value, str]] = set()
    for found in scan.effective:
        if found.cwd is None:
            continue
        outputs = [value for redirect, values in found.redirects if redirect.op in _OUT for value in values]
        surely, perhaps = _written_operands(found, held=held)
        surely = [*surely, *_unpacked(found, found.cwd)]
        for value in (*outputs, *surely, *perhaps):
            if (value, found.cwd) in seen:
                continue
            seen.add((value, found.cwd))
            finding = _protected(value, found.cwd, places)
            # A word of an unknown program is only a guess at a file: what it is called counts, not what lies there.
            if finding is not None and (finding.by_name or value not in perhaps):
                return ProtectedWrite(f"{value.text[:80]}: {finding.why}", value not in perhaps)
    return ProtectedWrite()


def secret_read(scan: Scan, places: Places) -> str:
    """Why a person must answer where a file with a secret's name stands among the words and is there, or nothing."""
    # What is printed may be a name that a substitution hands on.
    captured = any(not value.known for found in scan.effective for value in found.argv)
    for found in scan.effective:
        if found.cwd is None or (program(found.name).shows in ("words", "names") and not (captured or _runs(found))):
            continue
        inputs = [value for redirect, values in found.redirects if redirect.op == "<" for value in values]
        fed = [Value(found.fed)] if found.fed else []
        code = may_start_others(found)
        for value in (*found.argv[1:], *_attached(found.argv[1:]), *inputs, *fed):
            if not value.text or len(value.text) > _MAX_WORD:
                continue
            texts = readings(value.text, found.cwd) if value.globs or _runs(found) else [value.text]
            for path in dict.fromkeys(piece for text in texts for piece in pieces(text, code=code)):
                place = os.path.join(found.cwd, places.home + path[1:] if path.startswith("~/") else path)
                if not (secret_name(path) or home_credential(real(place), places.home)) or not os.path.lexists(place):
                    continue
                finding = judge_place("read", path, found.cwd, places)
                if finding.protected:
                    return f"{path[:80]}: {finding.why}"
    return ""


def secret_in_history(scan: Scan, places: Places) -> str:
    """Why a person must answer where git is asked for a secret's file of a commit: no sandbox withholds that."""
    for found in scan.effective:
        if found.name != "git" or found.cwd is None:
            continue
        for value in found.argv[2:]:
            revision, colon, path = value.text.partition(":")
            if not colon or " " in revision or not secret_name(path) or len(path) > _MAX_WORD:
                continue
            finding = judge_place("read", path, found.cwd, places)
            if finding.protected:
                return f"{path[:80]}: {finding.why}"
    return ""


def _runs(found: Effective) -> bool:
    """A search that hands what it finds to a program."""
    return found.name in ("find", "fd", "fdfind") and any(value.text in EXEC_FLAGS for value in found.argv)


def _written_operands(found: Effective, *, held: bool) -> tuple[list[Value], list[Value]]:
    """The words a program writes to by its row, and those that it may write to for all that is known."""
    name, rest = found.name, found.argv[1:]
    row = program(name)
    if row.reads is not None and row.writes is None and (held or only_reads(row.reads, rest)):
        return [], []
    operands = [value for value in rest if not value.text.startswith("-")]
    if row.writes is not None and (name != "sed" or any(value.text.startswith(("-i", "--in")) for value in rest)):
        return [*operands, *_attached(rest)], []
    if name in _EDITORS and any(value.text.startswith("-") for value in rest):
        return [], operands
    if row.wraps is not None or (row.shows and row.reads is None) or name in ("cd", "for", "export", ""):
        return [], []
    if name == "git":
        words = after_git_options([value.text for value in rest])
        return [], [*operands, *_attached(rest)] if words and words[0] in _GIT_NAMES_FILES else []
    return [], [] if held else [*operands, *_attached(rest)]


def _unpacked(found: Effective, cwd: str) -> list[Value]:
    """Where the entries of a directory go when it is copied without its own name: `cp -r a/. b`, `rsync a/ b`."""
    operands = [value for value in found.argv[1:] if not value.text.startswith("-")]
    if found.name not in ("cp", "rsync") or len(operands) < 2:
        return []
    flags = [value.text for value in found.argv[1:] if value.text.startswith("-")]
    bare = any(flag == "--no-target-directory" or (flag[1:2] != "-" and "T" in flag) for flag in flags)
    target = operands[-1].text
    out: list[Value] = []
    for source in operands[:-1][:8]:
        if bare or source.text.endswith(("/.", "/..") if found.name == "cp" else "/") or source.text in (".", ".."):
            names = names_in(os.path.join(cwd, source.text))[:_MAX_ENTRIES]
            out += [Value(os.path.join(target, name)) for name in names]
    return out


def _attached(values: list[Value]) -> list[Value]:
    """Paths glued to a flag: `--output=x`, `-ox`."""
    out: list[Value] = []
    for value in values:
        if value.text.startswith("--") and "=" in value.text:
            out.append(value._replace(text=value.text.partition("=")[2]))
        elif value.text.startswith("-") and len(value.text) > 2 and value.text[2] in "./~":
            out.append(value._replace(text=value.text[2:]))
    return out


def _protected(value: Value, cwd: str, places: Places) -> Finding | None:
    text = value.text.removeprefix("of=")
    if not value.known or not text or text == "/dev/null" or len(text) > 4096:
        return None
    for path in readings(text, cwd) if value.globs else (text,):
        finding = judge_change("write", path, cwd, places)
        if finding.protected:
            return finding
    return None


def readings(text: str, cwd: str) -> list[str]:
    """What a path with a pattern may become: files that are there, and names that are worth protecting."""
    found = [""]
    for part in text.split("/"):
        if not GLOB.search(part):
            choices = [part]
        else:
            # The names that matter first: only some of many are looked at.
            there = sorted(matching_names(f"{cwd}/{found[0]}", part), key=lambda name: not secret_name(name))[:8]
            hidden = [name for name in _LIKELY if part.startswith(".") and bash_match(name, part)]
            choices = [*hidden, *there] or [part]
        found = [f"{before}/{choice}" if before else choice for before in found for choice in choices][:32]
    return [f"/{one}" if text.startswith("/") else one for one in found]
