"""Searching without ripgrep: slower, but always there. Keeps to .gitignore and to its time limit."""

import os
import re
import time
from collections.abc import Iterator

from pathspec import GitIgnoreSpec

from clew.system.files import open_regular
from clew.text.encoding import decode
from clew.tools.search.query import SearchQuery, SearchRows
from clew.tools.search_paths import glob_regex

MAX_FILE_BYTES = 10_000_000
TYPES = {
    "py": "*.{py,pyi}",
    "js": "*.{js,jsx,mjs,cjs,vue}",
    "ts": "*.{ts,tsx,mts,cts}",
    "rust": "*.rs",
    "go": "*.go",
    "java": "*.java",
    "c": "*.{c,h}",
    "cpp": "*.{cpp,cc,cxx,hpp,hh,h}",
    "json": "*.json",
    "md": "*.{md,markdown}",
    "html": "*.{html,htm}",
    "css": "*.{css,scss}",
    "yaml": "*.{yaml,yml}",
    "toml": "*.toml",
    "sh": "*.{sh,bash,zsh}",
}
Ignores = list[tuple[str, GitIgnoreSpec]]


def list_files(root: str, timeout_s: float) -> tuple[list[str], bool]:
    """All files that are not ignored, relative to the root; True when the time was over."""
    deadline = time.monotonic() + timeout_s
    files: list[str] = []
    for path in walk(root, []):
        files.append(path[len(root.rstrip("/")) + 1 :])
        if time.monotonic() > deadline:
            return files, True
    return files, False


def walk(directory: str, ignores: Ignores) -> Iterator[str]:
    """Regular files below, in name order, without following links."""
    spec = ignore_file(directory)
    if spec is not None:
        ignores = [*ignores, (directory, spec)]
    try:
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        is_dir = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or is_ignored(entry.path, ignores, is_dir=is_dir):
            continue
        if is_dir:
            yield from walk(entry.path, ignores)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def ignore_file(directory: str) -> GitIgnoreSpec | None:
    """The rules written in this directory."""
    try:
        with os.fdopen(open_regular(os.path.join(os.path.realpath(directory), ".gitignore")), "rb") as file:
            return GitIgnoreSpec.from_lines(file.read(1_000_000).decode(errors="replace").splitlines())
    except (OSError, ValueError):
        return None


def is_ignored(path: str, ignores: Ignores, *, is_dir: bool) -> bool:
    """The deepest file that says something about the path decides."""
    for base, spec in reversed(ignores):
        verdict = spec.check_file(path[len(base.rstrip("/")) + 1 :] + ("/" if is_dir else "")).include
        if verdict is not None:
            return verdict
    return False


def search_files(query: SearchQuery, timeout_s: float) -> SearchRows:
    """Search file contents with Python's regular expressions."""
    flags = (re.IGNORECASE if query.ignore_case else 0) | (re.DOTALL | re.MULTILINE if query.multiline else 0)
    try:
        pattern = re.compile(query.pattern, flags)
    except re.error as error:
        return SearchRows([], 0, False, False, f"regex parse error: {error}")
    if query.type and query.type not in TYPES:
        return SearchRows([], 0, False, False, f"unrecognized file type: {query.type}")
    globs = (*query.globs, *((TYPES[query.type],) if query.type else ()))
    deadline = time.monotonic() + timeout_s
    rows: list[tuple[str, str]] = []
    matches = 0
    paths = [query.root] if os.path.isfile(query.root) else walk(query.root, [])
    for path in paths:
        if time.monotonic() > deadline:
            return SearchRows(rows, matches, True, False, "")
        if not wanted(os.path.relpath(path, query.root) if path != query.root else os.path.basename(path), globs):
            continue
        hits = match_file(path, pattern, query)
        if hits:
            matches += 1 if query.mode == "files_with_matches" else sum(hits.values())
            rows += shown(path, hits, query)
        if query.max_lines and len(rows) > query.max_lines:
            return SearchRows(rows, matches, False, True, "")
    return SearchRows(rows, matches, False, False, "")


def wanted(relative: str, globs: tuple[str, ...]) -> bool:
    """Every `!glob` must fail, and one of the others match."""
    refused = [glob[1:] for glob in globs if glob.startswith("!")]
    required = [glob for glob in globs if not glob.startswith("!")]
    if any(glob_regex(glob).fullmatch(relative) for glob in refused):
        return False
    return not required or any(glob_regex(glob).fullmatch(relative) for glob in required)


def file_text(path: str) -> str | None:
    """The text of a file; None for anything else."""
    try:
        with os.fdopen(open_regular(os.path.realpath(path)), "rb") as file:
            decoded = decode(file.read(MAX_FILE_BYTES))
    except OSError:
        return None
    return decoded[0] if decoded else None


def match_file(path: str, pattern: re.Pattern[str], query: SearchQuery) -> dict[int, int]:
    """Matches per line index."""
    text = file_text(path)
    if text is None:
        return {}
    hits: dict[int, int] = {}
    if query.multiline:
        for match in pattern.finditer(text):
            first, last = text.count("\n", 0, match.start()), text.count("\n", 0, match.end())
            hits |= {line: int(line == first) for line in range(first, last + 1) if line not in hits}
        return hits
    for index, line in enumerate(text.splitlines()):
        if pattern.search(line):
            hits[index] = 1
            if query.mode == "files_with_matches":
                break
    return hits


def shown(path: str, hits: dict[int, int], query: SearchQuery) -> list[tuple[str, str]]:
    """The rows of one file."""
    if query.mode == "files_with_matches":
        return [(path, "")]
    if query.mode == "count":
        return [(path, str(sum(hits.values())))]
    lines = (file_text(path) or "").splitlines()
    rows: list[tuple[str, str]] = []
    last = -1
    for index in sorted({near for hit in hits for near in range(hit - query.before, hit + query.after + 1)}):
        if not 0 <= index < len(lines):
            continue
        if (query.before or query.after) and last >= 0 and index > last + 1:
            rows.append(("", "--"))
        rows.append((path, f"{index + 1}{':' if index in hits else '-'}{lines[index][:500]}"))
        last = index
    return rows
